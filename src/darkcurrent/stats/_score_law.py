"""A law of items' scores 0, 1/2 and 1, and how often a battery drawn from it passes the utility gate."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, gammaln, xlogy

from darkcurrent.errors import StatsInputError
from darkcurrent.stats.bootstrap import bootstrap

__all__ = ["ScoreLaw", "check_means", "passing_counts", "simulate_passes"]

_SCORES = np.array([0.0, 0.5, 1.0])


@dataclass(frozen=True, slots=True)
class ScoreLaw:
    """Probabilities of the scores 0, 1/2 and 1."""

    zero: float
    half: float
    one: float

    @classmethod
    def of_orders(cls, mean: float, correlation: float) -> ScoreLaw:
        """Law of the mean of two successes of one probability.

        Raises
        ------
        StatsInputError
            If two successes of this probability cannot have this correlation.
        """
        shared = correlation * mean * (1.0 - mean)
        law = cls((1.0 - mean) ** 2 + shared, 2.0 * (mean * (1.0 - mean) - shared), mean**2 + shared)
        if not min(law.zero, law.half, law.one) >= -1e-12:
            raise StatsInputError(
                f"two successes of probability {mean:g} cannot have the correlation {correlation:g}: it lies "
                "between minus the smaller of the odds and their inverse, and 1."
            )
        return cls(max(law.zero, 0.0), max(law.half, 0.0), max(law.one, 0.0))

    def probability_of(self, passing: npt.NDArray[np.int64]) -> float:
        """Probability that n items hold at least ``passing[b]`` ones, b being their number of halves.

        Parameters
        ----------
        passing : numpy.ndarray of int64, shape (n + 1,)
        """
        n = passing.size - 1
        halves = np.arange(n + 1)
        rest = n - halves
        log_halves = gammaln(n + 1) - gammaln(halves + 1) - gammaln(rest + 1)
        log_halves += xlogy(halves, self.half) + xlogy(rest, 1.0 - self.half)
        share = self.one / (self.one + self.zero) if self.one else 0.0
        possible = (passing > 0) & (passing <= rest)
        reached = np.where(passing <= 0, 1.0, 0.0)
        # P[Bin(m, q) >= a] = I_q(a, m - a + 1)
        reached[possible] = betainc(passing[possible], rest[possible] - passing[possible] + 1, share)
        return min(1.0, float(np.exp(log_halves) @ reached))


def check_means(values: Iterable[float], name: str) -> tuple[float, ...]:
    """Return ``values`` as floats from 0 to 1, at least one.

    Raises
    ------
    StatsInputError
        If one is not, or there is none.
    """
    try:
        means = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise StatsInputError(f"{name} must be a list of numbers.") from None
    if not means or not all(0.0 <= mean <= 1.0 for mean in means):
        raise StatsInputError(f"{name} must hold one or more numbers from 0 to 1, and it is {list(means)}.")
    return means


def passing_counts(n: int, threshold: float, level: float) -> npt.NDArray[np.int64]:
    """Fewest ones with which ``n`` items of one stratum pass, by their number of halves.

    Parameters
    ----------
    n : int
        Items, 1 or more.
    threshold, level : float
        Of the utility gate.

    Returns
    -------
    numpy.ndarray of int64, shape (n + 1,)
        Entry b for b halves; more than ``n - b`` where no number of ones passes.
    """

    def passes(ones: int, halves: int) -> bool:
        counts = [n - ones - halves, halves, ones]
        return _passes(np.repeat(_SCORES, counts), None, threshold, level, "size")

    least = np.empty(n + 1, dtype=np.int64)
    # all ones pass whatever the threshold
    ones = bisect.bisect_left(range(n), True, key=lambda count: passes(count, 0))
    for halves in range(n + 1):
        if halves and 0 < ones <= n - halves + 1 and passes(ones - 1, halves):
            ones -= 1
        least[halves] = ones
    return least


def simulate_passes(
    sizes: tuple[int, ...],
    law: ScoreLaw,
    threshold: float,
    level: float,
    weights: str,
    repetitions: int,
    seed: int,
) -> int:
    """Draw ``repetitions`` batteries and return how many pass.

    Notes
    -----
    The upper 53 bits of the raw outputs of ``numpy.random.PCG64(seed)`` are uniform numbers u, one for each
    item in the order of batteries, strata and items; a score is 0 where u is below its probability, 1/2 where
    u is below that of both, else 1.
    """
    stream = np.random.PCG64(seed)
    strata = np.repeat([f"{place:06d}" for place in range(len(sizes))], sizes)
    cuts = np.array([law.zero, law.zero + law.half])
    passed = 0
    for _ in range(repetitions):
        uniform = (stream.random_raw(strata.size) >> np.uint64(11)) * 2.0**-53
        scores = _SCORES[np.searchsorted(cuts, uniform, side="right")]
        passed += _passes(scores, strata, threshold, level, weights)
    return passed


def _passes(
    scores: npt.NDArray[np.float64],
    strata: npt.NDArray[np.str_] | None,
    threshold: float,
    level: float,
    weights: str,
) -> bool:
    lower = bootstrap(scores, None if strata is None else strata.tolist(), level, weights=weights).lower
    assert lower is not None  # a battery has items
    return lower >= threshold
