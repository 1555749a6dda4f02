"""Conditional randomization tests over a stored assignment.

Which treatment fell on which place of the schedule was drawn at random before any call. Under the sharp null
a call's outcome depends on its place alone, so that it stays what it is when the treatments are drawn again:
the observed contrast is compared with the contrasts of all draws that could have been.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from darkcurrent.errors import StatsInputError
from darkcurrent.stats._assignment import Assignment, check_assignment
from darkcurrent.stats._check import check_choice, check_count
from darkcurrent.stats._contrast import check_outcomes, contrast_signs, prepare
from darkcurrent.stats._randomization_result import (
    NULL,
    RandomizationResult,
    limits,
    name_degenerate,
    untested,
)
from darkcurrent.stats._rerandomization import (
    Group,
    convolution_cost,
    convolve_groups,
    count_assignments,
    enumerate_groups,
    sample_sums,
)
from darkcurrent.stats.bootstrap import DEFAULT_SEED
from darkcurrent.stats.holm import holm

__all__ = ["Assignment", "RandomizationResult", "randomization_family", "randomization_test"]

_ENUMERABLE = 100_000
_MOST_ADDITIONS = 1 << 29
_LARGEST_TABLE = 1 << 22


def randomization_test(
    outcomes: Any,
    assignment: Assignment | None,
    criteria: tuple[str, str] | None = None,
    orders: tuple[str, str] | None = None,
    method: str = "exact",
    draws: int = 99_999,
    seed: int | None = None,
) -> RandomizationResult:
    """Test a contrast of treatments against all assignments that the schedule could have drawn.

    Parameters
    ----------
    outcomes : array_like of float, shape (n, P)
        The outcome of item i at its place j, in [0, 1]: a success of a signal call, or the adversity of a
        clone call. An invalid answer is scored (0, and 1) before calling; there are no gaps.
    assignment : Assignment or None
        What was drawn and how. None, for a hashed or shuffled schedule that stored no assignment, gives a
        result without p that is ``"NOT GRADED"``.
    criteria : (str, str), optional
        Two criteria, such as ``("strict", "neutral")``: first minus second.
    orders : (str, str), optional
        Two orders, such as ``("AB", "BA")``: first minus second.
    method : {"exact", "monte-carlo"}
        ``exact`` computes the law of the contrast; it falls back to Monte Carlo, with a reason, where that
        would take too long.
    draws : int
        Monte-Carlo repetitions, 1 or more.
    seed : int, optional
        Seed of the Monte-Carlo stream, 0 or more; `DEFAULT_SEED` when not given.

    Returns
    -------
    RandomizationResult

    Raises
    ------
    StatsInputError
        If an outcome is missing or outside [0, 1], the shapes do not belong together, the assignment could not
        have been drawn, or a contrasted level does not occur.

    Notes
    -----
    The statistic is the mean over items of: with ``criteria`` alone, the mean outcome under the first criterion
    minus that under the second; with ``orders`` alone, the same of orders; with both, the difference of
    differences, such as (strict BA - strict AB) - (neutral BA - neutral AB) for ``("strict", "neutral")`` and
    ``("BA", "AB")``. Treatments of other levels take part in the draw and not in the statistic.

    The exact p is the probability of ``|T*| >= |T|`` over the assignments [1]_: all of them are listed where
    they are 100,000 or fewer, otherwise the law of T* is convolved item by item, with the number of items on
    each sequence as further axes where it is fixed. Monte Carlo gives (1 + #{|T*| >= |T|}) / (1 + draws), which
    is a valid p for any number of draws [2]_. Sums are whole numbers of the outcomes' common step, so that a
    tie is never decided by rounding. Outcomes without a common denominator up to 10,000 are rounded to 40 bits.
    Rows may come in any order: it changes no result, not even a drawn one.

    The test is conditional on the items, on their places and, with cohorts, on how often each sequence was used in
    each. With probabilities it is not: those counts are drawn again too. It is exact
    for the sharp null only, see ``does_not_identify``.

    References
    ----------
    .. [1] Fisher, R. A. (1935). The Design of Experiments, chapter 3.
    .. [2] Phipson, B. and Smyth, G. K. (2010). Permutation P-values should never be zero. Statistical
       Applications in Genetics and Molecular Biology 9, 39.

    Examples
    --------
    Four clones, seen once under either criterion; two of them were to see ``strict`` first.

    >>> clones = Assignment(
    ...     treatments=[("strict", "IDENTICAL"), ("neutral", "IDENTICAL")],
    ...     sequences=[[0, 1], [1, 0]],
    ...     drawn=[0, 0, 1, 1],
    ... )
    >>> result = randomization_test([[0, 1], [0, 1], [1, 0], [1, 0]], clones, ("strict", "neutral"))
    >>> result.statistic, result.p, result.method
    (-1.0, 0.3333333333333333, 'exact-enumeration')
    """
    values = check_outcomes(outcomes)
    method = check_choice(method, "method", ("exact", "monte-carlo"))
    draws = check_count(draws, "draws", least=1)
    seed = DEFAULT_SEED if seed is None else check_count(seed, "seed")
    factors = [factor for factor, pair in (("criterion", criteria), ("order", orders)) if pair is not None]
    if not factors:
        raise StatsInputError("name the two criteria, the two orders, or both, that are to be contrasted.")
    name = " x ".join(factors)
    if assignment is None:
        return untested(
            name,
            len(values),
            None,
            "The schedule stored no random assignment: nothing says what could have been assigned otherwise.",
        )
    checked = check_assignment(assignment)
    signs = contrast_signs(assignment.treatments, criteria, orders)
    items, places = values.shape
    if items != checked.drawn.size or (items and places != checked.sequences.shape[1]):
        raise StatsInputError(
            f"outcomes are {items} x {places}, and the assignment has {checked.drawn.size} items with "
            f"{checked.sequences.shape[1]} places each."
        )
    if not items:
        return untested(name, 0, "empty", "There are no items.")
    contrast = prepare(values, checked, signs, len(factors))
    found = _find_p(contrast.groups, contrast.observed, method, draws, seed)
    drawn = found.method == "monte-carlo"
    degenerate, caveat = name_degenerate(contrast.groups)
    return RandomizationResult(
        contrast=name,
        n=items,
        statistic=float(contrast.unit * contrast.observed),
        p=found.p,
        method=found.method,
        draws=draws if drawn else None,
        seed=seed if drawn else None,
        gate=None,
        degenerate=degenerate,
        reason=" ".join(filter(None, (caveat, found.remark))) or None,
        null=NULL,
        does_not_identify=limits(name),
    )


def randomization_family(results: Mapping[str, RandomizationResult]) -> dict[str, float | None]:
    """Adjust the tests of one declared family by Holm's method.

    Parameters
    ----------
    results : mapping of str to RandomizationResult
        The family's tests by name, such as the order and criterion x order tests of every configuration. A
        test without p stays in the family's size.

    Returns
    -------
    dict of str to float or None
        Adjusted p-values, in the order given.

    Examples
    --------
    >>> randomization_family({})
    {}
    """
    return dict(zip(results, holm(result.p for result in results.values()), strict=True))


@dataclass(frozen=True, slots=True)
class _Found:
    p: float
    method: str
    remark: str | None = None


def _find_p(groups: list[Group], observed: int, method: str, draws: int, seed: int) -> _Found:
    remark = None
    if method == "exact":
        if count_assignments(groups) <= _ENUMERABLE:
            return _Found(enumerate_groups(groups).tail(observed), "exact-enumeration")
        additions, cells = convolution_cost(groups)
        if additions <= _MOST_ADDITIONS and cells <= _LARGEST_TABLE:
            return _Found(convolve_groups(groups).tail(observed), "exact-convolution")
        remark = "The exact law of this design is too large to compute, so p is from Monte-Carlo draws."
    sums = sample_sums(groups, draws, seed)
    hits = int((np.abs(sums) >= abs(observed)).sum())
    return _Found((1 + hits) / (1 + draws), "monte-carlo", remark)
