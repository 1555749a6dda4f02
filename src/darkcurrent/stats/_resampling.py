"""Seeded resampling with a stream that no version of numpy changes.

Only the raw 64-bit outputs of PCG64 are used, which numpy keeps bit for bit; the step from an output to an
index is here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["resampled_sums", "resampled_tables"]

_BATCH = 1 << 17
"""Outputs at a time: what is computed of them stays in a core's cache."""

_FEW = 8
_LONG = 1024
"""Up to so many rises of the values, and in rows from this length on, counting is faster than looking up."""
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def resampled_sums(
    groups: Iterable[npt.NDArray[np.int64]], draws: int, seed: int
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield, for every group, the sums of as many draws with replacement as it has members.

    Parameters
    ----------
    groups : iterable of numpy.ndarray of int64
        The values of every stratum, each with 1 to 2**32 - 1 members.
    draws : int
        Repetitions.
    seed : int
        Seed of ``numpy.random.PCG64``.

    Yields
    ------
    numpy.ndarray of int64, shape (draws,)

    Notes
    -----
    One stream serves the groups in order, then the repetitions, then the members. An output x becomes the
    index floor(x * size / 2**64), in whole numbers; the probability of an index is off by less than 2**-64.
    Memory is bounded by batches of repetitions, which do not change the stream.
    """
    stream = np.random.PCG64(seed)
    for values in groups:
        sums = np.empty(draws, dtype=np.int64)
        rises = np.flatnonzero(np.diff(values))
        ascending = rises.size <= _FEW and bool((values[rises + 1] > values[rises]).all())
        for rows, outputs in _batches(stream, values.size, draws):
            sums[rows] = (
                _counted(outputs, values, rises + 1)
                if ascending
                else values[_scale(outputs, values.size)].sum(axis=1)
            )
        yield sums


def resampled_tables(groups: Sequence[npt.NDArray[np.int64]], draws: int, seed: int) -> npt.NDArray[np.int64]:
    """Return the sums over all groups of the rows of tables, drawn as `resampled_sums` draws members.

    Parameters
    ----------
    groups : sequence of numpy.ndarray of int64, shape (size, k)
        The rows of every stratum; sums below 2**53.
    draws, seed : int
        As in `resampled_sums`.

    Returns
    -------
    numpy.ndarray of int64, shape (draws, k)
    """
    stream = np.random.PCG64(seed)
    sums = np.zeros((draws, groups[0].shape[1]), dtype=np.int64)
    for values in groups:
        size = len(values)
        for rows, outputs in _batches(stream, size, draws):
            places = _scale(outputs, size) + np.arange(len(outputs))[:, None] * size
            times = np.bincount(places.ravel(), minlength=places.size).reshape(places.shape)
            # whole numbers below 2**53: exact in floats, in whatever order a library adds them
            sums[rows] += (times.astype(np.float64) @ values.astype(np.float64)).astype(np.int64)
    return sums


def _batches(
    stream: np.random.PCG64, size: int, draws: int
) -> Iterator[tuple[slice, npt.NDArray[np.uint64]]]:
    batch = max(1, _BATCH // size)
    for start in range(0, draws, batch):
        count = min(batch, draws - start)
        yield slice(start, start + count), stream.random_raw(count * size).reshape(count, size)


def _counted(
    outputs: npt.NDArray[np.uint64], values: npt.NDArray[np.int64], starts: npt.NDArray[np.intp]
) -> npt.NDArray[np.int64]:
    """Return the sums over rows of the values that outputs choose, from how many outputs reach each rise.

    ``values`` ascend, and rise at ``starts``. An output x chooses a place from s on just where x * size >= s * 2**64,
    so that no place has to be computed, and the sums are the same.
    """
    count, size = outputs.shape
    sums = np.full(count, size * int(values[0]), dtype=np.int64)
    for start in starts.tolist():
        reached = outputs >= np.uint64(-(-(start << 64) // size))
        rise = int(values[start]) - int(values[start - 1])
        if size < _LONG:
            sums += rise * reached.sum(axis=1)
        else:  # what is true in one long row is counted several bytes at once
            sums += rise * np.array([np.count_nonzero(row) for row in reached])
    return sums


def _scale(outputs: npt.NDArray[np.uint64], size: int) -> npt.NDArray[np.intp]:
    factor = np.uint64(size)
    carry = ((outputs & _LOW) * factor) >> _HALF
    return (((outputs >> _HALF) * factor + carry) >> _HALF).astype(np.intp)
