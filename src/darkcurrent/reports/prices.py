"""What the risk explorer starts from: each cell's name and rates."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from darkcurrent.analysis import known_rates
from darkcurrent.reports.labels import labels
from darkcurrent.results import Analysis
from darkcurrent.risk import Losses, Rates, risk

__all__ = ["explorer_json", "priced_cells", "ranking"]

_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def priced_cells(analysis: Analysis) -> list[tuple[str, Rates]]:
    """Return the cells whose risk can be said, with names that differ."""
    found = [(f"{cell.configuration} / {cell.criterion}", known_rates(cell)) for cell in analysis.risk.cells]
    known = [(name, rates) for name, rates in found if rates is not None]
    return list(zip(labels([name for name, _ in known], 60), [rates for _, rates in known], strict=True))


def ranking(cells: list[tuple[str, Rates]], losses: Losses) -> list[tuple[int, str, float]]:
    """Return number, name and risk of each cell, least first."""
    found = [(index + 1, name, risk(rates, losses)) for index, (name, rates) in enumerate(cells)]
    return sorted(found, key=lambda each: (each[2], each[0]))


def explorer_json(cells: list[tuple[str, Rates]], losses: Losses) -> str:
    """Return what the page's script works with, as JSON that may stand in HTML: nothing in it ends a script or opens a tag."""
    content: dict[str, Any] = {
        "cells": [{"name": name, "rates": asdict(rates)} for name, rates in cells],
        "losses": asdict(losses),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False).translate(_ESCAPES)
