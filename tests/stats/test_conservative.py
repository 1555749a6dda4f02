from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import rel_entr

from darkcurrent.errors import StatsInputError
from darkcurrent.stats import bootstrap, clopper_pearson_upper, conservative_lower

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=40)


def entropy_bound(successes: int, n: int, level: float) -> float:
    """Hoeffding's bound by a plain scan: the largest m with divergence log(1/level)/n from the mean."""
    q = successes / n
    best = 0.0
    for m in np.linspace(1e-6, q - 1e-9, 200_001).tolist():
        gap = q * math.log(q / m) + ((1 - q) * math.log((1 - q) / (1 - m)) if q < 1 else 0)
        if gap >= math.log(1 / level) / n:
            best = m
    return best


@pytest.mark.parametrize(
    ("successes", "n", "level"), [(89, 102, 0.05), (5, 9, 0.1), (1, 30, 0.05), (300, 485, 0.01)]
)
def test_scores_of_zero_and_one_give_hoeffdings_entropy_bound(successes, n, level) -> None:
    scores = [1.0] * successes + [0.0] * (n - successes)
    assert conservative_lower(scores, level=level).lower == pytest.approx(
        entropy_bound(successes, n, level), abs=1e-5
    )


def test_all_successes_give_the_exact_binomial_bound() -> None:
    result = conservative_lower([1.0] * 102)
    assert result.lower == pytest.approx(0.05 ** (1 / 102), rel=1e-12)
    assert result.lower == pytest.approx(1 - clopper_pearson_upper(0, 102), rel=1e-12)
    assert (result.degenerate, result.n) == ("all-success", 102)


def test_all_failures_and_no_items_are_named() -> None:
    failed = conservative_lower([0.0, 0.0])
    assert (failed.lower, failed.degenerate) == (0.0, "all-failure")
    empty = conservative_lower([])
    assert (empty.lower, empty.degenerate, empty.n) == (None, "empty", 0)
    assert failed.reason == "Every score is 0: the bound is the end of the support."
    assert empty.reason == "There are no items."
    plain = conservative_lower([1, 0], level=0.1, weights="equal")
    assert (plain.degenerate, plain.reason) == (None, None)
    assert (plain.level, plain.weights, plain.support) == (0.1, "equal", (0.0, 1.0))


def test_scores_between_the_ends_give_more() -> None:
    split = conservative_lower([1.0] * 60 + [0.5] * 40).lower
    assert conservative_lower([1.0] * 80 + [0.0] * 20).lower + 0.01 < split < 0.8


@pytest.mark.parametrize("mean", [0.05, 0.3, 0.5, 0.75, 0.9, 0.99])
@pytest.mark.parametrize("n", [1, 2, 5, 12, 60])
def test_coverage_is_kept_for_every_success_rate(mean: float, n: int) -> None:
    """Exact, by summing over all counts: how often is the bound above the truth?"""
    missed = 0.0
    for k in range(n + 1):
        if conservative_lower([1.0] * k + [0.0] * (n - k)).lower > mean:
            missed += math.comb(n, k) * mean**k * (1 - mean) ** (n - k)
    assert missed <= 0.05


@pytest.mark.parametrize("weights", ["size", "equal"])
@pytest.mark.parametrize("level", [0.05, 0.3])
def test_coverage_is_kept_when_items_differ(weights: str, level: float) -> None:
    """Exact over all outcomes of two strata whose items have unlike laws on three scores."""
    laws = [{0.0: 0.3, 0.5: 0.1, 1.0: 0.6}] * 2 + [{0.0: 0.02, 0.5: 0.08, 1.0: 0.9}] * 4
    strata = ["a"] * 2 + ["b"] * 4
    means = [sum(score * chance for score, chance in law.items()) for law in laws]
    truth = (means[0] + means[2]) / 2 if weights == "equal" else sum(means) / 6
    missed = 0.0
    for outcome in itertools.product((0.0, 0.5, 1.0), repeat=6):
        if conservative_lower(outcome, strata, level, weights).lower > truth:
            missed += math.prod(law[score] for law, score in zip(laws, outcome, strict=True))
    assert missed <= level


@pytest.mark.parametrize("strata", [[0] * 12, [0] * 9 + [1] * 3, [0] * 11 + [1]], ids=["one", "9+3", "11+1"])
@pytest.mark.parametrize("seed", range(4))
def test_every_mean_below_the_bound_is_refuted_and_none_above(strata, seed) -> None:
    """The capital, recomputed from its definition, falls as the mean rises: the refuted means are an interval."""
    scores = [
        (0.0, 0.5, 0.75, 1.0, 1.0, 1.0)[raw % 6] for raw in np.random.PCG64(seed).random_raw(12).tolist()
    ]
    count = len(set(strata))
    weights = [12 / (count * strata.count(label)) for label in strata]
    wanted = math.log(20)

    def capital(mean: float) -> float:
        budget = wanted / sum(weight**2 for weight in weights)
        q = 1.0
        if -math.log(mean) > budget:
            q = brentq(
                lambda x: rel_entr(x, mean) + rel_entr(1 - x, 1 - mean) - budget, mean, 1.0, xtol=1e-15
            )
        bet = min((q - mean) / (mean * (1 - mean)), 1 / (max(weights) * mean))
        factors = [1 + weight * bet * (x - mean) for weight, x in zip(weights, scores, strict=True)]
        assert min(factors) > -1e-12
        return math.prod(factors)

    bound = conservative_lower(scores, strata, weights="equal").lower
    means = np.linspace(0.002, 0.998, 400).tolist()
    capitals = [capital(mean) for mean in means]
    assert [value >= 20 for value in capitals] == [mean <= bound for mean in means]
    # a stake of everything leaves a rounding error of 0
    assert all(later <= earlier * (1 + 1e-9) + 1e-12 for earlier, later in itertools.pairwise(capitals))


@given(SCORES, st.randoms(use_true_random=False), st.sampled_from(["size", "equal"]))
def test_the_order_of_rows_changes_nothing(scores, random, weights) -> None:
    rows = [(score, "ab"[place % 3 == 0]) for place, score in enumerate(scores)]
    bound = conservative_lower(*zip(*rows, strict=True), weights=weights)
    random.shuffle(rows)
    assert conservative_lower(*zip(*rows, strict=True), weights=weights) == bound


@given(SCORES, st.data())
def test_a_better_score_never_lowers_the_bound(scores, data) -> None:
    place = data.draw(st.integers(0, len(scores) - 1))
    better = list(scores)
    better[place] = data.draw(
        st.sampled_from([value for value in (0.25, 0.5, 1.0) if value >= scores[place]] or [1.0])
    )
    for weights in ("size", "equal"):
        strata = ["a" if item < 3 else "b" for item in range(len(scores))]
        before = conservative_lower(scores, strata, weights=weights).lower
        assert conservative_lower(better, strata, weights=weights).lower >= before - 1e-12


@given(SCORES)
def test_the_bound_lies_below_the_mean_and_above_the_end(scores) -> None:
    bound = conservative_lower(scores).lower
    assert 0 <= bound <= sum(scores) / len(scores)


def test_the_support_only_scales() -> None:
    scores = [1.0, 0.5, 1.0, 0.0, 1.0, 1.0]
    inner = conservative_lower(scores).lower
    outer = conservative_lower([2 * score - 1 for score in scores], support=(-1, 1))
    assert outer.lower == pytest.approx(2 * inner - 1, abs=1e-12)
    assert outer.support == (-1.0, 1.0)


def test_equal_weights_of_equal_strata_are_weights_by_size() -> None:
    scores, strata = [1.0, 0.5, 0.0, 1.0, 1.0, 1.0], ["a", "b"] * 3
    by_size = conservative_lower(scores, strata)
    assert conservative_lower(scores, strata, weights="equal").lower == pytest.approx(
        by_size.lower, abs=1e-12
    )


def test_a_small_stratum_of_equal_weight_costs_width() -> None:
    scores, strata = [1.0] * 100 + [1.0] * 2, ["a"] * 100 + ["b"] * 2
    assert (
        conservative_lower(scores, strata, weights="equal").lower
        < conservative_lower(scores, strata).lower - 0.2
    )


def test_it_is_lower_than_the_percentile_of_an_ordinary_sample() -> None:
    scores = [1.0] * 70 + [0.5] * 20 + [0.0] * 12
    assert conservative_lower(scores).lower < bootstrap(scores, None).lower


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (
            ([1.5],),
            r"^scores\[0\] is 1.5, outside of the support from 0 to 1: declare what a score can be\.$",
        ),
        (([0.5, -1.0],), r"scores\[1\] is -1"),
        (([0.5], None, 0.05, "size", (1, 0)), "ascending order"),
        (([1.0], None, 0.05, "size", (1, 1)), "ascending order"),
        (([0.5], None, 0.05, "size", (0, 1, 2)), "two numbers"),
        (([0.5], None, 0.05, "size", None), "^support must have one dimension"),
        (([0.5], None, 1.0), "^level must lie"),
        (([0.5], ["a", "b"]), "2 labels, 1 scores"),
        (([0.5], None, 0.05, "other"), "^weights must be one of size, equal"),
        (([float("nan")],), "nan"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments, part) -> None:
    with pytest.raises(StatsInputError, match=part):
        conservative_lower(*arguments)
