"""Whether a made schedule keeps what its kind promises: the check before anything is frozen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from darkcurrent.errors import ProtocolError
from darkcurrent.protocol.model import ScheduleTable
from darkcurrent.records import Battery, Call
from darkcurrent.schedules.asked import everything, kind_of
from darkcurrent.schedules.assignment import ArmAssignment, DrawnComparison, StoredAssignment
from darkcurrent.schedules.balance import balance_report, by_comparison, by_item, comparison_of
from darkcurrent.schedules.hashed import place_of_call
from darkcurrent.schedules.shuffled import PURPOSE
from darkcurrent.schedules.stream import Stream

__all__ = ["faults", "refuse_unfit"]


def refuse_unfit(
    table: ScheduleTable,
    battery: Battery,
    criteria: Iterable[str],
    schedules: Mapping[str, Sequence[Call]],
    assignment: StoredAssignment | None,
) -> None:
    """Refuse schedules that are not what they are called.

    Parameters
    ----------
    table : ScheduleTable
        What was declared.
    battery, criteria
        What is to be asked.
    schedules : mapping of str to sequence of Call
        By configuration, in dispatch order.
    assignment : StoredAssignment or None
        What was drawn.

    Raises
    ------
    ProtocolError
        With the first fault that was found.
    """
    orders = {name: [_asked(call) for call in calls] for name, calls in schedules.items()}
    (first, order), *others = orders.items()
    found = [
        f"configurations `{first}` and `{name}` are not asked the same in the same order"
        for name, other in others
        if other != order
    ]
    for name, calls in schedules.items():
        found += [f"configuration `{name}`: {fault}" for fault in _whole(battery, criteria, calls)]
    found = found or faults(table, schedules[first], assignment)
    if found:
        more = f" (and {len(found) - 1} more faults)" if len(found) > 1 else ""
        raise ProtocolError(
            f"The schedule `{table.kind}` does not meet its own design: {found[0]}{more}. Nothing was frozen; "
            "report this as a fault of darkcurrent, with the protocol."
        )


def faults(table: ScheduleTable, calls: Sequence[Call], assignment: StoredAssignment | None) -> list[str]:
    """Return what is wrong with the schedule of one configuration, by its declared kind; [] where nothing is."""
    if table.kind == "hash":
        places = [place_of_call(call, table.seed) for call in calls]
        return [] if places == sorted(places) else ["the calls are not in the order of their hashes"]
    if table.kind == "shuffle":
        drawn = Stream(table.seed, PURPOSE).shuffled(sorted(map(_asked, calls)))
        return (
            []
            if drawn == [_asked(call) for call in calls]
            else ["the calls are not in the order that the seed draws"]
        )
    if assignment is None:
        return ["no random assignment is stored"]
    return [
        *_against_assignment(calls, assignment),
        *_exposures(calls),
        *_counts(table.kind, calls),
        *(_cohorts(calls, assignment) if table.kind == "crossover" else ()),
    ]


def _asked(call: Call) -> tuple[str, ...]:
    return (*comparison_of(call), call.criterion, call.order)


def _whole(battery: Battery, criteria: Iterable[str], calls: Sequence[Call]) -> Iterable[str]:
    expected: Counter[tuple[str, ...]] = Counter(
        (c.item, *kind_of(c), c.u, c.v, one.criterion, one.order)
        for one in everything(battery, criteria)
        for c in [one.comparison]
    )
    scheduled = Counter(map(_asked, calls))
    if scheduled != expected:
        wrong = min((expected - scheduled) + (scheduled - expected))
        yield f"`{wrong[0]}` is asked {scheduled[wrong]} times and not {expected[wrong]} as {', '.join(filter(None, wrong[1:]))}"
    doubled = [call_id for call_id, count in Counter(call.call_id for call in calls).items() if count > 1]
    if doubled:
        yield f"{len(doubled)} requests are scheduled more than once: two items show the same"
    if [call.position for call in calls] != list(range(len(calls))):
        yield "the positions do not count the calls"
    blocks = [call.block for call in calls]
    if blocks and (blocks[0] != 0 or any(after - before not in (0, 1) for before, after in pairwise(blocks))):
        yield "the blocks do not follow each other"


def _against_assignment(calls: Sequence[Call], assignment: StoredAssignment) -> Iterable[str]:
    """Compare every comparison's calls, in time, with what was stored."""
    left = by_comparison(calls)
    for arm in assignment.arms:
        for drawn in arm.drawn:
            own = left.pop(key_of(arm, drawn), [])
            given = [arm.treatments[number] for number in arm.sequences[drawn.sequence]]
            if [(call.criterion, call.order) for call in own] != given:
                yield f"`{drawn.item}` is not asked in the stored sequence"
            elif tuple(call.block for call in own) != drawn.blocks:
                yield f"`{drawn.item}` is not asked in the stored blocks"
    for item, *_ in left:
        yield f"nothing was drawn for `{item}`"
    place = {item: number for number, item in enumerate(assignment.items)}
    for before, after in pairwise(calls):
        if before.block == after.block and place.get(before.item, -1) >= place.get(after.item, -1):
            yield f"`{after.item}` does not stand in the stored order of items"


def key_of(arm: ArmAssignment, drawn: DrawnComparison) -> tuple[str, ...]:
    """Return the key of a drawn comparison, as `by_comparison` has it."""
    kind = (arm.arm, arm.null_stratum or "", arm.step or "", arm.context or "")
    return (drawn.item, *kind, drawn.u, drawn.v)


def _exposures(calls: Sequence[Call]) -> Iterable[str]:
    for (item,), own in by_item(calls).items():
        if len({call.block for call in own}) < len(own):
            yield f"`{item}` is shown twice in one block"


def _counts(kind: str, calls: Sequence[Call]) -> Iterable[str]:
    """Compare the counts with what so many units allow: 1 apart, and 2 where a Williams design is two squares."""
    for group in balance_report(calls, kind).groups:
        low, high = group.period_range
        if high - low > 1:
            yield f"{group.name}: a treatment falls on one period {low} times and on another {high} times"
        carried = group.carry_over_range
        odd = len(group.treatments) % 2
        if carried and carried[1] - carried[0] > 1 + odd:
            yield f"{group.name}: one treatment follows another {carried[0]} times, and others {carried[1]} times"


def _cohorts(calls: Sequence[Call], assignment: StoredAssignment) -> Iterable[str]:
    """In a cohort each sequence is used equally often, and over the cohorts each stratum is dealt out evenly."""
    stratum = {call.item: call.stratum for call in calls}
    for arm in assignment.arms:
        members: dict[str, list[DrawnComparison]] = {}
        for drawn in arm.drawn:
            members.setdefault(drawn.cohort, []).append(drawn)
        for cohort, own in members.items():
            used = Counter(drawn.sequence for drawn in own)
            least = min(used[number] for number in range(len(arm.sequences)))
            if max(used.values()) - least > 1:
                yield f"cohort {cohort} uses one sequence {least} times and another {max(used.values())} times"
        groups: dict[tuple[str, str], list[Counter[str]]] = {}
        for cohort, own in members.items():
            group, _, place = cohort.split(".")
            groups.setdefault((group, place), []).append(Counter(stratum[drawn.item] for drawn in own))
        for dealt in groups.values():
            for name in sorted(set().union(*dealt)):
                counts = [counter[name] for counter in dealt]
                if max(counts) - min(counts) > 1:
                    yield f"stratum `{name}` is not dealt out evenly to the cohorts: {min(counts)} to {max(counts)} items"
