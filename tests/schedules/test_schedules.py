"""Every schedule asks everything once, the same for every configuration, and keeps what its kind promises."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkcurrent.canonical import digest
from darkcurrent.errors import ProtocolError
from darkcurrent.schedules import balance_report, calls_of, refuse_unfit
from darkcurrent.schedules.faults import faults
from support.schedules import battery_of, scheduled

KINDS = ["hash", "shuffle", "crossover", "carryover"]
BALANCED = ["crossover", "carryover"]

arm_sets = st.lists(
    st.sampled_from(["clone", "signal", "equivalent", "easy", "hard", "hard-too", "absent", "present"]),
    min_size=1,
    max_size=4,
    unique=True,
).map(tuple)
criteria_sets = st.sampled_from([("neutral",), ("neutral", "strict"), ("a", "b", "c")])


def _asked(call) -> tuple:
    return (
        call.item,
        call.arm,
        call.null_stratum,
        call.step,
        call.context,
        call.criterion,
        call.order,
        call.slot_a,
        call.slot_b,
    )


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(KINDS), st.integers(1, 30), arm_sets, criteria_sets, st.integers(0, 3), st.integers(0, 9)
)
def test_everything_is_asked_once_and_the_design_is_met(kind, count, arms, criteria, edges, seed):
    battery = battery_of(count, arms, edges)
    table, plan, calls = scheduled(kind, battery, criteria, seed)
    expected = {
        (
            c.item,
            c.arm,
            c.null_stratum,
            c.step,
            c.context,
            criterion,
            order,
            *((c.v, c.u) if order == "BA" else (c.u, c.v)),
        )
        for c in battery.comparisons
        for criterion in criteria
        for order in (["IDENTICAL"] if c.arm == "clone" else ["AB", "BA"])
    }
    assert Counter(map(_asked, calls)) == Counter(dict.fromkeys(expected, 1))
    assert len({call.call_id for call in calls}) == len(calls)
    assert [call.position for call in calls] == list(range(len(calls)))
    assert all(after.block - before.block in (0, 1) for before, after in pairwise(calls))
    assert calls[0].block == 0
    refuse_unfit(table, battery, criteria, {"judge": calls}, plan.assignment)


@pytest.mark.parametrize("kind", KINDS)
def test_every_configuration_is_asked_in_the_same_order_under_other_ids(kind):
    battery = battery_of(7)
    _, plan, one = scheduled(kind, battery)
    two = calls_of(plan, battery, {call.criterion: call.rubric for call in one}, "other", "2" * 64)
    assert list(map(_asked, one)) == list(map(_asked, two))
    assert not {call.call_id for call in one} & {call.call_id for call in two}


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_a_source_and_of_the_criteria_says_nothing(kind):
    battery = battery_of(9, ("clone", "signal", "equivalent"), edges=2)
    turned = battery.model_copy(
        update={"items": battery.items[::-1], "comparisons": battery.comparisons[::-1]}
    )
    assert scheduled(kind, turned)[2] == scheduled(kind, battery)[2]
    assert scheduled(kind, battery, ("strict", "neutral"))[1:] == scheduled(kind, battery)[1:]


GOLDEN = {
    "hash": "bbdc20d222b9ee239cf697ec169465327634feba18769284bbf8d6ac28c9f517",
    "shuffle": "97a25bd2ca327042c4411110aa5da4a4d2730e9906575eba0853cc8e0f55827d",
    "crossover": "6f89b1f805002ef8f08b7efdc77322f4a8ee2f186c05d790dbe131ba9c0b09a8",
    "carryover": "cc6f71fb48260c301c6c23187fab1185a54441bceab54416490d68ad643ca182",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_schedule_on_every_machine_and_another_one_another(kind):
    """The digests were computed once; a change of them breaks every study that is to be made again."""
    battery = battery_of(13, ("clone", "signal"), edges=2)
    _, plan, calls = scheduled(kind, battery, seed=20_261_001)
    stored = plan.assignment.model_dump(mode="json") if plan.assignment else None
    assert digest([stored, [(call.block, call.call_id) for call in calls]]) == GOLDEN[kind]
    other = scheduled(kind, battery, seed=20_261_002)[2]
    assert list(map(_asked, other)) != list(map(_asked, calls))


def test_a_shuffle_puts_any_call_anywhere():
    """Of 400 seeds, each of the 12 calls of two items comes first about 33 times; 6 standard deviations are 34."""
    firsts = Counter(_asked(scheduled("shuffle", battery_of(2), seed=seed)[2][0]) for seed in range(400))
    assert len(firsts) == 12
    assert max(firsts.values()) < 68


@pytest.mark.parametrize("start", range(1, 151, 30))
@pytest.mark.parametrize("kind", BALANCED)
def test_counts_differ_by_no_more_than_the_number_of_items_forces(kind, start):
    """For 1 to 150 items, counted here again by hand: the check of the package is under test too."""
    for count in range(start, start + 30):
        _check_counts(kind, count)


def _check_counts(kind, count):
    _, _, calls = scheduled(kind, battery_of(count))
    by_unit: dict[tuple, list] = {}
    for call in calls:
        unit = (call.item, call.arm if kind == "crossover" else None)
        by_unit.setdefault(unit, []).append((call.arm, call.criterion, call.order))
    for arm in ("clone", "signal") if kind == "crossover" else (None,):
        sequences = [own for (_, of), own in by_unit.items() if of == arm]
        treatments = sorted({one for own in sequences for one in own})
        size = len(treatments)
        periods = Counter((period, one) for own in sequences for period, one in enumerate(own))
        least, most = count // size, -(-count // size)
        assert {periods[period, one] for period in range(size) for one in treatments} <= {least, most}
        carried = Counter(pair for own in sequences for pair in pairwise(own))
        assert {carried[a, b] for a in treatments for b in treatments if a != b} <= {least, most}
    blocks = Counter((call.item, call.block) for call in calls)
    assert set(blocks.values()) == {1}


def test_the_primary_study_has_twelve_equal_blocks():
    _, plan, calls = scheduled("crossover", battery_of(102))
    found = balance_report(calls, "crossover")
    assert found.blocks == (51,) * 12
    assert found.arms == {"clone core": (17,) * 12, "signal": (34,) * 12}
    assert found.distances.least == 102
    assert found.shared_blocks == 0
    cohorts = {drawn.cohort for drawn in plan.assignment.arms[0].drawn}
    assert len(cohorts) == 6
    strata = {call.item: call.stratum for call in calls}
    by_cohort = Counter((drawn.cohort, strata[drawn.item]) for drawn in plan.assignment.arms[0].drawn)
    assert set(by_cohort.values()) <= {2, 3}


def test_the_replication_is_balanced_to_the_last_count_at_102_items():
    found = balance_report(scheduled("carryover", battery_of(102))[2], "carryover")
    (group,) = found.groups
    assert (group.period_range, group.carry_over_range) == ((17, 17), (17, 17))
    assert found.blocks == (102,) * 6
    assert (
        len(found.not_balanced) == 1
    )  # what no design of this kind balances: one item's call after another's


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("hash", ["Nothing is balanced by design"]),
        ("crossover", ["103 comparisons are no multiple of 4", "A block holds 51 to 52 calls"]),
        ("carryover", ["103 items are no multiple of 6"]),
    ],
)
def test_what_cannot_be_balanced_is_said_in_words(kind, words):
    found = " ".join(balance_report(scheduled(kind, battery_of(103))[2], kind).not_balanced)
    assert all(word in found for word in words), found


def test_comparisons_of_one_arm_are_numbered_and_a_long_list_of_arms_is_short_for_people():
    arms = ("clone", "signal", "easy", "hard", "hard-too")
    (group,) = balance_report(scheduled("carryover", battery_of(3, arms))[2], "carryover").groups
    assert group.name == "clone core, ladder gap-1, ladder gap-1 #2, ladder gap-5, signal"
    assert group.short_name == "clone core and 4 more arms"


def test_with_few_items_the_arms_do_not_take_turns_and_that_is_said():
    found = balance_report(scheduled("crossover", battery_of(5))[2], "crossover")
    assert len(found.blocks) == 6
    assert found.arms["signal"].count(0) == 2
    assert "Some blocks hold no call of `signal` and others up to 5" in " ".join(found.not_balanced)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_whichever_two_calls_are_swapped_the_schedule_is_refused(kind, data):
    battery = battery_of(9, ("clone", "signal", "hard", "hard-too"), edges=1)
    table, plan, calls = scheduled(kind, battery)
    one, two = data.draw(st.lists(st.integers(0, len(calls) - 1), min_size=2, max_size=2, unique=True))
    doctored = list(calls)
    for here, there in ((one, two), (two, one)):
        place = {"position": calls[here].position, "block": calls[here].block}
        doctored[here] = calls[there].model_copy(update=place)
    with pytest.raises(ProtocolError, match=f"The schedule `{kind}` does not meet its own design"):
        refuse_unfit(table, battery, ("neutral", "strict"), {"judge": doctored}, plan.assignment)


def test_a_call_left_out_doubled_or_in_another_order_for_one_configuration_is_refused():
    battery = battery_of(4)
    table, _, calls = scheduled("shuffle", battery)
    for wrong, words in [
        (calls[:-1], "is asked 0 times and not 1"),
        ((*calls[:-1], calls[0]), "more faults"),
        ([c.model_copy(update={"position": c.position + 1}) for c in calls], "positions do not count"),
        ([c.model_copy(update={"block": 2 * c.position}) for c in calls], "blocks do not follow"),
    ]:
        with pytest.raises(ProtocolError, match=words):
            refuse_unfit(table, battery, ("neutral", "strict"), {"judge": wrong}, None)
    other = scheduled("shuffle", battery, seed=2)[2]
    with pytest.raises(ProtocolError, match="`one` and `two` are not asked the same in the same order"):
        refuse_unfit(table, battery, ("neutral", "strict"), {"one": calls, "two": other}, None)


@pytest.mark.parametrize("kind", BALANCED)
def test_a_plan_with_the_draws_of_another_seed_or_without_them_is_refused(kind):
    battery = battery_of(20)
    table, _, calls = scheduled(kind, battery, seed=1)
    other = scheduled(kind, battery, seed=2)[1].assignment
    assert faults(table, calls, None) == ["no random assignment is stored"]
    assert "is not asked in the stored" in faults(table, calls, other)[0]


def test_a_crossover_whose_sequences_are_all_the_same_is_refused_though_it_keeps_what_it_stored():
    """A generator that draws badly and stores faithfully: only the counts can tell."""
    battery = battery_of(24, ("signal",))
    table, plan, calls = scheduled("crossover", battery)
    (arm,) = plan.assignment.arms
    worse = arm.model_copy(update={"drawn": tuple(d.model_copy(update={"sequence": 0}) for d in arm.drawn)})
    place = {(drawn.item, block): number for drawn in arm.drawn for number, block in enumerate(drawn.blocks)}
    first = [arm.treatments[number] for number in arm.sequences[0]]
    texts = {(call.item, call.criterion, call.order): call for call in calls}
    doctored = [
        texts[(call.item, *first[place[call.item, call.block]])].model_copy(
            update={"position": call.position, "block": call.block}
        )
        for call in calls
    ]
    found = faults(table, doctored, plan.assignment.model_copy(update={"arms": (worse,)}))
    assert any("falls on one period 0 times and on another 24 times" in fault for fault in found)
    assert any("uses one sequence" in fault for fault in found)
