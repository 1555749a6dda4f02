"""What a declared protocol can show: the probability of passing each gate, before any call is made.

All of it supposes a truth: a common adverse rate of independent clone items, or a common law of independent
items' scores. It says how often a judge of that truth would pass, and nothing about any real judge.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from scipy.special import betaincc

from darkcurrent.stats._check import check_count, check_proportion
from darkcurrent.stats._score_law import check_means
from darkcurrent.stats.binomial import clone_tail, clopper_pearson_upper
from darkcurrent.stats.power_utility import UtilityPower, utility_power

__all__ = [
    "ClonePower",
    "UtilityPower",
    "clone_allowed",
    "clone_detectable_rate",
    "clone_power",
    "clone_smallest_n",
    "utility_power",
]


@dataclass(frozen=True, slots=True)
class ClonePower:
    """How often a cell passes the clone gate.

    Attributes
    ----------
    n : int
        Clone items of the cell.
    allowed : int or None
        The most adverse items with which the gate is passed; None if not even zero is enough.
    rates, power : tuple of float
        True adverse rates, and the probability of passing at each.
    threshold, level, alpha, family
        As given.
    """

    n: int
    allowed: int | None
    rates: tuple[float, ...]
    power: tuple[float, ...]
    threshold: float
    level: float
    alpha: float
    family: int


def clone_allowed(
    n: int, threshold: float = 0.05, family: int = 1, level: float = 0.95, alpha: float = 0.05
) -> int | None:
    """Most adverse items of ``n`` with which a cell passes the clone gate.

    Parameters
    ----------
    n : int
        Clone items of the cell, 0 or more.
    threshold : float
        Clone threshold p0, inside (0, 1).
    family : int
        Cells of the declared Holm family, 1 or more.
    level : float
        Confidence of the upper bound, inside (0, 1).
    alpha : float
        Level of the family, inside (0, 1).

    Returns
    -------
    int or None
        None if not even zero adverse items pass.

    Raises
    ------
    StatsInputError
        If an argument is out of its range.

    Notes
    -----
    The gate asks for a Holm-adjusted p of at most ``alpha`` and an upper bound of at most ``threshold``. Holm's
    factor for a cell lies between 1 and ``family``. The largest is taken: it is the right one when all other
    cells do worse, and when all cells have the same counts. A cell whose fellows do better may pass with more.

    Examples
    --------
    >>> clone_allowed(102, family=4), clone_allowed(485, family=2), clone_allowed(58)
    (0, 14, None)
    """
    items = check_count(n, "n")
    passes = _clone_gate(threshold, family, level, alpha)
    passing = bisect.bisect_left(range(items + 1), True, key=lambda adverse: not passes(adverse, items))
    return passing - 1 if passing else None


def clone_smallest_n(
    adverse: int = 0, threshold: float = 0.05, family: int = 1, level: float = 0.95, alpha: float = 0.05
) -> int:
    """Fewest clone items with which a cell can pass the clone gate at all.

    Parameters
    ----------
    adverse : int
        Adverse items to be allowed, 0 or more.
    threshold, family, level, alpha
        As in `clone_allowed`.

    Returns
    -------
    int

    Raises
    ------
    StatsInputError
        If an argument is out of its range.

    Examples
    --------
    >>> clone_smallest_n(), clone_smallest_n(family=6)
    (59, 94)
    """
    adverse = check_count(adverse, "adverse")
    passes = _clone_gate(threshold, family, level, alpha)
    most = adverse + 1
    while not passes(adverse, most):
        most *= 2
    return bisect.bisect_left(range(most), True, lo=adverse, key=lambda items: passes(adverse, items))


def clone_detectable_rate(
    n: int,
    power: float = 0.8,
    threshold: float = 0.05,
    family: int = 1,
    level: float = 0.95,
    alpha: float = 0.05,
) -> float | None:
    """Largest true adverse rate at which a cell passes the clone gate with probability ``power`` or more.

    Parameters
    ----------
    n : int
        Clone items of the cell, 0 or more.
    power : float
        Wanted probability of passing, inside (0, 1).
    threshold, family, level, alpha
        As in `clone_allowed`.

    Returns
    -------
    float or None
        None if the gate cannot be passed with ``n`` items.

    Raises
    ------
    StatsInputError
        If an argument is out of its range.

    Notes
    -----
    With k adverse items allowed it is the rate r at which P[Bin(n, r) <= k] = ``power``: the upper bound of k
    in n at the confidence 1 - ``power``.

    Examples
    --------
    >>> round(clone_detectable_rate(102, family=4), 5), round(clone_detectable_rate(485, family=2), 5)
    (0.00219, 0.02414)
    """
    power = check_proportion(power, "power")
    allowed = clone_allowed(n, threshold, family, level, alpha)
    return None if allowed is None else clopper_pearson_upper(allowed, n, 1.0 - power)


def clone_power(
    n: int,
    rates: Iterable[float],
    threshold: float = 0.05,
    family: int = 1,
    level: float = 0.95,
    alpha: float = 0.05,
) -> ClonePower:
    """Probability of passing the clone gate as a function of the true adverse rate.

    Parameters
    ----------
    n : int
        Clone items of the cell, 0 or more.
    rates : iterable of float
        True rates of adverse items (non-tie or invalid), in [0, 1].
    threshold, family, level, alpha
        As in `clone_allowed`.

    Returns
    -------
    ClonePower

    Raises
    ------
    StatsInputError
        If an argument is out of its range.

    Notes
    -----
    Exact, and conservative in Holm's factor as `clone_allowed` says: P[Bin(n, rate) <= allowed]. It supposes
    that items are adverse independently and at one rate. At a rate of ``threshold`` it is at most
    ``alpha / family``; a cell whose fellows pass errs more often, up to ``alpha``.

    Examples
    --------
    >>> [round(value, 3) for value in clone_power(102, [0.0, 0.001, 0.01, 0.05], family=4).power]
    [1.0, 0.903, 0.359, 0.005]
    """
    true = check_means(rates, "rates")
    allowed = clone_allowed(n, threshold, family, level, alpha)
    # the gate is never passed with all items adverse, so n - allowed is above 0
    power = [0.0 if allowed is None else float(betaincc(allowed + 1, n - allowed, rate)) for rate in true]
    return ClonePower(n, allowed, true, tuple(power), threshold, level, alpha, family)


def _clone_gate(threshold: float, family: int, level: float, alpha: float) -> Callable[[int, int], bool]:
    threshold = check_proportion(threshold, "threshold")
    family = check_count(family, "family", least=1)
    level = check_proportion(level, "level")
    alpha = check_proportion(alpha, "alpha")

    def passes(adverse: int, items: int) -> bool:
        return (
            family * clone_tail(adverse, items, threshold) <= alpha
            and clopper_pearson_upper(adverse, items, level) <= threshold
        )

    return passes
