"""How a number of calls is best shared between clones and contrasts."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cache

from darkcurrent.errors import UsageError
from darkcurrent.gates import HOLM_LEVEL
from darkcurrent.planning.chances import Truth
from darkcurrent.stats import clone_power, clone_smallest_n, utility_power

__all__ = ["Allocation", "best_allocation"]

_MOST = 5000
"""More calls in a cell take minutes to share, and at nearly any rate both gates pass then, or never."""

_FEWER = 5
"""So many fewer contrasts than there is room for are tried: the chance to pass does not rise with every item."""

_AROUND = 3
"""So many sizes of the clone arm on either side of where the two chances meet are tried."""

_LUCK = 0.1
"""The most often that a judge exactly at the utility threshold may pass: a handful of contrasts is passed by luck."""


@dataclass(frozen=True)
class Allocation:
    """How calls are shared in each cell.

    Attributes
    ----------
    clones, signals : int
        Items of the two arms; a clone is one call, a contrast two.
    calls : int
        Of the cell.
    clone, utility : float
        The chance to pass each gate.
    """

    clones: int
    signals: int
    calls: int
    clone: float
    utility: float


def best_allocation(
    calls: int, truth: Truth, clone_threshold: float, utility_threshold: float, family: int
) -> Allocation:
    """Return the items of each arm for which the smaller of the two chances to pass is the largest.

    Parameters
    ----------
    calls : int
        That one cell may take, at most 5,000.
    truth : Truth
        What is supposed to be true of the judge.
    clone_threshold, utility_threshold : float
        The gates.
    family : int
        Cells of the declared Holm family.

    Raises
    ------
    UsageError
        Where there is no room for both, or there are too many.

    Notes
    -----
    The chance to pass the clone gate falls with every clone, but for the sizes at which one more adverse item is
    allowed: only these can be best. Along them the chance of the clones rises and that of the contrasts, which get
    what is left, falls; the sizes around where the two meet are tried, with as many contrasts as fit beside them and a
    few fewer. Contrasts are taken as one stratum. A number of contrasts with which a judge exactly at the threshold
    would pass more than one time in ten is not offered. Among equals the fewest calls are taken, then the fewest clones.

    Examples
    --------
    >>> best = best_allocation(300, Truth(adverse=0.002, utility=0.85), 0.05, 0.75, family=1)
    >>> best.clones, best.signals, round(best.clone, 3), round(best.utility, 3)
    (93, 102, 0.985, 0.983)
    """

    if calls > _MOST:
        raise UsageError(
            f"{calls} calls for each cell are more than can be shared here: give at most {_MOST} for a cell."
        )

    @cache
    def passing(signals: int) -> tuple[float, float]:
        means = [truth.utility, utility_threshold]
        law = utility_power(signals, means, truth.correlation, utility_threshold)
        return law.power[0], law.power[1]

    @cache
    def tied(clones: int) -> float:
        return clone_power(clones, [truth.adverse], clone_threshold, family, alpha=HOLM_LEVEL).power[0]

    sizes: list[int] = []
    while (size := clone_smallest_n(len(sizes), clone_threshold, family, alpha=HOLM_LEVEL)) + 2 <= calls:
        sizes.append(size)
    meeting = bisect_left(sizes, True, key=lambda size: tied(size) >= passing((calls - size) // 2)[0])
    found = [
        Allocation(clones, signals, clones + 2 * signals, tied(clones), passing(signals)[0])
        for clones in sizes[max(0, meeting - _AROUND) : meeting + _AROUND + 1]
        for most in [(calls - clones) // 2]
        for signals in range(max(1, most - _FEWER), most + 1)
        if passing(signals)[1] <= _LUCK
    ]
    if not found:
        raise UsageError(
            f"{calls} calls for each cell are too few to pass both gates by more than luck: the clone gate alone takes "
            f"{sizes[0] if sizes else size} clones, and a contrast takes two calls."
        )
    return max(found, key=lambda one: (min(one.clone, one.utility), -one.calls, -one.clones))
