"""The law of a contrast when the assignment is drawn again: enumerated, convolved, or sampled.

Everything is in whole numbers: the worth of an item under each pattern of signs. Two sums are equal or they are
not, so that ``|T*| >= |T|`` is decided exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    "Group",
    "Law",
    "convolution_cost",
    "convolve_groups",
    "count_assignments",
    "enumerate_groups",
    "sample_sums",
]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_BATCH = 1 << 15


@dataclass(frozen=True, slots=True)
class Group:
    """Items whose patterns are drawn together.

    Attributes
    ----------
    worth : numpy.ndarray of int64, shape (m, K)
        What each item adds to the sum under each pattern.
    shares : numpy.ndarray of float64, shape (K,)
        Probability of each pattern for one item, above 0.
    counts : numpy.ndarray of int64, shape (K,), or None
        How many items get each pattern, if that is fixed; None if every item draws on its own.
    """

    worth: Ints
    shares: Floats
    counts: Ints | None

    def is_constant(self) -> bool:
        """Whether every assignment gives the same sum."""
        gains = self.worth - self.worth[:, :1]
        return not (gains if self.counts is None else gains - gains[:1]).any()


@dataclass(frozen=True, slots=True)
class Law:
    """Possible sums and their masses, which need not add up to 1."""

    sums: Ints
    masses: Floats

    def tail(self, observed: int) -> float:
        """Probability of a sum that is at least as far from 0 as ``observed``, which is a possible one.

        What is too small for a float is given as the smallest normal one: too large, never 0.
        """
        hit = float(self.masses[np.abs(self.sums) >= abs(observed)].sum())
        return min(1.0, max(hit / float(self.masses.sum()), float(np.finfo(np.float64).tiny)))


def count_assignments(groups: Sequence[Group]) -> int:
    """Return how many assignments of patterns to items are possible; above 2**20 a number that is above it."""
    total = 1
    for group in groups:
        items, patterns = group.worth.shape
        if group.counts is None:
            total *= patterns ** min(items, 20)
        else:
            for count in group.counts.tolist():
                # comb(n, k) grows with k up to n / 2, and is above 2**20 from k = 20 on
                total *= math.comb(items, min(count, items - count, 20))
                items -= count
        total = min(total, 1 << 40)
    return total


def enumerate_groups(groups: Sequence[Group]) -> Law:
    """List the sum of every possible assignment."""
    sums, masses = np.zeros(1, dtype=np.int64), np.ones(1)
    for group in groups:
        part, weights = np.zeros(1, dtype=np.int64), np.ones(1)
        items, patterns = group.worth.shape
        left = np.full((1, patterns), items) if group.counts is None else group.counts[None, :]
        for row in group.worth:
            who, pattern = np.nonzero(left)
            part = part[who] + row[pattern]
            left = left[who]
            left[np.arange(who.size), pattern] -= 1
            # with fixed counts all assignments weigh the same: whole weights keep their ratio exact
            weights = weights[who] if group.counts is not None else weights[who] * group.shares[pattern]
        sums = (sums[:, None] + part).ravel()
        masses = (masses[:, None] * weights).ravel()
    return Law(sums, masses)


def convolution_cost(groups: Sequence[Group]) -> tuple[int, int]:
    """Return what `convolve_groups` needs: additions, and cells of the largest table."""
    unit = _common_unit(groups)
    widths = [_width(group, unit) for group in groups]
    tables = [
        math.prod(count + 1 for count in _tracked(group)) * width
        for group, width in zip(groups, widths, strict=True)
    ]
    additions = sum(table * group.worth.size for table, group in zip(tables, groups, strict=True))
    together = widths[0]
    for width in widths[1:]:
        additions += together * width
        together += width - 1
    return additions, max(*tables, together)


def convolve_groups(groups: Sequence[Group]) -> Law:
    """Compute the law of the sum item by item, then group by group.

    With fixed counts the table has a further axis for each pattern but one: how many items have got it. Its
    last entry is the law given the counts. Only products and sums of positive numbers are taken, so that small
    probabilities keep their relative accuracy.
    """
    unit = _common_unit(groups)
    masses = np.ones(1)
    for group in groups:
        masses = np.convolve(masses, _convolve_group(group, unit))
    start = sum(int(group.worth.min(axis=1).sum()) for group in groups)
    return Law(start + unit * np.arange(masses.size, dtype=np.int64), masses)


def _convolve_group(group: Group, unit: int) -> Floats:
    # the most frequent pattern comes last: its count follows from the others
    ranks = np.argsort(group.shares, kind="stable")
    steps = ((group.worth - group.worth.min(axis=1, keepdims=True)) // unit)[:, ranks].tolist()
    shares = group.shares[ranks].tolist()
    tracked = _tracked(group)
    table = np.zeros((*(count + 1 for count in tracked), _width(group, unit)))
    table[(0,) * table.ndim] = 1.0
    reach = 1
    for row in steps:
        grown = np.zeros_like(table)
        for pattern, (share, step) in enumerate(zip(shares, row, strict=True)):
            source, target = [slice(None)] * len(tracked), [slice(None)] * len(tracked)
            if pattern < len(tracked):
                source[pattern], target[pattern] = slice(None, -1), slice(1, None)
            grown[(*target, slice(step, step + reach))] += share * table[(*source, slice(reach))]
        table, reach = grown, reach + max(row)
    last: Floats = table[tuple(tracked)]
    return last


def _tracked(group: Group) -> list[int]:
    return [] if group.counts is None else np.sort(group.counts)[:-1].tolist()


def _width(group: Group, unit: int) -> int:
    return int(np.ptp(group.worth, axis=1).sum()) // unit + 1


def _common_unit(groups: Sequence[Group]) -> int:
    steps = [
        int(np.gcd.reduce(group.worth - group.worth.min(axis=1, keepdims=True), axis=None))
        for group in groups
    ]
    return math.gcd(*steps) or 1


def sample_sums(groups: Sequence[Group], draws: int, seed: int) -> Ints:
    """Draw the assignment again ``draws`` times and return the sums, shape (draws,).

    Notes
    -----
    The stream is the raw 64-bit output of ``numpy.random.PCG64(seed)``, which numpy keeps bit for bit. It
    serves the groups in order, then the draws, then the items of the group. With fixed counts an output's
    lowest bits are replaced by the item's index, which makes all keys different; the items in ascending order
    of their keys get the patterns in order, each as often as its count. Otherwise an item gets the first
    pattern whose cumulative probability is above its output's upper 53 bits, times 2**-53. Batches bound the memory and do
    not change the stream.
    """
    stream = np.random.PCG64(seed)
    sums = np.zeros(draws, dtype=np.int64)
    for group in groups:
        items = group.worth.shape[0]
        batch = max(1, _BATCH // items)
        for start in range(0, draws, batch):
            size = min(batch, draws - start)
            outputs = stream.random_raw(size * items).reshape(size, items)
            sums[start : start + size] += _drawn_worth(group, outputs)
    return sums


def _drawn_worth(group: Group, outputs: npt.NDArray[np.uint64]) -> Ints:
    items = np.arange(group.worth.shape[0])
    if group.counts is None:
        uniform = (outputs >> np.uint64(11)) * 2.0**-53
        patterns = np.searchsorted(np.cumsum(group.shares)[:-1], uniform, side="right")
        drawn: Ints = group.worth[items, patterns].sum(axis=1)
        return drawn
    mask = np.uint64((1 << (items.size - 1).bit_length()) - 1)
    keys = np.sort((outputs & ~mask) | items.astype(np.uint64), axis=1)
    who = (keys & mask).astype(np.intp)
    offsets = np.repeat(np.arange(group.counts.size), group.counts) * items.size
    ranked: Ints = group.worth.T.ravel().take(who + offsets) @ np.ones(items.size, dtype=np.int64)
    return ranked
