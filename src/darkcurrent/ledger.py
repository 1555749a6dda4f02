"""The ledger: one row per scheduled call, with what was asked, what came back, and what it means.

The table is complete by construction: it starts from the schedule, so that a call without an answer is a row
with a reason and never a row less.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from darkcurrent.capture import Row, read_journal
from darkcurrent.errors import IntegrityError
from darkcurrent.records import Call, Intent, RequestRefusal, Retry, Terminal
from darkcurrent.verdicts import Contract, Verdict, invalid, parse_verdict

__all__ = ["SCHEMA", "campaign_ledger", "empty_ledger"]

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
_INTEGERS = {"position", "block", "prompt_tokens", "completion_tokens", "elapsed_ms"}
_TYPES: dict[str, Any] = {"reasoning": pl.Boolean, "latency_ms": pl.Float64}

SCHEMA: dict[str, Any] = {
    name: pl.Int64 if name in _INTEGERS else _TYPES.get(name, pl.String)
    for name in (*_CALL_COLUMNS, "ending", *_TERMINAL_COLUMNS, "value", "reason", "winner")
}
"""Columns and types.

ending : `terminal`, `ambiguous` (sent, its end unknown) or `missing` (never sent).
value : `A`, `B`, `tie`, or null where there is no valid verdict.
reason : why there is none; null where there is one.
winner : the role of the chosen text, `tie`, or null. For a clone, whose texts have one role, only `tie` or null.
"""


def empty_ledger() -> pl.DataFrame:
    """Return a ledger without rows."""
    return pl.DataFrame(schema=SCHEMA)


def campaign_ledger(calls: Sequence[Call], journal: Path, contract: Contract) -> pl.DataFrame:
    """Join a campaign's schedule with its journal and read every reply under the declared contract.

    Raises
    ------
    IntegrityError
        Where the journal is damaged or holds a call that is not scheduled.
    """
    sent: set[str] = set()
    endings: dict[str, list[Any]] = {name: [] for name in ("call_id", *_TERMINAL_COLUMNS, "value", "reason")}

    def visit(row: Row) -> None:
        if isinstance(row, Intent | Retry):
            sent.add(row.call_id)
        elif isinstance(row, RequestRefusal):
            sent.remove(row.call_id)  # nothing was observed, and it may be sent again
        elif isinstance(row, Terminal):
            verdict = _verdict(row, contract)
            for name in ("call_id", *_TERMINAL_COLUMNS):
                endings[name].append(getattr(row, name))
            endings["value"].append(verdict.value)
            endings["reason"].append(verdict.reason)

    if journal.exists():
        read_journal(journal, visit)
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
            winner=_winner(),
        )
        .select(list(SCHEMA))
    )


def _winner() -> pl.Expr:
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


def _verdict(terminal: Terminal, contract: Contract) -> Verdict:
    if terminal.reason is not None:
        return invalid(terminal.reason)
    return parse_verdict(terminal.text, contract, terminal.finish, reasoning_present=terminal.reasoning)
