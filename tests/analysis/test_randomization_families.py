"""From a drawn schedule through capture to its randomization tests, with simulated judges of planted properties."""

from __future__ import annotations

import json
from itertools import permutations, product

import numpy as np
import pytest

from darkcurrent.reports.tables import all_tables
from darkcurrent.results import Analysis, FamilyResult
from darkcurrent.study import Study

_PROTOCOL = """format = 1
[study]
name = "randomized"
[battery]
source = "pairs"
path = "pairs.jsonl"
{criteria}
{configurations}
[schedule]
kind = "{kind}"
seed = 5
[capture]
in_flight = 16
"""


def _study(folder, kind, judges, items=24, criteria=("neutral", "strict")):
    folder.mkdir(parents=True)
    rows = [
        {
            "id": f"i{n}",
            "prompt": f"Q{n}",
            "chosen": f"good {n}",
            "rejected": f"bad {n}",
            "stratum": f"s{n % 3}",
        }
        for n in range(items)
    ]
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    text = _PROTOCOL.format(
        kind=kind,
        criteria="".join(f'[criteria.{name}]\nrubric = "{name}"\n' for name in criteria),
        configurations="".join(
            f'[[configuration]]\nname = "{name}"\nbackend = "simulated"\n[configuration.properties]\n{properties}\n'
            for name, properties in judges.items()
        ),
    )
    (folder / "protocol.toml").write_text(text, encoding="utf-8")
    study = Study(folder)
    study.freeze()
    return study


def _analyzed(study) -> Analysis:
    for configuration in study.frozen.protocol.configuration:
        study.run(configuration.name)
    return study.analyze()


def _families(analysis: Analysis, name: str) -> dict[str, FamilyResult]:
    return {found.family: found for found in analysis.tests if found.configuration == name}


JUDGES = {
    "strict-is-worse": "utility = 0.95\ncriteria.strict = { utility = 0.35 }",
    "strict-is-darker": "criteria.strict = { dark_current = 0.8 }",
    "first": 'habit = "first"',
    "fenced": "fenced = 0.5",
}


@pytest.fixture(scope="module", params=["crossover", "carryover"])
def planted(request, tmp_path_factory):
    study = _study(tmp_path_factory.mktemp("study") / request.param, request.param, JUDGES, items=30)
    return study, _analyzed(study)


def test_a_planted_effect_of_the_criterion_is_found_and_no_other(planted):
    families = _families(planted[1], "strict-is-worse")
    (criterion,) = families["criterion"].tests
    assert criterion.criteria == ("strict", "neutral")
    assert criterion.statistic < -0.4
    assert criterion.p < criterion.p_holm < 1e-4
    order, interaction = families["order and criterion x order"].tests
    assert (order.orders, interaction.orders) == (("AB", "BA"), ("BA", "AB"))
    assert min(order.p_holm, interaction.p_holm) > 0.05
    assert families["clone-criterion"].tests[0].p == 1


def test_a_planted_effect_on_clones_is_found_and_no_other(planted):
    families = _families(planted[1], "strict-is-darker")
    (clone,) = families["clone-criterion"].tests
    assert clone.statistic > 0.5
    assert clone.p_holm < 1e-3
    assert families["criterion"].tests[0].p == 1


def test_a_judge_that_takes_the_first_slot_is_found_by_the_order_test(planted):
    families = _families(planted[1], "first")
    order, interaction = families["order and criterion x order"].tests
    assert order.statistic == 1
    assert order.p_holm < 1e-4
    assert interaction.statistic == 0
    assert families["clone-criterion"].tests[0].degenerate == "constant"


def test_the_statistics_are_the_differences_of_the_cells(planted):
    """The table of cells knows nothing of the assignment: both ways to count give one number."""
    analysis = planted[1]
    cells = {(cell.configuration, cell.criterion): cell for cell in analysis.cells}
    for name in ("strict-is-worse", "strict-is-darker", "first"):
        strict, neutral = cells[name, "strict"].signal, cells[name, "neutral"].signal
        families = _families(analysis, name)
        assert families["criterion"].tests[0].statistic == pytest.approx(strict.mean - neutral.mean)

        def rate(signal, order):
            return signal.orders[order].success / signal.orders[order].n

        order, interaction = families["order and criterion x order"].tests
        means = {o: (rate(strict, o) + rate(neutral, o)) / 2 for o in ("AB", "BA")}
        assert order.statistic == pytest.approx(means["AB"] - means["BA"])
        expected = rate(strict, "BA") - rate(strict, "AB") - (rate(neutral, "BA") - rate(neutral, "AB"))
        assert interaction.statistic == pytest.approx(expected)
        clones = [cells[name, criterion].clone["core"] for criterion in ("strict", "neutral")]
        expected = clones[0].adverse / clones[0].n - clones[1].adverse / clones[1].n
        assert families["clone-criterion"].tests[0].statistic == pytest.approx(expected)


def test_a_held_campaign_has_no_test_and_stays_in_the_size_of_its_families(planted):
    analysis = planted[1]
    for found in _families(analysis, "fenced").values():
        assert (found.gate, found.tests) == ("HOLD", [])
        assert found.reason
    (criterion,) = _families(analysis, "strict-is-worse")["criterion"].tests
    assert criterion.p_holm == pytest.approx(4 * criterion.p)  # the smallest of four, one of which has no p


def test_every_test_says_what_it_is_conditional_on_and_does_not_show(planted):
    study, analysis = planted
    stored = json.loads((study.folder / "frozen" / "assignment.json").read_text(encoding="utf-8"))
    assert stored["kind"] == study.frozen.protocol.schedule.kind
    tests = [test for found in analysis.tests for test in found.tests]
    assert len(tests) == 3 * 4
    for test in tests:
        assert test.units == 30
        assert "invalid answer" in test.outcome
        assert "in each cohort" in test.conditional_on
        assert "not for one cause" in test.does_not_identify
        assert (test.draws is None) == (test.method != "monte-carlo")


def test_the_report_shows_each_test_in_a_row_and_of_the_held_campaign_the_reason(planted):
    (table,) = (table for table in all_tables(planted[1]) if table.key == "tests")
    tested = [row for row in table.rows if row[4] != "–"]
    assert len(tested) == 12
    assert {row[0] for row in tested} == {"strict-is-worse", "strict-is-darker", "first"}
    (row,) = (row for row in tested if row[0] == "first" and "AB − BA" in row[2] and "strict" not in row[2])
    assert row[3:5] == ("30", "1.000")
    assert any("strict − neutral" in row[2] and "BA − AB" in row[2] for row in tested)
    assert all("HOLD" in row[7] for row in table.rows if row[4] == "–")
    assert "names no single cause" in table.note


def test_an_invalid_answer_is_no_success_of_a_pair_and_adverse_of_a_clone(tmp_path):
    study = _study(tmp_path / "s", "crossover", {"fenced": 'habit = "tie"\nfenced = 0.5\nseed = 1'})
    path = study.folder / "protocol.toml"
    loose = tmp_path / "loose"
    loose.mkdir()
    text = path.read_text(encoding="utf-8") + "[gates]\ninvalid_ceiling = 0.99\n"
    (loose / "protocol.toml").write_text(text, encoding="utf-8")
    (loose / "pairs.jsonl").write_bytes((study.folder / "pairs.jsonl").read_bytes())
    study = Study(loose)
    study.freeze()
    analysis = _analyzed(study)
    ledger = study.ledger().filter(arm="clone")
    invalid = {
        name: rows["value"].null_count()
        for (name,), rows in ledger.partition_by("criterion", as_dict=True).items()
    }
    assert 0 < invalid["strict"] != invalid["neutral"] > 0
    (clone,) = _families(analysis, "fenced")["clone-criterion"].tests
    assert clone.statistic == pytest.approx((invalid["strict"] - invalid["neutral"]) / 24)
    (criterion,) = _families(analysis, "fenced")["criterion"].tests
    assert (criterion.statistic, criterion.degenerate) == (0, "constant")


@pytest.mark.parametrize("kind", ["crossover", "carryover"])
def test_p_is_the_share_of_the_assignments_that_could_have_been_drawn(kind, tmp_path):
    """Counted here by hand: in every cohort the stored sequences are dealt out in all possible ways."""
    study = _study(tmp_path / "s", kind, {"judge": "utility = 0.5\nseed = 4"}, items=8)
    analysis = _analyzed(study)
    stored = json.loads((study.folder / "frozen" / "assignment.json").read_text(encoding="utf-8"))
    (arm,) = (arm for arm in stored["arms"] if arm["arm"] == "signal")
    at = {(row["item"], row["block"]): row["winner"] == "chosen" for row in study.ledger().to_dicts()}
    cohorts = {}
    for drawn in arm["drawn"]:
        cohorts.setdefault(drawn["cohort"], []).append(drawn)
    assert len(cohorts) > 1

    def contrast(sign, dealt):
        return sum(
            sign(*arm["treatments"][treatment]) * at[drawn["item"], block]
            for cohort, numbers in zip(cohorts.values(), dealt, strict=True)
            for drawn, number in zip(cohort, numbers, strict=True)
            for block, treatment in zip(drawn["blocks"], arm["sequences"][number], strict=True)
        )

    given = [[drawn["sequence"] for drawn in own] for own in cohorts.values()]
    every = list(product(*(list(permutations(numbers)) for numbers in given)))
    signs = {
        "criterion": lambda criterion, order: 1 if criterion == "strict" else -1,
        "order": lambda criterion, order: 1 if order == "AB" else -1,
        "criterion x order": lambda criterion, order: 1 if (criterion == "strict") == (order == "BA") else -1,
    }
    found = [test for own in analysis.tests for test in own.tests if own.family != "clone-criterion"]
    assert {test.contrast for test in found} == signs.keys()
    for test in found:
        observed = abs(contrast(signs[test.contrast], given))
        hits = sum(abs(contrast(signs[test.contrast], dealt)) >= observed for dealt in every)
        assert test.p == pytest.approx(hits / len(every)), test.contrast
    assert any(test.p < 1 for test in found)


@pytest.mark.parametrize("kind", ["hash", "shuffle"])
def test_a_schedule_without_a_stored_assignment_gets_no_test(kind, tmp_path):
    study = _study(tmp_path / "s", kind, {"judge": ""}, items=3)
    assert study.frozen.assignment is None
    for found in _analyzed(study).tests:
        assert (found.gate, found.tests) == ("NOT GRADED", [])
        assert f"`{kind}` stores no random assignment" in found.reason


def test_one_criterion_leaves_the_order_test_and_three_give_each_further_one_against_the_first(tmp_path):
    one = _analyzed(
        _study(tmp_path / "one", "crossover", {"judge": 'habit = "first"'}, criteria=("neutral",))
    )
    (found,) = one.tests
    (order,) = found.tests
    assert (found.family, order.contrast, order.criteria) == ("order and criterion x order", "order", None)
    assert order.p < 1e-4
    names = ("strict", "neutral", "code-neutral")
    three = _families(
        _analyzed(_study(tmp_path / "three", "carryover", {"judge": ""}, criteria=names)), "judge"
    )
    assert [test.criteria for test in three["criterion"].tests] == [
        ("neutral", "strict"),
        ("code-neutral", "strict"),
    ]
    assert len(three["order and criterion x order"].tests) == 3
    assert len(three["clone-criterion"].tests) == 2


@pytest.mark.parametrize("kind", ["crossover", "carryover"])
def test_judges_that_neither_criterion_nor_order_moves_get_p_values_all_over(kind, tmp_path):
    judges = {f"j{seed}": f"utility = 0.6\ndark_current = 0.4\nseed = {seed}" for seed in range(15)}
    analysis = _analyzed(_study(tmp_path / "s", kind, judges, items=12))
    tests = [test for found in analysis.tests for test in found.tests]
    pvalues = np.array([test.p for test in tests])
    assert pvalues.size == 60
    # Every draw is from a fixed seed. 3 of 60 are expected at .05 or below; more than 9 has a chance below 1 in 700.
    assert (pvalues <= 0.05).sum() <= 9
    assert (pvalues <= 0.3).sum() >= 6
    assert (pvalues > 0.5).sum() >= 15
    assert min(test.p_holm for test in tests) > 0.05
