"""Simulated judges with planted properties go through freeze, capture and analysis; what was planted comes out."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.analysis import analyze
from darkcurrent.analysis.null_pairs import evaluate_null_pairs
from darkcurrent.batteries.context import INSTRUCTION
from darkcurrent.declared import Declared
from darkcurrent.gates import HELD
from darkcurrent.judges.simulated import Key, Properties, SimulatedJudge, SimulatedServer
from darkcurrent.ledger import SCHEMA
from darkcurrent.patterns import pair_patterns
from darkcurrent.reports.tables import all_tables
from darkcurrent.reports.words import cell_sentences, limits
from darkcurrent.study import Study
from support.arms import arm_study, cells_of, run_arms


@pytest.fixture(scope="module")
def ladder(tmp_path_factory):
    judges = {
        "sees": "utility = 1.0",
        "steep": 'steps = { "gap-1" = 0.3, "gap-2" = 0.6, "gap-3" = 1.0 }\nties = 1.0',
        "ties": 'habit = "tie"',
        "first": 'habit = "first"',
        "stable": "patterns = { stable = 1.0 }",
        "mixed": 'patterns = { stable = 0.25, position = 0.25, "one-sided" = 0.25 }',
        "strict": "criteria = { strict = { utility = 0.5, ties = 1.0 } }",
    }
    battery = 'source = "ladder"\n[battery.controls]'
    return run_arms(
        tmp_path_factory.mktemp("ladder") / "s", battery, judges, criteria=("neutral", "strict"), gates=""
    )


def test_sensitivity_by_gap_and_the_smallest_gap_at_75(ladder):
    cells = cells_of(ladder[1])
    shape = {
        name: (step.items, step.pairs, step.calls)
        for name, step in cells["sees", "neutral"].ladder.steps.items()
    }
    assert shape == {
        "gap-1": (10, 50, 100),
        "gap-2": (10, 40, 80),
        "gap-3": (10, 30, 60),
        "gap-4": (10, 20, 40),
        "gap-5": (10, 10, 20),
    }
    steps = {name: step.sensitivity for name, step in cells["steep", "neutral"].ladder.steps.items()}
    assert abs(steps["gap-1"] - 0.3) < 0.14
    assert abs(steps["gap-2"] - 0.6) < 0.17
    assert steps["gap-3"] == steps["gap-4"] == steps["gap-5"] == 1
    steep = cells["steep", "neutral"].ladder.steps["gap-1"]
    assert (steep.wrong, steep.invalid, steep.tie) == (0, 0, 100 - steep.success)
    low, high = steep.interval
    assert low < steep.sensitivity < high
    smallest = {key[0]: cell.ladder.smallest_75 for key, cell in cells.items() if key[1] == "neutral"}
    assert smallest == {
        "sees": "gap-1",
        "steep": "gap-3",
        "ties": None,
        "first": None,
        "stable": "gap-1",
        "mixed": "gap-1",
        "strict": "gap-1",
    }
    assert cells["ties", "neutral"].ladder.reason == "no tested step reaches .75"
    assert {step.sensitivity for step in cells["first", "neutral"].ladder.steps.values()} == {0.5}


def test_gap_0_is_taken_apart_exactly(ladder):
    gap_0 = {
        name: cell.ladder.gap_0
        for (name, criterion), cell in cells_of(ladder[1]).items()
        if criterion == "neutral"
    }
    assert {(one.items, one.pairs, one.calls, one.invalid) for one in gap_0.values()} == {(10, 60, 120, 0)}
    parts = {name: (one.false_preference, one.scs, one.pfp, one.osc) for name, one in gap_0.items()}
    assert parts["sees"] == parts["ties"] == (0, 0, 0, 0)
    assert parts["first"] == (1, 0, 1, 0)
    assert parts["stable"] == (1, 1, 0, 0)
    mixed = gap_0["mixed"]
    assert all(abs(share - 0.25) < 0.15 for share in (mixed.scs, mixed.pfp, mixed.osc))
    assert mixed.false_preference == pytest.approx(mixed.scs + mixed.pfp + mixed.osc / 2, abs=1e-15)
    assert mixed.rate == mixed.scs + mixed.pfp + mixed.osc == mixed.adverse / 60


def test_the_effect_of_a_criterion_on_ties_by_gap(ladder):
    contrasts = {(one.configuration, one.step): one for one in ladder[1].contrasts}
    for name in ("sees", "ties", "first"):
        assert {
            (contrasts[name, f"gap-{gap}"].ties, contrasts[name, f"gap-{gap}"].success) for gap in range(6)
        } == {(0, 0)}
    for gap in range(1, 6):
        strict = contrasts["strict", f"gap-{gap}"]
        assert strict.items == 10
        assert strict.ties == -strict.success > 0.2
    assert abs(contrasts["strict", "gap-1"].ties - 0.5) < 0.17
    assert (contrasts["strict", "gap-0"].ties, contrasts["strict", "gap-0"].arm) == (0, "ladder")


def test_the_controls_beside_a_ladder_are_three_strata_apart(ladder):
    cells = cells_of(ladder[1])
    for name, adverse in {"sees": 0, "first": 40}.items():
        clones = cells[name, "neutral"].clone
        assert {stratum: (clone.n, clone.adverse) for stratum, clone in clones.items()} == dict.fromkeys(
            ("core", "edge-empty", "edge-whitespace"), (40, adverse)
        )
        assert {clone.gate for clone in clones.values()} == {"NOT GRADED"}


CODE = 'source = "finite-code"\nsettings = [0, 6]\narms = ["clone", "signal", "equivalent", "ladder"]'


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    judges = {
        "good": "",
        "rungs": 'steps = { "faulty-single" = 0.0, "faulty-1" = 0.0, "faulty-10" = 0.5 }',
        "sided": 'patterns = { "one-sided" = 1.0 }',
        "fences": "fenced = 0.33",
    }
    return run_arms(tmp_path_factory.mktemp("code") / "s", CODE, judges)


def test_false_preference_between_certified_equivalents(code):
    cells = cells_of(code[1])
    good, sided = (cells[name, "neutral"].equivalent for name in ("good", "sided"))
    assert (good.items, good.pairs, good.calls, good.adverse, good.rate) == (16, 16, 32, 0, 0)
    assert good.certified == "both programs were run on every declared input"
    assert (sided.adverse, sided.rate, sided.osc, sided.false_preference) == (16, 1, 1, 0.5)
    assert cells["sided", "neutral"].patterns["equivalent"]["one-sided"] == 16
    assert cells["sided", "neutral"].joint == cells["good", "neutral"].joint


def test_the_ladder_of_faults_by_rung(code):
    rungs = cells_of(code[1])["rungs", "neutral"].ladder
    assert list(rungs.steps) == ["faulty-single", "faulty-1", "faulty-10", "faulty-50"]
    assert rungs.gap_0 is None
    found = {name: step.sensitivity for name, step in rungs.steps.items()}
    assert (found["faulty-single"], found["faulty-1"], found["faulty-50"]) == (0, 0, 1)
    assert 0.2 < found["faulty-10"] < 0.8
    assert cells_of(code[1])["good", "neutral"].ladder.smallest_75 == "faulty-single"


def test_the_report_says_what_each_arm_does_not_show(ladder, code, context):
    firsts = [
        {limit.partition(":")[0] for limit in limits(study[1]) if ":" in limit}
        for study in (ladder, code, context)
    ]
    simulated = "Simulated, with planted properties"
    assert firsts == [
        {"Ladder", "Criteria and contexts are compared along one schedule", simulated},
        {"Equivalent texts", "Ladder", simulated},
        {"Context", "Criteria and contexts are compared along one schedule", simulated},
    ]
    said = dict(cell_sentences(code[1]))
    assert (
        "Did not tie in both orders on 16/16 pairs of different but equally good texts."
        in said["sided / neutral"]
    )
    assert "the hardest at .75 or more is faulty-single" in said["good / neutral"]
    assert "equally good" not in said["fences / neutral"]
    assert "Did not tie on 40/40 pairs of blank texts." in dict(cell_sentences(ladder[1]))["first / neutral"]


def test_a_held_campaign_shows_counts_and_no_rate(code):
    cell = cells_of(code[1])["fences", "neutral"]
    assert cell.state == "HOLD"
    equivalent, steps = cell.equivalent, cell.ladder.steps.values()
    assert equivalent.invalid > 0
    assert (equivalent.rate, equivalent.scs, equivalent.false_preference, equivalent.reason) == (
        None,
        None,
        None,
        HELD,
    )
    assert {(step.sensitivity, step.interval, step.reason) for step in steps} == {(None, None, HELD)}
    assert (cell.ladder.smallest_75, cell.ladder.reason) == (None, HELD)
    assert sum(one.invalid for orders in cell.calls.values() for one in orders.values()) == next(
        campaign.invalid for campaign in code[1].campaigns if campaign.configuration == "fences"
    )


def test_calls_are_counted_by_arm_and_order(code):
    calls = cells_of(code[1])["good", "neutral"].calls
    assert {kind: {order: one.ended for order, one in orders.items()} for kind, orders in calls.items()} == {
        "clone/core": {"IDENTICAL": 16},
        **{kind: {"AB": 16, "BA": 16} for kind in ("signal", "equivalent")},
        **{
            f"ladder/{rung}": {"AB": 16, "BA": 16}
            for rung in ("faulty-50", "faulty-10", "faulty-1", "faulty-single")
        },
    }


CONTEXT = 'source = "context"'


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    judges = {
        "calm": "utility = 0.9",
        "distracted": "present = { patterns = { stable = 0.25 }, utility = 0.5 }",
        "helped": "utility = 0.5\npresent = { utility = 1.0 }",
        "fences": "fenced = 0.33",
    }
    return run_arms(tmp_path_factory.mktemp("context") / "s", CONTEXT, judges)


def test_a_judge_that_minds_no_third_candidate_changes_nowhere(context):
    calm = cells_of(context[1])["calm", "neutral"].context
    for arm in ("equivalent", "signal"):
        assert (calm[arm].items, calm[arm].calls.scheduled, calm[arm].calls.invalid) == (32, 128, 0)
        assert (calm[arm].adverse, calm[arm].changed) == (0, 0)
        assert calm[arm].absent == calm[arm].present
        assert (calm[arm].difference, calm[arm].interval, calm[arm].degenerate) == (0, (0, 0), "constant")
    assert calm["equivalent"].absent == 1
    assert 0.8 < calm["signal"].absent < 1


def test_a_third_candidate_may_hurt_and_may_help(context):
    cells = cells_of(context[1])
    hurt, helped = cells["distracted", "neutral"].context, cells["helped", "neutral"].context
    equivalent = hurt["equivalent"]
    assert equivalent.absent == 1
    assert equivalent.present == 1 - equivalent.adverse / 32
    assert 2 <= equivalent.adverse <= 14
    assert equivalent.difference == pytest.approx(equivalent.present - equivalent.absent)
    for one in (equivalent, hurt["signal"]):
        assert one.interval[0] <= one.difference <= one.interval[1] < 0
        assert one.drawn_interval == pytest.approx(one.interval, abs=0.04)
    assert helped["signal"].present == 1
    assert abs(helped["signal"].absent - 0.5) < 0.2
    assert helped["signal"].interval[0] > 0
    assert helped["equivalent"].adverse == 0


def test_both_contexts_stay_out_of_utility_and_of_each_other(context):
    cell = cells_of(context[1])["distracted", "neutral"]
    assert (cell.signal.items, cell.signal.gate, cell.joint) == (0, "NOT GRADED", "NOT GRADED")
    assert cell.equivalent is None
    assert set(cell.patterns) == {
        f"{arm}/{where}" for arm in ("equivalent", "signal") for where in ("absent", "present")
    }
    assert cell.patterns["equivalent/absent"]["tie"] == 32
    assert cell.patterns["equivalent/present"]["stable"] == cell.context["equivalent"].adverse


def test_a_server_is_shown_the_third_candidate_and_asked_each_call_once(tmp_path):
    (tmp_path / "s").mkdir()
    with SimulatedServer() as server:
        protocol = f"""format = 1
[study]
name = "http"
[battery]
{CONTEXT}
settings = [0]
[criteria.neutral]
rubric = "neutral"
[[configuration]]
name = "chat"
backend = "openai-chat"
base_url = "{server.url}"
model = "simulated"
[[configuration]]
name = "raw"
backend = "openai-completions"
base_url = "{server.url}"
model = "simulated"
template = "<s>{{system}}|{{user}}</s>"
[schedule]
seed = 1
[capture]
in_flight = 8
"""
        (tmp_path / "s" / "protocol.toml").write_text(protocol, encoding="utf-8")
        study = Study(tmp_path / "s")
        study.freeze()
        planted = Properties(present={"patterns": {"position": 1.0}, "utility": 0.0})
        server._judge = SimulatedJudge(planted, Key.of(study.frozen))
        for name in ("chat", "raw"):
            assert study.run(name) == "COMPLETE"
        assert len(server.asked) == 2 * 64
        assert set(server.observed.values()) == {1}
    for name in ("chat", "raw"):
        context = cells_of(study.analyze())[name, "neutral"].context
        assert {(one.adverse, one.absent, one.present, one.difference) for one in context.values()} == {
            (8, 1, 0, -1)
        }


def test_a_held_context_cell_shows_coverage_alone(context):
    held = cells_of(context[1])["fences", "neutral"].context["signal"]
    assert held.calls.invalid > 0
    assert held.reason == HELD
    assert {held.adverse, held.changed, held.absent, held.present, held.difference, held.interval} == {None}


def test_one_invalid_answer_of_four_makes_an_item_adverse(context):
    """A single fenced answer in 256 calls stays below the ceiling."""
    study = context[0]
    ledger = study.ledger().filter(pl.col("configuration") == "calm")
    place = ledger.with_row_index().filter(pl.col("context") == "present", pl.col("arm") == "signal")[
        "index"
    ][0]
    index = pl.arange(pl.len())
    ledger = ledger.with_columns(
        value=pl.when(index == place).then(None).otherwise("value"),
        winner=pl.when(index == place).then(None).otherwise("winner"),
        reason=pl.when(index == place).then(pl.lit("not-json")).otherwise("reason"),
    )
    declared = Declared.of(study.frozen)
    result = analyze(declared, ledger, {name: study.state(name)[1] for name in declared.configurations})
    signal = cells_of(result)["calm", "neutral"].context["signal"]
    assert (signal.adverse, signal.changed, signal.calls.invalid) == (1, 0, 1)


def test_the_frozen_prompts_of_a_pair_carry_the_same_instruction(context):
    frozen = context[0].frozen
    calls = frozen.schedule("calm")
    (rubric,) = {call.rubric for call in calls}
    assert frozen.texts[rubric].endswith(f"\n{INSTRUCTION}\n")
    assert {call.text_c is None for call in calls if call.context == "absent"} == {True}


PAIRS = """source = "pairs"
path = "pairs.jsonl"
columns = { stratum = "stratum" }"""


def test_macro_averages_and_nested_sets(tmp_path):
    folder = tmp_path / "s"
    rows = [
        {
            "id": f"i{n:02d}",
            "prompt": f"Q {n}",
            "chosen": f"good {n}",
            "rejected": f"bad {n}",
            "stratum": "large" if n < 30 else "small",
        }
        for n in range(40)
    ]
    folder.mkdir()
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    study = _pairs_study(folder)
    study.run("judge")
    declared, ledger = Declared.of(study.frozen), study.ledger()
    assert declared.nested == {}
    parts = {"some": [*range(10), *range(30, 40)], "none": []}
    nested = {name: frozenset(f"i{n:02d}" for n in numbers) for name, numbers in parts.items()}
    result = analyze(replace(declared, nested=nested), ledger, {"judge": study.state("judge")[1]})

    def means(numbers):
        """Count by hand: mean over the items, and mean of the two strata's means."""
        signal = [row for row in ledger.iter_rows(named=True) if row["arm"] == "signal"]
        scores = {
            n: sum(row["winner"] == "chosen" for row in signal if row["item"] == f"i{n:02d}") / 2
            for n in numbers
        }
        strata = [[score for n, score in scores.items() if (n < 30) == large] for large in (True, False)]
        return sum(scores.values()) / len(scores), sum(sum(own) / len(own) for own in strata) / 2

    signal = result.cells[0].signal
    assert (signal.mean, signal.macro) == pytest.approx(means(range(40)))
    some = signal.nested["some"]
    assert (some.items, some.mean, some.macro) == pytest.approx((20, *means(parts["some"])))
    assert 0 < some.lower < some.mean < signal.mean
    assert some.macro != some.mean or signal.macro != signal.mean
    assert (signal.nested["none"].items, signal.nested["none"].mean) == (0, None)
    assert signal.nested["none"].reason == "none of these items has a target"
    (table,) = [table for table in all_tables(result) if table.key == "parts"]
    assert [row[2:4] for row in table.rows] == [("all items", "40"), ("some", "20"), ("none", "0")]


def _pairs_study(folder):
    (folder / "protocol.toml").write_text(
        f"""format = 1
[study]
name = "s"
[battery]
{PAIRS}
[criteria.neutral]
rubric = "neutral"
[[configuration]]
name = "judge"
backend = "simulated"
properties = {{ utility = 0.8, weak = {{ small = 0.3 }} }}
[schedule]
seed = 1
[gates]
""",
        encoding="utf-8",
    )
    study = Study(folder)
    study.freeze()
    return study


def test_the_facts_of_items_name_the_nested_sets(tmp_path):
    study = arm_study(tmp_path / "s", CONTEXT, {"calm": ""})
    frozen = study.frozen
    items = tuple(
        item.model_copy(update={"facts": item.facts | {"nested": ["all", *(["some"] if number < 3 else [])]}})
        for number, item in enumerate(frozen.items)
    )
    frozen.__dict__["items"] = items
    nested = Declared.of(frozen).nested
    assert {name: len(ids) for name, ids in nested.items()} == {"all": 32, "some": 3}


verdict = st.sampled_from(["A", "B", "tie", None])


@given(st.lists(st.tuples(verdict, verdict), min_size=1, max_size=12))
def test_false_preference_is_the_sum_of_its_parts_whatever_is_said(pairs):
    """By another route: count calls and pairs one by one."""
    rows = []
    for number, said in enumerate(pairs):
        for order, slots, value in zip(("AB", "BA"), (("u", "v"), ("v", "u")), said, strict=True):
            winner = {"A": slots[0], "B": slots[1]}.get(value, value)
            rows.append(
                dict.fromkeys(SCHEMA)
                | {
                    "configuration": "c",
                    "criterion": "n",
                    "arm": "equivalent",
                    "item": f"i{number}",
                    "stratum": "s",
                }
                | {"order": order, "slot_a": slots[0], "slot_b": slots[1], "ending": "terminal"}
                | {"value": value, "winner": winner, "repetition": 1}
            )
    ledger = pl.DataFrame(rows, schema=SCHEMA)
    found = evaluate_null_pairs(ledger, pair_patterns(ledger), False, None, "why")
    valid = [said for said in pairs if None not in said]
    assert (found.pairs, found.valid_pairs, found.calls) == (len(pairs), len(valid), 2 * len(pairs))
    assert found.adverse == sum(said != ("tie", "tie") for said in pairs)
    assert found.invalid == sum(value is None for said in pairs for value in said)
    assert (found.rate, found.reason) == (found.adverse / len(pairs), "why")
    if not valid:
        assert {found.false_preference, found.scs, found.pfp, found.osc} == {None}
        return
    preferring = sum(value != "tie" for said in valid for value in said)
    assert found.false_preference == preferring / (2 * len(valid))
    assert found.false_preference == pytest.approx(found.scs + found.pfp + found.osc / 2, abs=1e-12)
