"""Simulated judges: planted properties and planted faults. Nothing they say is a measurement of any model."""

from darkcurrent.judges.simulated.backend import SimulatedBackend
from darkcurrent.judges.simulated.faults import FAULTS, Faults
from darkcurrent.judges.simulated.judge import Key, SimulatedJudge
from darkcurrent.judges.simulated.server import SimulatedServer
from darkcurrent.protocol.planted import Properties

__all__ = ["FAULTS", "Faults", "Key", "Properties", "SimulatedBackend", "SimulatedJudge", "SimulatedServer"]
