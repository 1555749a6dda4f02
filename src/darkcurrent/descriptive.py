"""What an analysis shows and never grades: other contracts' readings, repetitions, patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import polars as pl

from darkcurrent.ledger import READINGS
from darkcurrent.patterns import PATTERNS
from darkcurrent.records import STEPS, ArmName, Context, NullStratum
from darkcurrent.results import ContractReading, OrderResult, RetestResult

__all__ = ["by_kind", "pattern_counts", "retest", "sensitivity"]


def sensitivity(
    ledger: pl.DataFrame, declared: str | None, reasons_with: Callable[[int], list[str]] | None
) -> list[ContractReading]:
    """Say what every contract but the declared one would have read in a campaign's kept replies.

    Parameters
    ----------
    ledger : polars.DataFrame
        The campaign's ledger.
    declared : str or None
        The contract that the verdicts were read under, where it is one with its default options.
    reasons_with : callable or None
        From a number of invalid answers to the reasons why the campaign would be HOLD; None where nothing was
        scheduled.

    Returns
    -------
    list of ContractReading
        In the order of the contracts; empty where no reply is kept.
    """
    ended = ledger.filter(pl.col("ending") == "terminal")
    kept = ended.filter("kept")
    if kept.is_empty():
        return []
    held = reasons_with is not None and bool(reasons_with(ended["value"].null_count()))
    readings = []
    for contract, column in READINGS.items():
        if contract == declared:
            continue
        before, after = kept["value"], kept[column]
        gained = int((before.is_null() & after.is_not_null()).sum())
        lost = int((before.is_not_null() & after.is_null()).sum())
        flipped = int((before != after).sum())  # null wherever either is
        accepted = after.len() - after.null_count()
        evaluable = None if reasons_with is None else not reasons_with(ended.height - accepted)
        readings.append(
            ContractReading(
                contract=contract,
                replies=kept.height,
                accepted=accepted,
                changed=gained + lost + flipped,
                gained=gained,
                lost=lost,
                flipped=flipped,
                evaluable=evaluable,
                sentence=f"under contract {contract} this campaign would have been evaluable"
                if held and evaluable
                else None,
            )
        )
    return readings


def retest(calls: pl.DataFrame) -> RetestResult | None:
    """Compare the repetitions of each item and order of one cell; None where nothing was asked twice."""
    if calls["repetition"].n_unique() < 2:
        return None
    value = pl.col("value")
    units = (
        calls.filter(pl.col("arm") != "clone", pl.col("ending") == "terminal")
        .group_by("item", "order")
        .agg(
            repetitions=pl.col("repetition").n_unique(),
            invalid=value.is_null().any(),
            reversed=(value == "A").any() & (value == "B").any(),
            same=value.n_unique() == 1,
        )
        .filter(pl.col("repetitions") > 1)
        .with_columns(
            kind=pl.when("invalid")
            .then(pl.lit("invalid"))
            .when("same")
            .then(pl.lit("same"))
            .when("reversed")
            .then(pl.lit("reversed"))
            .otherwise(pl.lit("tie_flip"))
        )
    )
    if units.is_empty():
        return None
    by_order = units.group_by("order").agg(n=pl.len(), same=(pl.col("kind") == "same").sum()).sort("order")
    return RetestResult(
        units=units.height,
        repetitions=int(units["repetitions"].to_numpy().max()),
        **{kind: int((units["kind"] == kind).sum()) for kind in ("same", "tie_flip", "reversed", "invalid")},
        orders={order: OrderResult(n=n, success=same) for order, n, same in by_order.iter_rows()},
    )


def by_kind(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Part the rows of one cell by arm, with the null stratum, step or context behind a slash: `ladder/gap-1`.

    Arms stand in their own order, steps hardest first, and `absent` before `present`.
    """
    names = [name for name in ("arm", "null_stratum", "step", "context") if name in frame.columns]
    parts = frame.partition_by(names, as_dict=True)
    return {"/".join(map(str, filter(None, key))): parts[key] for key in sorted(parts, key=_place)}


def _place(key: tuple[Any, ...]) -> tuple[int, ...]:
    ranked: tuple[str, ...] = (*get_args(ArmName), *get_args(NullStratum), *STEPS, *get_args(Context))
    return tuple(
        ranked.index(part) if part in ranked else -1 if part is None else len(ranked) for part in key
    )


def pattern_counts(patterns: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Count the patterns of one cell by arm, steps and contexts apart."""
    counts: dict[str, dict[str, int]] = {}
    for name, own in by_kind(patterns).items():
        found = dict(own["pattern"].value_counts().iter_rows())
        counts[name] = {pattern: found.get(pattern, 0) for pattern in PATTERNS}
    return counts
