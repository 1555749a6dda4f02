"""Where matched items come from. Nothing here can see a verdict."""

from __future__ import annotations

from pathlib import Path

from darkcurrent.batteries.edges import with_edge_controls
from darkcurrent.errors import BatteryError
from darkcurrent.protocol.batteries import (
    ContextBattery,
    ControlsBattery,
    FiniteCodeBattery,
    PairsBattery,
)
from darkcurrent.protocol.model import Protocol
from darkcurrent.protocol.outside import EquivalenceBattery, RewardBench2Battery, StudyBattery
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
    battery = _made(protocol, folder)
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


def _made(protocol: Protocol, folder: Path) -> Battery:
    """Make a battery of its source; what another source needs is not imported."""
    table = protocol.battery
    if isinstance(table, PairsBattery):
        from darkcurrent.batteries.pairs import read_pairs

        return read_pairs(table, folder)
    if isinstance(table, RewardBench2Battery):
        from darkcurrent.batteries.rewardbench2 import read_rewardbench2

        return read_rewardbench2(table, folder)
    if isinstance(table, StudyBattery):
        from darkcurrent.batteries.earlier import read_earlier

        return read_earlier(table, protocol.criteria, folder)
    if isinstance(table, EquivalenceBattery):
        from darkcurrent.batteries.equivalence import read_equivalence

        return read_equivalence(table, protocol.study.name, folder)
    if isinstance(table, FiniteCodeBattery):
        from darkcurrent.batteries import finite_code

        return finite_code.build(arms=table.arms, settings=table.settings)
    if isinstance(table, ContextBattery):
        from darkcurrent.batteries import context

        return context.build(arms=table.arms, settings=table.settings)
    from darkcurrent.batteries import controls

    if isinstance(table, ControlsBattery):
        return controls.build(table.empty, table.whitespace, table.nonblank)
    from darkcurrent.batteries import ladder

    battery, counts = ladder.build(), table.controls
    if counts is None:
        return battery
    return _together(battery, controls.build(counts.empty, counts.whitespace, counts.nonblank))


def _together(one: Battery, other: Battery) -> Battery:
    return Battery(
        items=one.items + other.items,
        comparisons=one.comparisons + other.comparisons,
        texts={**one.texts, **other.texts},
        refusals=one.refusals + other.refusals,
        receipts={**one.receipts, **other.receipts},
    )
