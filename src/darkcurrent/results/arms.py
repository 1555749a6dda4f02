"""What the arms beside clones and targets gave: pairs without a target, steps of a ladder, contexts, criteria."""

from __future__ import annotations

from pydantic import Field

from darkcurrent.records import ArmName, Context, Record, Step

__all__ = [
    "ContextResult",
    "ContrastResult",
    "CoverageResult",
    "LadderResult",
    "NestedResult",
    "NullPairsResult",
    "StepResult",
]


class CoverageResult(Record):
    """Calls of one arm in one order: all, those that ended, and those of them without a valid verdict."""

    scheduled: int
    ended: int
    invalid: int


class NullPairsResult(Record):
    """Pairs of two different texts of which neither is better: equivalents, or one level of a ladder in two wordings.

    Attributes
    ----------
    items, pairs, calls : int
        Items, their pairs, and the calls that ended.
    adverse : int
        Pairs with a preference or an invalid answer in either order.
    invalid : int
        Calls without a valid verdict.
    rate : float or None
        `adverse` / `pairs`: the equivalence false preference (EFP) of equivalents.
    valid_pairs : int
        Pairs with two valid verdicts, which the next four are shares of.
    false_preference : float or None
        Share of the calls of valid pairs with a preference. It is `scs + pfp + osc / 2` exactly.
    scs, pfp, osc : float or None
        Shares of valid pairs: the same text in both orders, the same slot in both, a preference in one order only.
    certified : str or None
        What proves that neither text is better; None where nothing does.
    reason : str or None
        Why a number is null.
    """

    items: int
    pairs: int
    calls: int
    adverse: int
    invalid: int
    rate: float | None = None
    valid_pairs: int
    false_preference: float | None = None
    scs: float | None = None
    pfp: float | None = None
    osc: float | None = None
    certified: str | None = None
    reason: str | None = None


class StepResult(Record):
    """One step of a ladder: contrasts of one size.

    Attributes
    ----------
    items, pairs, calls : int
        Items, their pairs, and the calls that ended.
    success, tie, wrong, invalid : int
        Calls that chose the target, and the others. A tie is a miss.
    sensitivity : float or None
        `success` / `calls`.
    interval : tuple of float, optional
        Two-sided 95 % percentile interval of resampling the items within their strata; descriptive.
    """

    items: int
    pairs: int
    calls: int
    success: int
    tie: int
    wrong: int
    invalid: int
    sensitivity: float | None = None
    interval: tuple[float, float] | None = None
    reason: str | None = None


class LadderResult(Record):
    """The ladder of one cell.

    Attributes
    ----------
    gap_0 : NullPairsResult or None
        Pairs of one level in two wordings; None where the ladder has none.
    steps : dict
        The other steps, hardest first.
    smallest_75 : str or None
        The hardest tested step whose sensitivity is at least .75; None where none is, or with a `reason`.
    """

    gap_0: NullPairsResult | None
    steps: dict[Step, StepResult]
    smallest_75: Step | None
    reason: str | None = None


class ContextResult(Record):
    """One arm of one cell, without and with a third candidate that cannot win. There is no gate.

    Attributes
    ----------
    items : int
        Items whose four calls (two contexts, two orders) are scheduled.
    calls : CoverageResult
        Their calls.
    adverse : int or None
        Items of which the winner changes between the contexts in either order, or any of the four answers is invalid.
    changed : int or None
        Those of them with four valid answers.
    absent, present, difference : float or None
        Mean success of the items without and with the third candidate, and present - absent. Success is a tie for
        equivalents and the target for signal pairs.
    interval : tuple of float, optional
        Two-sided 95 % percentile interval of the difference, from resampling items within their strata; descriptive.
    drawn_interval : tuple of float, optional
        The same from seeded draws.
    degenerate, remark : str or None
        What makes the interval have no width, or too little; and a sentence on it.
    """

    items: int
    calls: CoverageResult
    adverse: int | None = None
    changed: int | None = None
    absent: float | None = None
    present: float | None = None
    difference: float | None = None
    interval: tuple[float, float] | None = None
    drawn_interval: tuple[float, float] | None = None
    degenerate: str | None = None
    remark: str | None = None
    reason: str | None = None


class NestedResult(Record):
    """Utility on a part of the items that was chosen before the first call; descriptive, without a gate.

    Attributes
    ----------
    items : int
        Items of the part.
    mean, macro, lower : float or None
        As in `SignalResult`.
    """

    items: int
    mean: float | None = None
    macro: float | None = None
    lower: float | None = None
    reason: str | None = None


class ContrastResult(Record):
    """What another criterion changes for the same items of one configuration; descriptive.

    Attributes
    ----------
    base, criterion : str
        The first declared criterion, and the one that is compared with it.
    arm, step, context : str or None
        The calls.
    items : int
        Items with calls under both criteria.
    ties : float or None
        Mean over the items of the share of ties under `criterion` minus that under `base`: tau_C of the step.
    success : float or None
        The same of the share of successes (a tie where there is no target).
    """

    configuration: str
    base: str
    criterion: str
    arm: ArmName
    step: Step | None = None
    context: Context | None = None
    items: int = Field(ge=0)
    ties: float | None = None
    success: float | None = None
    reason: str | None = None
