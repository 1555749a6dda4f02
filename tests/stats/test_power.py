from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkcurrent.errors import StatsInputError
from darkcurrent.stats import bootstrap, clone_tail, clopper_pearson_upper, holm
from darkcurrent.stats.bootstrap import DEFAULT_SEED
from darkcurrent.stats.power import (
    clone_allowed,
    clone_detectable_rate,
    clone_power,
    clone_smallest_n,
    utility_power,
)


def gate(adverse: int, n: int, family: int, threshold: float, level: float = 0.95) -> bool:
    """The clone gate by its words, beside fellows that all do as badly as can be."""
    adjusted = holm([clone_tail(adverse, n, threshold), *[1.0] * (family - 1)])[0]
    return adjusted <= 0.05 and clopper_pearson_upper(adverse, n, level) <= threshold


@given(
    st.integers(0, 300),
    st.integers(1, 8),
    st.sampled_from([0.02, 0.05, 0.2]),
    st.sampled_from([0.9, 0.95, 0.999]),
)
@settings(deadline=None)
def test_what_is_allowed_passes_the_gate_and_no_more(n, family, threshold, level) -> None:
    passing = [adverse for adverse in range(n + 1) if gate(adverse, n, family, threshold, level)]
    assert clone_allowed(n, threshold, family, level) == (max(passing) if passing else None)
    assert passing == list(range(len(passing)))


def test_fewest_items_that_can_pass_at_all() -> None:
    # .95 ** n <= .05 / m by hand: .95 ** 58 = .0510 and .95 ** 59 = .0485; .95 ** 93 = .00848 and .95 ** 94 = .00805
    assert (clone_smallest_n(), clone_smallest_n(family=6)) == (59, 94)
    assert (clone_allowed(58), clone_allowed(59)) == (None, 0)
    assert (clone_allowed(93, family=6), clone_allowed(94, family=6)) == (None, 0)


@given(st.integers(0, 6), st.integers(1, 8), st.sampled_from([0.05, 0.2]))
@settings(deadline=None, max_examples=40)
def test_the_smallest_n_is_the_first_that_passes(adverse, family, threshold) -> None:
    n = clone_smallest_n(adverse, threshold, family)
    assert gate(adverse, n, family, threshold)
    assert not gate(adverse, n - 1, family, threshold)


def test_published_cells_are_allowed_or_not() -> None:
    # 0 of 102 passes in a family of four and 2 of 102 does not; 0 of 96 passes in a family of six
    assert clone_allowed(102, family=4) == 0
    assert clone_allowed(96, family=6) == 0
    assert clone_allowed(485, family=2) == 14


def exact_power(n: int, allowed: int, rate: Fraction) -> float:
    return float(sum(comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(allowed + 1)))


@pytest.mark.parametrize(("n", "family"), [(59, 1), (102, 4), (485, 2)])
def test_clone_power_is_the_binomial_sum(n, family) -> None:
    rates = [Fraction(0), Fraction(1, 1000), Fraction(1, 64), Fraction(1, 20), Fraction(1, 2), Fraction(1)]
    result = clone_power(n, map(float, rates), family=family)
    expected = [exact_power(n, result.allowed, rate) for rate in rates]
    assert result.power == pytest.approx(expected, rel=1e-11, abs=1e-300)
    assert result.power[0] == 1.0
    assert result.power[-1] == 0.0
    assert result.power[3] <= 0.05 / family
    assert (result.n, result.family, result.rates) == (n, family, tuple(map(float, rates)))


def test_a_gate_that_cannot_be_passed_has_no_power() -> None:
    result = clone_power(58, [0.0, 0.01])
    assert (result.allowed, result.power) == (None, (0.0, 0.0))
    assert clone_detectable_rate(58) is None
    assert clone_power(0, [0.0]).power == (0.0,)


@given(st.integers(60, 600), st.integers(1, 6), st.sampled_from([0.5, 0.8, 0.9]))
@settings(deadline=None)
def test_the_detectable_rate_is_where_power_falls_below(n, family, wanted) -> None:
    rate = clone_detectable_rate(n, wanted, family=family)
    if rate is None:
        assert clone_allowed(n, family=family) is None
        return
    below, at, above = clone_power(n, [rate * 0.999, rate, rate * 1.001], family=family).power
    assert at == pytest.approx(wanted, rel=1e-9)
    assert above < wanted < below


def law(mean: Fraction, correlation: Fraction) -> dict[Fraction, Fraction]:
    """Scores of two successes from their joint table."""
    both = mean * mean + correlation * mean * (1 - mean)
    return {Fraction(1): both, Fraction(1, 2): 2 * (mean - both), Fraction(0): 1 - 2 * mean + both}


@pytest.mark.parametrize("n", [1, 2, 7, 9])
@pytest.mark.parametrize("threshold", [0.25, 0.75])
def test_utility_power_is_that_of_all_batteries(n, threshold) -> None:
    cases = [(Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 2), Fraction(-1)), (Fraction(9, 10), Fraction(0))]
    passing = {
        counts: bootstrap([0.0] * counts[0] + [0.5] * counts[1] + [1.0] * counts[2], None).lower >= threshold
        for counts in itertools.product(range(n + 1), repeat=3)
        if sum(counts) == n
    }
    for mean, correlation in cases:
        chances = law(mean, correlation)
        zero, half, one = chances[Fraction(0)], chances[Fraction(1, 2)], chances[Fraction(1)]
        expected = sum(
            comb(n, a) * comb(n - a, b) * zero**a * half**b * one**c
            for (a, b, c), good in passing.items()
            if good
        )
        result = utility_power(n, [float(mean)], float(correlation), threshold)
        assert result.method == "exact"
        assert result.power[0] == pytest.approx(float(expected), rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("weights", ["size", "equal"])
def test_the_simulation_agrees_with_all_batteries_of_two_strata(weights) -> None:
    sizes, mean, correlation, threshold = (3, 2), Fraction(4, 5), Fraction(1, 2), 0.6
    chances = law(mean, correlation)
    expected = 0.0
    for scores in itertools.product(chances, repeat=5):
        lower = bootstrap([float(s) for s in scores], ["a"] * 3 + ["b"] * 2, weights=weights).lower
        if lower >= threshold:
            expected += float(np.prod([float(chances[score]) for score in scores]))
    result = utility_power(sizes, [0.8], 0.5, threshold, weights=weights, repetitions=1_500)
    assert (result.method, result.repetitions, result.seed) == ("simulation", 1_500, DEFAULT_SEED)
    assert 0.1 < expected < 0.9
    assert result.standard_error[0] == pytest.approx((expected * (1 - expected) / 1_500) ** 0.5, rel=0.1)
    assert result.power[0] == pytest.approx(expected, abs=4 * result.standard_error[0])


def test_a_simulation_is_repeatable_and_rises_with_the_mean() -> None:
    options = {"correlation": 0.3, "repetitions": 60}
    first = utility_power([17] * 6, [0.7, 0.8, 0.9], seed=1, **options)
    assert first == utility_power([17] * 6, [0.7, 0.8, 0.9], seed=1, **options)
    assert list(first.power) == sorted(first.power)
    assert first.power[0] < 0.1
    assert first.power[-1] > 0.9
    assert first.power != utility_power([17] * 6, [0.7, 0.8, 0.9], seed=2, **options).power


def test_certain_judges() -> None:
    assert utility_power(20, [0.0, 1.0]).power == (0.0, 1.0)
    assert utility_power([10, 10], [0.0, 1.0], repetitions=5).power == (0.0, 1.0)
    # always the first slot: one success of two on every item
    assert utility_power(20, [0.5], -1.0).power == (0.0,)
    assert utility_power(20, [0.5], -1.0, threshold=0.5).power == (1.0,)


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda: clone_allowed(-1), "n must be 0 or more"),
        (lambda: clone_allowed(10, threshold=0), "threshold"),
        (lambda: clone_allowed(10, family=0), "family must be 1 or more"),
        (lambda: clone_allowed(10, level=1), "level"),
        (lambda: clone_smallest_n(alpha=2), "alpha"),
        (lambda: clone_smallest_n(-1), "adverse must be 0 or more"),
        (lambda: clone_detectable_rate(100, power=1), "power"),
        (lambda: clone_power(100, []), "rates must hold one or more numbers"),
        (lambda: clone_power(100, [1.1]), "rates must hold"),
        (lambda: clone_power(100, ["x"]), "rates must be a list of numbers"),
        (lambda: utility_power([], [0.8]), "sizes must hold one stratum"),
        (lambda: utility_power([3, 0], [0.8]), r"sizes\[1\] must be 1 or more"),
        (lambda: utility_power(3, [float("nan")]), "means must hold"),
        (lambda: utility_power(3, [0.9], -0.5), "cannot have the correlation -0.5"),
        (lambda: utility_power(3, [0.9], 1.5), "cannot have the correlation 1.5"),
        (lambda: utility_power(3, [0.9], threshold=1.0), "threshold"),
        (lambda: utility_power(3, [0.9], level=0.0), "level"),
        (lambda: utility_power(3, [0.9], weights="none"), "weights must be one of"),
        (lambda: utility_power([3, 3], [0.9], repetitions=0), "repetitions must be 1 or more"),
        (lambda: utility_power([3, 3], [0.9], seed=-1), "seed must be 0 or more"),
    ],
)
def test_what_cannot_be_used_is_refused(call, part) -> None:
    with pytest.raises(StatsInputError, match=part):
        call()
