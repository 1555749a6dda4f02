"""The studies that bring their own items: controls and ladder, programs, and the context audit."""

from __future__ import annotations

import pytest

from darkcurrent.batteries.finite_code.catalogue import FAMILIES
from support.arms import cells_of
from support.paper import simulated
from support.planted import count, near, said

CRITERIA = ("neutral", "strict")


@pytest.fixture(scope="module")
def controlled(ran):
    judges = {
        "ties": 'habit = "tie"',
        "first": 'habit = "first"',
        "stable": 'habit = "stable"',
        "sided": 'habit = "one-sided"',
        "steep": 'steps = { "gap-1" = 0.3, "gap-2" = 0.6 }\ncriteria = { strict = { ties = 1.0, steps = { "gap-1" = 0.0 } } }',
    }
    return ran("controlled", simulated(**judges))


def test_controls_and_ladder_tell_habits_apart(controlled):
    cells = cells_of(controlled.analysis)
    assert {one.scheduled for one in controlled.analysis.campaigns} == {1080}
    parts, clones, smallest = {}, {}, {}
    for name in ("ties", "first", "stable", "sided", "steep"):
        cell = cells[name, "neutral"]
        gap_0 = cell.ladder.gap_0
        parts[name] = (gap_0.false_preference, gap_0.scs, gap_0.pfp, gap_0.osc)
        clones[name] = [cell.clone[one].adverse for one in ("core", "edge-empty", "edge-whitespace")]
        smallest[name] = cell.ladder.smallest_75
    assert parts == {
        "ties": (0, 0, 0, 0),
        "first": (1, 0, 1, 0),
        "stable": (1, 1, 0, 0),
        "sided": (0.5, 0, 0, 1),
        "steep": (0, 0, 0, 0),
    }
    assert clones == {name: [40] * 3 if name == "first" else [0] * 3 for name in parts}
    assert (smallest["ties"], smallest["first"], smallest["steep"]) == (None, None, "gap-3")
    steps = cells["steep", "neutral"].ladder.steps
    assert (steps["gap-1"].sensitivity, steps["gap-2"].sensitivity) == (near(0.3, 100), near(0.6, 80))
    for step, calls in {"gap-1": 100, "gap-5": 20}.items():
        right = [
            (call.slot_a if slot == "A" else call.slot_b) == call.target
            for call, slot in said(controlled.study, "stable")
            if (call.step, call.criterion) == (step, "neutral")
        ]
        assert len(right) == calls
        assert cells["stable", "neutral"].ladder.steps[step].sensitivity == sum(right) / calls


def test_no_gate_is_graded_on_40_controls_and_a_criterion_shows_in_ties(controlled):
    for cell in controlled.analysis.cells:
        assert (cell.clone["core"].gate, cell.signal.gate, cell.joint) == ("NOT GRADED",) * 3
    upper = cells_of(controlled.analysis)["simulated", "neutral"].clone["core"].upper
    assert upper == pytest.approx(0.0722, abs=5e-5), "0 of 40, which is what the template's comment says"
    contrasts = {(one.configuration, one.step): one for one in controlled.analysis.contrasts}
    base = cells_of(controlled.analysis)["steep", "neutral"].ladder.steps["gap-1"]
    assert contrasts["steep", "gap-1"].success == pytest.approx(-base.sensitivity)
    assert contrasts["steep", "gap-1"].ties == pytest.approx(1 - base.tie / base.calls)
    assert contrasts["ties", "gap-1"].ties == 0
    assert "Controlled point estimates (layout of table 2)" in controlled.tables
    assert "layout of table 3" not in controlled.tables


ORACLE = """[[configuration]]
name = "oracle"
backend = "function"
callable = "darkcurrent.batteries.finite_code.oracle:judge"
"""


def test_finite_code_certifies_null_and_utility_and_counts_false_preference(ran):
    weak = next(iter(FAMILIES))
    mixed = f'utility = 1.0\nweak = {{ {weak} = 0.25 }}\npatterns = {{ "one-sided" = 0.5 }}'
    found = ran("finite-code", simulated(mixed=mixed) + ORACLE)
    assert {one.scheduled for one in found.analysis.campaigns} == {960}
    cells = cells_of(found.analysis)
    for criterion in CRITERIA:
        oracle = cells["oracle", criterion]
        assert (oracle.joint, oracle.signal.mean, oracle.equivalent.adverse) == ("both gates pass", 1, 0)
        core = oracle.clone["core"]
        assert (core.adverse, core.n, round(core.upper, 4), round(core.p_holm, 4)) == (0, 96, 0.0307, 0.0436)
        pairs = cells["mixed", criterion].equivalent
        preferred: dict[str, list[bool]] = {}
        for call, slot in said(found.study, "mixed"):
            if (call.arm, call.criterion) == ("equivalent", criterion):
                preferred.setdefault(call.item, []).append(slot != "tie")
        assert pairs.adverse == sum(map(any, preferred.values()))
        assert pairs.osc == pairs.rate == near(0.5, 96)
        for name in ("simulated", "mixed"):
            counted, signal = count(found.study, name, criterion), cells[name, criterion].signal
            assert signal.mean == pytest.approx(counted.mean, abs=1e-12)
            assert {order: one.success for order, one in signal.orders.items()} == counted.orders
        strata = dict(cells["mixed", criterion].signal.strata)
        assert strata.pop(weak).mean == near(0.25, 24)
        assert {one.mean for one in strata.values()} == {1}
        assert cells["mixed", criterion].signal.gate == "PASS", "a pooled pass hides the weak family"
    assert "Complete results (layout of tables 4, 5 and 7)" in found.tables


def test_a_context_audit_finds_whom_a_third_text_distracts(ran):
    distracted = "present = { patterns = { stable = 1.0 }, utility = 0.0, ties = 1.0 }"
    found = ran("context-audit", simulated(distracted=distracted))
    assert {one.scheduled for one in found.analysis.campaigns} == {512}
    cells = cells_of(found.analysis)
    for criterion in CRITERIA:
        calm, moved = (cells[name, criterion].context for name in ("simulated", "distracted"))
        assert {(one.adverse, one.difference) for one in calm.values()} == {(0, 0)}
        for arm in ("equivalent", "signal"):
            assert (moved[arm].adverse, moved[arm].absent, moved[arm].present) == (32, 1, 0)
            assert moved[arm].interval == (-1, -1)
        assert cells["distracted", criterion].joint == "NOT GRADED"
    assert "Context audit (layout of table 9)" in found.tables
