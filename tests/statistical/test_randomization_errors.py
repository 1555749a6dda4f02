"""How often the randomization tests reject under their sharp null, each under its own design.

Outcomes belong to places: an item has its difficulty, and serving drifts over the campaign's blocks and over
the periods of an item. The assignment is drawn as the schedule would draw it.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import bdtrc

from darkcurrent.stats.randomization import Assignment, randomization_test

DOCUMENT = Path(__file__).parents[2] / "docs" / "randomization.md"
SIGNAL = [("strict", "AB"), ("strict", "BA"), ("neutral", "AB"), ("neutral", "BA")]
CLONE = [("strict", "IDENTICAL"), ("neutral", "IDENTICAL")]
WILLIAMS = [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]
SWAPS = [[0, 1], [1, 0]]
BOTH = ("strict", "neutral")
TESTS = {
    "criterion": (SIGNAL, WILLIAMS, BOTH, None, 1.5),
    "order": (SIGNAL, WILLIAMS, None, ("AB", "BA"), 1.5),
    "criterion x order": (SIGNAL, WILLIAMS, BOTH, ("BA", "AB"), 1.5),
    "clone-criterion": (CLONE, SWAPS, BOTH, None, -2.5),
}


class Stream:
    """Raw PCG64 outputs, which numpy keeps bit for bit, made into what a study needs; no distribution of numpy's."""

    def __init__(self, seed: int) -> None:
        self._raw = np.random.PCG64(seed)

    def uniform(self, *shape: int) -> np.ndarray:
        """Numbers in [0, 1): the upper 53 bits."""
        return (self._raw.random_raw(math.prod(shape)) >> np.uint64(11)).reshape(shape) * 2.0**-53

    def normal(self, *shape: int) -> np.ndarray:
        """Sums of twelve uniform numbers less 6: mean 0 and deviation 1 exactly, and no function of a library."""
        return self.uniform(12, *shape).sum(axis=0) - 6

    def permuted(self, values: np.ndarray) -> np.ndarray:
        """The values in the order of as many uniform numbers."""
        return values[np.argsort(self.uniform(values.size), kind="stable")]


def chance(score: np.ndarray) -> np.ndarray:
    """A rational curve from 0 to 1 in place of the logistic one: it is rounded alike on every machine."""
    return (1 + score / (1 + np.abs(score))) / 2


def null_outcomes(stream: Stream, n: int, places: int, level: float) -> np.ndarray:
    difficulty = 1.5 * stream.normal(n, 1)
    drift = np.linspace(-1, 1, n)[:, None] + np.linspace(1, -1, places)[None, :]
    return (stream.uniform(n, places) < chance(level + difficulty + drift)).astype(float)


def draw_assignment(stream: Stream, scheme: str, n: int, treatments, sequences) -> Assignment:
    if scheme == "independent":
        shares = np.full(len(sequences), 1 / len(sequences))
        drawn = (stream.uniform(n) * len(sequences)).astype(int)
        return Assignment(treatments, sequences, drawn, probabilities=shares)
    cohorts = np.arange(n) // -(-n // 12)
    drawn = np.empty(n, dtype=int)
    for cohort in np.unique(cohorts):
        rows = np.flatnonzero(cohorts == cohort)
        drawn[rows] = stream.permuted(np.arange(rows.size) % len(sequences))
    return Assignment(treatments, sequences, drawn, cohorts.tolist())


def rejections(test: str, scheme: str, method: str, n: int, studies: int, seed: int) -> np.ndarray:
    """Return the p-values of ``studies`` studies without any effect."""
    treatments, sequences, criteria, orders, level = TESTS[test]
    stream = Stream(seed)
    found = []
    for study in range(studies):
        outcomes = null_outcomes(stream, n, len(treatments), level)
        assignment = draw_assignment(stream, scheme, n, treatments, sequences)
        result = randomization_test(
            outcomes, assignment, criteria, orders, method=method, draws=199, seed=seed + study
        )
        found.append(result.p)
    return np.array(found)


def assert_level_is_kept(pvalues: np.ndarray) -> None:
    for level in (0.01, 0.05, 0.2):
        # the probability of as many rejections, were the rate just the level, is not below one in ten thousand
        count = int((pvalues <= level).sum())
        assert count == 0 or bdtrc(count - 1, pvalues.size, level) > 1e-4, (level, count)


@pytest.mark.parametrize("method", ["exact", "monte-carlo"])
@pytest.mark.parametrize("test", TESTS)
def test_the_level_is_kept_in_a_few_small_studies(test: str, method: str) -> None:
    pvalues = rejections(test, "cohorts", method, n=36, studies=250, seed=20)
    assert_level_is_kept(pvalues)
    # and the test is no idle one: p-values are spread over the unit interval
    assert np.quantile(pvalues, 0.2) < 0.4


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["cohorts", "independent"])
@pytest.mark.parametrize("test", TESTS)
def test_the_documented_rates_at_the_size_of_the_primary_study(test: str, scheme: str) -> None:
    pvalues = rejections(test, scheme, "exact", n=102, studies=4_000, seed=1_000)
    assert_level_is_kept(pvalues)
    # with 102 items the law is fine enough for the level to be used as well as kept
    assert (pvalues <= 0.05).mean() > 0.02
    rates = " | ".join(f"{(pvalues <= level).mean():.4f}" for level in (0.01, 0.05, 0.2))
    assert f"| {test} | {scheme} | {rates} |" in DOCUMENT.read_text(encoding="utf-8")


def carried_over(stream: Stream, assignment: Assignment) -> np.ndarray:
    """Outcomes that no criterion or order changes, but that a strict call just before makes worse."""
    strict = np.array(WILLIAMS)[assignment.drawn] < 2
    before = np.zeros_like(strict)
    before[:, 1:] = strict[:, :-1]
    score = 1.5 + 1.5 * stream.normal(len(strict), 1) - 1.5 * before
    return (stream.uniform(*strict.shape) < chance(score)).astype(float)


@pytest.mark.slow
def test_carry_over_alone_can_reject_the_criterion_test() -> None:
    stream = Stream(5)
    found = []
    for _ in range(600):
        assignment = draw_assignment(stream, "cohorts", 102, SIGNAL, WILLIAMS)
        found.append(randomization_test(carried_over(stream, assignment), assignment, BOTH).p)
    share = np.mean(np.array(found) <= 0.05)
    assert share > 0.1
    assert f"in {share:.3f} of 600 studies" in DOCUMENT.read_text(encoding="utf-8")
