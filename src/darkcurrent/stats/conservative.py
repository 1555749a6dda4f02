"""A lower bound of a mean that no resampling stands behind.

The bootstrap's percentile is a statement about the observed scores, and covers too seldom where items are few
or failures rare. This bound covers a true mean at its level for every number of items, and pays for it by
being lower.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from darkcurrent.errors import StatsInputError
from darkcurrent.stats._check import check_choice, check_proportion, check_scores, check_strata

__all__ = ["ConservativeBound", "conservative_lower"]

_STEPS = 60


@dataclass(frozen=True, slots=True)
class ConservativeBound:
    """A lower bound of a weighted mean of bounded scores.

    Attributes
    ----------
    lower : float or None
        The bound; None without items.
    level : float
        Probability that the bound lies above the true mean, at most.
    weights : str
        ``"size"`` or ``"equal"``.
    support : tuple of two floats
        What a score can be at least and at most.
    n : int
        Items.
    degenerate : str or None
        ``"empty"``, ``"all-success"`` or ``"all-failure"`` (every score at the end of the support).
    reason : str or None
        One sentence on ``degenerate``.
    """

    lower: float | None
    level: float
    weights: str
    support: tuple[float, float]
    n: int
    degenerate: str | None
    reason: str | None


def conservative_lower(
    scores: Any,
    strata: Sequence[object] | None = None,
    level: float = 0.05,
    weights: str = "size",
    support: tuple[float, float] = (0.0, 1.0),
) -> ConservativeBound:
    """Lower confidence bound of the mean of independent bounded scores, valid for any number of items.

    Parameters
    ----------
    scores : array_like of float, shape (n,)
        One score per item, inside ``support``.
    strata : sequence, length n, or None
        The stratum of every item, compared as text. They matter with equal weights only.
    level : float
        Tail probability, inside (0, 1).
    weights : {"size", "equal"}
        A stratum's weight: its share of the items, or one over the number of strata.
    support : tuple of two floats
        The least and the largest value that a score can take, known before any is seen.

    Returns
    -------
    ConservativeBound
        Without items ``lower`` is None.

    Raises
    ------
    StatsInputError
        If a score is missing or outside ``support``, the lengths differ, or an option is out of its range.

    Notes
    -----
    Assumed: items are independent, and ``support`` holds. Items need not have one common law, so strata and
    rare kinds of items are covered. The target is the weighted mean of the items' expected scores; that it is
    the mean of a deployment population is not shown, and dependence between items voids the bound.

    With scores scaled to x in [0, 1], weights w that average to 1 and a mean m under test, one bet of
    fixed size b(m) is laid on every item: the capital is E(m) = prod_i {1 + w_i b(m) (x_i - m)}. Its
    expectation is at most 1 when the true mean is at most m, by independence and the inequality of
    arithmetic and geometric means, so P[E(m) >= 1 / level] <= level (Markov) [1]_. The bound is the largest
    m that is so refuted; every smaller m is then refuted too, as E falls when m rises. Any b fixed in
    advance keeps the expectation as long as no factor can be negative. The one used, (q - m) / (m (1 - m))
    with q the value above m where kl(q, m) = log(1 / level) / sum_i w_i**2, makes E(m) the likelihood ratio
    of q to m when weights are equal and scores are 0 or 1. The bound is then Hoeffding's [2]_ in its
    entropy form, and is higher where scores lie between. It is a product over items, so the order of rows
    does not matter, as it would for bets that learn.

    References
    ----------
    .. [1] Waudby-Smith, I. and Ramdas, A. (2024). Estimating means of bounded random variables by betting.
       Journal of the Royal Statistical Society B 86, 1-27.
    .. [2] Hoeffding, W. (1963). Probability inequalities for sums of bounded random variables. Journal of the
       American Statistical Association 58, 13-30, Theorem 1.

    Examples
    --------
    >>> round(conservative_lower([1] * 89 + [0] * 13).lower, 3)
    0.778
    """
    values = check_scores(scores)
    _, index = check_strata(strata, values.size)
    level = check_proportion(level, "level")
    weights = check_choice(weights, "weights", ("size", "equal"))
    low, high = _check_support(support, values)
    degenerate, reason = _name_degenerate(values, low, high)
    bound = None
    if values.size:
        sizes = np.bincount(index)
        shares = values.size / (sizes.size * sizes[index]) if weights == "equal" else np.ones(values.size)
        bound = low + (high - low) * _lower((values - low) / (high - low), shares, math.log(1.0 / level))
    return ConservativeBound(bound, level, weights, (low, high), values.size, degenerate, reason)


def _check_support(support: object, values: npt.NDArray[np.float64]) -> tuple[float, float]:
    ends = check_scores(support, "support")
    if ends.size != 2 or not ends[0] < ends[1]:
        raise StatsInputError(f"support must be two numbers in ascending order, and it is {support!r}.")
    low, high = float(ends[0]), float(ends[1])
    outside = np.flatnonzero((values < low) | (values > high))
    if outside.size:
        where = int(outside[0])
        raise StatsInputError(
            f"scores[{where}] is {values[where]:g}, outside of the support from {low:g} to {high:g}: "
            "declare what a score can be."
        )
    return low, high


def _name_degenerate(
    values: npt.NDArray[np.float64], low: float, high: float
) -> tuple[str | None, str | None]:
    if not values.size:
        return "empty", "There are no items."
    if (values == high).all():
        return "all-success", f"Every score is {high:g}: the bound shows how much that proves."
    if (values == low).all():
        return "all-failure", f"Every score is {low:g}: the bound is the end of the support."
    return None, None


def _lower(scores: npt.NDArray[np.float64], shares: npt.NDArray[np.float64], wanted: float) -> float:
    """Return the largest mean whose log-capital reaches ``wanted``, for scores in [0, 1], by bisection."""
    order = np.lexsort((scores, shares))  # so that rounding does not depend on the order of rows
    scores, shares = scores[order], shares[order]
    divergence = wanted / float(shares @ shares)
    largest_stake = 1.0 / float(shares.max())
    refuted, kept = 0.0, 1.0
    for _ in range(_STEPS):
        mean = (refuted + kept) / 2.0
        # the stake is the part of the capital that an item of score 0 loses
        stake = min((_divergent(mean, divergence) - mean) / (1.0 - mean), largest_stake)
        with np.errstate(divide="ignore"):
            capital = float(np.log1p(shares * (stake * (scores / mean - 1.0))).sum())
        refuted, kept = (mean, kept) if capital >= wanted else (refuted, mean)
    return refuted


def _divergent(mean: float, divergence: float) -> float:
    """Return the q in (mean, 1] where kl(q, mean) is ``divergence``, or 1 where it is nowhere as large."""
    near, far = mean, 1.0
    for _ in range(_STEPS):
        q = (near + far) / 2.0
        if q >= 1.0:
            break
        here = q * math.log(q / mean) + (1.0 - q) * math.log((1.0 - q) / (1.0 - mean))
        near, far = (q, far) if here < divergence else (near, q)
    return far
