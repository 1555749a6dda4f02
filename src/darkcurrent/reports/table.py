"""A table as data, which every form of a report renders."""

from __future__ import annotations

from dataclasses import dataclass

from darkcurrent.results import CellResult

__all__ = ["Table", "names"]


@dataclass(frozen=True)
class Table:
    """A table with a title, a one-line reading, and cells that are ready to be shown.

    Attributes
    ----------
    columns : tuple of str
        Headings. The first `left` ones name the row.
    """

    key: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 2

    def holds_words(self, index: int) -> bool:
        """Say whether a column is read as words, and stands left, or as numbers, and stands right."""
        return index < self.left or self.columns[index] in _WORDS


_WORDS = (
    "result",
    "joint result",
    "gate",
    "utility gate",
    "identity",
    "state",
    "what proves it",
    "method",
    "reason",
    "before",
    "after",
    "remark",
)


def names(cell: CellResult) -> tuple[str, str]:
    """Return what a cell's row begins with."""
    return cell.configuration, cell.criterion
