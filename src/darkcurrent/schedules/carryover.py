"""Schedule `carryover`: all exposures of an item in one Williams sequence, period by period.

An item that is shown E times goes through E blocks, one exposure in each. Its exposures (arm, criterion and order
together) are the treatments of a Williams square, so that over the items each of them falls on each period, and
follows each other one, equally often. With two orders a second square, the orders exchanged, takes turns with the
first. **Which item gets which sequence is drawn at random.** What an item sees in a period is another arm under another
sequence, and arms differ whatever the judge; so a randomization test draws again only among items whose arms come
in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from darkcurrent.records import Battery, Order
from darkcurrent.schedules.asked import Plan, orders_of
from darkcurrent.schedules.layout import Group, Member, Row, grouped, laid_out
from darkcurrent.schedules.stream import Stream
from darkcurrent.schedules.williams import williams

__all__ = ["carryover"]

_EXCHANGED: dict[Order, Order] = {"AB": "BA", "BA": "AB", "IDENTICAL": "IDENTICAL"}
_Sequence = tuple[tuple[int, str, Order], ...]
"""Place of the comparison in its group, criterion and order of each exposure, in time."""


def carryover(battery: Battery, criteria: Iterable[str], seed: int) -> Plan:
    """Draw the assignment and return the plan.

    Parameters
    ----------
    battery : Battery
        What is compared.
    criteria : iterable of str
        Their names; their order says nothing.
    seed : int
        Of every draw.
    """
    criteria = sorted(criteria)
    groups = grouped(battery, criteria)
    longest = max((group.exposures for group in groups), default=0)
    rows = []
    for index, group in enumerate(groups):
        sequences = _sequences(group, criteria)
        numbers = [number % len(sequences) for number in range(len(group.members))]
        drawn = Stream(seed, f"carryover/{index}").shuffled(numbers)
        blocks = [turn * longest // group.exposures for turn in range(group.exposures)]
        for member, number in zip(group.members, drawn, strict=True):
            rows += _rows(member, sequences[number], blocks, index)
    return laid_out("carryover", seed, rows)


def _sequences(group: Group, criteria: Sequence[str]) -> list[_Sequence]:
    """Return the sequences in the order in which they are used up, square by square."""
    shown = [
        (place, order)
        for place, comparison in enumerate(group.members[0].comparisons)
        for order in orders_of(comparison)
    ]
    # Criterion by criterion: a shift by one criterion's exposures brings the same arms under the next criterion.
    treatments = [(place, criterion, order) for criterion in criteria for place, order in shown]
    square = [tuple(treatments[number] for number in row) for row in williams(len(treatments))]
    exchanged = [
        tuple((place, criterion, _EXCHANGED[order]) for place, criterion, order in row) for row in square
    ]
    return square if exchanged == square else square + exchanged


def _rows(member: Member, sequence: _Sequence, blocks: Sequence[int], index: int) -> list[Row]:
    arms = ".".join(str(place) for place, _, _ in sequence)
    rows = []
    for number, comparison in enumerate(member.comparisons):
        own = [turn for turn, (place, _, _) in enumerate(sequence) if place == number]
        rows.append(
            Row(
                comparison,
                f"{index}.{number}.{arms}",
                tuple(sequence[turn][1:] for turn in own),
                tuple(blocks[turn] for turn in own),
            )
        )
    return rows
