"""What another criterion changes for the same items of one configuration. Descriptive: no test, no gate."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from darkcurrent.analysis.frames import of, success
from darkcurrent.declared import Declared
from darkcurrent.gates import HELD
from darkcurrent.results import ContrastResult

__all__ = ["evaluate_contrasts"]

_KINDS = ["arm", "step", "context"]


def evaluate_contrasts(ledger: pl.DataFrame, held: set[str], declared: Declared) -> list[ContrastResult]:
    """Compare every further criterion with the first declared one, arm by arm, step by step, context by context.

    Both criteria show the same items at other times, so that a difference is not that of the criterion alone.
    """
    base, *others = declared.criteria
    calls = ledger.filter(pl.col("arm").is_in(["signal", "equivalent", "ladder"]))
    return [
        result
        for name in declared.configurations
        for criterion in others
        for result in _contrasts(of(calls, configuration=name), name, base, criterion, name in held)
    ]


def _contrasts(
    calls: pl.DataFrame, name: str, base: str, criterion: str, held: bool
) -> Iterator[ContrastResult]:
    scores = (
        calls.filter(pl.col("criterion").is_in([base, criterion]))
        .with_columns(success=success(), tie=(pl.col("value") == "tie").fill_null(value=False))
        .group_by(*_KINDS, "item", "criterion", maintain_order=True)
        .agg(pl.col("success").mean(), pl.col("tie").mean())
    )
    both = of(scores, criterion=criterion).join(
        of(scores, criterion=base),
        on=[*_KINDS, "item"],
        suffix="_base",
        nulls_equal=True,
        maintain_order="left",
    )
    # In one order, so that sums are rounded the same way each time.
    by_kind = both.group_by(_KINDS, maintain_order=True).agg(
        items=pl.len(),
        ties=(pl.col("tie") - pl.col("tie_base")).mean(),
        success=(pl.col("success") - pl.col("success_base")).mean(),
    )
    for row in by_kind.sort(_KINDS).iter_rows(named=True):
        if held:
            row |= {"ties": None, "success": None, "reason": HELD}
        yield ContrastResult(configuration=name, base=base, criterion=criterion, **row)
