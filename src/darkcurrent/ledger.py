"""The ledger: one row per scheduled call, with what was asked, what came back, and what it means.

The table is complete by construction: it starts from the schedule, so that a call without an answer is a row
with a reason and never a row less.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from darkcurrent.capture import JournalSummary, Row, read_journal
from darkcurrent.errors import IntegrityError
from darkcurrent.records import Call, Intent, RequestRefusal, Retry, Terminal
from darkcurrent.verdicts import PLAIN_CONTRACTS, Contract, Verdict, invalid, parse_verdict, read_under_every

__all__ = [
    "READINGS",
    "SCHEMA",
    "campaign_ledger",
    "compact",
    "compact_schema",
    "join_ledger",
    "other_readings",
    "read_of_study",
    "winner_of_slot",
]

_CALL_COLUMNS = (
    "call_id",
    "position",
    "block",
    "configuration",
    "criterion",
    "item",
    "stratum",
    "cluster",
    "arm",
    "null_stratum",
    "order",
    "slot_a",
    "slot_b",
    "target",
    "step",
    "context",
    "third",
)
_TERMINAL_COLUMNS = (
    "status",
    "finish",
    "served_model",
    "fingerprint",
    "reasoning",
    "prompt_tokens",
    "completion_tokens",
    "latency_ms",
    "elapsed_ms",
)
_INTEGERS = {"position", "block", "repetition", "prompt_tokens", "completion_tokens", "elapsed_ms"}
_TYPES: dict[str, Any] = {"reasoning": pl.Boolean, "latency_ms": pl.Float64, "kept": pl.Boolean}

READINGS: dict[str, str] = {name: f"as:{name}" for name in PLAIN_CONTRACTS}
"""Contract to the column that holds what this contract, with its default options, reads in the kept reply."""

SCHEMA: dict[str, Any] = {
    name: pl.Int64 if name in _INTEGERS else _TYPES.get(name, pl.String)
    for name in (
        *_CALL_COLUMNS,
        "repetition",
        "ending",
        *_TERMINAL_COLUMNS,
        "value",
        "reason",
        "winner",
        "kept",
        *READINGS.values(),
    )
}
"""Columns and types.

repetition : the same request, asked again; from 1. A captured campaign asks each once.
ending : `terminal`, `ambiguous` (sent, its end unknown) or `missing` (never sent).
value : `A`, `B`, `tie`, or null where there is no valid verdict.
reason : why there is none; null where there is one.
winner : the role of the chosen text, `tie`, or null. For a clone, whose texts have one role, only `tie` or null.
kept : whether there is a reply that can be read again.
as:NAME : the value that the contract NAME, with its default options, reads in it; null where it reads none.
"""


_TEXTS = ("call_id",)
"""Columns whose texts hardly ever repeat."""


def compact_schema() -> pl.Schema:
    """Return the columns and types of `compact`."""
    return pl.Schema(
        {
            name: pl.Categorical() if kind == pl.String and name not in _TEXTS else kind
            for name, kind in SCHEMA.items()
        }
    )


def compact(ledger: pl.DataFrame) -> pl.DataFrame:
    """Return a ledger whose texts, which repeat, are kept once: it says the same in less memory."""
    return ledger.cast(compact_schema())


def read_of_study(
    journal: Path, study_digest: str, visit: Callable[[Row], None] | None = None
) -> JournalSummary | None:
    """Read the journal of a campaign along its chain; None where nothing was captured yet.

    Raises
    ------
    IntegrityError
        Where it is damaged, or was begun under another study digest.
    """
    summary = read_journal(journal, visit) if journal.exists() else None
    if summary is not None and summary.header.get("study") != study_digest:
        raise IntegrityError(
            f"The journal {journal} belongs to another study digest: "
            "the frozen files were replaced after capture began; restore them from a copy."
        )
    return summary


def campaign_ledger(
    calls: Sequence[Call], journal: Path, contract: Contract, study_digest: str
) -> tuple[pl.DataFrame, JournalSummary | None]:
    """Join a campaign's schedule with its journal and read every reply under the declared contract.

    Returns
    -------
    tuple of polars.DataFrame and JournalSummary
        One row per call, and what the journal says of the campaign; both are of one state of the journal, also beside a
        running capture.

    Raises
    ------
    IntegrityError
        Where the journal is damaged, belongs to another study, or holds a call that is not scheduled.
    """
    sent: set[str] = set()
    added = ("value", "reason", "kept", *READINGS.values())
    endings: dict[str, list[Any]] = {name: [] for name in ("call_id", *_TERMINAL_COLUMNS, *added)}
    read = other_readings()

    def visit(row: Row) -> None:
        if isinstance(row, Intent | Retry):
            sent.add(row.call_id)
        elif isinstance(row, RequestRefusal):
            sent.remove(row.call_id)  # nothing was observed, and it may be sent again
        elif isinstance(row, Terminal):
            verdict = _verdict(row, contract)
            for name in ("call_id", *_TERMINAL_COLUMNS):
                endings[name].append(_encodable(getattr(row, name)))
            endings["value"].append(verdict.value)
            endings["reason"].append(verdict.reason)
            kept = row.reason is None
            endings["kept"].append(kept)
            for column, value in read(row.text, row.finish, row.reasoning, kept).items():
                endings[column].append(value)

    summary = read_of_study(journal, study_digest, visit)
    schedule = pl.DataFrame(
        {name: [getattr(call, name) for call in calls] for name in _CALL_COLUMNS},
        schema={name: SCHEMA[name] for name in _CALL_COLUMNS},
    )
    unknown = sent - set(schedule["call_id"])
    if unknown:
        raise IntegrityError(
            f"The journal {journal} holds the call {min(unknown)[:12]}, which is not scheduled."
        )
    ended = pl.DataFrame(endings, schema={name: SCHEMA[name] for name in endings})
    return join_ledger(schedule, ended, sent), summary


def join_ledger(schedule: pl.DataFrame, ended: pl.DataFrame, sent: Collection[str]) -> pl.DataFrame:
    """Join what was scheduled with what came of it.

    Parameters
    ----------
    schedule : polars.DataFrame
        One row per scheduled call.
    ended : polars.DataFrame
        One row per call whose end is known: its terminal, and what was read in the reply.
    sent : collection of str
        The calls that were sent, whatever came of them; not those whose last request was refused.
    """
    was_sent = pl.col("call_id").is_in(pl.Series(sorted(sent), dtype=pl.String).implode())
    return (
        schedule.join(ended, on="call_id", how="left", maintain_order="left")
        .with_columns(
            ending=pl.when(pl.col("status").is_not_null())
            .then(pl.lit("terminal"))
            .when(was_sent)
            .then(pl.lit("ambiguous"))
            .otherwise(pl.lit("missing"))
        )
        .with_columns(
            reason=pl.when(pl.col("ending") == "terminal").then(pl.col("reason")).otherwise(pl.col("ending")),
            winner=winner_of_slot(),
            repetition=pl.lit(1, dtype=pl.Int64),
            kept=pl.col("kept").fill_null(value=False),
        )
        .select(list(SCHEMA))
    )


def other_readings() -> Callable[[str | None, str | None, bool, bool], dict[str, str | None]]:
    """Return a reader of replies under every contract: `(text, finish, reasoning, kept)` to column and value.

    A judge with a short vocabulary says the same again and again: what was read lately is not read again.
    """
    recent = lru_cache(maxsize=4096)(read_under_every)
    nothing = dict.fromkeys(READINGS.values())

    def read(text: str | None, finish: str | None, reasoning: bool, kept: bool) -> dict[str, str | None]:
        if not kept:
            return nothing
        found = recent(text, finish, reasoning_present=reasoning)
        return {column: found[name].value for name, column in READINGS.items()}

    return read


def winner_of_slot() -> pl.Expr:
    """Map a slot back to the role of the text that stood in it; a clone's two slots have no winner."""
    value = pl.col("value")
    chosen = pl.when(value == "A").then(pl.col("slot_a")).when(value == "B").then(pl.col("slot_b"))
    return (
        pl.when(value == "tie")
        .then(pl.lit("tie"))
        .when(pl.col("arm") == "clone")
        .then(pl.lit(None, dtype=pl.String))
        .otherwise(chosen)
    )


def _encodable(value: Any) -> Any:
    """Return a value that a table can hold: a server may put a lone surrogate into a name, and a table is UTF-8."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _verdict(terminal: Terminal, contract: Contract) -> Verdict:
    if terminal.reason is not None:
        return invalid(terminal.reason)
    return parse_verdict(terminal.text, contract, terminal.finish, reasoning_present=terminal.reasoning)
