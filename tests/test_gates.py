from __future__ import annotations

from itertools import product

import pytest

from darkcurrent.gates import clone_gate, joint_label, operational_reasons, utility_gate

GATES = ("PASS", "MISS", "HOLD", "NOT GRADED")


def _reasons(**changes):
    facts = {
        "scheduled": 612,
        "invalid": 0,
        "missing": 0,
        "ambiguous": 0,
        "mismatched": 0,
        "irreconcilable": 0,
    }
    return operational_reasons(**(facts | {"ceiling": 0.01, "invalid_by_reason": {}} | changes))


@pytest.mark.parametrize(("invalid", "held"), [(0, False), (6, False), (7, True), (211, True)])
def test_the_ceiling_is_on_scheduled_calls_and_not_rounded(invalid, held):
    assert bool(_reasons(invalid=invalid, invalid_by_reason={"fenced": invalid})) is held


def test_a_held_campaign_says_every_reason_with_its_counts():
    reasons = _reasons(
        invalid=211, invalid_by_reason={"fenced": 200, "empty": 11}, missing=3, ambiguous=2, mismatched=1
    )
    text = "\n".join(reasons)
    assert len(reasons) == 4
    assert "211 of 612" in text
    assert "fenced 200, empty 11" in text
    assert "3 of 612" in text
    assert "2 calls were sent and their end is unknown" in text
    assert "1 call was answered by a model that is not declared" in text


def test_one_and_many_are_counted_in_good_english():
    one = _reasons(missing=1, ambiguous=1, irreconcilable=1)
    assert one == [
        "1 of 612 scheduled calls was never sent",
        "1 call was sent and its end is unknown",
        "1 pair has orders that do not belong together",
    ]
    two = _reasons(mismatched=2, irreconcilable=2)
    assert two == [
        "2 calls were answered by a model that is not declared",
        "2 pairs have orders that do not belong together",
    ]


@pytest.mark.parametrize("fault", ["missing", "ambiguous", "mismatched", "irreconcilable"])
def test_one_call_is_enough_to_hold(fault):
    assert len(_reasons(**{fault: 1})) == 1


def test_a_campaign_without_calls_is_held():
    assert _reasons(scheduled=0) == ["no call is scheduled"]


@pytest.mark.parametrize(
    ("p", "upper", "threshold", "gate"),
    [
        (0.05, 0.05, 0.05, "PASS"),
        (0.0214, 0.0289, 0.05, "PASS"),
        (0.1103, 0.0604, 0.05, "MISS"),
        (0.06, 0.03, 0.05, "MISS"),
        (0.01, 0.051, 0.05, "MISS"),
        (0.0214, 0.0289, None, "NOT GRADED"),
        (None, 0.0289, 0.05, "NOT GRADED"),
        (0.02, None, 0.05, "NOT GRADED"),
    ],
)
def test_the_clone_gate_needs_both_the_p_and_the_bound(p, upper, threshold, gate):
    assert clone_gate(p, upper, threshold) == gate


@pytest.mark.parametrize(
    ("lower", "threshold", "gate"),
    [(0.75, 0.75, "PASS"), (0.745, 0.75, "MISS"), (0.9, None, "NOT GRADED"), (None, 0.75, "NOT GRADED")],
)
def test_the_utility_gate_includes_its_threshold(lower, threshold, gate):
    assert utility_gate(lower, threshold) == gate


@pytest.mark.parametrize(("clone", "utility"), list(product(GATES, repeat=2)))
def test_the_joint_label_never_passes_what_is_held_or_not_graded(clone, utility):
    label = joint_label(clone, utility)
    if "HOLD" in (clone, utility):
        assert label == "HOLD"
    elif "NOT GRADED" in (clone, utility):
        assert label == "NOT GRADED"
    else:
        expected = {
            ("PASS", "PASS"): "both gates pass",
            ("PASS", "MISS"): "clone gate only",
            ("MISS", "PASS"): "utility gate only",
            ("MISS", "MISS"): "neither gate",
        }
        assert label == expected[clone, utility]
