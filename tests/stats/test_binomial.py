from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from darkcurrent.errors import StatsInputError
from darkcurrent.stats import clone_tail, clone_test, clopper_pearson_upper


def rational_tail(k: int, n: int, p: Fraction) -> Fraction:
    return sum((comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1)), Fraction(0))


@pytest.mark.parametrize(
    ("k", "n"), [(0, 1), (0, 59), (2, 102), (7, 40), (40, 40), (0, 485), (3, 485), (480, 485)]
)
@pytest.mark.parametrize("threshold", [Fraction(1, 20), Fraction(1, 100), Fraction(1, 2)])
def test_the_tail_is_that_of_rational_arithmetic(k: int, n: int, threshold: Fraction) -> None:
    expected = float(rational_tail(k, n, threshold))
    assert clone_tail(k, n, float(threshold)) == pytest.approx(expected, rel=1e-12, abs=0)


def test_a_tail_of_1e_minus_292_keeps_its_digits() -> None:
    expected = float(rational_tail(16, 190, Fraction(63, 64)))
    assert clone_tail(16, 190, 63 / 64) == pytest.approx(expected, rel=1e-12, abs=0)


def test_no_items_are_no_evidence() -> None:
    assert clone_tail(0, 0) == 1.0
    assert clopper_pearson_upper(0, 0) == 1.0
    result = clone_test(0, 0)
    assert (result.rate, result.degenerate) == (None, "empty")
    assert result.reason == "There are no items: p and the bound are 1 because nothing was observed."


def test_the_bound_is_where_the_tail_is_the_complement_of_the_level() -> None:
    for k, n, level in [(0, 102, 0.95), (2, 102, 0.95), (5, 31, 0.99), (30, 31, 0.9), (1, 2, 0.5)]:
        bound = clopper_pearson_upper(k, n, level)
        assert clone_tail(k, n, bound) == pytest.approx(1 - level, rel=1e-10, abs=0)


def test_nothing_adverse_has_a_closed_form() -> None:
    assert clopper_pearson_upper(0, 485) == pytest.approx(1 - 0.05 ** (1 / 485), rel=1e-12, abs=0)


@given(st.integers(1, 300), st.data())
def test_scipy_agrees(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    threshold = data.draw(st.floats(0.001, 0.999))
    oracle = binomtest(k, n, threshold, alternative="less")
    # below 1e-100 the oracle has lost digits: 2e-8 of them at k = 16, n = 190, p = 0.984375
    assert clone_tail(k, n, threshold) == pytest.approx(oracle.pvalue, rel=1e-9, abs=1e-100)
    assert clopper_pearson_upper(k, n) == pytest.approx(oracle.proportion_ci(0.95, "exact").high, rel=1e-9)


@given(st.integers(1, 300), st.data())
def test_one_more_adverse_item_never_helps(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n - 1))
    assert clone_tail(k + 1, n) >= clone_tail(k, n)
    assert clopper_pearson_upper(k + 1, n) > clopper_pearson_upper(k, n) > k / n


def test_the_summary_holds_what_the_functions_say() -> None:
    result = clone_test(2, 102, threshold=0.1, level=0.9)
    assert (result.n, result.adverse, result.rate) == (102, 2, 2 / 102)
    assert (result.p, result.upper) == (clone_tail(2, 102, 0.1), clopper_pearson_upper(2, 102, 0.9))
    assert (result.threshold, result.level, result.degenerate, result.reason) == (0.1, 0.9, None, None)
    good, bad = clone_test(0, 5), clone_test(5, 5)
    assert (good.degenerate, bad.degenerate) == ("all-success", "all-failure")
    assert good.reason == "No item was adverse: the bound, not the rate of zero, is what was shown."
    assert bad.reason == "Every item was adverse: the upper bound is 1."


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ((1, 0), "k must not be above n"),
        ((-1, 5), "k must be 0 or more"),
        ((0, -1), "n must be 0 or more"),
        ((2.0, 5), "k must be a whole number"),
        ((None, 5), "k must be a whole number"),
        ((1, 5, 0.0), "strictly between 0 and 1"),
        ((1, 5, 1), "strictly between 0 and 1"),
        ((1, 5, float("nan")), "strictly between 0 and 1"),
        ((1, 5, "a"), "must be a number"),
    ],
)
@pytest.mark.parametrize("function", [clone_tail, clopper_pearson_upper, clone_test])
def test_what_is_out_of_range_is_refused(function, arguments, part) -> None:
    with pytest.raises(StatsInputError, match=part):
        function(*arguments)


def test_a_proportion_is_refused_by_its_name() -> None:
    for call in (lambda: clone_tail(1, 5, threshold=2), lambda: clone_test(1, 5, threshold=2)):
        with pytest.raises(StatsInputError, match=r"^threshold must lie"):
            call()
    for call in (lambda: clopper_pearson_upper(1, 5, level=2), lambda: clone_test(1, 5, level=2)):
        with pytest.raises(StatsInputError, match=r"^level must lie"):
            call()
