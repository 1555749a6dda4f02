"""The stratified bootstrap of a mean, without draws where the scores allow it.

Items are resampled within strata, as many as each stratum has. The percentiles describe how the mean would
move if the battery had been composed otherwise of items like its own. They are conditional on the observed
items and strata, and add no coverage of a population that the battery was not sampled from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from darkcurrent.stats._check import check_choice, check_count, check_proportion, check_scores, check_strata
from darkcurrent.stats._sample import Sample, exact_quantiles, monte_carlo_quantiles, tabulate

__all__ = ["DEFAULT_SEED", "BootstrapResult", "StratumMean", "bootstrap"]

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
    degenerate : str or None
        A word for a resampling that cannot vary, or varies less than it seems, see Notes of `bootstrap`.
    reason : str or None
        One sentence on ``degenerate``, or on a method other than the one asked for.
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
    degenerate: str | None
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
        Monte-Carlo repetitions, 40 or more.
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
    the resampled mean is a convolution of multinomials, which one FFT computes to rounding error. Without
    such a lattice, or where the lattice would need too large a table, the Monte-Carlo method is used and
    ``reason`` says so. Scores on no lattice are rounded to 40 bits for the draws, so that sums are whole
    on every machine.

    ``degenerate`` is one of: ``"empty"`` no items; ``"all-success"`` every score is 1; ``"all-failure"``
    every score is 0; ``"constant"`` every score is the same; ``"one-item-per-stratum"``;
    ``"constant-strata"`` scores differ between strata only. All of these give an interval of no width,
    which is not certainty. Two more give an interval with a caveat: ``"single-item-stratum"`` some
    stratum has one item and adds no variation; ``"one-stratum"`` the declared strata are one.

    References
    ----------
    .. [1] Efron, B. and Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapters 8 and 13.

    Examples
    --------
    >>> result = bootstrap([1, 1, 0.5, 1, 0, 1], ["a", "a", "a", "b", "b", "b"])
    >>> result.mean, result.lower
    (0.75, 0.5)
    """
    values = check_scores(scores)
    names, index = check_strata(strata, values.size)
    level = check_proportion(level, "level")
    method = check_choice(method, "method", ("exact", "monte-carlo"))
    draws = check_count(draws, "draws", least=40)
    seed = DEFAULT_SEED if seed is None else check_count(seed, "seed")
    weights = check_choice(weights, "weights", ("size", "equal"))
    if not values.size:
        return BootstrapResult(
            None, None, None, level, method, None, None, weights, 0, (), "empty", "There are no items."
        )
    sample = tabulate(values, index, len(names), equal=weights == "equal")
    degenerate, caveat = _name_degenerate(sample, declared=strata is not None)
    levels = (level, *_INTERVAL)
    found = exact_quantiles(sample, levels) if method == "exact" else ""
    exact = not isinstance(found, str)
    bounds = monte_carlo_quantiles(sample, levels, draws, seed) if isinstance(found, str) else found
    return BootstrapResult(
        mean=sample.mean(),
        lower=bounds[0],
        interval=(bounds[1], bounds[2]),
        level=level,
        method="exact" if exact else "monte-carlo",
        draws=None if exact else draws,
        seed=None if exact else seed,
        weights=weights,
        n=values.size,
        strata=tuple(map(StratumMean, names, sample.sizes.tolist(), sample.means())),
        degenerate=degenerate,
        reason=" ".join(filter(None, (caveat, found if isinstance(found, str) else ""))) or None,
    )


def _name_degenerate(sample: Sample, declared: bool) -> tuple[str | None, str | None]:
    no_width = "so the interval has no width, which is not certainty."
    if sample.distinct.size == 1:
        score = float(sample.distinct[0])
        word = {1.0: "all-success", 0.0: "all-failure"}.get(score, "constant")
        return word, f"Every score is {score:g}, {no_width}"
    if (sample.sizes == 1).all():
        return "one-item-per-stratum", f"Every stratum has one item, {no_width}"
    if ((sample.counts > 0).sum(axis=1) == 1).all():
        return "constant-strata", f"Scores differ between strata only, {no_width}"
    if (sample.sizes == 1).any():
        return "single-item-stratum", "A stratum with one item adds no variation: the interval is too narrow."
    if declared and sample.sizes.size == 1:
        return "one-stratum", "All items are in one stratum: they were resampled together."
    return None, None
