"""What a made schedule balances, counted from its calls and from nothing else.

The counts do not ask how the schedule was made. `faults.py` compares them with what its kind promises.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from darkcurrent.records import Call, Record
from darkcurrent.schedules.asked import kind_of

__all__ = [
    "Balance",
    "Distances",
    "GroupBalance",
    "arm_name",
    "balance_report",
    "by_comparison",
    "by_item",
    "comparison_of",
]

_Key = tuple[str, ...]


class GroupBalance(Record):
    """Counts over units that are shown equally often in the same arms.

    Attributes
    ----------
    name : str
        The arms.
    units : int
        Items; in a crossover, whose draws are within an arm, comparisons of one kind.
    treatments : tuple of str
        Arm, criterion and order; the rows of both tables.
    periods : tuple of tuple of int
        By treatment and period (which exposure of the unit it is, from the first): how many units.
    carry_over : tuple of tuple of int
        By treatment and the treatment that the same unit gets next: how many times.
    """

    name: str
    units: int
    treatments: tuple[str, ...]
    periods: tuple[tuple[int, ...], ...]
    carry_over: tuple[tuple[int, ...], ...]

    @property
    def short_name(self) -> str:
        """The name for people: an item of a ladder is shown in very many arms."""
        first, *others = self.name.split(", ")
        return f"{first} and {len(others)} more arms" if len(others) > 3 else self.name

    @property
    def period_range(self) -> tuple[int, int]:
        """The smallest and the largest count of a treatment in a period."""
        counts = [count for row in self.periods for count in row]
        return min(counts), max(counts)

    @property
    def carry_over_range(self) -> tuple[int, int] | None:
        """The same of a treatment after another one; None where there is only one treatment."""
        counts = [
            count
            for before, row in enumerate(self.carry_over)
            for after, count in enumerate(row)
            if before != after
        ]
        return (min(counts), max(counts)) if counts else None


class Distances(Record):
    """How many calls lie from one exposure of an item to its next one; 1 is directly after each other."""

    least: int
    median: float
    most: int


class Balance(Record):
    """What a schedule balances.

    Attributes
    ----------
    blocks : tuple of int
        Calls in each temporal block.
    arms : dict
        Arm to its calls in each block.
    groups : tuple of GroupBalance
        Units with the same arms.
    distances : Distances or None
        None where no item is shown twice.
    shared_blocks : int
        Items of which two arms are shown in one block.
    neighbours : tuple of int, or None
        Of two calls that directly follow each other, by their treatments: the smallest and largest count.
    not_balanced : tuple of str
        In words.
    """

    kind: str
    calls: int
    blocks: tuple[int, ...]
    arms: dict[str, tuple[int, ...]]
    groups: tuple[GroupBalance, ...]
    distances: Distances | None
    shared_blocks: int
    neighbours: tuple[int, int] | None
    not_balanced: tuple[str, ...]


def balance_report(calls: Sequence[Call], kind: str) -> Balance:
    """Count what the schedule of one configuration balances.

    Parameters
    ----------
    calls : sequence of Call
        In any order; their positions and blocks say when they are made.
    kind : str
        The declared kind of schedule. It decides what a unit is, and which words are said.
    """
    calls = sorted(calls, key=lambda call: call.position)
    count = max((call.block for call in calls), default=-1) + 1
    sizes = Counter(call.block for call in calls)
    in_blocks = Counter((arm_name(call), call.block) for call in calls)
    arms = {
        arm: tuple(in_blocks[arm, block] for block in range(count))
        for arm in sorted({a for a, _ in in_blocks})
    }
    gaps = [
        after.position - before.position for own in by_item(calls).values() for before, after in pairwise(own)
    ]
    shown: dict[tuple[str, int], set[str]] = {}
    for call in calls:
        shown.setdefault((call.item, call.block), set()).add(arm_name(call))
    found = Balance(
        kind=kind,
        calls=len(calls),
        blocks=tuple(sizes[block] for block in range(count)),
        arms=arms,
        groups=_groups(calls, kind),
        distances=Distances(least=min(gaps), median=float(median(gaps)), most=max(gaps)) if gaps else None,
        shared_blocks=len({item for (item, _), names in shown.items() if len(names) > 1}),
        neighbours=_neighbours(calls),
        not_balanced=(),
    )
    return found.model_copy(update={"not_balanced": tuple(_words(found))})


def arm_name(call: Call) -> str:
    """Return an arm in words: with its null stratum, step and context."""
    return " ".join(filter(None, kind_of(call)))


def by_item(calls: Sequence[Call]) -> dict[_Key, list[Call]]:
    """Return the calls of each item, in the order given."""
    found: dict[_Key, list[Call]] = {}
    for call in calls:
        found.setdefault((call.item,), []).append(call)
    return found


def by_comparison(calls: Sequence[Call]) -> dict[_Key, list[Call]]:
    """Return the calls of each comparison, in the order given."""
    found: dict[_Key, list[Call]] = {}
    for call in calls:
        found.setdefault(comparison_of(call), []).append(call)
    return found


def comparison_of(call: Call) -> _Key:
    """Return the comparison that a call is of: item, arm, and the roles that order AB shows in slots A and B."""
    roles = (call.slot_b, call.slot_a) if call.order == "BA" else (call.slot_a, call.slot_b)
    return (call.item, *kind_of(call), *roles)


def _treatment(call: Call, arm: str) -> str:
    return f"{arm}, {call.criterion}, {call.order}"


def _groups(calls: Sequence[Call], kind: str) -> tuple[GroupBalance, ...]:
    """Count by groups of units: items with the same arms, and in a crossover one comparison of each of them."""
    names: dict[_Key, str] = {}
    arms: dict[str, list[str]] = {}
    comparisons = by_comparison(calls)
    for key in sorted(comparisons):
        own = arms.setdefault(key[0], [])
        name = arm_name(comparisons[key][0])
        # An item may be compared several times in one arm: these are numbered, for they are not the same treatment.
        same = sum(other.partition(" #")[0] == name for other in own)
        names[key] = f"{name} #{same + 1}" if same else name
        own.append(names[key])
    groups: dict[tuple[str, ...], list[list[str]]] = {}
    if kind == "crossover":
        for key, asked in comparisons.items():
            group = (names[key], *arms[key[0]])
            groups.setdefault(group, []).append([_treatment(call, names[key]) for call in asked])
    else:
        for (item,), asked in by_item(calls).items():
            sequence = [_treatment(call, names[comparison_of(call)]) for call in asked]
            groups.setdefault(tuple(arms[item]), []).append(sequence)
    return tuple(
        _group(group[:1] if kind == "crossover" else group, units) for group, units in sorted(groups.items())
    )


def _group(arms: Sequence[str], units: list[list[str]]) -> GroupBalance:
    treatments = tuple(sorted({name for unit in units for name in unit}))
    at = Counter((name, period) for unit in units for period, name in enumerate(unit))
    after = Counter(pair for unit in units for pair in pairwise(unit))
    return GroupBalance(
        name=", ".join(arms),
        units=len(units),
        treatments=treatments,
        periods=tuple(tuple(at[name, period] for period in range(len(units[0]))) for name in treatments),
        carry_over=tuple(tuple(after[first, then] for then in treatments) for first in treatments),
    )


def _neighbours(calls: Sequence[Call]) -> tuple[int, int] | None:
    names = [_treatment(call, arm_name(call)) for call in calls]
    treatments = sorted(set(names))
    found = Counter(pairwise(names))
    counts = [found[before, after] for before in treatments for after in treatments]
    return (min(counts), max(counts)) if len(calls) > 1 else None


def _words(found: Balance) -> list[str]:
    """Say what is not balanced, and why."""
    if found.kind in ("hash", "shuffle"):
        return [
            "Nothing is balanced by design: every count is as it fell. Exposures of an item may lie close together."
        ]
    words = []
    unit = "comparisons" if found.kind == "crossover" else "items"
    for group in found.groups:
        low, high = group.period_range
        count = len(group.treatments)
        if low != high:
            words.append(
                f"{group.short_name}: {group.units} {unit} are no multiple of {count}, so that a treatment falls on a period "
                f"{low} to {high} times."
            )
        carried = group.carry_over_range
        if carried and carried[0] != carried[1]:
            words.append(
                f"{group.short_name}: a treatment follows another one {carried[0]} to {carried[1]} times "
                f"over {group.units} {unit}."
            )
    if len(set(found.blocks)) > 1:
        words.append(
            f"A block holds {min(found.blocks)} to {max(found.blocks)} calls: the items cannot be dealt out evenly."
        )
    for arm, counts in found.arms.items():
        if not min(counts):
            words.append(
                f"Some blocks hold no call of `{arm}` and others up to {max(counts)}: too few items are shown in it to take "
                "all turns, so that the arm cannot be told apart from its time."
            )
        elif len(set(counts)) > 1:
            words.append(f"A block holds {min(counts)} to {max(counts)} calls of `{arm}`.")
    if found.neighbours:
        low, high = found.neighbours
        words.append(
            "Carry-over from the call of one item to the call of the next item is not balanced: the order of the items is "
            f"drawn apart from the treatments (of two treatments, one directly follows the other {low} to {high} times)."
        )
    return words
