"""From the tables of an archive back to what an analysis needs, and the analysis again."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from darkcurrent.analysis import analyze
from darkcurrent.archive.columns import TABLES
from darkcurrent.archive.declaring import declared_of
from darkcurrent.archive.layout import ASSIGNMENT, MANIFEST, PUBLIC, table_file
from darkcurrent.archive.words import NOT_HERE
from darkcurrent.capture import JournalSummary
from darkcurrent.ledger import SCHEMA, join_ledger
from darkcurrent.records import Event
from darkcurrent.results import Analysis

__all__ = ["analyze_files"]


def analyze_files(files: Mapping[str, bytes]) -> Analysis:
    """Evaluate a study from the files of its archive alone. They must have been verified."""
    public, manifest = (json.loads(files[name]) for name in (PUBLIC, MANIFEST))
    frames = {table: pl.read_parquet(io.BytesIO(files[table_file(table)])) for table in TABLES}
    parts = [
        (name, item)
        for item, names in frames["items"].select("id", "nested").iter_rows()
        for name in names.split()
    ]
    declared = declared_of(public, manifest, parts, files.get(ASSIGNMENT))
    schedule, intents, ended = frames["schedule"], frames["intents"], frames["terminals"]
    sent = intents.filter(pl.col("refusals") <= pl.col("retries"))["call_id"]
    ledger = join_ledger(
        schedule.select(name for name in schedule.columns if name in SCHEMA),
        ended.select(name for name in ended.columns if name in SCHEMA and name != "configuration"),
        sent.to_list(),
    )
    summaries = {
        name: _summary(
            name,
            *(
                frames[table].filter(pl.col("configuration") == name)
                for table in ("intents", "terminals", "events")
            ),
        )
        for name in declared.configurations
    }
    return analyze(declared, ledger, summaries)


def _summary(
    name: str, intents: pl.DataFrame, terminals: pl.DataFrame, events: pl.DataFrame
) -> JournalSummary | None:
    if events.is_empty() and intents.is_empty():
        return None
    refused = intents.filter(pl.col("refusals") > 0)
    retried = intents.filter(pl.col("retries") > 0)
    return JournalSummary(
        header={"configuration": name},
        intents=set(intents["call_id"]),
        terminals=set(terminals["call_id"]),
        refusals=dict(refused.select("call_id", "refusals").iter_rows()),
        retries=dict(retried.select("call_id", "retries").iter_rows()),
        events=[_event(**row) for row in events.drop("configuration", "seq").iter_rows(named=True)],
    )


def _event(
    at: str, elapsed_ms: int, kind: Any, state: str | None, machine: int | None, **opened: str | None
) -> Event:
    detail: dict[str, Any] = {key: value for key, value in opened.items() if value is not None}
    if state is not None:
        detail = {"state": state, "why": NOT_HERE}
    if machine is not None:
        detail["host"] = str(machine)
    return Event(at=at, elapsed_ms=elapsed_ms, kind=kind, detail=detail)
