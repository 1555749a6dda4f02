"""Context: does a third candidate that cannot win change what is said of the other two?"""

from __future__ import annotations

from typing import Any

import polars as pl

from darkcurrent.analysis.frames import count, not_drawn, of, success
from darkcurrent.declared import Declared
from darkcurrent.gates import HELD
from darkcurrent.records import ArmName
from darkcurrent.results import ContextResult, CoverageResult
from darkcurrent.stats import bootstrap, bootstrap_difference

__all__ = ["coverage", "evaluate_context"]


def coverage(calls: pl.DataFrame) -> CoverageResult:
    """Count calls, those that ended, and those of them without a valid verdict."""
    ended = calls.filter(pl.col("ending") == "terminal")
    return CoverageResult(scheduled=calls.height, ended=ended.height, invalid=ended["value"].null_count())


def evaluate_context(calls: pl.DataFrame, held: bool, declared: Declared) -> dict[ArmName, ContextResult]:
    """Evaluate by arm the calls of one cell that were asked in two contexts; an empty mapping where none were."""
    calls = calls.filter(pl.col("context").is_not_null())
    arms: list[ArmName] = calls["arm"].unique(maintain_order=True).sort().to_list()
    return {arm: _arm(of(calls, arm=arm), held, declared) for arm in arms}


def _arm(calls: pl.DataFrame, held: bool, declared: Declared) -> ContextResult:
    shown: dict[str, Any] = {"items": calls["item"].n_unique(), "calls": coverage(calls)}
    if held:
        return ContextResult(**shown, reason=HELD)
    winner = pl.col("winner")
    in_order = (
        calls.group_by("item", "order")
        .agg(invalid=winner.is_null().any(), changed=winner.n_unique() > 1)
        .group_by("item")
        .agg(invalid=pl.col("invalid").any(), changed=pl.col("changed").any())
    )
    means = (
        calls.with_columns(success=success())
        .group_by("item", "stratum", maintain_order=True)
        .agg(
            pl.col("success").filter(pl.col("context") == context).mean().alias(context)
            for context in ("absent", "present")
        )
    )
    absent, present = (means[context].to_numpy() for context in ("absent", "present"))
    method: dict[str, Any] = {
        "weights": declared.method.weights,
        "draws": declared.method.draws,
        "seed": declared.method.seed,
    }
    strata = means["stratum"].to_list()
    exact = bootstrap_difference(present, absent, strata, method="exact", **method)
    undrawn = not_drawn(means.height, declared.method.draws)
    drawn = None if undrawn else bootstrap_difference(present, absent, strata, method="monte-carlo", **method)
    invalid = count(in_order["invalid"])
    changed = count(~in_order["invalid"] & in_order["changed"])
    return ContextResult(
        **shown,
        adverse=invalid + changed,
        changed=changed,
        absent=bootstrap(absent, strata, **method).mean,
        present=bootstrap(present, strata, **method).mean,
        difference=exact.mean,
        interval=exact.interval,
        drawn_interval=drawn.interval if drawn else None,
        degenerate=exact.degenerate,
        remark=" ".join(filter(None, (exact.reason, undrawn))) or None,
    )
