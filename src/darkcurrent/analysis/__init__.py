"""From ledgers to cells: the three questions, each answered on its own."""

from __future__ import annotations

from darkcurrent.analysis.compared import SHOWN, ComparedCell, compare_cells
from darkcurrent.analysis.losses import load_losses
from darkcurrent.analysis.risks import known_rates, leaders, priced
from darkcurrent.analysis.selection import select_cell
from darkcurrent.analysis.study import analyze
from darkcurrent.declared import Declared

__all__ = [
    "SHOWN",
    "ComparedCell",
    "Declared",
    "analyze",
    "compare_cells",
    "known_rates",
    "leaders",
    "load_losses",
    "priced",
    "select_cell",
]
