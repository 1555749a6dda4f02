from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkcurrent.errors import StatsInputError
from darkcurrent.stats import DEFAULT_SEED, BootstrapResult, bootstrap

HALVES = (Fraction(0), Fraction(1, 2), Fraction(1))


def rational_law(scores, strata, equal):
    """Every resample with its probability, in rational numbers."""
    groups = {}
    for score, label in zip(scores, strata, strict=True):
        groups.setdefault(label, []).append(score)
    law = {Fraction(0): Fraction(1)}
    for members in groups.values():
        weight = Fraction(1, len(groups)) if equal else Fraction(len(members), len(scores))
        for _ in members:
            following = {}
            for (total, mass), score in product(law.items(), members):
                value = total + weight * score / len(members)
                following[value] = following.get(value, 0) + mass / len(members)
            law = following
    return sorted(law.items())


def rational_quantile(law, level):
    total = Fraction(0)
    for value, mass in law:
        total += mass
        if total >= level:
            return float(value)
    raise AssertionError("a law adds up to one")


@st.composite
def samples(draw, values=HALVES, largest=9):
    n = draw(st.integers(1, largest))
    scores = draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))
    strata = draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    return scores, strata


LEVELS = st.sampled_from(
    [Fraction(1, 20), Fraction(1, 4), Fraction(1, 27), Fraction(1, 10**5), Fraction(1, 2)]
)


@settings(deadline=None)
@given(samples(), LEVELS, st.sampled_from(["size", "equal"]))
def test_the_exact_law_is_that_of_rational_arithmetic(sample, level, weights) -> None:
    scores, strata = sample
    law = rational_law(scores, strata, weights == "equal")
    result = bootstrap([float(score) for score in scores], strata, level=float(level), weights=weights)
    assert result.method == "exact"
    assert result.lower == rational_quantile(law, level)
    low, high = (rational_quantile(law, Fraction(end)) for end in ("0.025", "0.975"))
    assert result.interval == (low, high)
    assert result.mean == pytest.approx(float(sum(value * mass for value, mass in law)), rel=1e-14, abs=1e-14)


def test_both_methods_agree_within_the_error_of_the_draws() -> None:
    stream = np.random.PCG64(7).random_raw(485)
    scores = (stream % 3) / 2
    strata = [f"s{value}" for value in (stream >> np.uint64(20)) % 6]
    exact = bootstrap(scores, strata)
    drawn = bootstrap(scores, strata, method="monte-carlo")
    assert (exact.method, drawn.method) == ("exact", "monte-carlo")
    assert exact.mean == drawn.mean
    assert drawn.lower == pytest.approx(exact.lower, abs=0.0015)
    assert drawn.interval == pytest.approx(exact.interval, abs=0.0015)


def test_the_result_says_how_it_was_made() -> None:
    scores, strata = [1, 0, 0.5, 1], ["a", "a", "b", "b"]
    exact = bootstrap(scores, strata)
    assert (exact.draws, exact.seed, exact.n, exact.weights, exact.level) == (None, None, 4, "size", 0.05)
    assert [(part.name, part.n, part.mean) for part in exact.strata] == [("a", 2, 0.5), ("b", 2, 0.75)]
    drawn = bootstrap(scores, strata, method="monte-carlo", draws=100)
    assert (drawn.draws, drawn.seed) == (100, DEFAULT_SEED)
    assert bootstrap(scores, strata, method="monte-carlo", draws=100, seed=3).seed == 3


@pytest.mark.parametrize(
    ("scores", "strata", "word", "why"),
    [
        ([1, 1, 1], ["a", "a", "b"], "all-success", "Every score is 1"),
        ([0, 0], None, "all-failure", "Every score is 0"),
        ([0.5, 0.5], None, "constant", "Every score is 0.5"),
        ([1, 0], ["a", "b"], "one-item-per-stratum", "Every stratum has one item"),
        ([1, 1, 0, 0], ["a", "a", "b", "b"], "constant-strata", "Scores differ between strata only"),
    ],
)
def test_an_interval_without_width_has_a_name(scores, strata, word, why) -> None:
    result = bootstrap(scores, strata)
    assert (result.degenerate, result.caveat) == (word, None)
    assert result.reason == f"{why}, so the interval has no width, which is not certainty."
    assert result.lower == result.mean
    assert result.interval == (result.mean, result.mean)


def test_scores_that_differ_by_rounding_are_one_score() -> None:
    result = bootstrap([0.1 + 0.2, 0.3, 0.3], None)
    assert (result.degenerate, result.mean, result.interval) == ("constant", 0.3, (0.3, 0.3))
    thirds = bootstrap([1 - 1 / 3, 2 / 3, 1 / 3, 1 / 3 + 1 / 3], None)
    assert thirds == bootstrap([2 / 3, 2 / 3, 1 / 3, 2 / 3], None)


def test_no_items_have_no_mean() -> None:
    result = bootstrap([], [])
    assert result == BootstrapResult(
        mean=None,
        lower=None,
        interval=None,
        level=0.05,
        method="exact",
        draws=None,
        seed=None,
        weights="size",
        n=0,
        strata=(),
        resolution=0.0,
        degenerate="empty",
        caveat=None,
        reason="There are no items.",
    )


def test_caveats_have_names_too() -> None:
    lone = bootstrap([1, 0, 1, 1], ["a", "a", "a", "b"])
    assert (lone.degenerate, lone.caveat) == (None, "single-item-stratum")
    assert lone.reason == "A stratum with one item adds no variation, so the interval is too narrow."
    assert bootstrap([1, 0, 1, 1], ["a", "a", "b", "b"]).caveat is None
    single = bootstrap([1, 0, 1], ["a", "a", "a"])
    assert (single.degenerate, single.caveat) == (None, "one-stratum")
    assert single.reason == "All items are in one stratum and were resampled together."
    plain = bootstrap([1, 0, 1], None)
    assert (plain.degenerate, plain.caveat, plain.reason) == (None, None, None)
    assert plain.strata[0].name == "all"
    both = bootstrap([1, 0, 0.12345678], ["a", "a", "a"])
    assert both.reason == (
        "All items are in one stratum and were resampled together. "
        "The scores lie on no lattice with a denominator up to 10,000, so the bounds are from Monte-Carlo draws."
    )


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (([1, None], None), r"scores\[1\] is nan"),
        (([1, float("inf")], None), r"scores\[1\] is inf"),
        ((["x"], None), "list of numbers"),
        (([[1, 0]], None), "one dimension"),
        (([1, 0], ["a"]), "1 labels, 2 scores"),
        (([1, 0], 5), "^strata must hold one label per score, and 5 is no list"),
        (([1, 0], None, 0), r"^level must lie"),
        (([1, 0], None, 0.05, "bca"), "method must be one of exact, monte-carlo"),
        (([1, 0], None, 0.05, "exact", 39), "draws must be 40 or more"),
        (([1, 0], None, 0.05, "exact", 40, -1), "seed must be 0 or more"),
        (([1, 0], None, 0.05, "exact", 40, 0, "prevalence"), "weights must be one of size, equal"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments, part) -> None:
    with pytest.raises(StatsInputError, match=part):
        bootstrap(*arguments)
