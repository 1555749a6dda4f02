"""The law of a sum of stratum means, for strata that weigh the same and differ in size.

The law of each stratum's mean is exact, on a lattice of its own. Where the lattices have a common one that is
coarse enough, the sum is exact on that. Otherwise their points are rounded down to a grid, so that the sum is
rounded down by less than one grid step per stratum: its quantile is a lower end of the true one, and as many
steps higher is an upper end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from darkcurrent.stats._convolution import Draws, drop_noise, find_window, law_of_sum, quantile, reach, unroll

__all__ = ["LOWEST_LEVEL", "enclose"]

LOWEST_LEVEL = 1e-6
"""Below it the rounding errors of the grid's FFT would show."""

_STEPS = 250_000
"""Grid steps over the window of the sum, so that an FFT of 2**18 points holds it."""


def enclose(draws: Draws, levels: Sequence[float]) -> tuple[list[int], int, int] | None:
    """Enclose quantiles of the sum over strata of the mean of a stratum's draws.

    Parameters
    ----------
    draws : Draws
        At least one stratum varies.
    levels : sequence of float
        Each at least `LOWEST_LEVEL`.

    Returns
    -------
    lower_ends : list of int
        For every level, in grid steps.
    slack : int
        By how many steps at most the quantile lies above its lower end; 0 where the grid is a common lattice.
    steps : int
        Grid steps in one unit of a stratum's mean.

    None instead of the three where a step would be longer than that unit.
    """
    sizes = draws.sizes.tolist()
    means, variances = draws.moments()
    least, most = draws.extremes()
    middle = float(means.sum())
    far = reach(float((variances / draws.sizes).sum()), float(((most - least) / draws.sizes).max()))
    low, high = max(middle - far, float(least.sum())), min(middle + far, float(most.sum()))
    steps = min(math.lcm(*sizes), int(_STEPS / (high - low)))
    if not steps:
        return None
    slack = 0 if all(steps % size == 0 for size in sizes) else len(sizes)
    first, last = math.floor(low * steps), math.ceil(high * steps)
    points = 1 << (last - first).bit_length()
    transform = np.ones(points // 2 + 1, dtype=np.complex128)
    for chances, size in zip(draws.chances, sizes, strict=True):
        one = Draws(draws.values, chances[None, :], np.array([size]))
        law = law_of_sum(one, find_window(one))
        places = (law.start + np.arange(law.masses.size)) * steps // size
        transform *= np.fft.rfft(np.bincount(places % points, weights=law.masses, minlength=points))
    total = unroll(drop_noise(np.fft.irfft(transform, points)), 0, first, last)
    return [quantile(total, level) for level in levels], slack, steps
