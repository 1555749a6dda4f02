"""The stratified bootstrap of a mean, without draws where the scores allow it.

Items are resampled within strata, as many as each stratum has. The percentiles describe how the mean would
move if the battery had been composed otherwise of items like its own. They are conditional on the observed
items and strata, and add no coverage of a population that the battery was not sampled from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from darkcurrent.errors import StatsInputError
from darkcurrent.stats._check import check_choice, check_count, check_proportion, check_scores, check_strata
from darkcurrent.stats._sample import Sample, find_bounds, tabulate

__all__ = ["DEFAULT_SEED", "BootstrapResult", "StratumMean", "bootstrap", "bootstrap_difference"]

DEFAULT_SEED = 260615610
"""Seed of the Monte-Carlo method when none is declared."""

_INTERVAL = (0.025, 0.975)


@dataclass(frozen=True, slots=True)
class StratumMean:
    """Items of one stratum and the mean of their scores."""

    name: str
    n: int
    mean: float


@dataclass(frozen=True, slots=True)
class BootstrapResult:
    """A stratified mean with its percentile bounds.

    Attributes
    ----------
    mean : float or None
        Weighted mean of the strata's means; None without items.
    lower : float or None
        One-sided lower bound: the percentile at ``level``.
    interval : tuple of two floats, or None
        Two-sided 95 % percentile interval (2.5 and 97.5), descriptive: it adds no second gate.
    level : float
        Tail probability of ``lower``.
    method : str
        ``"exact"`` or ``"monte-carlo"``: what was done, which may differ from what was asked.
    draws, seed : int or None
        Of the Monte-Carlo method; None for the exact one.
    weights : str
        ``"size"`` or ``"equal"``.
    n : int
        Items.
    strata : tuple of StratumMean
        In the order of their names.
    resolution : float
        By how much at most ``lower`` and ``interval`` were rounded outward; 0 but for equal weights of strata
        whose sizes have no small common multiple.
    degenerate : str or None
        A word for no items or for an interval of no width, see Notes of `bootstrap`.
    caveat : str or None
        A word for strata that do less than they seem to, see Notes of `bootstrap`.
    reason : str or None
        Sentences on ``degenerate`` or ``caveat``, on a method that was not asked for, on ``resolution``.
    """

    mean: float | None
    lower: float | None
    interval: tuple[float, float] | None
    level: float
    method: str
    draws: int | None
    seed: int | None
    weights: str
    n: int
    strata: tuple[StratumMean, ...]
    resolution: float
    degenerate: str | None
    caveat: str | None
    reason: str | None


def bootstrap(
    scores: Any,
    strata: Sequence[object] | None,
    level: float = 0.05,
    method: str = "exact",
    draws: int = 20_000,
    seed: int | None = None,
    weights: str = "size",
) -> BootstrapResult:
    """Mean of the items' scores with bounds from resampling items within strata.

    Parameters
    ----------
    scores : array_like of float, shape (n,)
        One score per item, such as the mean of its orders' successes. Finite.
    strata : sequence, length n, or None
        The stratum of every item, compared as text. None: one stratum.
    level : float
        Tail probability of the one-sided lower bound, inside (0, 1).
    method : {"exact", "monte-carlo"}
        ``exact`` computes the resampling law, with no draws and no seed. ``monte-carlo`` draws from it.
    draws : int
        Monte-Carlo repetitions, 40 or more, and 1 / ``level`` or more where they are used.
    seed : int, optional
        Seed of the Monte-Carlo stream, 0 or more. `DEFAULT_SEED` when not given; the result reports it.
    weights : {"size", "equal"}
        A stratum's weight: its share of the items, or one over the number of strata.

    Returns
    -------
    BootstrapResult
        Without items, ``mean``, ``lower`` and ``interval`` are None and ``degenerate`` is ``"empty"``.

    Raises
    ------
    StatsInputError
        If a score is missing or not finite, the lengths differ, or an option is out of its range.

    Notes
    -----
    A quantile at q is the smallest value whose cumulative probability (for Monte Carlo, its share of
    draws) is at least q. Scores with a common denominator up to 10,000 lie on a lattice, and the law of
    the resampled mean is a convolution of multinomials, which one FFT computes to rounding error [2]_.
    With equal weights of strata of unequal sizes the lattice of the mean may be too fine for that: each
    stratum's law is then still exact, but their sum is put on a grid and the bounds are rounded outward by
    at most ``resolution``, 1e-4 or less for scores 0, 1/2 and 1 in 25 strata or fewer. Scores on no
    lattice, or on one that is too fine, are drawn by Monte Carlo instead, and ``reason`` says so. Scores on
    no lattice are rounded to 40 bits, so that their sums are whole numbers on every machine.

    ``degenerate`` is one of: ``"empty"`` no items; ``"all-success"`` every score is 1; ``"all-failure"``
    every score is 0; ``"constant"`` every score is the same; ``"one-item-per-stratum"``;
    ``"constant-strata"`` scores differ between strata only. All but the first give an interval of no
    width, which is not certainty. ``caveat`` is one of: ``"single-item-stratum"`` some stratum has one
    item and adds no variation, so that the interval is too narrow; ``"one-stratum"`` the declared strata
    are one.

    References
    ----------
    .. [1] Efron, B. and Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapters 8 and 13.
    .. [2] Fisher, N. I. and Hall, P. (1991). Bootstrap algorithms for small samples. Journal of Statistical
       Planning and Inference 27, 157-169: the same law by enumeration.

    Examples
    --------
    >>> result = bootstrap([1, 1, 0.5, 1, 0, 1], ["a", "a", "a", "b", "b", "b"])
    >>> result.mean, result.lower
    (0.75, 0.5)
    """
    values = check_scores(scores)
    return _bootstrap(
        values, strata, level, method, draws, seed, weights, {1.0: "all-success", 0.0: "all-failure"}
    )


def bootstrap_difference(
    present: Any,
    absent: Any,
    strata: Sequence[object] | None,
    level: float = 0.05,
    method: str = "exact",
    draws: int = 20_000,
    seed: int | None = None,
    weights: str = "size",
) -> BootstrapResult:
    """Mean of the items' paired differences ``present - absent``, bounded as `bootstrap` bounds a mean.

    Parameters
    ----------
    present, absent : array_like of float, shape (n,)
        Two scores per item, in the same order of items: with and without a context, strict and neutral.
    strata, level, method, draws, seed, weights
        As in `bootstrap`.

    Returns
    -------
    BootstrapResult
        Of the differences. Differences that are all the same are ``"constant"``, whatever their value.

    Raises
    ------
    StatsInputError
        If the two differ in length, or as `bootstrap`.

    Notes
    -----
    An item is resampled with both of its scores. The interval is descriptive: it tests no hypothesis, and a
    difference between two schedules or two times is not that of the context or criterion alone.

    Examples
    --------
    >>> bootstrap_difference([0.5, 1, 1, 1], [1, 1, 1, 0.5], None).interval
    (-0.375, 0.375)
    """
    treated, base = check_scores(present, "present"), check_scores(absent, "absent")
    if treated.size != base.size:
        raise StatsInputError(
            f"present and absent must score the same items: {treated.size} scores against {base.size}."
        )
    return _bootstrap(treated - base, strata, level, method, draws, seed, weights, {})


def _bootstrap(
    values: npt.NDArray[np.float64],
    strata: Sequence[object] | None,
    level: float,
    method: str,
    draws: int,
    seed: int | None,
    weights: str,
    words: Mapping[float, str],
) -> BootstrapResult:
    names, index = check_strata(strata, values.size)
    level = check_proportion(level, "level")
    method = check_choice(method, "method", ("exact", "monte-carlo"))
    draws = check_count(draws, "draws", least=40)
    seed = DEFAULT_SEED if seed is None else check_count(seed, "seed")
    weights = check_choice(weights, "weights", ("size", "equal"))
    if not values.size:
        return BootstrapResult(
            None,
            None,
            None,
            level,
            method,
            None,
            None,
            weights,
            0,
            (),
            0.0,
            "empty",
            None,
            "There are no items.",
        )
    sample = tabulate(values, index, equal=weights == "equal")
    degenerate, caveat, reason = _name_degenerate(sample, strata is not None, words)
    bounds = find_bounds(sample, (level, *_INTERVAL), method, draws, seed)
    lower, low, high = bounds.values
    drawn = bounds.method == "monte-carlo"
    return BootstrapResult(
        mean=sample.mean(),
        lower=lower,
        interval=(low, high),
        level=level,
        method=bounds.method,
        draws=draws if drawn else None,
        seed=seed if drawn else None,
        weights=weights,
        n=values.size,
        strata=tuple(map(StratumMean, names, sample.sizes.tolist(), sample.means())),
        resolution=bounds.resolution,
        degenerate=degenerate,
        caveat=caveat,
        reason=" ".join(filter(None, (reason, bounds.remark))) or None,
    )


def _name_degenerate(
    sample: Sample, declared: bool, words: Mapping[float, str]
) -> tuple[str | None, str | None, str | None]:
    """Return the word for no width, the word for a caveat, and a sentence on either."""
    no_width = "so the interval has no width, which is not certainty."
    if sample.lattice.units.size == 1:
        score = float(sample.lattice.origin)
        return words.get(score, "constant"), None, f"Every score is {score:g}, {no_width}"
    if (sample.sizes == 1).all():
        return "one-item-per-stratum", None, f"Every stratum has one item, {no_width}"
    if not sample.varies():
        return "constant-strata", None, f"Scores differ between strata only, {no_width}"
    if (sample.sizes == 1).any():
        narrow = "A stratum with one item adds no variation, so the interval is too narrow."
        return None, "single-item-stratum", narrow
    if declared and sample.sizes.size == 1:
        return None, "one-stratum", "All items are in one stratum and were resampled together."
    return None, None, None
