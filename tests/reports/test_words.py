"""What the sentences say in the cases at the edge."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from darkcurrent.reports.words import cell_sentences, declared, items_words, simulated_words
from darkcurrent.results import (
    Analysis,
    CampaignResult,
    CellResult,
    CloneResult,
    OrderResult,
    SignalResult,
    VerdictCounts,
)

GATES = {"clone_threshold": 0.05, "utility_threshold": 0.75, "clone_family": "study"}


def clone(n, a=0, b=0, invalid=0, **numbers):
    return CloneResult(n=n, adverse=a + b + invalid, a=a, b=b, invalid=invalid, gate="MISS", **numbers)


def signal(correct=0, wrong=0, tie=0, invalid=0, **numbers):
    return SignalResult(
        items=(correct + wrong + tie + invalid) // 2,
        gate="MISS",
        verdicts=VerdictCounts(correct=correct, wrong=wrong, tie=tie, invalid=invalid),
        orders={},
        places={"first": OrderResult(n=0, success=0), "second": OrderResult(n=0, success=0)},
        strata={},
        **numbers,
    )


def sentence(core=None, utility=None, *, gates=GATES, weights="size", cells=1, state="EVALUATED", **campaign):
    facts = {
        "configuration": "c",
        "state": "HOLD" if state == "HOLD" else "COMPLETE",
        "capture": "COMPLETE",
        "stopped": None,
        "scheduled": 3,
        "terminal": 3,
        "invalid": 0,
        "ambiguous": 0,
        "missing": 0,
        "invalid_by_reason": {},
        "reasons": [],
        "basis": None,
        "served_models": [],
        "prompt_tokens": None,
        "completion_tokens": None,
        "usage_unknown": 0,
        "latency_ms_median": None,
    }
    cell = CellResult(
        configuration="c",
        criterion="k",
        state=state,
        clone={"core": core or clone(0), "edge-empty": clone(0), "edge-whitespace": clone(0)},
        signal=utility or signal(),
        patterns={},
        joint="neither gate",
    )
    analysis = Analysis(
        schema="s",
        study="s",
        title="",
        study_digest="",
        state="COMPLETE",
        battery={},
        gates=gates,
        method={"weights": weights},
        campaigns=[CampaignResult(**(facts | campaign))],
        cells=[cell] * cells,
        tests=[],
        risk={},
        software={},
    )
    (name, text), *_ = cell_sentences(analysis)
    assert name == "c / k"
    assert text.endswith(".")
    return text


@pytest.mark.parametrize(
    ("core", "cells", "text"),
    [
        (
            clone(102, upper=0.0289, p_holm=0.0214),
            4,
            "Tied on all 102 pairs of identical texts (upper bound .029 is within .05).",
        ),
        (
            clone(1, upper=0.95, p_holm=0.95),
            1,
            "Tied on its one identical pair (upper bound .950 is above .05).",
        ),
        (
            clone(102, a=2, upper=0.0604, p_holm=0.1103),
            1,
            "Preferred one of two identical texts 2 of 102 times, always the first (upper bound .060 is above .05).",
        ),
        (
            clone(96, b=1, upper=0.0484, p_holm=0.0436),
            1,
            "Preferred one of two identical texts 1 of 96 times, the second (upper bound .048 is within .05).",
        ),
        (
            clone(400, a=3, b=2, invalid=1, upper=0.029, p_holm=0.002),
            1,
            "Preferred one of two identical texts 5 of 400 times, 3 the first and 2 the second and gave no valid verdict "
            "on 1 of 400 pairs of identical texts (upper bound .029 is within .05).",
        ),
        (
            clone(400, invalid=2, upper=0.0157, p_holm=1e-6),
            1,
            "Gave no valid verdict on 2 of 400 pairs of identical texts (upper bound .016 is within .05).",
        ),
    ],
)
def test_the_null_in_words(core, cells, text):
    assert sentence(core, cells=cells) == text


def test_a_gate_that_is_missed_by_the_family_alone_does_not_read_like_a_pass():
    # 80 clones, none adverse: the bound is .037, and with four cells the p is 4 * .95**80 = .066.
    core = clone(80, upper=0.0368, p=0.0165, p_holm=0.0661)
    assert sentence(core, cells=4) == (
        "Tied on all 80 pairs of identical texts (upper bound .037 is within .05, but the Holm-adjusted p .066 is above "
        ".05: with 4 cells no judge passes on fewer than 86 pairs)."
    )
    own = sentence(core, cells=4, gates=GATES | {"clone_family": "configuration"})
    assert "with 4 cells no judge passes on fewer than 86 pairs" in own  # all four are of this configuration
    some = clone(200, a=3, upper=0.0383, p_holm=0.06)
    assert sentence(some, cells=4).endswith("but the Holm-adjusted p .060 is above .05).")


def test_without_a_threshold_a_number_is_not_judged():
    gates = GATES | {"clone_threshold": None, "utility_threshold": None}
    text = sentence(clone(80, upper=0.0368), signal(correct=2, mean=1.0, lower=1.0), gates=gates)
    assert text == (
        "Tied on all 80 pairs of identical texts (upper bound .037). "
        "Chose the right text in 2 of 2 calls (mean 1.000, lower bound 1.000)."
    )


@pytest.mark.parametrize(
    ("lower", "text"),
    [
        (0.74996, ".74996 misses .75"),
        (0.75, ".750 reaches .75"),
        (0.7503, ".7503 reaches .75"),
        (0.7, ".700 misses .75"),
    ],
)
def test_a_number_is_never_rounded_onto_the_threshold_that_it_misses(lower, text):
    assert text in sentence(utility=signal(correct=160, wrong=40, mean=0.8, lower=lower))


def test_a_threshold_is_shown_as_it_was_declared():
    text = sentence(
        utility=signal(correct=2, mean=1.0, lower=1.0), gates=GATES | {"utility_threshold": 0.725}
    )
    assert "reaches .725)" in text
    assert [declared(value) for value in (None, 0.05, 0.005, 0.123456)] == ["–", ".05", ".005", ".123456"]


def test_a_judge_that_always_ties_is_told_from_one_that_is_wrong():
    text = sentence(utility=signal(tie=159, invalid=1, mean=0.0, lower=0.0))
    assert text.startswith("Chose the right text in 0 of 160 calls, a tie in 159, invalid in 1 (mean 0.000,")


def test_a_mean_over_equal_strata_is_no_share_of_calls():
    text = sentence(utility=signal(correct=90, wrong=10, mean=0.6, lower=0.5), weights="equal")
    assert "in 90 of 100 calls, the wrong one in 10 (mean over equal strata .600," in text


def test_what_is_held_says_why_and_gives_no_number():
    core = clone(80, a=80, upper=1.0, p_holm=1.0)
    reasons = ["239 of 240 scheduled calls were never sent"]
    text = sentence(
        core,
        state="HOLD",
        reasons=reasons,
        capture="PARTIAL_HOLD_TRANSPORT",
        stopped="http-500: " + "x" * 500,
    )
    assert text.startswith(
        "Not evaluated: 239 of 240 scheduled calls were never sent; capture: PARTIAL_HOLD_TRANSPORT (http-500: xx"
    )
    assert len(text) < 300
    assert sentence(core, state="HOLD", reasons=reasons, capture="NOT STARTED").endswith(
        "sent; capture: NOT STARTED."
    )


def test_a_battery_with_nothing_to_grade_says_so():
    assert sentence() == "Nothing to grade: the battery shows neither clones nor targets."


def test_one_item_in_one_stratum_is_no_plural():
    assert items_words({"items": 1, "strata": 1}) == "1 item in 1 stratum"
    assert items_words({"items": 0, "strata": 2}) == "0 items in 2 strata"


@pytest.mark.parametrize(
    ("identities", "who"),
    [
        ([{"planted": {}}, {"served": ["m"]}, {"planted": {}}], "c0, c2"),
        ([{"planted": {}}, {"planted": {}}], "every judge here"),
        ([{"planted": {}}], "c0"),
        ([{"served": ["simulated"]}, None], None),
    ],
)
def test_simulated_judges_are_called_simulated(identities, who):
    campaigns = [SimpleNamespace(configuration=f"c{n}", identity=own) for n, own in enumerate(identities)]
    said = simulated_words(SimpleNamespace(campaigns=campaigns))
    expected = f"Simulated, with planted properties: {who}. Such numbers test the tool, and say nothing of any model."
    assert said == (None if who is None else expected)
