"""Utility: does a cell choose the target where there is one?"""

from __future__ import annotations

from typing import Any

import polars as pl

from darkcurrent.analysis.frames import count, not_drawn, of
from darkcurrent.analysis.nested import evaluate_nested, macro_mean
from darkcurrent.declared import Declared
from darkcurrent.gates import HELD, utility_gate
from darkcurrent.results import OrderResult, SignalResult, StratumResult, VerdictCounts
from darkcurrent.stats import bootstrap, conservative_lower

__all__ = ["evaluate_signal"]


def evaluate_signal(calls: pl.DataFrame, held: bool, declared: Declared) -> SignalResult:
    """Evaluate the signal calls of one cell."""
    table, gates = declared.method, declared.gates
    calls = calls.with_columns(success=(pl.col("winner") == pl.col("target")).fill_null(value=False))
    ended = calls.filter(pl.col("ending") == "terminal")
    correct, tie = count(ended["success"]), count(ended["value"] == "tie")
    invalid = ended["value"].null_count()
    verdicts = VerdictCounts(
        correct=correct, tie=tie, wrong=ended.height - correct - tie - invalid, invalid=invalid
    )
    orders = {
        order: OrderResult(n=own.height, success=count(own["success"]))
        for order in ("AB", "BA")
        for own in [of(ended, order=order)]
    }
    places = {
        place: OrderResult(n=own.height, success=count(own["success"]))
        for place, slot in (("first", "slot_a"), ("second", "slot_b"))
        for own in [ended.filter(pl.col(slot) == pl.col("target"))]
    }
    shown: dict[str, Any] = {"orders": orders, "places": places, "verdicts": verdicts}
    items = calls["item"].n_unique()
    if held:
        return SignalResult(items=items, gate="HOLD", reason=HELD, strata={}, **shown)
    if items == 0:
        reason = "no item has a target" if declared.ungraded else "the battery has no signal arm"
        return SignalResult(items=0, gate="NOT GRADED", reason=reason, strata={}, **shown)
    # A recorded call without a reply is no success either: it stays in the denominator.
    scores = calls.group_by("item", "stratum", maintain_order=True).agg(score=pl.col("success").mean())
    by_stratum = (
        scores.group_by("stratum", maintain_order=True)
        .agg(items=pl.len(), mean=pl.col("score").mean())
        .sort("stratum")
    )
    arguments: dict[str, Any] = {"weights": table.weights, "draws": table.draws, "seed": table.seed}
    values, strata = scores["score"].to_numpy(), scores["stratum"].to_list()
    exact = bootstrap(values, strata, method="exact", **arguments)
    undrawn = not_drawn(items, table.draws)
    drawn = None if undrawn else bootstrap(values, strata, method="monte-carlo", **arguments)
    return SignalResult(
        items=items,
        mean=exact.mean,
        lower=exact.lower,
        interval=exact.interval,
        bounds={
            # Where the scores lie on no lattice, what was asked for as exact was drawn: it is not called exact.
            "exact": exact.lower if exact.method == "exact" else None,
            "monte-carlo": drawn.lower if drawn else None,
            "conservative": conservative_lower(values, strata, weights=table.weights).lower,
        },
        method=exact.method,
        degenerate=exact.degenerate,
        caveat=exact.caveat,
        remark=" ".join(filter(None, (exact.reason, undrawn))) or None,
        gate=utility_gate(exact.lower, gates.utility_threshold),
        reason=(declared.ungraded or "no `gates.utility_threshold` is declared")
        if gates.utility_threshold is None
        else None,
        **shown,
        strata={name: StratumResult(items=count, mean=mean) for name, count, mean in by_stratum.iter_rows()},
        macro=macro_mean(scores),
        nested=evaluate_nested(scores, declared),
    )
