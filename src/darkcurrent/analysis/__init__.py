"""From ledgers to cells: the three questions, each answered on its own."""

from __future__ import annotations

from darkcurrent.analysis.study import analyze
from darkcurrent.declared import Declared

__all__ = ["Declared", "analyze"]
