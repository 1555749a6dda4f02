"""What the arms beside clones and signal pairs say of a cell, in plain sentences."""

from __future__ import annotations

from darkcurrent.records import NullStratum
from darkcurrent.reports.numbers import interval, number, share
from darkcurrent.results import Analysis, CellResult

__all__ = ["arm_limits", "arm_words"]


def arm_words(cell: CellResult) -> list[str]:
    """Return a sentence for each such arm of a cell that is not HOLD."""
    return [*_edges(cell), *_equivalent(cell), *_ladder(cell), *_context(cell)]


def arm_limits(analysis: Analysis) -> list[str]:
    """Return what the numbers of these arms do not show, for those that the analysis has."""
    said: dict[str, list[object]] = {
        "Equivalent texts: what proves them equal holds for what it names alone, and no person was asked which is better.": [
            cell.equivalent for cell in analysis.cells
        ],
        "Ladder: a step counts declared elements or faulty inputs, not quality at large; its interval describes resampling "
        "these items.": [cell.ladder for cell in analysis.cells],
        "Context: one kind of third text in one place; its prompts are no other study's, and an interval without width is no "
        "proof that the judge minds nothing.": [cell.context for cell in analysis.cells],
        "Criteria and contexts are compared along one schedule: a difference may be one of order or time.": [
            analysis.contrasts,
            *(cell.context for cell in analysis.cells),
        ],
    }
    return [text for text, found in said.items() if any(found)]


def _edges(cell: CellResult) -> list[str]:
    names: dict[NullStratum, str] = {"edge-empty": "empty", "edge-whitespace": "blank"}
    return [
        f"Did not tie on {share(clone.adverse, clone.n)} pairs of {name} texts."
        for stratum, name in names.items()
        for clone in [cell.clone[stratum]]
        if clone.adverse
    ]


def _equivalent(cell: CellResult) -> list[str]:
    pairs = cell.equivalent
    if pairs is None:
        return []
    kind = "different but equally good texts" if pairs.certified else "texts that are said to be equally good"
    return [f"Did not tie in both orders on {share(pairs.adverse, pairs.pairs)} pairs of {kind}."]


def _ladder(cell: CellResult) -> list[str]:
    ladder = cell.ladder
    if ladder is None:
        return []
    seen = ", ".join(f"{number(step.sensitivity)} at {name}" for name, step in ladder.steps.items())
    least = f"the hardest at .75 or more is {ladder.smallest_75}" if ladder.smallest_75 else ladder.reason
    said = [f"Of contrasts of known size it saw {seen}; {least}."]
    gap_0 = ladder.gap_0
    if gap_0 is not None and gap_0.false_preference is not None:
        said.append(
            f"Without any difference in the checklist it preferred one wording in {number(gap_0.false_preference)} of calls "
            f"(same text {number(gap_0.scs)}, same slot {number(gap_0.pfp)}, one order only {number(gap_0.osc)} of pairs)."
        )
    return said


def _context(cell: CellResult) -> list[str]:
    return [
        f"With a third text that cannot win beside them, {one.adverse} of {one.items} {arm} items changed or became "
        f"invalid (success {number(one.absent)} to {number(one.present)}, difference {interval(one.interval)})."
        for arm, one in cell.context.items()
        if one.adverse is not None
    ]
