from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from darkcurrent.stats._lattice import LARGEST_DENOMINATOR, find_lattice, round_to_lattice


def distinct(*values: float) -> np.ndarray:
    return np.unique(np.array(values, dtype=np.float64))


@pytest.mark.parametrize(
    ("values", "origin", "step", "units"),
    [
        ((0, 0.5, 1), "0", "1/2", [0, 1, 2]),
        ((0, 1), "0", "1", [0, 1]),
        ((0, 1 / 3, 2 / 3), "0", "1/3", [0, 1, 2]),
        ((-1, 0.5), "-1", "3/2", [0, 1]),
        ((1 / 3, 0.5), "1/3", "1/6", [0, 1]),
        ((0.1 + 0.2, 0.4), "3/10", "1/10", [0, 1]),
        ((2, 1_000_002), "2", "1000000", [0, 1]),
    ],
)
def test_the_coarsest_lattice_is_found(values, origin, step, units) -> None:
    lattice = find_lattice(distinct(*values))
    assert (lattice.origin, lattice.step) == (Fraction(origin), Fraction(step))
    assert lattice.units.tolist() == units


def test_one_score_is_a_lattice_of_its_own() -> None:
    lattice = find_lattice(distinct(math.pi))
    assert lattice.score(0, 7) == math.pi


@pytest.mark.parametrize("values", [(0, math.pi), (0, 1 / 10_007), (1 / 101, 1 / 103), (0.5, 0.5 + 1e-9)])
def test_what_has_no_small_common_denominator_is_refused(values) -> None:
    assert find_lattice(distinct(*values)) is None


def test_the_largest_denominator_is_still_found() -> None:
    for denominator in (LARGEST_DENOMINATOR, LARGEST_DENOMINATOR - 1):
        assert find_lattice(distinct(0, 1 / denominator)).step == Fraction(1, denominator)


@given(st.integers(1, 100), st.lists(st.integers(-300, 300), min_size=2, max_size=20, unique=True))
def test_every_score_comes_back(denominator: int, numerators: list[int]) -> None:
    values = distinct(*(numerator / denominator for numerator in numerators))
    lattice = find_lattice(values)
    assert [lattice.score(int(unit), 1) for unit in lattice.units] == values.tolist()
    assert math.gcd(*lattice.units.tolist()) == 1


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=9, unique=True))
@example([1e15, 3.25, -(2.0**50)])
def test_rounding_keeps_forty_bits(values: list[float]) -> None:
    scores = distinct(*values)
    if not np.abs(scores).max() > 1e-300:
        return
    lattice = round_to_lattice(scores)
    back = np.array([lattice.score(int(unit), 1) for unit in lattice.units])
    assert np.abs(back - scores).max() <= np.abs(scores).max() * 2.0**-40


@pytest.mark.parametrize("values", [(0, 3, 1e300), (-1e308, 0.1, 1e308), (0, 0.5, 2.0**41)])
def test_scores_too_far_apart_to_be_summed_have_no_lattice(values) -> None:
    assert find_lattice(distinct(*values)) is None
    assert find_lattice(distinct(0, 0.5, 2.0**40)).units.tolist() == [0, 1, 2**41]
