"""Scores as whole numbers of one rational step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

__all__ = ["LARGEST_DENOMINATOR", "Lattice", "find_lattice", "round_to_lattice"]

LARGEST_DENOMINATOR = 10_000
"""The finest common denominator that is looked for."""

_TOLERANCE = 1e-12
"""How far a float may lie from its rational: the mean of a few answers is off by some 1e-16."""

_BITS = 40

_LARGEST_UNIT = 1 << (_BITS + 1)
"""The most steps from the smallest score to the largest: sums of millions of them stay whole numbers of 64 bits."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """Distinct scores written as ``origin + step * units``.

    Attributes
    ----------
    origin, step : fractions.Fraction
        The smallest score, and the coarsest step that reaches all others (1 when there is one score).
    units : numpy.ndarray of int64, shape (distinct,)
        Whole numbers from 0, in the order of the scores given.
    """

    origin: Fraction
    step: Fraction
    units: npt.NDArray[np.int64]

    def score(self, total: int | Fraction, weight: int) -> float:
        """Return ``origin + step * total / weight``, rounded once: whole numbers divide so in Python."""
        (first, below), (step, parts) = self.origin.as_integer_ratio(), self.step.as_integer_ratio()
        return float((first * parts * weight + step * below * total) / (below * parts * weight))


def find_lattice(distinct: npt.NDArray[np.float64]) -> Lattice | None:
    """Find the coarsest lattice that holds every score.

    Parameters
    ----------
    distinct : numpy.ndarray of float64, shape (distinct,)
        Finite scores, at least one, ascending.

    Returns
    -------
    Lattice or None
        None when two or more scores have no common denominator up to `LARGEST_DENOMINATOR`, or lie more than
        2**41 steps apart.
    """
    if distinct.size == 1:
        return Lattice(Fraction(float(distinct[0])), Fraction(1), np.zeros(1, dtype=np.int64))
    denominator = 1
    fractions = []
    for value in distinct.tolist():
        fraction = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
        if abs(fraction.numerator / fraction.denominator - value) > _TOLERANCE:
            return None
        denominator = math.lcm(denominator, fraction.denominator)
        if denominator > LARGEST_DENOMINATOR:
            return None
        fractions.append(fraction)
    numerators = [fraction.numerator * (denominator // fraction.denominator) for fraction in fractions]
    least = numerators[0]
    stride = math.gcd(*(numerator - least for numerator in numerators)) or 1
    units = [(numerator - least) // stride for numerator in numerators]
    if units[-1] > _LARGEST_UNIT:
        return None
    return Lattice(
        Fraction(least, denominator), Fraction(stride, denominator), np.array(units, dtype=np.int64)
    )


def round_to_lattice(distinct: npt.NDArray[np.float64]) -> Lattice:
    """Round scores to 2**-40 of the power of two above the largest, so that sums are whole numbers."""
    shift = _BITS - int(np.frexp(np.abs(distinct).max())[1])
    whole = np.rint(np.ldexp(distinct, shift)).astype(np.int64)
    step = Fraction(1, 1 << shift) if shift >= 0 else Fraction(1 << -shift)
    return Lattice(int(whole[0]) * step, step, whole - whole[0])
