"""What two audits say of the same calls."""

from __future__ import annotations

from pydantic import Field

from darkcurrent.records import Record

__all__ = [
    "ArmComparison",
    "CallChange",
    "CellComparison",
    "CellName",
    "Comparison",
    "StudyName",
    "Transitions",
]

Transitions = dict[str, dict[str, int]]
"""What was said before, to what is said after, to how often."""


class StudyName(Record):
    """A study among those that are compared: its place from 1, its name, its digest and its state."""

    number: int
    study: str
    study_digest: str
    state: str


class CellName(Record):
    """A cell of one of the studies; `state` as in `CellResult`."""

    number: int
    configuration: str
    criterion: str
    state: str


class CallChange(Record):
    """A call, or (where `order` is None) a pair, that says something else.

    Attributes
    ----------
    kind : str
        The arm, with its null stratum, step or context behind a slash.
    before, after : str
        For calls as in `ArmComparison`, for pairs a pattern.
    """

    item: str
    kind: str
    order: str | None
    before: str
    after: str


class ArmComparison(Record):
    """The shared calls of one kind.

    Attributes
    ----------
    calls, reproduced : int
        All, and those that say the same; two invalid answers say the same, whatever their reasons.
    transitions : dict
        By canonical winner. Of clones `first` and `second` are slots; of pairs with a target it is `target` or `other`;
        else `u` is the text that stands first in order AB of the first study, and `v` the other. And `tie`, `invalid`.
    pairs : int
        Pairs whose two orders are shared.
    patterns : dict
        Transitions of these pairs' patterns.
    """

    calls: int
    reproduced: int
    transitions: Transitions
    pairs: int = 0
    patterns: Transitions = Field(default_factory=dict)


class CellComparison(Record):
    """One cell against the same cell in another study, or against another one that was named.

    Attributes
    ----------
    shared, reproduced : int
        Calls that showed the same texts in the same slots, and those of them that say the same.
    valid, reproduced_valid : int
        The same of those with a valid verdict in both.
    arms : dict
        By kind of call.
    changes, pattern_changes : list of CallChange
        Every call and every pair that says something else.
    not_compared : dict
        Why calls were left out, to how many.
    notes : list of str
        What the comparison rests on.
    """

    base: CellName
    other: CellName
    shared: int
    reproduced: int
    valid: int
    reproduced_valid: int
    arms: dict[str, ArmComparison]
    changes: list[CallChange]
    pattern_changes: list[CallChange]
    not_compared: dict[str, int]
    notes: list[str]


class Comparison(Record):
    """Several studies, and their shared calls verdict by verdict against the first.

    Attributes
    ----------
    unmatched : list of str
        Cells without a counterpart, and what to do about it.
    """

    studies: list[StudyName]
    cells: list[CellComparison]
    unmatched: list[str]
