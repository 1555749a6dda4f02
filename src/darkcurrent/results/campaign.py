"""A campaign's result: one configuration's calls as a whole."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from darkcurrent.records import Record

__all__ = ["CampaignResult", "CampaignState", "ContractReading", "Timeline"]

CampaignState = Literal["COMPLETE", "HOLD", "NOT GRADED"]


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


class Timeline(Record):
    """A campaign along its schedule, in at most 60 bins of calls that follow each other; descriptive.

    Attributes
    ----------
    calls : list of int
        Scheduled calls of each bin; each other list has one value for each bin, too.
    a, b, tie, invalid, unended : list of int
        Those that said so, that gave no valid verdict, and that have no ending.
    refused : list of int
        Requests of these calls that were refused without an observation.
    latency_ms : list of float or None
        Median of the calls that report it.
    """

    calls: list[int]
    a: list[int]
    b: list[int]
    tie: list[int]
    invalid: list[int]
    unended: list[int]
    refused: list[int]
    latency_ms: list[float | None]


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
    identity : dict or None
        What the backend said of itself, or what was verified, when the capture began.
    deviations : list of str
        What happened to the capture besides its calls, in plain words.
    timeline : Timeline or None
        None where nothing was scheduled: nobody knows in which order recorded verdicts were given.
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
    identity: dict[str, Any] | None = None
    deviations: list[str] = Field(default_factory=list)
    timeline: Timeline | None = None
