"""A stratified sample of scores, and the quantiles of its resampled mean by either method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from darkcurrent.errors import StatsInputError
from darkcurrent.stats._convolution import Draws, find_window, law_of_sum, lower_quantile
from darkcurrent.stats._grid import LOWEST_LEVEL, enclose
from darkcurrent.stats._lattice import LARGEST_DENOMINATOR, Lattice, find_lattice, round_to_lattice
from darkcurrent.stats._resampling import resampled_sums

__all__ = ["Bounds", "Sample", "find_bounds", "tabulate"]

_LARGEST_TABLE = 1 << 22
"""Strata or points of a window, times distinct scores: the exact method's tables take up to 32 MB each."""

_ROUNDED = "Strata of these sizes share no coarse lattice: bounds are rounded outward to a fine one."


@dataclass(frozen=True, slots=True)
class Bounds:
    """Quantiles, the method that found them, their outward rounding, and what is to be said of it."""

    method: str
    values: list[float]
    resolution: float = 0.0
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """Scores sorted within sorted strata: the order of rows is gone from here on.

    Attributes
    ----------
    lattice : Lattice
        Of the distinct scores.
    rational : bool
        Whether the scores lie on the lattice; otherwise they were rounded to it.
    codes : numpy.ndarray of int64, shape (n,)
        Places of the scores among the distinct ones, stratum by stratum, ascending within each.
    sizes : numpy.ndarray of int64, shape (H,)
        Items of each stratum, 1 or more.
    equal : bool
        Whether strata weigh the same; otherwise each weighs its share of the items.
    """

    lattice: Lattice
    rational: bool
    codes: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    equal: bool

    def starts(self) -> npt.NDArray[np.int64]:
        """Place of the first item of every stratum."""
        return np.cumsum(self.sizes) - self.sizes

    def varies(self) -> bool:
        """Whether any stratum holds two different scores."""
        starts = self.starts()
        return bool((self.codes[starts] != self.codes[starts + self.sizes - 1]).any())

    def chances(self) -> npt.NDArray[np.float64]:
        """Share of every distinct score in every stratum, shape (H, distinct)."""
        shape = self.sizes.size, self.lattice.units.size
        rows = np.repeat(np.arange(shape[0]), self.sizes)
        counts = np.bincount(rows * shape[1] + self.codes, minlength=shape[0] * shape[1])
        return counts.reshape(shape) / self.sizes[:, None]

    def sums(self) -> list[int]:
        """Sum of every stratum's scores in units of the lattice."""
        totals: list[int] = np.add.reduceat(self.lattice.units[self.codes], self.starts()).tolist()
        return totals

    def means(self) -> list[float]:
        """Mean of every stratum."""
        return list(map(self.lattice.score, self.sums(), self.sizes.tolist()))

    def mean(self) -> float:
        """Weighted mean."""
        if self.equal:
            return self.lattice.score(sum(map(Fraction, self.sums(), self.sizes.tolist())), self.sizes.size)
        return self.lattice.score(sum(self.sums()), self.codes.size)


def tabulate(scores: npt.NDArray[np.float64], index: npt.NDArray[np.intp], equal: bool) -> Sample:
    """Sort the scores, shape (n,) with n >= 1, by stratum, given the stratum's index of every item."""
    distinct, code = np.unique(scores, return_inverse=True)
    lattice = find_lattice(distinct)
    rational = lattice is not None
    lattice = lattice or round_to_lattice(distinct)
    # floats that differ by rounding only, such as 2/3 and 1/3 + 1/3, are one score
    units, place = np.unique(lattice.units, return_inverse=True)
    keys = np.sort(index * units.size + place[code])
    merged = Lattice(lattice.origin, lattice.step, units)
    return Sample(merged, rational, keys % units.size, np.bincount(index), equal)


def find_bounds(sample: Sample, levels: Sequence[float], method: str, draws: int, seed: int) -> Bounds:
    """Quantiles of the resampled mean by ``method``, or by Monte Carlo where the exact one cannot be had."""
    remark = ""
    if method == "exact":
        exact = _exact_bounds(sample, levels)
        if not isinstance(exact, str):
            return exact
        remark = f"{exact}, so the bounds are from Monte-Carlo draws."
    return _monte_carlo_bounds(sample, levels, draws, seed, remark)


def _exact_bounds(sample: Sample, levels: Sequence[float]) -> Bounds | str:
    """Return the exact bounds, or the beginning of a sentence that says why there are none."""
    lattice = sample.lattice
    if not sample.varies():
        return Bounds("exact", [sample.mean()] * len(levels))
    if not sample.rational:
        return f"The scores lie on no lattice with a denominator up to {LARGEST_DENOMINATOR:,}"
    too_fine = "The lattice of these scores is too fine for the exact method"
    if sample.sizes.size * lattice.units.size > _LARGEST_TABLE:
        return too_fine
    draws = Draws(lattice.units, sample.chances(), sample.sizes)
    window = find_window(draws)
    if window.points * lattice.units.size > _LARGEST_TABLE:
        return too_fine
    if not sample.equal or (sample.sizes == sample.sizes[0]).all():
        law = law_of_sum(draws, window)
        sums = [lower_quantile(draws, law, level) for level in levels]
        return Bounds("exact", [lattice.score(total, sample.codes.size) for total in sums])
    if min(levels) < LOWEST_LEVEL:
        return (
            f"Equal weights of strata of unequal sizes have no exact method below a level of {LOWEST_LEVEL:g}"
        )
    enclosed = enclose(draws, levels)
    if enclosed is None:
        return too_fine
    ends, slack, steps = enclosed
    weight = steps * sample.sizes.size
    most = int(lattice.units.max()) * weight
    # outward: the lower end for a lower bound, the upper end for an upper one
    outward = [
        end if level <= 0.5 else min(end + slack, most) for end, level in zip(ends, levels, strict=True)
    ]
    return Bounds(
        "exact",
        [lattice.score(total, weight) for total in outward],
        resolution=float(lattice.step * slack / weight),
        remark=_ROUNDED if slack else "",
    )


def _monte_carlo_bounds(
    sample: Sample, levels: Sequence[float], draws: int, seed: int, remark: str
) -> Bounds:
    if min(levels) * draws < 1.0 - 1e-9:
        least = math.ceil(1.0 / min(levels))
        short = f"A bound at level {min(levels):g} needs {least:,} or more draws, not {draws:,}."
        raise StatsInputError(f"{remark} {short}".lstrip())
    lattice = sample.lattice
    groups = np.split(lattice.units[sample.codes], sample.starts()[1:])
    # a level times the draws that is whole up to rounding is that whole number
    ranks = [math.ceil(round(level * draws, 6)) - 1 for level in levels]
    if sample.equal:
        means = np.zeros(draws)
        for group, sums in zip(groups, resampled_sums(groups, draws, seed), strict=True):
            means += sums / group.size
        means = np.sort(means / len(groups))
        values = [float(lattice.origin) + float(lattice.step) * float(means[rank]) for rank in ranks]
    else:
        totals = np.zeros(draws, dtype=np.int64)
        for sums in resampled_sums(groups, draws, seed):
            totals += sums
        totals.sort()
        values = [lattice.score(int(totals[rank]), sample.codes.size) for rank in ranks]
    return Bounds("monte-carlo", values, remark=remark)
