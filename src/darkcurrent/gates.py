"""The only home of what thresholds and states mean.

PASS        the evidence reaches the declared threshold.
MISS        it does not. That is no proof of the opposite.
HOLD        the campaign cannot be evaluated; no bound, interval or gate is given for it.
NOT GRADED  there is no declared threshold or nothing to grade; a threshold is never borrowed.
"""

from __future__ import annotations

from typing import Literal

__all__ = [
    "HELD",
    "HOLM_LEVEL",
    "Gate",
    "Joint",
    "clone_gate",
    "joint_label",
    "operational_reasons",
    "utility_gate",
]

Gate = Literal["PASS", "MISS", "HOLD", "NOT GRADED"]
Joint = Literal[
    "both gates pass", "clone gate only", "utility gate only", "neither gate", "HOLD", "NOT GRADED"
]

HELD = "the campaign is HOLD"
"""The reason that a number of a held campaign is not given."""

HOLM_LEVEL = 0.05
"""What the Holm-adjusted p of a clone gate may be at most."""


def operational_reasons(
    scheduled: int,
    invalid: int,
    missing: int,
    ambiguous: int,
    mismatched: int,
    irreconcilable: int,
    ceiling: float,
    invalid_by_reason: dict[str, int],
    changed: str | None = None,
) -> list[str]:
    """Return why a campaign is HOLD; an empty list where it may be evaluated.

    Parameters
    ----------
    scheduled, invalid, missing, ambiguous, mismatched : int
        Calls: all; without a valid verdict though they have an ending; never sent; sent with an unknown end;
        answered by a model that is not declared.
    irreconcilable : int
        Pairs whose two orders do not belong together.
    ceiling : float
        The share of scheduled calls that may be invalid.
    invalid_by_reason : dict
        Counts that explain `invalid`.
    changed : str or None
        What of the service changed while the campaign ran, where something did.
    """
    reasons = []
    if scheduled == 0:
        reasons.append("no call is scheduled")
    if invalid > ceiling * scheduled:
        counted = ", ".join(f"{reason} {count}" for reason, count in invalid_by_reason.items())
        reasons.append(
            f"{invalid} of {scheduled} scheduled calls gave no valid verdict ({counted}); the ceiling is {ceiling:.3g}"
        )
    if missing:
        reasons.append(f"{missing} of {scheduled} scheduled calls {_were(missing)} never sent")
    if ambiguous:
        its = "its" if ambiguous == 1 else "their"
        reasons.append(f"{_some(ambiguous, 'call')} {_were(ambiguous)} sent and {its} end is unknown")
    if mismatched:
        reasons.append(
            f"{_some(mismatched, 'call')} {_were(mismatched)} answered by a model that is not declared"
        )
    if changed:
        reasons.append(changed)
    if irreconcilable:
        have = "has" if irreconcilable == 1 else "have"
        reasons.append(f"{_some(irreconcilable, 'pair')} {have} orders that do not belong together")
    return reasons


def _some(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def clone_gate(p_holm: float | None, upper: float | None, threshold: float | None) -> Gate:
    """Grade the null: both the adjusted p and the marginal upper bound must reach their level."""
    if threshold is None or p_holm is None or upper is None:
        return "NOT GRADED"
    return "PASS" if p_holm <= HOLM_LEVEL and upper <= threshold else "MISS"


def utility_gate(lower: float | None, threshold: float | None) -> Gate:
    """Grade utility: the lower bound must reach the threshold."""
    if threshold is None or lower is None:
        return "NOT GRADED"
    return "PASS" if lower >= threshold else "MISS"


def joint_label(clone: Gate, utility: Gate) -> Joint:
    """Say of two gates together what a reader asks first."""
    if "HOLD" in (clone, utility):
        return "HOLD"
    if "NOT GRADED" in (clone, utility):
        return "NOT GRADED"
    if clone == utility:
        return "both gates pass" if clone == "PASS" else "neither gate"
    return "clone gate only" if clone == "PASS" else "utility gate only"
