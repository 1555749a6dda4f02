"""Where matched items come from. Nothing here can see a verdict."""

from __future__ import annotations

from pathlib import Path

from darkcurrent.batteries.edges import with_edge_controls
from darkcurrent.errors import BatteryError
from darkcurrent.protocol.batteries import (
    BatteryTable,
    ContextBattery,
    ControlsBattery,
    FiniteCodeBattery,
    PairsBattery,
)
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
    battery = _made(table, folder)
    if not battery.comparisons:
        reasons = sorted({refusal.reason for refusal in battery.refusals})
        why = f" ({'; '.join(reasons)})" if reasons else ""
        raise BatteryError(f"The battery is empty: no item was taken{why}. Check `[battery]`.")
    return with_edge_controls(battery, table.edge_controls)


def _made(table: BatteryTable, folder: Path) -> Battery:
    """Make a battery of its source; what another source needs is not imported."""
    if isinstance(table, PairsBattery):
        from darkcurrent.batteries.pairs import read_pairs

        return read_pairs(table, folder)
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
