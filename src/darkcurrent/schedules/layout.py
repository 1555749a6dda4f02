"""What the two balanced schedules share: items with the same arms form a group, and drawn rows become a plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from darkcurrent.records import Battery, Comparison, Order
from darkcurrent.schedules.asked import Asked, Plan, comparison_key, kind_of, treatments_of
from darkcurrent.schedules.assignment import ArmAssignment, DrawnComparison, StoredAssignment
from darkcurrent.schedules.stream import Stream

__all__ = ["Group", "Member", "Row", "grouped", "laid_out"]


@dataclass(frozen=True, slots=True)
class Member:
    """One item of a group, with its comparisons in the order of the group's kinds."""

    item: str
    stratum: str
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Items that are shown in the same arms, and therefore equally often.

    Attributes
    ----------
    sizes : tuple of int
        How often each comparison of an item is asked: criteria times orders.
    members : tuple of Member
        Sorted by item.
    """

    sizes: tuple[int, ...]
    members: tuple[Member, ...]

    @property
    def exposures(self) -> int:
        """How often each item is shown."""
        return sum(self.sizes)


@dataclass(frozen=True, slots=True)
class Row:
    """What one comparison was given.

    Attributes
    ----------
    cohort : str
        The comparisons among which this was dealt out.
    treatments : tuple of (criterion, order)
        In time.
    blocks : tuple of int
        In time, one for each treatment; numbers may be left out.
    """

    comparison: Comparison
    cohort: str
    treatments: tuple[tuple[str, Order], ...]
    blocks: tuple[int, ...]


def grouped(battery: Battery, criteria: Sequence[str]) -> list[Group]:
    """Return the groups of a battery, sorted by their arms."""
    strata = {item.id: item.stratum for item in battery.items}
    own: dict[str, list[Comparison]] = {}
    for comparison in sorted(battery.comparisons, key=comparison_key):
        own.setdefault(comparison.item, []).append(comparison)
    found: dict[tuple[tuple[str, ...], ...], list[Member]] = {}
    for item, comparisons in own.items():
        member = Member(item, strata[item], tuple(comparisons))
        found.setdefault(tuple(map(kind_of, comparisons)), []).append(member)
    return [
        Group(tuple(len(treatments_of(c, criteria)) for c in members[0].comparisons), tuple(members))
        for _, members in sorted(found.items())
    ]


def laid_out(kind: Literal["crossover", "carryover"], seed: int, rows: Iterable[Row]) -> Plan:
    """Return the plan of what was drawn: block by block, the items of each in one random order.

    As every block has the same order, an item's next exposure is never closer than the items between two blocks.
    """
    rows = sorted(rows, key=lambda row: (kind_of(row.comparison), comparison_key(row.comparison)))
    items = Stream(seed, f"{kind}/items").shuffled(sorted({row.comparison.item for row in rows}))
    place = {item: index for index, item in enumerate(items)}
    used = sorted({block for row in rows for block in row.blocks})
    number = {block: index for index, block in enumerate(used)}
    steps = [
        (number[block], Asked(row.comparison, *treatment))
        for row in rows
        for block, treatment in zip(row.blocks, row.treatments, strict=True)
    ]
    steps.sort(key=lambda step: (step[0], place[step[1].comparison.item]))
    arms = [_arm([*own], number) for _, own in groupby(rows, key=lambda row: kind_of(row.comparison))]
    return Plan(steps, StoredAssignment(kind=kind, seed=seed, items=tuple(items), arms=tuple(arms)))


def _arm(rows: Sequence[Row], number: dict[int, int]) -> ArmAssignment:
    first = rows[0].comparison
    treatments = tuple(sorted(rows[0].treatments))
    sequences = sorted({tuple(map(treatments.index, row.treatments)) for row in rows})
    return ArmAssignment(
        arm=first.arm,
        null_stratum=first.null_stratum,
        step=first.step,
        context=first.context,
        treatments=treatments,
        sequences=tuple(sequences),
        drawn=tuple(
            DrawnComparison(
                item=row.comparison.item,
                u=row.comparison.u,
                v=row.comparison.v,
                cohort=row.cohort,
                sequence=sequences.index(tuple(map(treatments.index, row.treatments))),
                blocks=tuple(number[block] for block in row.blocks),
            )
            for row in rows
        ),
    )
