"""What a randomization test gives back, in numbers and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from darkcurrent.stats._rerandomization import Group, count_assignments

__all__ = ["NULL", "RandomizationResult", "limits", "name_degenerate", "untested"]

NULL = (
    "No call's outcome depends on the treatments of the schedule: each would have been the same, at its place, "
    "under every assignment that could have been drawn."
)
_LIMITS = (
    "A small p speaks against the null of the whole schedule, not for one cause: {causes} can bring it about, and "
    "so can serving that drifts for one treatment and not for another. It concerns these items and this "
    "configuration, no population of either. A large p does not show that there is no effect."
)
_CAUSES = {
    "criterion": "an effect of the criterion, in both orders or in one only, or carry-over between calls",
    "order": "an effect of the order, under both criteria or under one only, or carry-over between calls",
    "criterion x order": "an effect of the order that differs by criterion, or carry-over between calls",
}


@dataclass(frozen=True, slots=True)
class RandomizationResult:
    """A contrast and how often the schedule's own randomness gives one as large.

    Attributes
    ----------
    contrast : str
        ``"criterion"``, ``"order"`` or ``"criterion x order"``.
    n : int
        Items.
    statistic : float or None
        Mean over items of the contrast; None without items or without a stored assignment.
    p : float or None
        Two-sided, not adjusted, above 0; None where ``statistic`` is.
    method : str or None
        ``"exact-enumeration"``, ``"exact-convolution"`` or ``"monte-carlo"``: what was done, which may differ
        from what was asked.
    draws, seed : int or None
        Of the Monte-Carlo method; None for the exact ones.
    gate : str or None
        ``"NOT GRADED"`` where there is no test, otherwise None: a test has no threshold of its own.
    degenerate : str or None
        ``"empty"``; ``"single-assignment"`` nothing else could have been drawn; ``"constant"`` every
        assignment gives this contrast. In the latter two p is 1.
    reason : str or None
        A sentence on ``gate``, on ``degenerate``, or on a method other than the one asked for.
    null, does_not_identify : str
        What is tested, and what a small or large p does not show.
    """

    contrast: str
    n: int
    statistic: float | None
    p: float | None
    method: str | None
    draws: int | None
    seed: int | None
    gate: str | None
    degenerate: str | None
    reason: str | None
    null: str
    does_not_identify: str


def limits(contrast: str) -> str:
    """Return what a test of this contrast does not show."""
    return _LIMITS.format(causes=_CAUSES[contrast])


def untested(contrast: str, items: int, degenerate: str | None, reason: str) -> RandomizationResult:
    """Return a result without a test, and why there is none."""
    return RandomizationResult(
        contrast=contrast,
        n=items,
        statistic=None,
        p=None,
        method=None,
        draws=None,
        seed=None,
        gate="NOT GRADED",
        degenerate=degenerate,
        reason=reason,
        null=NULL,
        does_not_identify=limits(contrast),
    )


def name_degenerate(groups: Sequence[Group]) -> tuple[str | None, str | None]:
    """Return a word and a sentence for a test that cannot reject, or None twice."""
    if count_assignments(groups) == 1:
        return (
            "single-assignment",
            "No other assignment could have been drawn, so p is 1 whatever the outcomes.",
        )
    if all(group.is_constant() for group in groups):
        return "constant", "Every assignment gives this contrast, so p is 1."
    return None, None
