"""Where matched items come from. Nothing here can see a verdict."""

from __future__ import annotations

from pathlib import Path

from darkcurrent.batteries.edges import with_edge_controls
from darkcurrent.errors import BatteryError
from darkcurrent.protocol.batteries import (
    EquivalenceBattery,
    PairsBattery,
    RewardBench2Battery,
    StudyBattery,
)
from darkcurrent.protocol.model import Protocol
from darkcurrent.records import Battery

__all__ = ["draft_battery", "load_battery"]


def draft_battery(protocol: Protocol, folder: Path) -> Battery:
    """Make the battery that a protocol declares, as far as it goes: what it lacks stands in its `shortfalls`.

    Parameters
    ----------
    protocol : Protocol
        Its `[battery]` table names the source.
    folder : Path
        The study's folder, which paths in the protocol are relative to.

    Raises
    ------
    BatteryError
        Where the source cannot be read or a row cannot be used.
    """
    table = protocol.battery
    if isinstance(table, PairsBattery):
        from darkcurrent.batteries.pairs import read_pairs

        battery = read_pairs(table, folder)
    elif isinstance(table, RewardBench2Battery):
        from darkcurrent.batteries.rewardbench2 import read_rewardbench2

        battery = read_rewardbench2(table, folder)
    elif isinstance(table, StudyBattery):
        from darkcurrent.batteries.earlier import read_earlier

        battery = read_earlier(table, protocol.criteria, folder)
    elif isinstance(table, EquivalenceBattery):
        from darkcurrent.batteries.equivalence import read_equivalence

        battery = read_equivalence(table, protocol.study.name, folder)
    else:
        from darkcurrent.batteries.finite_code import build

        battery = build(arms=table.arms, settings=table.settings)
    if not battery.comparisons and not battery.shortfalls:
        reasons = sorted({refusal.reason for refusal in battery.refusals})
        why = f" ({'; '.join(reasons)})" if reasons else ""
        empty = f"The battery is empty: no item was taken{why}. Check `[battery]`."
        battery = battery.model_copy(update={"shortfalls": (empty,)})
    return battery if battery.shortfalls else with_edge_controls(battery, table.edge_controls)


def load_battery(protocol: Protocol, folder: Path) -> Battery:
    """Make the battery that a protocol declares, whole; see `draft_battery`.

    Raises
    ------
    BatteryError
        Besides, where the battery lacks something; says what.
    """
    battery = draft_battery(protocol, folder)
    for shortfall in battery.shortfalls:
        raise BatteryError(shortfall)
    return battery
