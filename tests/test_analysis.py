"""Judges with planted properties go through freeze, capture and analysis; what was planted comes out."""

from __future__ import annotations

import json
import math
import shutil

import pytest

from darkcurrent.reports import markdown_report
from darkcurrent.study import Study

JUDGES = '''
def number(prompt):
    return int(prompt.split()[-1])

def good(prompt, a, b):
    return "tie" if a == b else "A" if a.startswith("good") else "B"

def always_tie(prompt, a, b):
    return "tie"

def always_first(prompt, a, b):
    return "A"

def one_sided(prompt, a, b):
    """Sees the good text only where it stands first."""
    return "A" if a != b and a.startswith("good") else "tie"

def content(prompt, a, b):
    """Prefers the bad text, stably."""
    return "tie" if a == b else "A" if a.startswith("bad") else "B"

def dark(prompt, a, b):
    """Right on contrasts; on every fifth clone it takes the second."""
    if a == b:
        return "B" if number(prompt) % 5 == 0 else "tie"
    return good(prompt, a, b)

def fenced(prompt, a, b):
    return "```json\\n{}\\n```" if number(prompt) % 3 == 0 else good(prompt, a, b)

def blank_sensitive(prompt, a, b):
    return "A" if not a.strip() else good(prompt, a, b)

def weak_stratum(prompt, a, b):
    """Ties on everything in the second of three strata."""
    return "tie" if number(prompt) % 3 == 1 else good(prompt, a, b)
'''


def _cell(study, name):
    result = study.analyze()
    return result, next(cell for cell in result.cells if cell.configuration == name)


def _run(study):
    return {c.name: study.run(c.name) for c in study.frozen.protocol.configuration}


def test_the_three_questions_are_answered_apart(planted):
    names = ["good", "always_tie", "always_first", "one_sided", "content", "dark"]
    study = planted(JUDGES, names, items=120)
    assert set(_run(study).values()) == {"COMPLETE"}
    result = study.analyze()
    found = {cell.configuration: cell for cell in result.cells}
    assert {name: cell.joint for name, cell in found.items()} == {
        "good": "both gates pass",
        "always_tie": "clone gate only",
        "always_first": "neither gate",
        "one_sided": "clone gate only",
        "content": "clone gate only",
        "dark": "utility gate only",
    }
    assert result.state == "COMPLETE"
    dark = found["dark"].clone["core"]
    assert (dark.n, dark.adverse, dark.a, dark.b) == (120, 24, 0, 24)
    signal = {name: cell.signal for name, cell in found.items()}
    assert {name: s.mean for name, s in signal.items()} == {
        "good": 1,
        "always_tie": 0,
        "always_first": 0.5,
        "one_sided": 0.5,
        "content": 0,
        "dark": 1,
    }
    assert (signal["always_first"].orders["AB"].success, signal["always_first"].orders["BA"].success) == (
        120,
        0,
    )
    assert signal["one_sided"].verdicts.model_dump() == {"correct": 120, "tie": 120, "wrong": 0, "invalid": 0}
    assert signal["content"].verdicts.wrong == 240
    patterns = {name: cell.patterns["signal"] for name, cell in found.items()}
    assert patterns["good"]["stable"] == patterns["content"]["stable"] == 120
    assert patterns["always_first"]["position"] == 120
    assert patterns["one_sided"]["one-sided"] == 120
    assert patterns["always_tie"]["tie"] == 120
    assert all(sum(counts.values()) == 120 for counts in patterns.values())


def test_the_family_is_all_cells_of_the_study(planted):
    study = planted(JUDGES, ["good", "always_tie"], items=80)
    _run(study)
    cells = study.analyze().cells
    single = 0.95**80
    assert all(math.isclose(cell.clone["core"].p, single) for cell in cells)
    assert all(math.isclose(cell.clone["core"].p_holm, 2 * single) for cell in cells)


def test_a_held_cell_stays_in_the_family_and_shows_no_bound(planted):
    study = planted(JUDGES, ["good", "fenced"], items=60)
    _run(study)
    result, held = _cell(study, "fenced")
    campaign = result.campaigns[1]
    assert (campaign.state, campaign.capture, campaign.terminal) == ("HOLD", "COMPLETE", 180)
    assert campaign.invalid == 60
    assert sum(campaign.invalid_by_reason.values()) == 60
    assert "60 of 180 scheduled calls gave no valid verdict" in campaign.reasons[0]
    core = held.clone["core"]
    assert (core.n, core.adverse, core.invalid) == (60, 20, 20)
    assert (core.upper, core.p, core.p_holm, core.gate) == (None, None, None, "HOLD")
    assert (held.signal.mean, held.signal.lower, held.signal.gate) == (None, None, "HOLD")
    assert held.joint == "HOLD"
    assert result.state == "PARTIAL"
    # 0.95**60 = .046 alone would pass; in a family of two it does not, although the other cell is held.
    good = result.cells[0].clone["core"]
    assert math.isclose(good.p_holm, 2 * 0.95**60)
    assert result.cells[0].joint == "utility gate only"


def test_stop_when_held_ends_early_and_says_so(planted):
    study = planted(JUDGES, ["fenced"], items=60, capture="stop_when_held = true")
    assert _run(study) == {"fenced": "HELD_EARLY"}
    campaign = study.analyze().campaigns[0]
    assert campaign.invalid == 2 > 0.01 * 180
    assert campaign.missing == 180 - campaign.terminal > 100
    assert "calls allow 1" in campaign.stopped
    assert study.run("fenced") == "HELD_EARLY"


def test_edge_strata_are_apart_and_not_graded(planted):
    study = planted(JUDGES, ["blank_sensitive"], items=80, edge=10)
    _run(study)
    _, cell = _cell(study, "blank_sensitive")
    assert {name: (c.n, c.adverse, c.gate) for name, c in cell.clone.items()} == {
        "core": (80, 0, "PASS"),
        "edge-empty": (10, 10, "NOT GRADED"),
        "edge-whitespace": (10, 10, "NOT GRADED"),
    }
    assert all(
        cell.clone[edge].upper is None and cell.clone[edge].reason
        for edge in ("edge-empty", "edge-whitespace")
    )


def test_a_weak_stratum_shows_under_a_pooled_mean(planted):
    study = planted(JUDGES, ["weak_stratum"], items=90, strata=("x", "y", "z"))
    _run(study)
    _, cell = _cell(study, "weak_stratum")
    assert {name: stratum.mean for name, stratum in cell.signal.strata.items()} == {"x": 1, "y": 0, "z": 1}
    assert cell.signal.mean == pytest.approx(2 / 3)
    assert cell.signal.degenerate is not None
    # Every stratum is constant, so that resampling within strata cannot move the mean.
    assert cell.signal.lower == pytest.approx(2 / 3)


def test_a_gate_without_a_threshold_is_not_graded(planted):
    study = planted(JUDGES, ["good"], gates="invalid_ceiling = 0.01")
    _run(study)
    _, cell = _cell(study, "good")
    assert (cell.clone["core"].gate, cell.signal.gate, cell.joint) == ("NOT GRADED",) * 3
    assert cell.clone["core"].p is None
    assert cell.clone["core"].upper == pytest.approx(1 - 0.05 ** (1 / 80))


def test_a_campaign_that_was_not_run_is_held_with_its_reason(planted):
    study = planted(JUDGES, ["good", "dark"])
    study.run("good")
    result, cell = _cell(study, "dark")
    assert result.campaigns[1].capture == "NOT STARTED"
    assert result.campaigns[1].reasons == ["240 of 240 scheduled calls were never sent"]
    assert cell.joint == "HOLD"


def test_a_hashed_schedule_gets_no_randomization_test_and_says_why(planted):
    study = planted(JUDGES, ["good"])
    _run(study)
    (test,) = study.analyze().tests
    assert (test.configuration, test.family, test.gate) == (
        "good",
        "order and criterion x order",
        "NOT GRADED",
    )
    assert "schedule `hash` stores no random assignment" in test.reason


def test_the_file_holds_the_contracts_keys_and_no_nan(planted):
    study = planted(JUDGES, ["good", "fenced"], edge=2)
    _run(study)
    study.analyze()

    def refuse(constant):
        raise AssertionError(constant)

    data = json.loads((study.folder / "analysis.json").read_text(encoding="utf-8"), parse_constant=refuse)
    assert {"schema", "study", "state", "campaigns", "cells", "tests", "risk"} <= data.keys()
    campaign = {
        "configuration",
        "state",
        "scheduled",
        "terminal",
        "invalid",
        "ambiguous",
        "missing",
        "reasons",
    }
    assert campaign <= data["campaigns"][0].keys()
    cell = data["cells"][0]
    assert {"configuration", "criterion", "state", "clone", "signal", "patterns", "joint"} <= cell.keys()
    assert set(cell["clone"]) == {"core", "edge-empty", "edge-whitespace"}
    assert {"n", "adverse", "upper", "p", "p_holm", "gate"} <= cell["clone"]["core"].keys()
    assert {"items", "mean", "lower", "gate", "orders", "verdicts", "strata"} <= cell["signal"].keys()
    assert set(cell["signal"]["orders"]["AB"]) == {"n", "success"}
    assert set(cell["signal"]["verdicts"]) == {"correct", "tie", "wrong", "invalid"}
    assert set(cell["signal"]["strata"]["s"]) == {"items", "mean"}
    assert set(cell["patterns"]["signal"]) == {
        "tie",
        "stable",
        "position",
        "one-sided",
        "invalid",
        "incomplete",
    }


def test_two_analyses_of_one_study_are_the_same_bytes(planted):
    study = planted(JUDGES, ["good", "dark"], strata=("x", "y"))
    _run(study)
    study.analyze()
    first = (study.folder / "analysis.json").read_bytes()
    study.analyze()
    assert (study.folder / "analysis.json").read_bytes() == first


def test_a_stratum_of_one_item_is_named_in_the_result_and_in_words(planted):
    study = planted(JUDGES, ["one_sided"], items=81, strata=("s",))
    folder = study.folder
    rows = (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    lone = [json.loads(rows[0]) | {"stratum": "alone"}, *map(json.loads, rows[1:])]
    other = folder.parent / "other"
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns("frozen"))
    (other / "pairs.jsonl").write_text("\n".join(map(json.dumps, lone)), encoding="utf-8")
    judge = (other / "judge.py").read_text(encoding="utf-8")
    (other / "judge.py").write_text(
        judge + "\none_sided = lambda p, a, b: good(p, a, b) if number(p) % 2 else 'tie'\n"
    )
    study = Study(other)
    study.freeze()
    _run(study)
    result, cell = _cell(study, "one_sided")
    assert (cell.signal.method, cell.signal.caveat) == ("exact", "single-item-stratum")
    assert "A stratum with one item adds no variation" in markdown_report(result)
    assert cell.signal.bounds["exact"] == cell.signal.lower
