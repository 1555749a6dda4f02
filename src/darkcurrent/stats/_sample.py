"""A stratified sample of scores, and the quantiles of its resampled mean by either method."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from darkcurrent.stats._convolution import Draws, law_of_sum, lower_quantile, window_width
from darkcurrent.stats._lattice import LARGEST_DENOMINATOR, Lattice, find_lattice, round_to_lattice
from darkcurrent.stats._resampling import resampled_sums

__all__ = ["Sample", "exact_quantiles", "monte_carlo_quantiles", "tabulate"]

_LARGEST_TABLE = 1 << 22
"""Entries of the largest table of angles: 32 MB."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Scores as counts of distinct values by stratum: the order of rows is gone from here on.

    Attributes
    ----------
    distinct : numpy.ndarray of float64, shape (J,)
        Distinct scores, ascending.
    counts : numpy.ndarray of int64, shape (H, J)
        Items of each stratum with each score.
    sizes : numpy.ndarray of int64, shape (H,)
        Items of each stratum, 1 or more.
    equal : bool
        Whether strata weigh the same; otherwise each weighs its share of the items.
    lattice : Lattice or None
        Where the distinct scores lie on one.
    """

    distinct: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    equal: bool
    lattice: Lattice | None

    def multipliers(self) -> list[int]:
        """Whole numbers that a draw's weight in each stratum is proportional to."""
        if not self.equal:
            return [1] * self.sizes.size
        common = math.lcm(*self.sizes.tolist())
        return [common // size for size in self.sizes.tolist()]

    def means(self) -> list[float]:
        """Mean of every stratum."""
        if self.lattice is None:
            return [float(mean) for mean in (self.counts @ self.distinct) / self.sizes]
        sums = (self.counts @ self.lattice.units).tolist()
        return list(map(self.lattice.score, sums, self.sizes.tolist()))

    def mean(self) -> float:
        """Weighted mean."""
        multipliers, sizes = self.multipliers(), self.sizes.tolist()
        if self.lattice is None:
            shares = [1 / len(sizes)] * len(sizes) if self.equal else [size / sum(sizes) for size in sizes]
            return math.fsum(map(operator.mul, shares, self.means()))
        sums = (self.counts @ self.lattice.units).tolist()
        total = sum(map(operator.mul, multipliers, sums))
        return self.lattice.score(total, sum(map(operator.mul, multipliers, sizes)))


def tabulate(
    scores: npt.NDArray[np.float64], index: npt.NDArray[np.intp], strata: int, equal: bool
) -> Sample:
    """Count the scores, shape (n,) with n >= 1, by stratum, given the stratum's index of every item."""
    distinct, code = np.unique(scores, return_inverse=True)
    flat = np.bincount(index * distinct.size + code, minlength=strata * distinct.size)
    counts = flat.reshape(strata, distinct.size).astype(np.int64)
    return Sample(distinct, counts, counts.sum(axis=1), equal, find_lattice(distinct))


def exact_quantiles(sample: Sample, levels: Sequence[float]) -> list[float] | str:
    """Quantiles of the resampled mean from its exact law, or the reason why that is not computed."""
    if sample.lattice is None:
        return (
            f"The scores have no common denominator up to {LARGEST_DENOMINATOR}, so the bounds are from "
            "Monte-Carlo draws."
        )
    multipliers = sample.multipliers()
    draws = Draws(
        sample.lattice.units,
        sample.counts / sample.sizes[:, None],
        sample.sizes,
        np.array([min(multiplier, _LARGEST_TABLE) for multiplier in multipliers], dtype=np.int64),
    )
    if max(multipliers) > _LARGEST_TABLE or window_width(draws) * sample.distinct.size > _LARGEST_TABLE:
        return (
            "The common lattice of these scores, strata and weights is too fine for the exact method, so the "
            "bounds are from Monte-Carlo draws."
        )
    law = law_of_sum(draws)
    weight = int(draws.multipliers @ draws.sizes)
    sums = [lower_quantile(draws, law, level) for level in levels]
    return [sample.lattice.score(total, weight) for total in sums]


def monte_carlo_quantiles(sample: Sample, levels: Sequence[float], draws: int, seed: int) -> list[float]:
    """Quantiles of ``draws`` resampled means: the smallest whose share of the draws is at least the level."""
    lattice = sample.lattice or round_to_lattice(sample.distinct)
    groups = [np.repeat(lattice.units, counts) for counts in sample.counts]
    sums = resampled_sums(groups, draws, seed)
    ranks = [math.ceil(round(level * draws, 6)) - 1 for level in levels]
    if not sample.equal:
        totals = np.sort(sums.sum(axis=0))
        return [lattice.score(int(totals[rank]), int(sample.sizes.sum())) for rank in ranks]
    means = np.zeros(draws)
    for row, size in zip(sums, sample.sizes.tolist(), strict=True):
        means += row / size
    means = np.sort(means / sample.sizes.size)
    return [float(lattice.origin) + float(lattice.step) * float(means[rank]) for rank in ranks]
