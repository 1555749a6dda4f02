"""Resampling several measurements of the same items together, so that what they share cancels in a difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from darkcurrent.errors import StatsInputError
from darkcurrent.stats._check import check_count, check_proportion, check_strata
from darkcurrent.stats._resampling import resampled_tables

__all__ = ["joint_resampling", "percentile"]


def joint_resampling(
    counts: Any, strata: Sequence[object] | None, draws: int = 20_000, seed: int = 0
) -> npt.NDArray[np.int64]:
    """Return sums of counts over items that are resampled within strata, all columns with the same items.

    Parameters
    ----------
    counts : array_like of int, shape (n, k)
        What was counted of every item, n and k of 1 or more; sums below 2**53.
    strata : sequence, length n, or None
        The stratum of every item, compared as text. None: one stratum.
    draws : int
        Repetitions, 40 or more.
    seed : int
        Seed of the stream of raw PCG64 outputs, 0 or more; no version of numpy changes the draws.

    Returns
    -------
    numpy.ndarray of int64, shape (draws, k)
        Sums of the columns: of each stratum as many items are drawn, with replacement, as it has.

    Raises
    ------
    StatsInputError
        If the counts are no table of whole numbers, or the lengths differ.

    Notes
    -----
    The draws are conditional on the observed items and strata; they describe another composition of items like
    these. The order of rows within a stratum plays a part in which draws come, not in their distribution.

    Examples
    --------
    A count and its double stay together in every draw:

    >>> sums = joint_resampling([[0, 0], [1, 2], [1, 2]], None, draws=40)
    >>> bool((sums[:, 1] == 2 * sums[:, 0]).all())
    True
    """
    try:
        table = np.asarray(counts)
    except ValueError:
        raise StatsInputError("counts must have rows of one length.") from None
    if table.ndim != 2 or not table.size or table.dtype.kind not in "iu":
        raise StatsInputError("counts must be a table of whole numbers with a row for every item.")
    table = table.astype(np.int64)
    if int(np.abs(table).max()) * len(table) >= 1 << 53:
        raise StatsInputError("counts are too large: their sums must stay below 2**53.")
    names, index = check_strata(strata, len(table))
    groups = [table[index == place] for place in range(len(names))]
    return resampled_tables(groups, check_count(draws, "draws", least=40), check_count(seed, "seed"))


def percentile(values: npt.NDArray[np.float64], level: float) -> float:
    """Return the smallest of some draws whose share of draws at or below it is at least ``level``.

    Parameters
    ----------
    values : numpy.ndarray of float64, shape (draws,)
        At least one.
    level : float
        Inside (0, 1).

    Examples
    --------
    >>> percentile(np.array([4.0, 1.0, 3.0, 2.0]), 0.5)
    2.0
    """
    # a level times the draws that is whole up to rounding is that whole number
    rank = math.ceil(round(check_proportion(level, "level") * values.size, 6)) - 1
    return float(np.sort(values)[max(rank, 0)])
