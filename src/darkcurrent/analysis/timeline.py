"""A campaign along its schedule: whether the judge of the last calls is still that of the first ones."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from darkcurrent.analysis.frames import rounded
from darkcurrent.results import Timeline

__all__ = ["MOST_BINS", "timeline"]

MOST_BINS = 60
_SMALLEST = 20


def timeline(ledger: pl.DataFrame, refusals: Mapping[str, int]) -> Timeline:
    """Count a campaign's verdicts, refusals and latencies along its schedule.

    Parameters
    ----------
    ledger : polars.DataFrame
        One campaign's calls, each once.
    refusals : mapping
        Call to the number of its requests that were refused without an observation.
    """
    bins = max(1, min(MOST_BINS, ledger.height // _SMALLEST))
    value, ended = pl.col("value"), pl.col("ending") == "terminal"
    refused = pl.DataFrame(
        {"call_id": list(refusals), "refused": list(refusals.values())},
        schema={"call_id": pl.String, "refused": pl.Int64},
    )
    found = (
        ledger.sort("position")
        .with_row_index("place")
        .join(refused, on="call_id", how="left")
        .group_by(bin=pl.col("place").cast(pl.Int64) * bins // max(1, ledger.height))
        .agg(
            calls=pl.len(),
            a=(value == "A").sum(),
            b=(value == "B").sum(),
            tie=(value == "tie").sum(),
            invalid=(ended & value.is_null()).sum(),
            unended=(~ended).sum(),
            refused=pl.col("refused").sum(),
            latency_ms=pl.col("latency_ms").median(),
        )
        .sort("bin")
    )
    columns = {name: found[name].to_list() for name in Timeline.model_fields}
    return Timeline(**{**columns, "latency_ms": [rounded(latency) for latency in columns["latency_ms"]]})
