"""The arms of one cell beside clones and signal pairs, each evaluated on its own."""

from __future__ import annotations

from typing import Any

import polars as pl

from darkcurrent.analysis.context import coverage, evaluate_context
from darkcurrent.analysis.frames import of
from darkcurrent.analysis.ladder import evaluate_ladder
from darkcurrent.analysis.null_pairs import evaluate_null_pairs
from darkcurrent.declared import Declared
from darkcurrent.descriptive import by_kind
from darkcurrent.results import CoverageResult

__all__ = ["evaluate_arms"]

_UNCERTIFIED = "nothing proves that these texts are equally good: this is no false preference yet"


def evaluate_arms(
    calls: pl.DataFrame, patterns: pl.DataFrame, held: bool, declared: Declared
) -> dict[str, Any]:
    """Return the fields of a cell's result that these arms fill, from its rows of the ledger and of the patterns."""
    alone = pl.col("context").is_null()
    return {
        "calls": _coverage(calls),
        "equivalent": evaluate_null_pairs(
            of(calls, arm="equivalent").filter(alone),
            of(patterns, arm="equivalent").filter(alone),
            held,
            declared.certified,
            _UNCERTIFIED,
        ),
        "ladder": evaluate_ladder(of(calls, arm="ladder"), of(patterns, arm="ladder"), held, declared),
        "context": evaluate_context(calls, held, declared),
    }


def _coverage(calls: pl.DataFrame) -> dict[str, dict[str, CoverageResult]]:
    return {
        name: {order: coverage(of(own, order=order)) for order in own["order"].unique().sort()}
        for name, own in by_kind(calls).items()
    }
