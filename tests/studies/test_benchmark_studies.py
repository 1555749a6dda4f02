"""The studies on benchmark rows: what was planted comes out, and the three questions are answered apart."""

from __future__ import annotations

import json

import polars as pl
import pytest

from darkcurrent.schedules import balance_report
from darkcurrent.study import Study
from support.arms import cells_of
from support.paper import SUBSETS, Ran, cli, simulated
from support.planted import count, near, said

CRITERIA = ("neutral", "strict")


def assert_counted(ran: Ran, *names: str) -> None:
    """Compare each cell with plain counts of what its judge says."""
    cells = cells_of(ran.analysis)
    for name in names:
        for criterion in CRITERIA:
            cell, wanted = cells[name, criterion], count(ran.study, name, criterion)
            core, signal, verdicts = cell.clone["core"], cell.signal, cell.signal.verdicts
            assert (core.n, core.adverse) == wanted.core
            assert {order: one.success for order, one in signal.orders.items()} == wanted.orders
            found = (verdicts.correct, verdicts.tie, verdicts.wrong, verdicts.invalid)
            assert found == wanted.verdicts
            assert signal.mean == pytest.approx(wanted.mean, abs=1e-12)
            strata = {stratum: (one.items, one.mean) for stratum, one in signal.strata.items()}
            assert strata == {
                stratum: (len(scores), pytest.approx(sum(scores) / len(scores), abs=1e-12))
                for stratum, scores in wanted.scores.items()
            }


REUSED = {  # another seed than 0, under which 2 % of 204 clones happen to be none
    "dark_2": "dark_current = 0.02\nutility = 0.9\nseed = 3",
    "dark_20": "dark_current = 0.2\nutility = 0.9",
    "stable": 'habit = "stable"',
    "first": 'habit = "first"',
}


@pytest.fixture(scope="module")
def reused(ran):
    return ran("reused-items", simulated(**REUSED))


@pytest.fixture(scope="module")
def fresh(ran, reused):
    judges = {
        "jumpy": "dark_current = 0.2",
        "careful": "criteria = { strict = { utility = 0.6, ties = 1.0 } }",
        "ties": 'habit = "tie"',
    }
    return ran("fresh-items", simulated(**judges))


# ------------------------------------------------------------------ reused-items and its replication


def test_reused_items_recover_a_dark_current_of_2_and_of_20_percent(reused):
    assert_counted(reused, "simulated", "dark-2", "dark-20", "stable")
    cells = cells_of(reused.analysis)
    adverse = {
        name: [cells[name, criterion].clone["core"].adverse for criterion in CRITERIA]
        for name in ("simulated", "dark-2", "dark-20")
    }
    assert adverse["simulated"] == [0, 0]
    assert sum(adverse["dark-2"]) / 204 == near(0.02, 204)
    assert sum(adverse["dark-2"]) > 0
    assert sum(adverse["dark-20"]) / 204 == near(0.2, 204)
    assert cells["dark-20", "neutral"].clone["core"].gate == "MISS"
    for name in adverse:
        assert cells[name, "neutral"].signal.mean == near(0.9, 204)
    assert {family.gate for family in reused.analysis.tests} == {"NOT GRADED"}
    assert "stores no" in reused.analysis.tests[0].reason


def test_a_taste_for_content_is_the_same_in_both_orders(reused):
    for criterion in CRITERIA:
        cell = cells_of(reused.analysis)["stable", criterion]
        assert cell.patterns["signal"]["stable"] == 102
        assert cell.clone["core"].adverse == 0
        assert cell.signal.orders["AB"].success == cell.signal.orders["BA"].success
        assert cell.signal.mean == near(0.5, 102)


def test_a_judge_that_takes_the_first_slot_is_half_right_and_passes_nothing(reused):
    for criterion in CRITERIA:
        cell = cells_of(reused.analysis)["first", criterion]
        assert (cell.clone["core"].adverse, cell.clone["core"].a) == (102, 102)
        assert cell.patterns["signal"]["position"] == 102
        assert (cell.signal.mean, cell.signal.orders["AB"].success, cell.signal.orders["BA"].success) == (
            0.5,
            102,
            0,
        )
        assert cell.joint == "neither gate"


@pytest.fixture(scope="module")
def replication(ran, reused):
    """Two of the judges again under their names, the second one with other draws."""
    return ran("replication", simulated(dark_20=REUSED["dark_20"] + "\nseed = 1"))


def _verdicts(ran: Ran) -> dict[tuple[str, ...], str]:
    key = ("configuration", "item", "arm", "criterion", "order")
    return {
        tuple(row[name] for name in key): row["value"] for row in ran.study.ledger().iter_rows(named=True)
    }


def test_a_replication_asks_the_same_in_another_order_and_gets_the_same_verdicts(reused, replication):
    earlier, later = (one.study.frozen.schedule("simulated") for one in (reused, replication))
    asked = [[(c.item, c.arm, c.criterion, c.order, c.shown) for c in calls] for calls in (earlier, later)]
    assert sorted(asked[0]) == sorted(asked[1])
    assert asked[0] != asked[1]
    (group,) = balance_report(later, "carryover").groups
    assert {*group.period_range, *group.carry_over_range} == {17}
    before, after = _verdicts(reused), _verdicts(replication)
    assert after.keys() == {key for key in before if key[0] in ("simulated", "dark-20")}
    changed = {key for key in after if before[key] != after[key]}
    assert {key[0] for key in changed} == {"dark-20"}
    assert len(changed) == sum(
        one[1] != other[1]
        for one, other in zip(
            *(
                sorted(said(one.study, "dark-20"), key=lambda pair: (pair[0].criterion, pair[0].shown))
                for one in (reused, replication)
            ),
            strict=True,
        )
    )


def test_compare_says_verdict_by_verdict_what_was_reproduced_and_what_changed(reused, replication):
    folders = reused.study.folder, replication.study.folder
    compared = json.loads(cli("compare", *folders, "--json")[0])
    cells = compared["cells"]
    before, after = _verdicts(reused), _verdicts(replication)
    found = {(one["base"]["configuration"], one["base"]["criterion"]): one for one in cells}
    assert len(found) == len(cells) == 4
    assert len(compared["unmatched"]) == 6, "three judges were not asked again"
    for (name, criterion), one in found.items():
        shared = [key for key in after if (key[0], key[3]) == (name, criterion)]
        same = sum(before[key] == after[key] for key in shared)
        assert (one["shared"], one["reproduced"]) == (len(shared), same) == (306, same)
        assert (same == 306) == (name != "dark-20")


def test_a_replication_has_the_tests_that_its_schedule_stores(replication):
    families = {(one.configuration, one.family): one for one in replication.analysis.tests}
    criterion = families["simulated", "criterion"]
    assert criterion.gate is None
    assert criterion.tests[0].p is not None


# ------------------------------------------------------------------ fresh-items: the two gates contradict each other


def test_fresh_items_are_fresh(reused, fresh):
    frozen = fresh.study.frozen
    assert len(frozen.items) == 102
    strata = pl.Series([item.stratum for item in frozen.items]).value_counts()
    assert set(strata["count"]) == {17}
    assert set(strata[""]) == set(SUBSETS)
    earlier = reused.study.frozen.items
    assert not {item.id for item in frozen.items} & {item.id for item in earlier}
    assert not {item.cluster for item in frozen.items} & {item.cluster for item in earlier}
    balance = balance_report(frozen.schedule("simulated"), "crossover")
    assert (balance.calls, balance.blocks, balance.shared_blocks) == (612, (51,) * 12, 0)


def test_the_two_gates_contradict_each_other_in_both_directions(fresh):
    assert_counted(fresh, "simulated", "jumpy", "careful", "ties")
    joint = {key: cell.joint for key, cell in cells_of(fresh.analysis).items()}
    assert joint == {
        ("simulated", "neutral"): "both gates pass",
        ("simulated", "strict"): "both gates pass",
        ("jumpy", "neutral"): "utility gate only",
        ("jumpy", "strict"): "utility gate only",
        ("careful", "neutral"): "both gates pass",
        ("careful", "strict"): "clone gate only",
        ("ties", "neutral"): "clone gate only",
        ("ties", "strict"): "clone gate only",
    }
    for result in set(joint.values()):
        assert result in fresh.tables
    strict = cells_of(fresh.analysis)["careful", "strict"].signal
    assert strict.mean == near(0.6, 204)
    assert strict.lower < strict.mean < 0.75
    assert (strict.verdicts.wrong, strict.verdicts.correct + strict.verdicts.tie) == (0, 204)


def test_a_criterion_that_was_planted_is_found_and_an_order_that_was_not_is_not(fresh):
    tests = {
        (family.configuration, test.contrast, family.family): test
        for family in fresh.analysis.tests
        for test in family.tests
    }
    planted = tests["careful", "criterion", "criterion"]
    neutral, strict = (count(fresh.study, "careful", criterion).mean for criterion in CRITERIA)
    sign = 1 if planted.criteria == ("strict", "neutral") else -1
    assert planted.statistic == pytest.approx(sign * (strict - neutral), abs=1e-12)
    assert planted.p_holm < 1e-4
    for name in ("simulated", "careful"):
        order = tests[name, "order", "order and criterion x order"]
        assert order.p_holm > 0.05
    assert tests["ties", "criterion", "criterion"].statistic == 0


# ------------------------------------------------------------------ studies of the same rows, and of all that are left


def test_a_re_evaluation_puts_the_same_rows_to_others(ran, fresh):
    judges = simulated(u_60="utility = 0.6", u_90="utility = 0.9\ndark_current = 0.02\nseed = 4")
    found = ran("re-evaluation", judges)
    assert_counted(found, "simulated", "u-60", "u-90")
    assert [item.id for item in found.study.frozen.items] == [item.id for item in fresh.study.frozen.items]
    assert found.study.frozen.receipt("study")["study_digest"] == fresh.study.frozen.study_digest
    cells = cells_of(found.analysis)
    for criterion in CRITERIA:
        poor, good = cells["u-60", criterion].signal, cells["u-90", criterion].signal
        assert (poor.gate, good.gate) == ("MISS", "PASS")
        assert poor.mean == near(0.6, 204)
        assert good.mean == near(0.9, 204)
        assert cells["u-60", criterion].joint == "clone gate only"
    assert {family.gate for family in found.analysis.tests} == {"NOT GRADED"}


def test_a_judge_that_fences_every_third_answer_is_held_and_the_others_are_not(ran, fresh):
    found = ran("output-contract", simulated(fences="fenced = 0.3333333333333333"))
    campaigns = {one.configuration: one for one in found.analysis.campaigns}
    fenced = sum(slot is None for _, slot in said(found.study, "fences"))
    held, clean = campaigns["fences"], campaigns["simulated"]
    assert (held.state, held.scheduled, held.terminal, held.invalid) == ("HOLD", 612, 612, fenced)
    assert fenced / 612 == near(1 / 3, 612)
    assert (clean.state, clean.invalid) == ("COMPLETE", 0)
    cells = cells_of(found.analysis)
    for criterion in CRITERIA:
        cell = cells["fences", criterion]
        assert cell.joint == "HOLD"
        assert {cell.clone["core"].upper, cell.clone["core"].p, cell.signal.mean, cell.signal.lower} == {None}
        assert cells["simulated", criterion].joint == "both gates pass"
    assert "Invalid answers by arm and order (layout of table 8)" in found.tables
    readings = {one.contract: one for one in held.sensitivity}
    assert (readings["legacy"].accepted, readings["legacy"].gained) == (612 - fenced, 0)


WEAK = 'utility = 0.97\nweak = { "Precise IF" = 0.35 }'


def test_an_extension_takes_all_that_is_left_and_shows_the_weak_stratum_behind_a_pass(ran, fresh, reused):
    found = ran("extension", simulated(weak=WEAK))
    assert_counted(found, "simulated", "weak")
    frozen = found.study.frozen
    left = {subset: rows - 34 for subset, rows in SUBSETS.items()}
    assert {item.stratum for item in frozen.items} == set(SUBSETS)
    assert len(frozen.items) == sum(left.values())
    used = {item.id for one in (fresh, reused) for item in one.study.frozen.items}
    assert not used & {item.id for item in frozen.items}
    signal = cells_of(found.analysis)["weak", "strict"].signal
    assert (signal.gate, signal.strata["Precise IF"].items) == ("PASS", left["Precise IF"])
    assert signal.strata["Precise IF"].mean == near(0.35, 60)
    assert all(one.mean > 0.85 for name, one in signal.strata.items() if name != "Precise IF")
    assert signal.macro == pytest.approx(sum(one.mean for one in signal.strata.values()) / 6, abs=1e-12)
    assert signal.nested["first-25"].items == 150
    nested = {item.id for item in frozen.items if "first-25" in item.facts["nested"]}
    right = [
        slot in ("A", "B") and (call.slot_a if slot == "A" else call.slot_b) == call.target
        for call, slot in said(found.study, "weak")
        if call.item in nested and (call.arm, call.criterion) == ("signal", "strict")
    ]
    assert len(right) == 300
    assert signal.nested["first-25"].mean == pytest.approx(sum(right) / 300, abs=1e-12)


def test_freezing_a_study_of_rows_again_gives_the_same_bytes(workplace, fresh):
    """Another folder beside the first one: nothing but the declared inputs enters."""
    again = workplace / "fresh-again"
    again.mkdir()
    (again / "protocol.toml").write_bytes((workplace / "fresh-items" / "protocol.toml").read_bytes())
    cli("freeze", again)
    assert Study(again).frozen.study_digest == fresh.study.frozen.study_digest
