"""Quantiles of a weighted sum of stratum means whose lattices have no step in common that is coarse enough.

The law of each stratum's mean is exact. Its support is rounded down to one fine grid, so that the sum is
rounded down by less than one grid step per stratum: its quantile is a lower end of the true one, and as many
steps higher is an upper end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from darkcurrent.stats._convolution import Draws, Law, drop_noise, law_of_sum, quantile

__all__ = ["LOWEST_LEVEL", "enclose"]

LOWEST_LEVEL = 1e-6
"""Below it the rounding errors of the grid's FFT would show."""

_POINTS = 1 << 20


def enclose(draws: Draws, levels: Sequence[float]) -> tuple[list[tuple[int, int]], int]:
    """Enclose quantiles of the sum over strata of the mean of a stratum's draws.

    Parameters
    ----------
    draws : Draws
        Its multipliers are not used. At least one stratum varies.
    levels : sequence of float
        Each at least `LOWEST_LEVEL`.

    Returns
    -------
    ends : list of tuple of int
        For every level the two ends, in grid steps.
    steps : int
        Grid steps in one unit of a stratum's mean.
    """
    one = np.ones(1, dtype=np.int64)
    laws = [
        law_of_sum(Draws(draws.values, chances[None, :], size[None], one))
        for chances, size in zip(draws.chances, draws.sizes, strict=True)
    ]
    sizes = draws.sizes.tolist()
    width = sum((law.masses.size - 1) / size for law, size in zip(laws, sizes, strict=True))
    steps = int((_POINTS - 2 * len(sizes)) / width)
    transform = np.ones(_POINTS // 2 + 1, dtype=np.complex128)
    start = 0
    for law, size in zip(laws, sizes, strict=True):
        places = (law.start + np.arange(law.masses.size)) * steps // size
        start += int(places[0])
        transform *= np.fft.rfft(np.bincount(places - places[0], weights=law.masses), _POINTS)
    total = Law(start, drop_noise(np.fft.irfft(transform, _POINTS)))
    found = [quantile(total, level) for level in levels]
    return [(low, low + len(sizes)) for low in found], steps
