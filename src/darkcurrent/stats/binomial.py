"""The clone null: an exact binomial tail and an exact upper bound.

Both are conditional on a working model: the items of a cell are adverse independently of each other and with
one common probability. A battery chosen before any outcome is seen does not make that model true, and
neither number says anything about items that the battery does not resemble.
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import betaincc, betaincinv

from darkcurrent.errors import StatsInputError
from darkcurrent.stats._check import check_count, check_proportion

__all__ = ["CloneResult", "clone_tail", "clone_test", "clopper_pearson_upper"]


@dataclass(frozen=True, slots=True)
class CloneResult:
    """What the clones of one cell and one null stratum show.

    Attributes
    ----------
    n, adverse : int
        Items, and how many of them were adverse (a non-tie or an invalid answer).
    rate : float or None
        ``adverse / n``; None when there are no items.
    upper : float
        One-sided Clopper-Pearson upper bound at ``level``, marginal: it is not adjusted for other cells.
    p : float
        Exact lower tail at ``threshold``, not adjusted for other cells.
    threshold, level : float
        The rate under test and the confidence of the bound.
    degenerate : str or None
        ``"empty"`` without items, ``"all-success"`` when none was adverse, ``"all-failure"`` when all were.
    reason : str or None
        One sentence on ``degenerate``.
    """

    n: int
    adverse: int
    rate: float | None
    upper: float
    p: float
    threshold: float
    level: float
    degenerate: str | None
    reason: str | None


def clone_tail(k: int, n: int, threshold: float = 0.05) -> float:
    """Exact p-value of the hypothesis that the adverse rate is ``threshold`` or more.

    Parameters
    ----------
    k : int
        Adverse items, 0 to ``n``.
    n : int
        Items, 0 or more.
    threshold : float
        The rate p0 under test, strictly between 0 and 1.

    Returns
    -------
    float
        P[Bin(n, p0) <= k], in (0, 1]. It is 1 when ``n`` is 0: no items, no evidence.

    Raises
    ------
    StatsInputError
        If a count is not whole or out of range, or ``threshold`` is not inside (0, 1).

    Notes
    -----
    P[Bin(n, p) <= k] = 1 - I_p(k + 1, n - k), with I the regularised incomplete beta function [1]_. The
    complement is computed as such, so a tail of 1e-11 keeps its digits. A large p does not show that the
    rate reaches the threshold.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions, 8.17.5.

    Examples
    --------
    >>> round(clone_tail(0, 59), 4), round(clone_tail(2, 102), 4)
    (0.0485, 0.1103)
    """
    adverse, items = _check_counts(k, n)
    return _tail(adverse, items, check_proportion(threshold, "threshold"))


def clopper_pearson_upper(k: int, n: int, level: float = 0.95) -> float:
    """One-sided exact upper confidence bound of a binomial proportion.

    Parameters
    ----------
    k : int
        Adverse items, 0 to ``n``.
    n : int
        Items, 0 or more.
    level : float
        Confidence, strictly between 0 and 1.

    Returns
    -------
    float
        The bound, in (0, 1]. It is 1 when every item is adverse, and when ``n`` is 0.

    Raises
    ------
    StatsInputError
        If a count is not whole or out of range, or ``level`` is not inside (0, 1).

    Notes
    -----
    The bound is the p at which P[Bin(n, p) <= k] = 1 - level [1]_: the ``level`` quantile of
    Beta(k + 1, n - k). It covers at least at ``level`` under the working model of this module, for one
    cell at a time.

    References
    ----------
    .. [1] Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in
       the case of the binomial. Biometrika 26, 404-413.

    Examples
    --------
    >>> round(clopper_pearson_upper(0, 102), 4), round(clopper_pearson_upper(2, 102), 4)
    (0.0289, 0.0604)
    """
    adverse, items = _check_counts(k, n)
    return _upper(adverse, items, check_proportion(level, "level"))


def clone_test(k: int, n: int, threshold: float = 0.05, level: float = 0.95) -> CloneResult:
    """Tail, bound and rate of one cell's clones, with the degenerate cases named.

    Parameters
    ----------
    k, n : int
        Adverse items and items.
    threshold : float
        The rate under test, inside (0, 1).
    level : float
        Confidence of the upper bound, inside (0, 1).

    Returns
    -------
    CloneResult
        With ``n`` 0, ``rate`` is None, ``p`` and ``upper`` are 1 and ``degenerate`` is ``"empty"``.

    Raises
    ------
    StatsInputError
        As `clone_tail` and `clopper_pearson_upper`.

    Examples
    --------
    >>> clone_test(0, 0).degenerate
    'empty'
    """
    adverse, items = _check_counts(k, n)
    threshold = check_proportion(threshold, "threshold")
    level = check_proportion(level, "level")
    degenerate, reason = _name_degenerate(adverse, items)
    return CloneResult(
        n=items,
        adverse=adverse,
        rate=adverse / items if items else None,
        upper=_upper(adverse, items, level),
        p=_tail(adverse, items, threshold),
        threshold=threshold,
        level=level,
        degenerate=degenerate,
        reason=reason,
    )


def _check_counts(k: object, n: object) -> tuple[int, int]:
    items = check_count(n, "n")
    adverse = check_count(k, "k")
    if adverse > items:
        raise StatsInputError(f"k must not be above n, and {adverse} > {items}.")
    return adverse, items


def _tail(k: int, n: int, threshold: float) -> float:
    return 1.0 if k == n else float(betaincc(k + 1, n - k, threshold))


def _upper(k: int, n: int, level: float) -> float:
    return 1.0 if k == n else float(betaincinv(k + 1, n - k, level))


def _name_degenerate(k: int, n: int) -> tuple[str | None, str | None]:
    if n == 0:
        return "empty", "There are no items: p and the bound are 1 because nothing was observed."
    if k == 0:
        return "all-success", "No item was adverse: the bound, not the rate of zero, is what was shown."
    if k == n:
        return "all-failure", "Every item was adverse: the upper bound is 1."
    return None, None
