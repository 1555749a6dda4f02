"""Where matched items come from. Nothing here can see a verdict."""

from __future__ import annotations

from pathlib import Path

from darkcurrent.batteries.edges import with_edge_controls
from darkcurrent.errors import BatteryError
from darkcurrent.protocol.batteries import PairsBattery
from darkcurrent.protocol.model import Protocol
from darkcurrent.records import Battery

__all__ = ["load_battery"]


def load_battery(protocol: Protocol, folder: Path) -> Battery:
    """Make the battery that a protocol declares.

    Parameters
    ----------
    protocol : Protocol
        Its `[battery]` table names the source.
    folder : Path
        The study's folder, which paths in the protocol are relative to.

    Raises
    ------
    BatteryError
        Where the source cannot be read, a row cannot be used, or nothing is left.
    """
    table = protocol.battery
    if isinstance(table, PairsBattery):
        from darkcurrent.batteries.pairs import read_pairs

        battery = read_pairs(table, folder)
    else:
        from darkcurrent.batteries.finite_code import build

        battery = build(arms=table.arms, settings=table.settings)
    if not battery.comparisons:
        reasons = sorted({refusal.reason for refusal in battery.refusals})
        why = f" ({'; '.join(reasons)})" if reasons else ""
        raise BatteryError(f"The battery is empty: no item was taken{why}. Check `[battery]`.")
    return with_edge_controls(battery, table.edge_controls)
