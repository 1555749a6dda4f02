"""A stored random assignment, and its check.

The schedule draws once, before any call, which sequence of treatments each item gets, and stores the draw.
What is kept here is just what is needed to draw it again under the same constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from darkcurrent.errors import StatsInputError
from darkcurrent.stats._check import check_strata

__all__ = ["Assignment", "CheckedAssignment", "Treatment", "check_assignment"]

Treatment = tuple[str, str]
"""A criterion and an order (``AB``, ``BA``, or ``IDENTICAL`` for a clone)."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which sequence of treatments every item was given, and how that was drawn.

    Attributes
    ----------
    treatments : sequence of (criterion, order), length L
        The treatments, each once.
    sequences : array_like of int, shape (S, P)
        The sequences that could be drawn: the index of the treatment at each of an item's P places. Every
        sequence holds every treatment equally often.
    drawn : array_like of int, shape (n,)
        The sequence that each item was given.
    cohorts : sequence, length n, or None
        With ``probabilities`` None: the cohort of every item. How often each sequence is used in a cohort was
        fixed beforehand, and which item of the cohort got which was a uniformly random permutation. None: all
        items are one cohort.
    probabilities : array_like of float, shape (S,), or None
        If given, every item's sequence was drawn independently of the others with these probabilities, and
        ``cohorts`` must be None.

    Notes
    -----
    A place is a call's position in the schedule: its block, its period, its neighbours. Places stay where they
    are; only the treatments on them are drawn again. If items were assigned together (a whole cohort on one
    sequence), the unit that was assigned is the row, not the item.
    """

    treatments: Sequence[Treatment]
    sequences: Any
    drawn: Any
    cohorts: Sequence[object] | None = None
    probabilities: Any = None


@dataclass(frozen=True, slots=True)
class CheckedAssignment:
    """An `Assignment` as arrays whose values were checked.

    Attributes
    ----------
    sequences : numpy.ndarray of int64, shape (S, P)
    drawn : numpy.ndarray of int64, shape (n,)
    cohorts : numpy.ndarray of int64, shape (n,)
        Index of the cohort in the order of the cohorts' names.
    probabilities : numpy.ndarray of float64, shape (S,), or None
    """

    sequences: npt.NDArray[np.int64]
    drawn: npt.NDArray[np.int64]
    cohorts: npt.NDArray[np.intp]
    probabilities: npt.NDArray[np.float64] | None


def check_assignment(assignment: Assignment) -> CheckedAssignment:
    """Return the assignment as arrays.

    Raises
    ------
    StatsInputError
        If a treatment is doubled, an index is out of range, a sequence does not hold every treatment equally
        often, the lengths differ, the probabilities are none, or an item was given what cannot be drawn.
    """
    treatments = list(assignment.treatments)
    if len(set(treatments)) != len(treatments):
        raise StatsInputError("treatments must name each (criterion, order) once.")
    sequences = _check_indices(assignment.sequences, "sequences", 2, len(treatments))
    drawn = _check_indices(assignment.drawn, "drawn", 1, len(sequences))
    held = (sequences[:, :, None] == np.arange(len(treatments))).sum(axis=1)
    if not treatments or (held != held[:1, :1]).any() or not held.all():
        raise StatsInputError(
            "every sequence must hold every treatment equally often, or the items' contrasts are not comparable."
        )
    if assignment.probabilities is None:
        _, cohorts = check_strata(assignment.cohorts, drawn.size)
        return CheckedAssignment(sequences, drawn, cohorts, None)
    if assignment.cohorts is not None:
        raise StatsInputError("give cohorts or probabilities, not both: they are two ways of drawing.")
    probabilities = _check_probabilities(assignment.probabilities, len(sequences))
    if not probabilities[drawn].all():
        where = int(np.flatnonzero(probabilities[drawn] == 0)[0])
        raise StatsInputError(
            f"drawn[{where}] is a sequence whose probability is 0: it cannot have been drawn."
        )
    return CheckedAssignment(sequences, drawn, np.zeros(drawn.size, dtype=np.intp), probabilities)


def _check_indices(values: Any, name: str, dimensions: int, limit: int) -> npt.NDArray[np.int64]:
    try:
        indices = np.asarray(values)
    except ValueError:
        raise StatsInputError(f"{name} must have rows of one length.") from None
    if indices.ndim != dimensions:
        raise StatsInputError(f"{name} must have {dimensions} dimensions, and it has {indices.ndim}.")
    if indices.size and indices.dtype.kind not in "iu":
        raise StatsInputError(f"{name} must hold whole numbers, and it holds {indices.dtype} values.")
    if indices.size and not (indices.min() >= 0 and indices.max() < limit):
        raise StatsInputError(f"{name} must hold indices from 0 to {limit - 1}.")
    return indices.astype(np.int64)


def _check_probabilities(values: Any, size: int) -> npt.NDArray[np.float64]:
    try:
        probabilities = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise StatsInputError("probabilities must be a list of numbers.") from None
    if probabilities.shape != (size,):
        raise StatsInputError(f"probabilities must hold one number for each of the {size} sequences.")
    if not (probabilities >= 0).all() or abs(float(probabilities.sum()) - 1.0) > 1e-9:
        raise StatsInputError("probabilities must be 0 or more and add up to 1.")
    return probabilities
