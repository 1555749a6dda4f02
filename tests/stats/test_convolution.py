"""The law of a sum against rational arithmetic and direct convolution, in its bulk and in its tails."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkcurrent.stats import _convolution
from darkcurrent.stats._convolution import (
    Draws,
    Law,
    _log_modulus,
    find_window,
    law_of_sum,
    lower_quantile,
    quantile,
    reach,
)


def make(counts, values=(0, 1, 2)) -> Draws:
    table = np.array(counts, dtype=np.int64)
    sizes = table.sum(axis=1)
    return Draws(np.array(values, dtype=np.int64), table / sizes[:, None], sizes)


def law_of(draws: Draws) -> Law:
    return law_of_sum(draws, find_window(draws))


def rational_masses(counts, values=(0, 1, 2)) -> list[int]:
    """Numerators of the masses of 0, 1, 2, ... over prod(n_h ** n_h), by whole numbers only."""
    polynomial = [1]
    for row in counts:
        for _ in range(sum(row)):
            following = [0] * (len(polynomial) + max(values))
            for place, weight in enumerate(polynomial):
                if weight:
                    for value, count in zip(values, row, strict=True):
                        following[place + value] += weight * count
            polynomial = following
    return polynomial


def rational_quantile(masses: list[int], level: Fraction) -> int:
    total, whole = 0, sum(masses)
    for place, mass in enumerate(masses):
        total += mass
        if total * level.denominator >= level.numerator * whole:
            return place
    raise AssertionError("a law adds up to one")


CASES = {
    "halves": ([[3, 5, 20], [0, 2, 9], [1, 0, 30]], (0, 1, 2)),
    "rare failure": ([[1, 0, 119]], (0, 1, 2)),
    "both ends only": ([[30, 0, 31], [5, 0, 4]], (0, 1, 2)),
    "an uneven lattice": ([[4, 9, 2, 7], [1, 1, 1, 20]], (0, 3, 5, 6)),
}


@pytest.mark.parametrize("name", CASES)
def test_masses_are_those_of_rational_arithmetic(name: str) -> None:
    counts, values = CASES[name]
    law = law_of(make(counts, values))
    exact = rational_masses(counts, values)
    whole = sum(exact)
    expected = np.array([float(Fraction(mass, whole)) for mass in exact])
    found = np.zeros(expected.size)
    found[law.start : law.start + law.masses.size] = law.masses
    noise = 1e-14 * expected.max()
    assert np.abs(found - expected).max() < noise
    # no mass is made up: where there is less than the noise of an FFT, there is none
    assert (found[expected < 1e-15 * expected.max()] == 0).all()
    assert law.masses.min() >= 0
    assert law.masses.sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("power", [1, 2, 3, 5, 8, 13, 21, 34, 55])
def test_quantiles_in_the_far_tail_are_those_of_rational_arithmetic(name: str, power: int) -> None:
    counts, values = CASES[name]
    draws = make(counts, values)
    level = Fraction(1, 10**power)
    expected = rational_quantile(rational_masses(counts, values), level)
    assert lower_quantile(draws, law_of(draws), float(level)) == expected


def test_equality_with_the_level_is_not_left_to_rounding() -> None:
    # two draws from {0, 1}: the masses are 1/4, 1/2, 1/4
    draws = make([[1, 1]], values=(0, 1))
    law = law_of(draws)
    assert [quantile(law, level) for level in (0.25, 0.250001, 0.75, 0.750001)] == [0, 1, 1, 2]
    # thirteen draws: the lowest mass is 2 ** -13, below the level from which the law is tilted
    draws = make([[7, 0, 7]])
    law = law_of(draws)
    assert lower_quantile(draws, law, 2.0**-14) == 0
    assert lower_quantile(draws, law, 2.0**-14 * 1.0001) == 2
    assert lower_quantile(draws, law, 15 * 2.0**-14) == 2


def test_the_median_of_a_symmetric_law_is_not_left_to_rounding() -> None:
    # an odd number of fair draws from {0, 1}: exactly half of the mass lies below the middle
    for half in (5, 500, 50_000):
        draws = Draws(np.array([0, 1]), np.array([[0.5, 0.5]]), np.array([2 * half + 1]))
        assert quantile(law_of(draws), 0.5) == half


def power_by_squaring(masses: np.ndarray, exponent: int) -> np.ndarray:
    """Direct convolution of positive numbers: every mass keeps its relative accuracy."""
    result, base = np.ones(1), masses
    while exponent:
        if exponent & 1:
            result = np.convolve(result, base)
        exponent >>= 1
        if exponent:
            base = np.convolve(base, base)
    return result


@pytest.mark.parametrize(
    "counts", [[600, 900, 2500], [3, 1, 3996], [1, 0, 3999], [1999, 2, 1999], [2000, 0, 2000]]
)
def test_a_long_convolution_is_that_of_direct_multiplication(counts: list[int]) -> None:
    draws = make([counts])
    direct = power_by_squaring(np.array(counts) / sum(counts), sum(counts))
    direct /= direct.sum()
    law = law_of(draws)
    found = np.zeros(direct.size)
    found[law.start : law.start + law.masses.size] = law.masses
    assert np.abs(found - direct).max() < 2e-13 * direct.max()
    assert (found[direct < 1e-15 * direct.max()] == 0).all()
    cumulative = np.cumsum(direct)
    for level in (0.05, 0.025, 1e-4, 1e-8, 1e-15, 1e-40, 1e-120):
        assert lower_quantile(draws, law, level) == int(np.argmax(cumulative >= level * (1 - 1e-11)))


def test_a_hundred_thousand_draws_keep_the_moments() -> None:
    draws = make([[12_000, 8_000, 30_000], [500, 9_500, 40_000]])
    law = law_of(draws)
    places = law.start + np.arange(law.masses.size)
    means = draws.chances @ draws.values
    variances = draws.chances @ draws.values**2 - means**2
    assert law.masses.sum() == pytest.approx(1, abs=1e-13)
    assert law.masses @ places == pytest.approx(draws.sizes @ means, rel=1e-13)
    assert law.masses @ (places - draws.sizes @ means) ** 2 == pytest.approx(
        draws.sizes @ variances, rel=1e-10
    )
    assert law.masses.size < 10_000


@settings(deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(0, 12)] * 3).filter(any), min_size=1, max_size=3),
    st.sampled_from(
        [Fraction(1, 20), Fraction(1, 3), Fraction(97, 100), Fraction(1, 10**6), Fraction(1, 10**17)]
    ),
)
def test_any_small_law_has_the_rational_quantile(counts, level) -> None:
    draws = make(counts)
    expected = rational_quantile(rational_masses(counts), level)
    assert lower_quantile(draws, law_of(draws), float(level)) == expected


def test_the_window_holds_the_bulk_and_no_more_than_the_support() -> None:
    assert law_of(make([[1, 1, 1]])).masses.size == 7
    assert law_of(make([[0, 5, 0]])).masses.tolist() == [1.0]
    assert law_of(make([[30_000, 0, 30_000]])).masses.size < 8_000
    assert [find_window(make([row])).points for row in ([1, 1, 1], [0, 5, 0], [2, 1, 1])] == [8, 1, 16]


@pytest.mark.parametrize(("variance", "largest"), [(0.0, 2.0), (242.0, 2.0), (5e4, 0.5), (0.3, 9.0)])
def test_the_window_is_where_bernsteins_inequality_gives_a_chance_of_exp_minus_80(variance, largest) -> None:
    far = reach(variance, largest)
    assert far**2 / (2 * (variance + largest * far / 3)) == pytest.approx(80, rel=1e-12)


def test_the_log_of_a_modulus_near_one_keeps_its_digits() -> None:
    for real, imaginary in [
        (-1e-12, 0.0),
        (-3e-14, 1e-7),
        (-1e-9, 3e-5),
        (-0.2, 0.1),
        (-0.9, 0.01),
        (-1.9, 0.3),
    ]:
        square = (1 + Fraction(real)) ** 2 + Fraction(imaginary) ** 2 - 1
        expected = np.log1p(float(square)) / 2
        assert _log_modulus(np.array([real]), np.array([imaginary]))[0] == pytest.approx(
            expected, rel=1e-13, abs=0
        )


def test_strata_in_blocks_give_the_law_of_strata_at_once(monkeypatch) -> None:
    draws = make([[1, 2, 3], [3, 0, 1], [0, 2, 2], [5, 1, 1], [2, 2, 9]] * 3)
    whole = law_of(draws)
    monkeypatch.setattr(_convolution, "_BLOCK", 40)
    parts = law_of(draws)
    assert parts.start == whole.start
    assert parts.masses == pytest.approx(whole.masses, abs=1e-15)


def test_a_hundred_thousand_fair_draws_have_the_binomial_law() -> None:
    n = 100_000
    law = law_of(Draws(np.array([0, 1]), np.array([[0.5, 0.5]]), np.array([n])))
    places = law.start + np.arange(law.masses.size)
    # ratios of neighbours, outward from the middle: products of positive numbers
    right = np.cumprod([1.0, *((n - k) / (k + 1) for k in range(n // 2, int(places[-1])))])
    left = np.cumprod([k / (n - k + 1) for k in range(n // 2, int(places[0]), -1)])[::-1]
    binomial = np.concatenate([left, right])
    binomial /= binomial.sum()
    assert np.abs(law.masses - binomial).max() < 2e-13 * binomial.max()
