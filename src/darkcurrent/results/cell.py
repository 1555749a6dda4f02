"""A cell's result: one configuration under one criterion."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from darkcurrent.gates import Gate, Joint
from darkcurrent.records import ArmName, NullStratum, Record
from darkcurrent.results.arms import (
    ContextResult,
    CoverageResult,
    LadderResult,
    NestedResult,
    NullPairsResult,
)

__all__ = [
    "CellResult",
    "CloneResult",
    "OrderResult",
    "RetestResult",
    "SignalResult",
    "StratumResult",
    "VerdictCounts",
]


class CloneResult(Record):
    """One null stratum of one cell.

    Attributes
    ----------
    n, adverse : int
        Items with an ending; those of them with a call that is no tie (a preference or an invalid answer). A
        scheduled clone is one call; a natural one was usually shown twice, which are not two trials.
    a, b, invalid : int
        What the adverse calls said.
    upper, p, p_holm : float or None
        One-sided 95 % Clopper-Pearson bound, exact lower tail at the declared threshold, Holm-adjusted tail.
        Conditional on independent items with one common rate; they show nothing about other items.
    """

    n: int
    adverse: int
    a: int
    b: int
    invalid: int
    upper: float | None = None
    p: float | None = None
    p_holm: float | None = None
    gate: Gate
    reason: str | None = None


class OrderResult(Record):
    """Calls and successes in one order of presentation, or with the target in one place."""

    n: int
    success: int


class VerdictCounts(Record):
    """Signal calls by what they said of the target."""

    correct: int
    tie: int
    wrong: int
    invalid: int


class StratumResult(Record):
    """One stratum's items and their mean success; descriptive."""

    items: int
    mean: float


class SignalResult(Record):
    """Target utility of one cell, from the signal pairs that are shown alone.

    Attributes
    ----------
    items : int
        Items of the signal arm.
    mean, lower : float or None
        Stratified mean of the items' mean successes, and its one-sided 95 % lower bound, which the gate looks at.
        The bound describes resampling of these items within their strata, not other items.
    interval : tuple of float, optional
        Two-sided 95 % percentile interval; descriptive.
    bounds : dict
        The lower bound by each method: `exact` and `monte-carlo` resample the items' scores; `conservative` makes
        no such assumption and holds for any independent scores between 0 and 1.
    method, degenerate, caveat, remark : str or None
        How `lower` was computed, what makes its interval have no width, what makes it too narrow, and a sentence
        on these.
    orders : dict
        By order of presentation, `AB` and `BA`.
    places : dict
        By where the target stood, `first` and `second`; the same as `orders` where `u` is the target.
    macro : float or None
        The mean of the strata's means, whatever their sizes; descriptive.
    nested : dict
        By the name of a part of the items that was chosen before the first call.
    """

    items: int
    mean: float | None = None
    lower: float | None = None
    interval: tuple[float, float] | None = None
    bounds: dict[str, float | None] = Field(default_factory=dict)
    method: str | None = None
    degenerate: str | None = None
    caveat: str | None = None
    remark: str | None = None
    gate: Gate
    reason: str | None = None
    orders: dict[str, OrderResult]
    places: dict[str, OrderResult]
    verdicts: VerdictCounts
    strata: dict[str, StratumResult]
    macro: float | None = None
    nested: dict[str, NestedResult] = Field(default_factory=dict)


class RetestResult(Record):
    """Whether a judge says the same when it is asked the same again; descriptive.

    Attributes
    ----------
    units : int
        Pairs of item and order with at least two repetitions; clones are not among them.
    repetitions : int
        The most that a unit has.
    same : int
        Units with one and the same valid verdict in all repetitions.
    tie_flip : int
        Units with ties and with preferences for one slot.
    reversed : int
        Units with preferences for either slot.
    invalid : int
        Units with an invalid answer; they are in no other class.
    orders : dict
        Units (`n`) and those with the same verdict (`success`) by order.
    """

    units: int
    repetitions: int
    same: int
    tie_flip: int
    reversed: int
    invalid: int
    orders: dict[str, OrderResult]


class CellResult(Record):
    """One configuration under one criterion.

    Attributes
    ----------
    clone : dict
        By null stratum; `natural` only where there is one.
    retest : RetestResult or None
        None where nothing was asked twice.
    calls : dict
        By arm (with its null stratum, step or context behind a slash) and order.
    equivalent, ladder : NullPairsResult, LadderResult or None
        None where the battery does not show that arm.
    context : dict
        By arm; empty where no third candidate is at issue.
    """

    configuration: str
    criterion: str
    state: Literal["EVALUATED", "HOLD", "NOT GRADED"]
    clone: dict[NullStratum, CloneResult]
    signal: SignalResult
    patterns: dict[str, dict[str, int]]
    retest: RetestResult | None = None
    calls: dict[str, dict[str, CoverageResult]] = Field(default_factory=dict)
    equivalent: NullPairsResult | None = None
    ladder: LadderResult | None = None
    context: dict[ArmName, ContextResult] = Field(default_factory=dict)
    joint: Joint
