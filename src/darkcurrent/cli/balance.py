"""What a schedule balances, as `battery check` shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from darkcurrent.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

    from darkcurrent.schedules import Balance
    from darkcurrent.schedules.balance import GroupBalance

__all__ = ["print_balance"]

_MOST_ROWS = 16


def print_balance(found: Balance, console: Console) -> None:
    """Print the counts of a schedule, and what it does not balance."""
    from rich.text import Text

    def line(text: str) -> None:
        console.print(Text(printable(text)))

    low, high = min(found.blocks, default=0), max(found.blocks, default=0)
    size = f"{low} calls" if low == high else f"{low} to {high} calls"
    line(f"Schedule `{found.kind}`: {found.calls} calls; blocks: {len(found.blocks)}, each of {size}")
    if found.distances:
        distances = found.distances
        line(
            f"From one exposure of an item to its next: {distances.least} calls at the least, {distances.median:g} in the "
            f"middle, {distances.most} at the most; {found.shared_blocks} items have two arms in one block"
        )
    for group in found.groups:
        _print_group(group, console)
    for words in found.not_balanced:
        line(f"Not balanced: {words}")


def _print_group(group: GroupBalance, console: Console) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    carried = group.carry_over_range
    words = f"{group.short_name}: {group.units} shown in each of {len(group.treatments)} treatments"
    if carried:
        words += f"; one follows another one {carried[0]} to {carried[1]} times"
    if len(group.treatments) > _MOST_ROWS:
        low, high = group.period_range
        words += f"; each falls on each period {low} to {high} times (--json has every count)"
    console.print(Text(printable(words)))
    if len(group.treatments) > _MOST_ROWS:
        return
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("treatment")
    for period in range(len(group.periods[0])):
        table.add_column("period 1" if period == 0 else str(period + 1), justify="right")
    for name, counts in zip(group.treatments, group.periods, strict=True):
        table.add_row(Text(printable(name)), *map(str, counts))
    console.print(table)
