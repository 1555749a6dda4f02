"""What using a judge costs, given how often each kind of call occurs and what each kind of mistake costs.

The risk is linear in every loss and in every prevalence, so that the value of one of them at which two cells
cost the same is found in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

from darkcurrent.errors import StatsInputError

__all__ = ["PAPER_GRID", "Losses", "Rates", "break_even", "risk"]


def _given(values: Any) -> list[tuple[str, float]]:
    pairs = [(field.name, getattr(values, field.name)) for field in fields(values)]
    return [(name, value) for name, value in pairs if value is not None]


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
    if name not in {field.name for field in fields(Losses)}:
        raise StatsInputError(
            f"`{name}` is no loss: choose one of {', '.join(f.name for f in fields(Losses))}."
        )
    other = {"pi_c": losses.pi_e, "pi_e": losses.pi_c}.get(name)
    at_zero, at_one = (
        _difference(first, second, replace(losses, **{name: value}))
        for value in (0.0, 1.0 if other is None else 1.0 - other)
    )
    step = 1.0 if other is None else 1.0 - other
    if at_one == at_zero or step == 0:
        return None
    value = step * at_zero / (at_zero - at_one)
    return value if value >= 0 and (other is None or value <= step) else None


def _difference(first: Rates, second: Rates, losses: Losses) -> float:
    return risk(first, losses) - risk(second, losses)
