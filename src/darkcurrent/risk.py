"""What using a judge costs, given how often each kind of call occurs and what each kind of mistake costs.

The risk is linear in every loss and in every prevalence, so that the value of one of them at which two cells
cost the same is found in closed form.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from itertools import product
from numbers import Real
from typing import Any

from darkcurrent.errors import StatsInputError

__all__ = [
    "FIRST_LOSSES",
    "PAPER_GRID",
    "Crossing",
    "Losses",
    "Rates",
    "break_even",
    "crossing",
    "first_losses",
    "risk",
]

_SAME = 1e-12
"""Two risks that differ by less, relative to their size, are the same: what is left is rounding."""


def _given(values: Any) -> list[tuple[str, float]]:
    pairs = [(field.name, getattr(values, field.name)) for field in fields(values)]
    given = [(name, value) for name, value in pairs if value is not None]
    for name, value in given:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise StatsInputError(f"`{name}` is {value!r}: give a number.")
    return given


@dataclass(frozen=True, slots=True)
class Rates:
    """How often a cell errs, each in [0, 1].

    Attributes
    ----------
    false_preference : float
        Share of core clone calls with a valid preference.
    invalid_clone : float
        Share of core clone calls without a valid verdict.
    wrong, tie, invalid_signal : float
        Shares of signal calls.
    equivalent_preference, invalid_equivalent : float or None
        Shares of equivalent calls, for certified equivalents only; None where there are none.

    Raises
    ------
    StatsInputError
        Where a rate is no number in [0, 1], the shares of the same calls add up to more than 1, or only one of the
        two rates of equivalents is given.
    """

    false_preference: float
    invalid_clone: float
    wrong: float
    tie: float
    invalid_signal: float
    equivalent_preference: float | None = None
    invalid_equivalent: float | None = None

    def __post_init__(self) -> None:
        for name, value in _given(self):
            if not 0 <= value <= 1:
                raise StatsInputError(f"the rate `{name}` is {value:g}: give a share between 0 and 1.")
        if (self.equivalent_preference is None) != (self.invalid_equivalent is None):
            raise StatsInputError(
                "`equivalent_preference` and `invalid_equivalent` are given together or not at all."
            )
        for names in _SAME_CALLS:
            total = sum(getattr(self, name) or 0.0 for name in names)
            if total > 1 + 1e-9:
                listed = " and ".join(f"`{name}`" for name in names)
                raise StatsInputError(
                    f"{listed} are shares of the same calls and add up to {total:g}: at most 1."
                )


_SAME_CALLS = (
    ("false_preference", "invalid_clone"),
    ("wrong", "tie", "invalid_signal"),
    ("equivalent_preference", "invalid_equivalent"),
)
"""Rates that share their calls."""


@dataclass(frozen=True, slots=True)
class Losses:
    """What occurs how often, and what a mistake costs.

    Attributes
    ----------
    pi_c, pi_e : float
        Prevalence of identical and of equivalent candidates, in [0, 1], their sum at most 1.
    lambda_c, lambda_e : float
        Loss of a preference between identical, and between equivalent candidates; 0 or more.
    lambda_w, lambda_t, lambda_i : float
        Loss of a wrong choice, of a tie where one is better, and of an invalid answer; 0 or more.

    Raises
    ------
    StatsInputError
        Where one of them is no finite number of 0 or more, or the prevalences add up to more than 1.
    """

    pi_c: float
    lambda_c: float
    lambda_w: float
    lambda_t: float
    lambda_i: float
    pi_e: float = 0.0
    lambda_e: float = 0.0

    def __post_init__(self) -> None:
        for name, value in _given(self):
            if not 0 <= value < float("inf"):
                raise StatsInputError(f"`{name}` is {value:g}: give a finite number of 0 or more.")
        if self.pi_c + self.pi_e > 1:
            raise StatsInputError(
                f"`pi_c` and `pi_e` are prevalences and sum to {self.pi_c + self.pi_e:g}: at most 1."
            )


PAPER_GRID: tuple[Losses, ...] = tuple(
    Losses(pi_c=pi_c, lambda_c=lambda_c, lambda_w=1.0, lambda_t=lambda_t, lambda_i=lambda_i)
    for pi_c, lambda_c, lambda_t, lambda_i in product(
        (0.0, 0.01, 0.05), (0.5, 1.0, 2.0, 5.0), (0.1, 0.25, 0.5, 1.0), (1.0, 5.0)
    )
)
"""The 96 scenarios of arXiv:2606.15610, section 9, in which a wrong choice costs 1."""

FIRST_LOSSES = Losses(pi_c=0.05, lambda_c=1.0, lambda_w=1.0, lambda_t=0.5, lambda_i=1.0)
"""What is shown where nobody declared losses. A place to start from, and no advice."""


def first_losses(rates: Iterable[Rates]) -> Losses:
    """Return what is shown of some cells where nobody declared losses.

    Certified equivalents are as frequent and as dear as identical texts where every cell's rates of them are known.
    """
    known = list(rates)
    certified = bool(known) and all(each.equivalent_preference is not None for each in known)
    return replace(FIRST_LOSSES, pi_e=0.05, lambda_e=1.0) if certified else FIRST_LOSSES


def risk(rates: Rates, losses: Losses) -> float:
    """Return the expected loss per call.

    Parameters
    ----------
    rates : Rates
        What was observed of a cell.
    losses : Losses
        What the application declares.

    Raises
    ------
    StatsInputError
        Where equivalent candidates occur (`pi_e` above 0) and their rates are not known.

    Notes
    -----
    arXiv:2606.15610, section 9 and the equation with the term of certified equivalents. It is the loss of these
    observed rates; it is no bound, and holds for an application only as far as its calls are like the items.

    Examples
    --------
    >>> rates = Rates(false_preference=0, invalid_clone=0, wrong=0.1, tie=0.2, invalid_signal=0)
    >>> round(risk(rates, Losses(pi_c=0, lambda_c=1, lambda_w=1, lambda_t=0.5, lambda_i=1)), 3)
    0.2
    """
    signal = (
        losses.lambda_w * rates.wrong + losses.lambda_t * rates.tie + losses.lambda_i * rates.invalid_signal
    )
    clone = losses.lambda_c * rates.false_preference + losses.lambda_i * rates.invalid_clone
    total = losses.pi_c * clone + (1 - losses.pi_c - losses.pi_e) * signal
    if losses.pi_e == 0:
        return total
    if rates.equivalent_preference is None or rates.invalid_equivalent is None:
        raise StatsInputError("`pi_e` is above 0, but no certified equivalents were judged: set it to 0.")
    equivalent = losses.lambda_e * rates.equivalent_preference + losses.lambda_i * rates.invalid_equivalent
    return total + losses.pi_e * equivalent


def break_even(first: Rates, second: Rates, losses: Losses, name: str) -> float | None:
    """Return the value of one loss or prevalence at which two cells cost the same, all others as declared.

    Parameters
    ----------
    first, second : Rates
        Two cells.
    losses : Losses
        The declared losses; the value of `name` in it plays no part.
    name : str
        A field of `Losses`.

    Returns
    -------
    float or None
        None where the difference of the two does not depend on it, or where they are equal only at a value
        that it cannot have: below 0, or a prevalence that leaves no room for the others.

    Raises
    ------
    StatsInputError
        Where there is no such field.

    Examples
    --------
    Ten points fewer wrong choices against thirty more ties: worth it while a tie costs less than a third.

    >>> strict = Rates(0, 0, wrong=0.1, tie=0.3, invalid_signal=0)
    >>> neutral = Rates(0, 0, wrong=0.2, tie=0, invalid_signal=0)
    >>> losses = Losses(pi_c=0, lambda_c=1, lambda_w=1, lambda_t=0.5, lambda_i=1)
    >>> round(break_even(strict, neutral, losses, "lambda_t"), 4)
    0.3333
    """
    return crossing(first, second, losses, name).value


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where, along one loss or prevalence, which of two cells costs less.

    Attributes
    ----------
    value : float or None
        Where both cost the same; None where they do so at every value or at none that it can have.
    below, above : int
        Which costs less at smaller and at larger values that it can have: 1 the first, 2 the second, 0 neither or
        no such value. The same where `value` is None.
    """

    value: float | None
    below: int
    above: int


def crossing(first: Rates, second: Rates, losses: Losses, name: str) -> Crossing:
    """Say where two cells cost the same, and which of them costs less on either side of it.

    Parameters and errors are those of `break_even`.

    Examples
    --------
    >>> strict = Rates(0, 0, wrong=0.1, tie=0.3, invalid_signal=0)
    >>> neutral = Rates(0, 0, wrong=0.2, tie=0, invalid_signal=0)
    >>> crossing(strict, neutral, FIRST_LOSSES, "lambda_t").below
    1
    """
    if name not in {field.name for field in fields(Losses)}:
        raise StatsInputError(
            f"`{name}` is no loss: choose one of {', '.join(f.name for f in fields(Losses))}."
        )
    if name == "pi_e" and None in (first.equivalent_preference, second.equivalent_preference):
        raise StatsInputError(
            "the break-even of `pi_e` needs the rates of certified equivalents of both cells: choose another loss."
        )
    other = {"pi_c": losses.pi_e, "pi_e": losses.pi_c}.get(name)
    step = 1.0 if other is None else 1.0 - other
    at_zero, at_step = (_difference(first, second, replace(losses, **{name: value})) for value in (0.0, step))
    slope = _unless_rounding(at_step - at_zero, abs(at_step) + abs(at_zero)) if step else 0.0
    leads = _leader(at_zero)
    if slope == 0 or at_zero * slope > 0:
        return Crossing(None, leads, leads)
    if at_step == 0 and other is not None:
        return Crossing(step, leads, 0)
    value = -step * at_zero / slope + 0.0  # never -0.0
    if other is not None and value > step:
        return Crossing(None, leads, leads)
    return Crossing(value, leads, _leader(slope))


def _leader(difference: float) -> int:
    """Return which of two cells costs less, given how much more the first costs."""
    return 0 if difference == 0 else 1 if difference < 0 else 2


def _difference(first: Rates, second: Rates, losses: Losses) -> float:
    one, other = risk(first, losses), risk(second, losses)
    return _unless_rounding(one - other, one + other)


def _unless_rounding(difference: float, size: float) -> float:
    return 0.0 if abs(difference) <= _SAME * size else difference
