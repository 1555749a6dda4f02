"""The result of an analysis: what `analysis.json` holds, field by field.

Numbers are finite or null; where one is null, `reason` beside it says why.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from darkcurrent.gates import Gate, Joint
from darkcurrent.records import NullStratum, Record

__all__ = [
    "SCHEMA_NAME",
    "Analysis",
    "AnalysisState",
    "CampaignResult",
    "CampaignState",
    "CellResult",
    "CloneResult",
    "ContractReading",
    "FamilyResult",
    "OrderResult",
    "RetestResult",
    "SignalResult",
    "StratumResult",
    "VerdictCounts",
]

SCHEMA_NAME = "darkcurrent/analysis/1"

CampaignState = Literal["COMPLETE", "HOLD", "NOT GRADED"]
AnalysisState = Literal["COMPLETE", "PARTIAL", "HOLD", "NOT GRADED"]


class ContractReading(Record):
    """What another contract, with its default options, would have read in a campaign's kept replies.

    It describes replies to a prompt that asked for another form. No gate looks at it.

    Attributes
    ----------
    replies : int
        Kept replies, all read again.
    accepted : int
        Those in which this contract reads a verdict.
    gained, lost, flipped : int
        Calls whose verdict would be new, gone, or another one.
    changed : int
        Their sum.
    evaluable : bool or None
        Whether the campaign could be evaluated under this contract; None where nothing was scheduled.
    sentence : str or None
        The same in words, where the campaign is HOLD and would not be.
    """

    contract: str
    replies: int
    accepted: int
    changed: int
    gained: int
    lost: int
    flipped: int
    evaluable: bool | None
    sentence: str | None = None


class CampaignResult(Record):
    """One configuration's calls as a whole.

    Attributes
    ----------
    state : str
        `COMPLETE` where the campaign may be evaluated, else `HOLD`, and `reasons` says why. `NOT GRADED` where
        nothing was scheduled before the first call.
    capture : str
        How far the capture is, e.g. `INTERRUPTED` or `HELD_EARLY`; `IMPORTED` where others recorded it.
    stopped : str or None
        Why the capture ended before its last call.
    scheduled, terminal, invalid, ambiguous, missing : int
        Counts of calls; `invalid` counts those with an ending and no valid verdict.
    invalid_by_reason : dict
        The same, by reason.
    basis : str or None
        Whether who answered is a `verified digest` or a `service's declaration`.
    prompt_tokens, completion_tokens : int or None
        Sums over the calls that report them.
    usage_unknown : int
        Terminal calls that do not report their tokens.
    """

    configuration: str
    state: CampaignState
    capture: str
    stopped: str | None
    scheduled: int
    terminal: int
    invalid: int
    ambiguous: int
    missing: int
    invalid_by_reason: dict[str, int]
    reasons: list[str]
    basis: str | None
    served_models: list[str]
    prompt_tokens: int | None
    completion_tokens: int | None
    usage_unknown: int
    latency_ms_median: float | None
    sensitivity: list[ContractReading] = Field(default_factory=list)


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
    """Target utility of one cell.

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
    """

    configuration: str
    criterion: str
    state: Literal["EVALUATED", "HOLD", "NOT GRADED"]
    clone: dict[NullStratum, CloneResult]
    signal: SignalResult
    patterns: dict[str, dict[str, int]]
    retest: RetestResult | None = None
    joint: Joint


class FamilyResult(Record):
    """One family of randomization tests of one configuration.

    Attributes
    ----------
    family : str
        `criterion`, `order and criterion x order`, or `clone-criterion`.
    reason : str
        Why it is not graded.
    """

    configuration: str
    family: str
    gate: Gate
    reason: str


class Analysis(Record):
    """A whole study.

    Attributes
    ----------
    state : str
        `COMPLETE` where every campaign may be evaluated, `HOLD` where none may, else `PARTIAL`; `NOT GRADED`
        where nothing was scheduled before the first call.
    battery : dict
        What was shown: source, items, strata, flagged items.
    gates, method : dict
        The declared thresholds, and how utility is resampled.
    software : dict
        Versions that the numbers were computed with.
    """

    schema_name: str = Field(default=SCHEMA_NAME, alias="schema")
    study: str
    title: str
    study_digest: str
    state: AnalysisState
    battery: dict[str, Any]
    gates: dict[str, Any]
    method: dict[str, Any]
    campaigns: list[CampaignResult]
    cells: list[CellResult]
    tests: list[FamilyResult]
    risk: dict[str, Any]
    software: dict[str, str]
