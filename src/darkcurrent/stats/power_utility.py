"""How often a cell passes the utility gate, before any call is made."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from darkcurrent.errors import StatsInputError
from darkcurrent.stats._check import check_choice, check_count, check_proportion
from darkcurrent.stats._score_law import ScoreLaw, check_means, passing_counts, simulate_passes
from darkcurrent.stats.bootstrap import DEFAULT_SEED

__all__ = ["UtilityPower", "utility_power"]


@dataclass(frozen=True, slots=True)
class UtilityPower:
    """How often a cell passes the utility gate.

    Attributes
    ----------
    sizes : tuple of int
        Items of every stratum.
    means, power : tuple of float
        True mean scores, and the probability of passing at each.
    correlation, threshold, level, weights
        As given.
    method : str
        ``"exact"`` or ``"simulation"``.
    repetitions, seed : int or None
        Of the simulation; None for the exact method.
    standard_error : tuple of float, or None
        Of each simulated probability; None for the exact method.
    """

    sizes: tuple[int, ...]
    means: tuple[float, ...]
    power: tuple[float, ...]
    correlation: float
    threshold: float
    level: float
    weights: str
    method: str
    repetitions: int | None
    seed: int | None
    standard_error: tuple[float, ...] | None


def utility_power(
    sizes: int | Iterable[int],
    means: Iterable[float],
    correlation: float = 0.0,
    threshold: float = 0.75,
    level: float = 0.05,
    weights: str = "size",
    repetitions: int = 1_000,
    seed: int | None = None,
) -> UtilityPower:
    """Probability of passing the utility gate as a function of the true mean score.

    Parameters
    ----------
    sizes : int or iterable of int
        Signal items of every stratum, each 1 or more; a whole number is one stratum.
    means : iterable of float
        True mean scores, in [0, 1], the same in every stratum.
    correlation : float
        Between an item's two successes: 0 for independent orders, 1 if both always agree, below 0 for a judge
        that follows the position.
    threshold : float
        Utility threshold, inside (0, 1).
    level : float
        Tail probability of the bootstrap's lower bound, inside (0, 1).
    weights : {"size", "equal"}
        As in `bootstrap`.
    repetitions : int
        Simulated studies for every mean, 1 or more; not used with one stratum.
    seed : int, optional
        Seed of the simulation, 0 or more; `DEFAULT_SEED` when not given.

    Returns
    -------
    UtilityPower

    Raises
    ------
    StatsInputError
        If an argument is out of its range.

    Notes
    -----
    An item's score is 0, 1/2 or 1: the mean of two successes of probability m and correlation c, so that
    P(1) = m^2 + c m (1 - m) and P(1/2) = 2 (1 - c) m (1 - m). The gate is passed when `bootstrap`'s exact
    lower bound is ``threshold`` or more.

    With one stratum the probability is exact. The bound does not fall when an item's score rises, so the fewest
    ones that pass with b halves can only stay or fall by one from b to b + 1: n + 1 bootstraps find which
    counts pass. With several strata, studies are simulated from raw PCG64 outputs, the same outputs for every
    mean. The gate is no exact test: at a mean of ``threshold`` its probability of passing is near ``level``, and
    above it for small or skewed batteries.

    Examples
    --------
    >>> result = utility_power(102, [0.75, 0.85], correlation=0.5)
    >>> result.method, [round(value, 3) for value in result.power]
    ('exact', [0.071, 0.924])
    """
    strata = tuple(sizes) if isinstance(sizes, Iterable) else (sizes,)
    if not strata:
        raise StatsInputError("sizes must hold one stratum or more, and it is empty.")
    strata = tuple(check_count(size, f"sizes[{place}]", least=1) for place, size in enumerate(strata))
    true = check_means(means, "means")
    threshold = check_proportion(threshold, "threshold")
    level = check_proportion(level, "level")
    weights = check_choice(weights, "weights", ("size", "equal"))
    repetitions = check_count(repetitions, "repetitions", least=1)
    seed = DEFAULT_SEED if seed is None else check_count(seed, "seed")
    laws = [ScoreLaw.of_orders(mean, correlation) for mean in true]
    if len(strata) == 1:
        passing = passing_counts(strata[0], threshold, level)
        exact = tuple(law.probability_of(passing) for law in laws)
        return UtilityPower(
            strata, true, exact, correlation, threshold, level, weights, "exact", None, None, None
        )
    shares = [
        simulate_passes(strata, law, threshold, level, weights, repetitions, seed) / repetitions
        for law in laws
    ]
    errors = tuple(math.sqrt(share * (1.0 - share) / repetitions) for share in shares)
    return UtilityPower(
        strata,
        true,
        tuple(shares),
        correlation,
        threshold,
        level,
        weights,
        "simulation",
        repetitions,
        seed,
        errors,
    )
