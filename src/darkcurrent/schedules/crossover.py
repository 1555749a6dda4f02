"""Schedule `crossover`: cohorts of items over temporal blocks, the sequences of criterion and order drawn at random.

An item that is shown E times gets E blocks of its own out of 2 E, two apart. Its comparisons (clone, signal) take
turns over them in a rotation that differs by cohort, so that each block holds each arm about equally often. The calls
of one comparison follow a Williams sequence of its treatments; in a cohort each sequence is used equally often.
**Which item of the cohort gets which is drawn at random**: that is what a randomization test draws again.

With two criteria, clones and signal pairs, E is 6: twelve blocks and six cohorts, for 102 items of 17 each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from darkcurrent.records import Battery
from darkcurrent.schedules.asked import Plan, treatments_of
from darkcurrent.schedules.layout import Group, Member, Row, grouped, laid_out
from darkcurrent.schedules.stream import Stream
from darkcurrent.schedules.williams import williams

__all__ = ["crossover"]


def crossover(battery: Battery, criteria: Iterable[str], seed: int) -> Plan:
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
    rows = [row for index, group in enumerate(groups) for row in _rows(group, index, longest, criteria, seed)]
    return laid_out("crossover", seed, rows)


def _rows(group: Group, index: int, longest: int, criteria: Sequence[str], seed: int) -> list[Row]:
    turns = _turns(group.sizes)
    rotations = next(n for n in range(1, len(turns) + 1) if turns[n:] + turns[:n] == turns)
    dealt = 0
    rows = []
    for cohort, members in enumerate(_cohorts(group, rotations, index, seed)):
        half, shift = divmod(cohort, rotations)
        pattern = turns[shift:] + turns[:shift]
        blocks = [2 * (turn * longest // len(turns)) + half for turn in range(len(turns))]
        for place in range(len(group.sizes)):
            treatments = treatments_of(members[0].comparisons[place], criteria)
            sequences = williams(len(treatments))
            # Each cohort goes on where the one before ended, so that over all of them the counts differ by 1.
            numbers = [(dealt + member) % len(sequences) for member in range(len(members))]
            drawn = Stream(seed, f"crossover/{index}/{cohort}/{place}").shuffled(numbers)
            own = tuple(block for block, turn in zip(blocks, pattern, strict=True) if turn == place)
            rows += [
                Row(
                    member.comparisons[place],
                    f"{index}.{cohort}.{place}",
                    tuple(treatments[treatment] for treatment in sequences[number]),
                    own,
                )
                for member, number in zip(members, drawn, strict=True)
            ]
        dealt += len(members)
    return rows


def _turns(sizes: Sequence[int]) -> list[int]:
    """Return which comparison has which turn: each spread evenly over an item's exposures."""
    spread = [
        ((2 * turn + 1) / (2 * size), place) for place, size in enumerate(sizes) for turn in range(size)
    ]
    return [place for _, place in sorted(spread)]


def _cohorts(group: Group, rotations: int, index: int, seed: int) -> list[list[Member]]:
    """Deal the items out to cohorts, stratum by stratum, in random order.

    There is one for each rotation of the turns in each half of the blocks. Items that are too few for that all go to
    one half, and to no more cohorts than can hold each sequence once: in a smaller one little could have been drawn
    otherwise.
    """
    room = max(1, len(group.members) // max(len(williams(size)) for size in group.sizes))
    count = 2 * rotations if room >= 2 * rotations else min(rotations, room)
    members = []
    for stratum, own in groupby(sorted(group.members, key=lambda m: m.stratum), key=lambda m: m.stratum):
        members += Stream(seed, f"crossover/{index}/{stratum}").shuffled(own)
    return [sorted(members[cohort::count], key=lambda m: m.item) for cohort in range(count)]
