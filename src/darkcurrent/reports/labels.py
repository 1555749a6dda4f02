"""Names as they stand at an axis or in a list: printable, short, and no two alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from darkcurrent.printable import printable, shortened
from darkcurrent.results import CellResult

__all__ = ["MOST_CHARTS", "cell_labels", "labels", "shown"]

MOST_CHARTS = 40
"""Charts of one kind in a page. A recorded study may have hundreds of cells; the tables have all."""


def shown(text: str, longest: int = 300) -> str:
    """Return a text from outside as it may stand in a line of the page."""
    return shortened(printable(shortened(text, 2 * longest)), longest)


def labels(names: Sequence[str], longest: int = 23) -> list[str]:
    """Return the label of each name; names that are alike once they are short are numbered."""
    short = [shown(name, longest) for name in names]
    counted, seen = Counter(short), Counter[str]()
    unique = []
    for label in short:
        seen[label] += 1
        unique.append(f"{label} ({seen[label]})" if counted[label] > 1 else label)
    return unique


def cell_labels(cells: Sequence[CellResult], longest: int = 23) -> list[str]:
    """Return the label of each cell; where all have one criterion, it is left out."""
    single = len({cell.criterion for cell in cells}) < 2
    return labels(
        [cell.configuration if single else f"{cell.configuration} / {cell.criterion}" for cell in cells],
        longest,
    )
