"""Utility on parts of the items that were chosen before the first call."""

from __future__ import annotations

import polars as pl

from darkcurrent.declared import Declared
from darkcurrent.results import NestedResult
from darkcurrent.stats import bootstrap

__all__ = ["evaluate_nested", "macro_mean"]


def macro_mean(scores: pl.DataFrame) -> float | None:
    """Return the mean of the strata's means of `score`; None without items."""
    means = (
        scores.group_by("stratum", maintain_order=True).agg(pl.col("score").mean()).sort("stratum")["score"]
    )
    return None if means.is_empty() else float(means.to_numpy().mean())


def evaluate_nested(scores: pl.DataFrame, declared: Declared) -> dict[str, NestedResult]:
    """Evaluate each declared part of the items of one cell from their scores (`item`, `stratum`, `score`)."""
    return {name: _part(scores, sorted(items), declared) for name, items in declared.nested.items()}


def _part(scores: pl.DataFrame, items: list[str], declared: Declared) -> NestedResult:
    own = scores.filter(pl.col("item").is_in(items))
    if own.is_empty():
        return NestedResult(items=0, reason="none of these items has a target")
    method = declared.method
    found = bootstrap(
        own["score"].to_numpy(),
        own["stratum"].to_list(),
        draws=method.draws,
        seed=method.seed,
        weights=method.weights,
    )
    return NestedResult(items=own.height, mean=found.mean, macro=macro_mean(own), lower=found.lower)
