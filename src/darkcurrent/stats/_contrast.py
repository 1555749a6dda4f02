"""From outcomes at places to the whole-number worth of each item under each sequence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from darkcurrent.errors import StatsInputError
from darkcurrent.stats._assignment import CheckedAssignment, Treatment
from darkcurrent.stats._lattice import find_lattice, round_to_lattice
from darkcurrent.stats._rerandomization import Group

__all__ = ["Contrast", "check_outcomes", "contrast_signs", "prepare"]

_SUM_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True)
class Contrast:
    """The observed sum, what a unit of it adds to the statistic, and the groups whose draws made it."""

    observed: int
    unit: Fraction
    groups: list[Group]


def contrast_signs(
    treatments: Sequence[Treatment],
    criteria: tuple[str, str] | None,
    orders: tuple[str, str] | None,
) -> npt.NDArray[np.int64]:
    """Sign of every treatment in a contrast: 1, -1, or 0 for one that takes no part.

    The sign is the product of a treatment's signs in the factors that are contrasted: the first named level
    counts 1, the second -1.

    Raises
    ------
    StatsInputError
        If no factor is named, a level is named twice or does not occur, or the levels are not fully crossed.
    """
    factors = [(place, pair) for place, pair in enumerate((criteria, orders)) if pair is not None]
    if not factors:
        raise StatsInputError("name the two criteria, the two orders, or both, that are to be contrasted.")
    signs = np.ones(len(treatments), dtype=np.int64)
    for place, (plus, minus) in factors:
        if plus == minus:
            raise StatsInputError(f"a contrast needs two different levels, and both are {plus!r}.")
        levels = [treatment[place] for treatment in treatments]
        for level in (plus, minus):
            if level not in levels:
                known = ", ".join(sorted(set(levels)))
                raise StatsInputError(f"no treatment of the assignment has {level!r}; there are: {known}.")
        signs *= [(level == plus) - (level == minus) for level in levels]
    taking_part = {treatment for treatment, sign in zip(treatments, signs.tolist(), strict=True) if sign}
    for place, pair in factors:
        swap = {pair[0]: pair[1], pair[1]: pair[0]}
        swapped = {(*t[:place], swap[t[place]], *t[place + 1 :]) for t in taking_part}
        if swapped != taking_part or not taking_part:
            raise StatsInputError(
                f"{pair[0]!r} and {pair[1]!r} must occur with the same levels of the other factor, or they are not "
                "comparable."
            )
    return signs


def check_outcomes(outcomes: Any) -> npt.NDArray[np.float64]:
    """Return the outcomes as a table, items x places.

    Raises
    ------
    StatsInputError
        If a value is missing or outside [0, 1], or the table has not two dimensions.
    """
    try:
        table = np.asarray(outcomes, dtype=np.float64)
    except (TypeError, ValueError):
        raise StatsInputError("outcomes must be rows of numbers, of one length and without gaps.") from None
    if table.size == 0:
        return np.empty((0, 0))
    if table.ndim != 2:
        raise StatsInputError(f"outcomes must have two dimensions, items x places, and have {table.ndim}.")
    # written so that a NaN is outside too
    outside = np.argwhere(~((table >= 0.0) & (table <= 1.0)))
    if outside.size:
        item, place = outside[0].tolist()
        raise StatsInputError(
            f"outcomes[{item}, {place}] is {table[item, place]:g}, outside [0, 1]: score a missing or invalid "
            "answer before calling."
        )
    return table


def prepare(
    values: npt.NDArray[np.float64],
    checked: CheckedAssignment,
    signs: npt.NDArray[np.int64],
    factors: int,
) -> Contrast:
    """Turn outcomes, shape (n, P) with n >= 1, into a sum over items and the groups that are drawn again.

    Parameters
    ----------
    values : numpy.ndarray of float64, shape (n, P)
    checked : CheckedAssignment
    signs : numpy.ndarray of int64, shape (L,)
        As `contrast_signs` returns them.
    factors : int
        Contrasted factors, 1 or 2: an interaction is a difference of two differences.

    Raises
    ------
    StatsInputError
        If the sums would not fit into 64 bits.
    """
    units, step = _whole(values)
    # each side's treatments are averaged, each over its places
    side = Fraction(int((signs > 0).sum()) * values.shape[1], signs.size)
    # sequences with the same pattern of signs are one and the same for the statistic
    patterns, code = np.unique(signs[checked.sequences], axis=0, return_inverse=True)
    code = code.reshape(-1)
    worth = units @ patterns.T
    drawn = code[checked.drawn]
    groups = []
    for cohort in range(int(checked.cohorts.max()) + 1):
        rows = np.flatnonzero(checked.cohorts == cohort)
        counts = np.bincount(drawn[rows], minlength=len(patterns))
        if checked.probabilities is None:
            shares = counts / rows.size
        else:
            shares = np.array([checked.probabilities[code == each].sum() for each in range(len(patterns))])
        held = np.flatnonzero(shares)
        part = worth[np.ix_(rows, held)]
        # sorted, so that the order of rows says nothing
        part = part[np.lexsort(part.T[::-1])]
        groups.append(Group(part, shares[held], counts[held] if checked.probabilities is None else None))
    observed = int(worth[np.arange(drawn.size), drawn].sum())
    return Contrast(observed, step * factors / (side * len(values)), groups)


def _whole(values: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], Fraction]:
    """Return the outcomes in whole steps from the smallest one; the contrast of a constant is 0."""
    distinct, code = np.unique(values, return_inverse=True)
    lattice = find_lattice(distinct) or round_to_lattice(distinct)
    units = lattice.units[code].reshape(values.shape)
    if int(units.max()) * units.size >= _SUM_LIMIT:
        raise StatsInputError(
            f"{units.size:,} outcomes without a small common denominator are too many to add up exactly; round them."
        )
    return units, lattice.step
