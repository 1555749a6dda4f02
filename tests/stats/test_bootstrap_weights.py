"""Equal weights of strata of unequal sizes, differences, and scores on fine or no lattices."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_bootstrap import rational_law, rational_quantile

from darkcurrent.errors import StatsInputError
from darkcurrent.stats import _grid, _sample, bootstrap, bootstrap_difference


def plant(sizes: dict[str, int], seed: int, step: int = 2) -> tuple[list[float], list[str]]:
    strata = [name for name, size in sizes.items() for _ in range(size)]
    raw = np.random.PCG64(seed).random_raw(len(strata))
    return [int(value % (step + 1)) / step for value in raw.tolist()], strata


MIXTURE = {"a": 159, "b": 83, "c": 41, "d": 77, "e": 100, "f": 25}


def test_equal_strata_weigh_the_same_either_way() -> None:
    scores, strata = plant({"a": 17, "b": 17, "c": 17}, seed=1)
    by_size, equal = bootstrap(scores, strata), bootstrap(scores, strata, weights="equal")
    assert (by_size.mean, by_size.lower, by_size.interval) == (equal.mean, equal.lower, equal.interval)


def test_levels_of_any_size_work_for_equal_strata_and_for_one() -> None:
    scores, strata = plant({"a": 17, "b": 17, "c": 17}, seed=1)
    law = rational_law([Fraction(score) for score in scores], strata, False)
    for level in (Fraction(1, 10**6), Fraction(1, 10**9)):
        for weights in ("size", "equal"):
            result = bootstrap(scores, strata, level=float(level), weights=weights)
            assert result.lower == rational_quantile(law, level)
    assert bootstrap(scores, None, weights="equal").lower == bootstrap(scores, None).lower


def test_equal_weights_give_the_mean_of_the_means() -> None:
    scores, strata = plant(MIXTURE, seed=2)
    result = bootstrap(scores, strata, weights="equal")
    assert result.mean == pytest.approx(sum(part.mean for part in result.strata) / 6, rel=1e-15)
    assert result.mean != bootstrap(scores, strata).mean


def test_without_a_common_lattice_bounds_are_rounded_outward(monkeypatch) -> None:
    scores, strata = plant({"a": 9, "b": 8, "c": 7, "d": 11}, seed=3)
    exact = bootstrap(scores, strata, weights="equal")
    assert (exact.method, exact.resolution, exact.reason) == ("exact", 0.0, None)
    monkeypatch.setattr(_grid, "_STEPS", 30_000)
    rounded = bootstrap(scores, strata, weights="equal")
    assert rounded.method == "exact"
    assert "outward" in rounded.reason
    assert 0 < rounded.resolution < 3e-4
    assert rounded.lower <= exact.lower <= rounded.lower + rounded.resolution
    assert rounded.interval[0] <= exact.interval[0] <= rounded.interval[0] + rounded.resolution
    assert rounded.interval[1] - rounded.resolution <= exact.interval[1] <= rounded.interval[1]


def test_the_published_mixture_of_sizes_is_enclosed_and_the_draws_agree() -> None:
    scores, strata = plant(MIXTURE, seed=4)
    result = bootstrap(scores, strata, weights="equal")
    drawn = bootstrap(scores, strata, weights="equal", method="monte-carlo")
    assert 0 < result.resolution < 3e-5
    assert drawn.lower == pytest.approx(result.lower, abs=0.0015)
    assert drawn.interval == pytest.approx(result.interval, abs=0.0015)


def test_the_grid_covers_the_bulk_and_not_the_support() -> None:
    scores, strata = plant({"a": 1_009, "b": 2_003, "c": 997}, seed=9)
    result = bootstrap(scores, strata, weights="equal")
    # a window of 2 * (.53 + .05) units of a half in 250,000 steps, each at most one step off
    assert 2e-6 < result.resolution < 3e-6
    drawn = bootstrap(scores, strata, weights="equal", method="monte-carlo", draws=4_000)
    assert drawn.lower == pytest.approx(result.lower, abs=0.002)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([Fraction(1, 20), Fraction(1, 2)]))
def test_an_enclosure_holds_the_rational_quantile(seed, level) -> None:
    scores, strata = plant({"a": 4, "b": 3, "c": 5}, seed)
    truth = rational_quantile(rational_law([Fraction(score) for score in scores], strata, True), level)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_grid, "_STEPS", 250)
        result = bootstrap(scores, strata, level=float(level), weights="equal")
    assert result.lower - 1e-15 <= truth <= result.lower + result.resolution + 1e-15


def test_an_upper_end_stays_inside_the_support(monkeypatch) -> None:
    monkeypatch.setattr(_grid, "_STEPS", 60)
    scores, strata = [1.0] * 40 + [1.0, 1.0, 0.5], ["a"] * 40 + ["b"] * 3
    result = bootstrap(scores, strata, weights="equal")
    assert result.interval[1] == 1.0
    assert result.reason == (
        "Strata of these sizes share no coarse lattice: bounds are rounded outward to a fine one."
    )


@pytest.mark.parametrize(
    "values", [(0, 1 / 3, 2 / 3, 1), (0, 0.2, 0.4, 1), (-1, -0.5, 0, 0.5, 1), (0, 0.25, 1 / 3)]
)
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_any_rational_step_is_exact(values, data) -> None:
    scores = data.draw(st.lists(st.sampled_from(values), min_size=1, max_size=7))
    strata = data.draw(st.lists(st.sampled_from("ab"), min_size=len(scores), max_size=len(scores)))
    exact = [Fraction(score).limit_denominator(60) for score in scores]
    result = bootstrap(scores, strata)
    assert result.method == "exact"
    assert result.lower == rational_quantile(rational_law(exact, strata, False), Fraction(1, 20))


def test_hundredths_are_exact() -> None:
    scores, strata = plant({"a": 200, "b": 285}, seed=6, step=100)
    result = bootstrap(scores, strata)
    drawn = bootstrap(scores, strata, method="monte-carlo")
    assert result.method == "exact"
    assert drawn.lower == pytest.approx(result.lower, abs=0.0015)


def test_scores_on_no_lattice_are_drawn_and_the_result_says_so() -> None:
    scores = [math.sqrt(value) / 10 for value in range(90)]
    result = bootstrap(scores, None)
    assert (result.method, result.draws) == ("monte-carlo", 20_000)
    assert result.reason == (
        "The scores lie on no lattice with a denominator up to 10,000, so the bounds are from Monte-Carlo draws."
    )
    assert result.mean == pytest.approx(math.fsum(scores) / 90, rel=1e-12)
    spread = 1.645 * np.std(scores) / math.sqrt(90)
    assert result.lower == pytest.approx(result.mean - spread, abs=0.01)
    asked = bootstrap(scores, None, method="monte-carlo")
    assert asked.reason is None
    assert asked.lower == result.lower


def test_a_lattice_that_is_too_fine_is_drawn_and_the_result_says_so() -> None:
    scores = [value / 9_999 for value in range(0, 9_999, 3)]
    result = bootstrap(scores, None, draws=200)
    assert result.method == "monte-carlo"
    refusal = "The lattice of these scores is too fine for the exact method"
    assert result.reason == f"{refusal}, so the bounds are from Monte-Carlo draws."


def test_too_many_strata_for_a_table_are_drawn(monkeypatch) -> None:
    monkeypatch.setattr(_sample, "_LARGEST_TABLE", 300)
    strata = [*map(str, range(101)), "0", "0"]
    assert bootstrap([1.0] * 101 + [0.0, 0.5], strata, draws=40).method == "monte-carlo"
    assert bootstrap([1.0] * 98 + [0.0, 0.5], None, draws=40).method == "monte-carlo"
    assert bootstrap([1.0] * 28 + [0.0, 0.5], None, draws=40).method == "exact"


def test_the_draws_for_scores_on_no_lattice_are_those_of_the_stated_rule() -> None:
    scores, strata = [0.1, math.e, -math.pi, 0.7, 0.2], ["b", "a", "a", "b", "b"]
    result = bootstrap(scores, strata, method="monte-carlo", draws=60, seed=4)
    outputs = iter(np.random.PCG64(4).random_raw(60 * 5).tolist())
    groups = [[-math.pi, math.e], [0.1, 0.2, 0.7]]
    sums = [
        [sum(group[next(outputs) * len(group) >> 64] for _ in group) for _ in range(60)] for group in groups
    ]
    means = sorted((first + second) / 5 for first, second in zip(*sums, strict=True))
    assert result.lower == pytest.approx(means[2], abs=1e-11)
    assert result.interval == pytest.approx((means[1], means[58]), abs=1e-11)
    weighed = bootstrap(scores, strata, method="monte-carlo", draws=60, seed=4, weights="equal")
    means = sorted(first / 4 + second / 6 for first, second in zip(*sums, strict=True))
    assert weighed.lower == pytest.approx(means[2], abs=1e-11)


@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(random) -> None:
    scores, strata = plant({"a": 9, "b": 4}, seed=8)
    rows = list(zip(scores, strata, strict=True))
    random.shuffle(rows)
    shuffled = [row[0] for row in rows], [row[1] for row in rows]
    for method in ("exact", "monte-carlo"):
        assert bootstrap(*shuffled, method=method, draws=40) == bootstrap(
            scores, strata, method=method, draws=40
        )


def test_differences_are_resampled_in_pairs() -> None:
    strata = ["a", "a", "b", "b", "b"]
    present, absent = [1, 0.5, 0, 1, 1 / 3], [0.5, 0.5, 1, 0, 2 / 3]
    result = bootstrap_difference(present, absent, strata)
    exact = [Fraction(1, 2), Fraction(0), Fraction(-1), Fraction(1), Fraction(-1, 3)]
    law = rational_law(exact, strata, False)
    assert result.method == "exact"
    assert result.mean == float(sum(exact) / 5)
    assert result.lower == rational_quantile(law, Fraction(1, 20))
    assert result.interval[1] == rational_quantile(law, Fraction(39, 40))


def test_the_same_difference_everywhere_is_constant_not_a_success() -> None:
    assert bootstrap_difference([1, 1], [0, 0], None).degenerate == "constant"
    assert bootstrap_difference([1, 1], [1, 1], None).degenerate == "constant"
    assert bootstrap_difference([], [], None).degenerate == "empty"


def test_differences_pass_every_option_on() -> None:
    present, absent, strata = [1, 0.5, 0, 1, 1], [0.5, 0.5, 1, 0, 1], ["a", "a", "b", "b", "b"]
    for options in ({"seed": 5}, {"seed": 5, "draws": 90, "level": 0.2, "weights": "equal"}):
        moved = np.subtract(present, absent)
        expected = bootstrap(moved, strata, method="monte-carlo", **options)
        assert bootstrap_difference(present, absent, strata, method="monte-carlo", **options) == expected


def test_differences_need_the_same_items() -> None:
    with pytest.raises(StatsInputError, match="2 scores against 3"):
        bootstrap_difference([1, 0], [1, 0, 1], None)
    with pytest.raises(StatsInputError, match=r"^absent\[0\] is nan"):
        bootstrap_difference([1], [float("nan")], None)
    with pytest.raises(StatsInputError, match=r"^present\[0\] is nan"):
        bootstrap_difference([float("nan")], [1], None)


def test_too_few_draws_for_a_level_are_refused() -> None:
    with pytest.raises(
        StatsInputError, match=r"^A bound at level 0.001 needs 1,000 or more draws, not 999\.$"
    ):
        bootstrap([1, 0, 1], None, level=0.001, method="monte-carlo", draws=999)
    assert bootstrap([1, 0, 1], None, level=0.001, method="monte-carlo", draws=1_000).lower == 0.0


def test_a_level_too_small_for_the_grid_is_refused_with_both_reasons() -> None:
    scores, strata = plant(MIXTURE, seed=4)
    assert bootstrap(scores, strata, level=1e-6, weights="equal").method == "exact"
    refusal = "^Equal weights of strata of unequal sizes have no exact method below a level of 1e-06"
    with pytest.raises(StatsInputError, match=rf"{refusal}.*10,000,000 or more draws"):
        bootstrap(scores, strata, level=1e-7, weights="equal")


def test_constant_strata_of_awkward_sizes_need_no_grid() -> None:
    scores = [1.0] * 9_973 + [0.0] * 9_967 + [0.5] * 9_949
    strata = ["a"] * 9_973 + ["b"] * 9_967 + ["c"] * 9_949
    result = bootstrap(scores, strata, weights="equal")
    assert (result.mean, result.lower, result.interval, result.resolution) == (0.5, 0.5, (0.5, 0.5), 0.0)
    assert result.degenerate == "constant-strata"


def test_scores_far_apart_have_the_right_mean() -> None:
    scores = [1e18] * 30 + [0.5] * 2 + [1.0]
    result = bootstrap(scores, None)
    assert result.mean == pytest.approx(math.fsum(scores) / 33, rel=1e-9)
    assert result.method == "monte-carlo"


def test_a_grid_step_longer_than_the_lattices_own_is_drawn_and_the_result_says_so() -> None:
    scores, strata = [0, 1] * 26 + [0.0001], [item // 2 for item in range(52)] + [0]
    result = bootstrap(scores, strata, weights="equal", draws=400)
    refusal = "The lattice of these scores is too fine for the exact method"
    assert (result.method, result.reason) == (
        "monte-carlo",
        f"{refusal}, so the bounds are from Monte-Carlo draws.",
    )
    assert bootstrap(scores[2:52], strata[2:52], weights="equal").method == "exact"
