"""Bounds and p-values by a second implementation: `math` alone, no line shared with `darkcurrent.stats`.

The numbers of an archive are rounded to seven digits, so that these agree within `TOLERANCE`, not to the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

__all__ = ["TOLERANCE", "close", "holm_adjusted", "is_upper_bound", "lower_tail"]

TOLERANCE: Final = 1e-6
"""Relative. Rounding takes up to 5e-7; sums of logarithms of the gamma function of 10**6 take 1e-9."""

_NEGLIGIBLE: Final = 1e-25


def lower_tail(k: int, n: int, p: float) -> float:
    """Return P[Bin(n, p) <= k], by adding up its terms from the largest one."""
    if k >= n:
        return 1.0
    if k + 1 <= (n + 1) * p:
        return _added(k, n, p, -1)
    return 1.0 - _added(k + 1, n, p, +1)


def _added(start: int, n: int, p: float, step: int) -> float:
    """Add the terms from `start` in the direction in which they fall, until they no longer count."""
    log_term = (
        math.lgamma(n + 1)
        - math.lgamma(start + 1)
        - math.lgamma(n - start + 1)
        + start * math.log(p)
        + (n - start) * math.log1p(-p)
    )
    odds = p / (1.0 - p)
    shares, share, i = [1.0], 1.0, start
    while 0 < i < n + 1 and share > _NEGLIGIBLE:
        # the ratio of two neighbouring terms
        if step < 0:
            share *= i / ((n - i + 1) * odds)
        elif i == n:
            break
        else:
            share *= (n - i) * odds / (i + 1)
        i += step
        shares.append(share)
    return math.exp(log_term) * math.fsum(shares)


def is_upper_bound(u: float, k: int, n: int, level: float = 0.95) -> bool:
    """Say whether `u` is the Clopper-Pearson upper bound: where the lower tail is 1 - `level`.

    The tail falls as the rate rises; so the bound lies between two rates with a tail above and one below.
    """
    if k == n:
        return u == 1.0
    below, above = u * (1.0 - TOLERANCE), u * (1.0 + TOLERANCE)
    return lower_tail(k, n, below) >= 1.0 - level >= lower_tail(k, n, min(above, 1.0 - 1e-16))


def holm_adjusted(pvalues: Sequence[float | None]) -> list[float | None]:
    """Return Holm's adjusted p-values by their definition; None stays in the size of the family."""
    m = len(pvalues)
    known = sorted(p for p in pvalues if p is not None)

    def adjusted(p: float) -> float:
        return max(min(1.0, (m - rank) * q) for rank, q in enumerate(known) if q <= p)

    return [None if p is None else adjusted(p) for p in pvalues]


def close(one: float | None, other: float | None) -> bool:
    """Say whether two numbers are the same but for rounding; null is only null."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=1e-280)
