"""The exact law of a sum of independent draws from finite sets of whole numbers.

The sum over strata of n_h draws each has the characteristic function prod_h phi_h ** n_h. It is evaluated on
as many points as a window around the mean needs and turned back by one FFT, so that no draw and no long
convolution is made. Three things keep the error at rounding level, which tests compare with rational
arithmetic and with direct convolution:

- Bernstein's inequality bounds what lies outside the window by exp(-80), so nothing folds back into it.
- log phi is taken from phi - 1 with the origin at a possible value near the mean, where it has no harmful
  cancellation, so that a power of 100,000 does not multiply a rounding error of 1. Every angle is a whole
  multiple of one step and is reduced exactly.
- The masses below zero that an FFT returns show its noise. What is not well above it is set to zero: noise
  never becomes probability.

A quantile far in the lower tail is read from the exponentially tilted law, whose bulk lies where the quantile
is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    "Draws",
    "Law",
    "Window",
    "drop_noise",
    "find_window",
    "law_of_sum",
    "lower_quantile",
    "quantile",
    "reach",
    "unroll",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_TAIL = 80.0
_ABOVE_NOISE = 4.0
_SLACK = 1e-11
_TILT_BELOW = 1e-3
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Draws:
    """What is summed: for every stratum, as many draws as its size.

    Attributes
    ----------
    values : numpy.ndarray of int64, shape (J,)
        Distinct whole numbers, ascending.
    chances : numpy.ndarray of float64, shape (H, J)
        Probability of each value in each stratum; rows add up to 1.
    sizes : numpy.ndarray of int64, shape (H,)
        Draws per stratum, 1 or more.
    """

    values: Ints
    chances: Floats
    sizes: Ints

    def moments(self) -> tuple[Floats, Floats]:
        """Mean and variance of one draw, by stratum."""
        means = self.chances @ self.values
        deviations = self.values - means[:, None]
        return means, (self.chances * deviations**2).sum(axis=1)

    def extremes(self) -> tuple[Ints, Ints]:
        """Least and largest possible value of one draw, by stratum."""
        held = self.chances > 0
        last = self.values.size - 1 - np.argmax(held[:, ::-1], axis=1)
        return self.values[np.argmax(held, axis=1)], self.values[last]


@dataclass(frozen=True, slots=True)
class Law:
    """Probabilities of the consecutive whole numbers ``start, start + 1, ...``."""

    start: int
    masses: Floats


@dataclass(frozen=True, slots=True)
class Window:
    """Where the bulk of a sum lies, up to a mass of exp(-80).

    Attributes
    ----------
    centres : numpy.ndarray of int64, shape (H,)
        The possible value nearest to the mean of a draw, by stratum.
    centre : int
        The sum when every draw is at its centre.
    low, high : int
        Ends of the window, counted from ``centre``.
    """

    centres: Ints
    centre: int
    low: int
    high: int

    @property
    def points(self) -> int:
        """Points of the Fourier inversion: the power of two that holds the window."""
        return 1 << (self.high - self.low).bit_length()


def find_window(draws: Draws) -> Window:
    """Return the window of the sum of the draws."""
    means, variances = draws.moments()
    distances = np.where(draws.chances > 0, np.abs(draws.values - means[:, None]), np.inf)
    centres = draws.values[np.argmin(distances, axis=1)]
    least, most = draws.extremes()
    mean = float(draws.sizes @ (means - centres))
    far = reach(float(draws.sizes @ variances), float((most - least).max()))
    low = max(math.floor(mean - far), int(draws.sizes @ (least - centres)))
    high = min(math.ceil(mean + far), int(draws.sizes @ (most - centres)))
    return Window(centres, int(draws.sizes @ centres), low, high)


def law_of_sum(draws: Draws, window: Window) -> Law:
    """Return the law of the sum of the draws in its window."""
    points = window.points
    # from -pi to pi, so that a small angle is exact on either side of 0
    turns = np.arange(points)
    angles = np.where(2 * turns > points, turns - points, turns) * (2.0 * math.pi / points)
    sine = np.sin(angles)
    versine = 2.0 * np.sin(angles / 2.0) ** 2
    frequencies = np.arange(points // 2 + 1)
    log_size = np.zeros(frequencies.size)
    phase = np.zeros(frequencies.size)
    for centre in np.unique(window.centres):
        places = ((draws.values - centre)[:, None] * frequencies) & (points - 1)
        sines, versines = sine[places], versine[places]
        rows = np.flatnonzero(window.centres == centre)
        for block in np.array_split(rows, 1 + rows.size * frequencies.size // _BLOCK):
            real = -(draws.chances[block] @ versines)
            imaginary = -(draws.chances[block] @ sines)
            log_size += draws.sizes[block] @ _log_modulus(real, imaginary)
            phase += draws.sizes[block] @ np.arctan2(imaginary, 1.0 + real)
    masses = np.fft.irfft(np.exp(log_size + 1j * phase), points)
    return unroll(drop_noise(masses), window.centre, window.low, window.high)


def unroll(masses: Floats, origin: int, low: int, high: int) -> Law:
    """Cut ``origin + low`` to ``origin + high`` out of masses that wrap around and have ``origin`` first."""
    return Law(origin + low, np.roll(masses, -low)[: high - low + 1])


def reach(variance: float, largest_range: float) -> float:
    """How far a sum of independent terms gets from its mean, but for a chance of exp(-80) (Bernstein)."""
    step = _TAIL * largest_range / 3.0
    return step + math.sqrt(step * step + 2.0 * _TAIL * variance)


def drop_noise(masses: Floats) -> Floats:
    """Return masses from an inverse FFT with those that are not well above its rounding error set to zero."""
    rounding = 2.0 * np.finfo(np.float64).eps * float(masses.max())
    return np.where(masses < _ABOVE_NOISE * max(rounding, -float(masses.min())), 0.0, masses)


def quantile(law: Law, level: float) -> int:
    """Return the smallest whole number whose cumulative probability is at least ``level``.

    A cumulative probability that falls short of ``level`` by less than 1e-11 of it counts as reaching it, so
    that exact equality never depends on a rounding error.
    """
    reached = np.cumsum(law.masses) >= level * (1.0 - _SLACK)
    return law.start + int(np.argmax(reached))


def lower_quantile(draws: Draws, law: Law, level: float) -> int:
    """Return the quantile at ``level``, from a tilted law where ``law`` itself would be too coarse.

    The tilted law gives every sum x the further weight exp(theta * x), with theta < 0 chosen so that
    Chernoff's bound at its mean is about ``level``. Probabilities near the quantile then keep their relative
    accuracy at any level.
    """
    if level >= _TILT_BELOW:
        return quantile(law, level)
    wanted = -math.log(level)
    least, _ = draws.extremes()
    rarest = -float(draws.sizes @ np.log(draws.chances[draws.values == least[:, None]]))
    if rarest <= wanted + _SLACK:
        return int(draws.sizes @ least)
    centres = find_window(draws).centres
    low, high = -1.0, 0.0
    while _tilt(draws, centres, low).rate < wanted:
        low, high = 2.0 * low, low
    while (tilted := _tilt(draws, centres, low)).rate > wanted + 0.25:
        middle = (low + high) / 2.0
        low, high = (middle, high) if _tilt(draws, centres, middle).rate >= wanted else (low, middle)
    bent = law_of_sum(tilted.draws, find_window(tilted.draws))
    offset = bent.start - int(draws.sizes @ centres)
    exponents = tilted.cumulant - tilted.theta * (offset + np.arange(bent.masses.size)) + wanted
    reached = np.cumsum(bent.masses * np.exp(np.minimum(exponents, 600.0))) >= 1.0 - _SLACK
    return bent.start + int(np.argmax(reached))


@dataclass(frozen=True, slots=True)
class _Tilted:
    draws: Draws
    theta: float
    cumulant: float  # log E exp(theta * (sum - centre))
    rate: float  # -log of Chernoff's bound at the tilted mean


def _tilt(draws: Draws, centres: Ints, theta: float) -> _Tilted:
    worth = draws.values - centres[:, None]
    with np.errstate(divide="ignore"):
        logits = np.log(draws.chances) + theta * worth
    top = logits.max(axis=1)
    weights = np.exp(logits - top[:, None])
    totals = weights.sum(axis=1)
    chances = weights / totals[:, None]
    cumulant = float(draws.sizes @ (top + np.log(totals)))
    mean = float(draws.sizes @ (chances * worth).sum(axis=1))
    bent = Draws(draws.values, chances, draws.sizes)
    return _Tilted(bent, theta, cumulant, theta * mean - cumulant)


def _log_modulus(real: Floats, imaginary: Floats) -> Floats:
    """Log of the modulus of ``1 + real + i imaginary``, accurate near 1 as near 0."""
    near_one = np.log1p(np.maximum(real * (2.0 + real) + imaginary**2, -0.75)) / 2.0
    with np.errstate(divide="ignore"):
        elsewhere = np.log(np.hypot(1.0 + real, imaginary))
    return np.where(real > -0.25, near_one, elsewhere)
