"""What the gates say of each cell in one line: for people, for programs and for CI."""

from __future__ import annotations

from dataclasses import dataclass

from darkcurrent.gates import Gate, Joint
from darkcurrent.reports.words import cell_sentences
from darkcurrent.results import Analysis

__all__ = ["CellGate", "cell_gates"]

_STATES: dict[Joint, Gate] = {"both gates pass": "PASS", "HOLD": "HOLD", "NOT GRADED": "NOT GRADED"}


@dataclass(frozen=True, slots=True)
class CellGate:
    """Both gates of one cell together.

    Attributes
    ----------
    name : str
        Configuration and criterion.
    state : str
        `PASS` where both gates pass, `MISS` where one is missed, `HOLD`, or `NOT GRADED`.
    joint : str
        The same, saying which gate.
    reason : str
        One sentence or two.
    """

    name: str
    state: Gate
    joint: Joint
    reason: str

    def __str__(self) -> str:
        return f"{self.state} {self.name}: {self.joint}. {self.reason}"


def cell_gates(analysis: Analysis) -> tuple[CellGate, ...]:
    """Return what the gates say of each cell, in the order of the cells."""
    return tuple(
        CellGate(name, _STATES.get(cell.joint, "MISS"), cell.joint, reason)
        for cell, (name, reason) in zip(analysis.cells, cell_sentences(analysis), strict=True)
    )
