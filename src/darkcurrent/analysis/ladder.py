"""The ladder: how large must a contrast be for a cell to see it?"""

from __future__ import annotations

from typing import Any

import polars as pl

from darkcurrent.analysis.frames import count, of, success
from darkcurrent.analysis.null_pairs import evaluate_null_pairs
from darkcurrent.declared import Declared
from darkcurrent.gates import HELD
from darkcurrent.records import STEPS, Step
from darkcurrent.results import LadderResult, StepResult
from darkcurrent.stats import bootstrap

__all__ = ["evaluate_ladder"]

_LEVEL = 0.75
"""The sensitivity that the smallest contrast is looked for at (arXiv:2606.15610, table 2). It is no gate."""

_ONE_CHECKLIST = "both texts state the same required elements, in other words"


def evaluate_ladder(
    calls: pl.DataFrame, patterns: pl.DataFrame, held: bool, declared: Declared
) -> LadderResult | None:
    """Evaluate the ladder of one cell from its rows of the ledger and of the patterns; None where it has none."""
    if calls.is_empty():
        return None
    steps: dict[Step, StepResult] = {}
    for step in STEPS:
        own = of(calls, step=step)
        if step != "gap-0" and not own.is_empty():
            steps[step] = _step(own, of(patterns, step=step).height, held, declared)
    gap_0 = evaluate_null_pairs(of(calls, step="gap-0"), of(patterns, step="gap-0"), held, _ONE_CHECKLIST, "")
    # `STEPS` has the hardest first.
    reached = [step for step, result in steps.items() if (result.sensitivity or 0) >= _LEVEL]
    return LadderResult(
        gap_0=gap_0,
        steps=steps,
        smallest_75=reached[0] if reached else None,
        reason=HELD if held else None if reached else "no tested step reaches .75",
    )


def _step(calls: pl.DataFrame, pairs: int, held: bool, declared: Declared) -> StepResult:
    calls = calls.with_columns(success=success())
    ended = calls.filter(pl.col("ending") == "terminal")
    right, tie, invalid = (
        count(ended["success"]),
        count(ended["value"] == "tie"),
        ended["value"].null_count(),
    )
    shown: dict[str, Any] = {
        "items": calls["item"].n_unique(),
        "pairs": pairs,
        "calls": ended.height,
        "success": right,
        "tie": tie,
        "wrong": ended.height - right - tie - invalid,
        "invalid": invalid,
    }
    if held:
        return StepResult(**shown, reason=HELD)
    scores = calls.group_by("item", "stratum", maintain_order=True).agg(score=pl.col("success").mean())
    method = declared.method
    found = bootstrap(
        scores["score"].to_numpy(), scores["stratum"].to_list(), draws=method.draws, seed=method.seed
    )
    return StepResult(**shown, sensitivity=right / ended.height, interval=found.interval)
