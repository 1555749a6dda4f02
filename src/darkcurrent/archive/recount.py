"""Every count of an analysis by SQL over the tables; no line of the analysis is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from darkcurrent.archive.recount_arms import counted_arms, row
from darkcurrent.ledger import READINGS
from darkcurrent.patterns import PATTERNS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["counted"]

_CALLS: Final = """
CREATE TABLE calls AS
SELECT s.configuration, s.criterion, s.item, s.stratum, s.arm, s.null_stratum, s."order", s.slot_a, s.slot_b, s.target,
       s.step, s.context, concat_ws('/', s.arm, s.null_stratum, s.step, s.context) AS kind,
       t.value, t.reason, t.served_model, t.prompt_tokens, t.completion_tokens, t.latency_ms,
       coalesce(t.kept, false) AS kept,
       CASE WHEN t.call_id IS NOT NULL THEN 'terminal'
            WHEN i.call_id IS NOT NULL AND i.refusals <= i.retries THEN 'ambiguous' ELSE 'missing' END AS ending,
       coalesce(t.value = CASE s.target WHEN s.slot_a THEN 'A' WHEN s.slot_b THEN 'B' END, false) AS success,
       {readings}
FROM schedule s LEFT JOIN intents i USING (call_id) LEFT JOIN terminals t USING (call_id)"""

_PAIRS: Final = """
CREATE TABLE pairs AS
SELECT configuration, criterion, kind,
       CASE WHEN count(*) <> 2 OR count(*) FILTER (ending = 'terminal') <> 2
              OR count(*) FILTER ("order" = 'AB') <> 1 THEN 'incomplete'
            WHEN count(value) < 2 THEN 'invalid'
            WHEN count(*) FILTER (value = 'tie') = 2 THEN 'tie'
            WHEN count(*) FILTER (value = 'tie') = 1 THEN 'one-sided'
            WHEN count(DISTINCT value) = 1 THEN 'position' ELSE 'stable' END AS pattern
FROM (SELECT *, CASE "order" WHEN 'AB' THEN slot_a ELSE slot_b END AS u,
             CASE "order" WHEN 'AB' THEN slot_b ELSE slot_a END AS v FROM calls WHERE arm <> 'clone')
GROUP BY configuration, criterion, kind, item, u, v"""

_CAMPAIGN: Final = """
SELECT count(*) AS scheduled, count(*) FILTER (ending = 'terminal') AS terminal,
       count(*) FILTER (ending = 'terminal' AND value IS NULL) AS invalid,
       count(*) FILTER (ending = 'ambiguous') AS ambiguous, count(*) FILTER (ending = 'missing') AS missing,
       sum(prompt_tokens)::BIGINT AS prompt_tokens, sum(completion_tokens)::BIGINT AS completion_tokens,
       count(*) FILTER (ending = 'terminal' AND prompt_tokens IS NULL) AS usage_unknown
FROM calls WHERE configuration = $1"""

_CLONE: Final = """
SELECT count(DISTINCT item) AS n, count(DISTINCT item) FILTER (value IS DISTINCT FROM 'tie') AS adverse,
       count(*) FILTER (value = 'A') AS a, count(*) FILTER (value = 'B') AS b,
       count(*) FILTER (value IS NULL) AS invalid
FROM calls WHERE configuration = $1 AND criterion = $2 AND null_stratum = $3 AND ending = 'terminal'"""

_SIGNAL: Final = """
SELECT count(DISTINCT item) AS items,
       count(*) FILTER (ended AND success) AS correct, count(*) FILTER (ended AND value = 'tie') AS tie,
       count(*) FILTER (ended AND NOT success AND value IN ('A', 'B')) AS wrong,
       count(*) FILTER (ended AND value IS NULL) AS invalid,
       count(*) FILTER (ended AND "order" = 'AB') AS ab, count(*) FILTER (ended AND success AND "order" = 'AB') AS ab_success,
       count(*) FILTER (ended AND "order" = 'BA') AS ba, count(*) FILTER (ended AND success AND "order" = 'BA') AS ba_success,
       count(*) FILTER (ended AND slot_a = target) AS first,
       count(*) FILTER (ended AND success AND slot_a = target) AS first_success,
       count(*) FILTER (ended AND slot_b = target) AS second,
       count(*) FILTER (ended AND success AND slot_b = target) AS second_success
FROM (SELECT *, ending = 'terminal' AS ended FROM calls
      WHERE configuration = $1 AND criterion = $2 AND arm = 'signal' AND context IS NULL)"""

_SCORES: Final = """
SELECT stratum, count(*) AS items, sum(success) AS successes, calls FROM (
  SELECT stratum, item, count(*) FILTER (success) AS success, count(*) AS calls FROM calls
  WHERE configuration = $1 AND criterion = $2 AND arm = 'signal' AND context IS NULL GROUP BY stratum, item
) GROUP BY stratum, calls ORDER BY stratum, calls"""

_READING: Final = """
SELECT count(*) AS replies, count({column}) AS accepted,
       count(*) FILTER (value IS NULL AND {column} IS NOT NULL) AS gained,
       count(*) FILTER (value IS NOT NULL AND {column} IS NULL) AS lost,
       count(*) FILTER (value <> {column}) AS flipped
FROM calls WHERE configuration = $1 AND kept"""


def counted(
    connection: DuckDBPyConnection,
    configurations: Sequence[str],
    criteria: Sequence[str],
    contracts: Mapping[str, str],
) -> dict[str, Any]:
    """Return what SQL counts, in the shape of an analysis.

    A signal has `scores` besides: per stratum, rows of (items, successes, calls of an item), of which its means follow.
    """
    columns = ", ".join(f't."{column}"' for column in READINGS.values())
    connection.execute(_CALLS.format(readings=columns))
    connection.execute(_PAIRS)
    present = set(connection.execute("SELECT DISTINCT configuration, criterion FROM calls").fetchall())
    return {
        "campaigns": [_campaign(connection, name, contracts.get(name)) for name in configurations],
        "cells": [
            _cell(connection, name, criterion)
            for name in configurations
            for criterion in criteria
            if (name, criterion) in present
        ],
    }


def _campaign(connection: DuckDBPyConnection, name: str, declared: str | None) -> dict[str, Any]:
    found = {"configuration": name, **row(connection, _CAMPAIGN, [name])}
    found["invalid_by_reason"] = dict(
        connection.execute(
            "SELECT reason, count(*) FROM calls "
            "WHERE configuration = $1 AND ending = 'terminal' AND value IS NULL GROUP BY reason",
            [name],
        ).fetchall()
    )
    found["served_models"] = [
        served
        for (served,) in connection.execute(
            "SELECT DISTINCT served_model FROM calls WHERE configuration = $1 AND served_model IS NOT NULL",
            [name],
        ).fetchall()
    ]
    found["served_models"].sort()
    readings = [
        {"contract": contract, **row(connection, _READING.format(column=f'"{column}"'), [name])}
        for contract, column in READINGS.items()
        if contract != declared
    ]
    found["sensitivity"] = [
        {**reading, "changed": reading["gained"] + reading["lost"] + reading["flipped"]}
        for reading in readings
        if reading["replies"]
    ]
    return found


def _cell(connection: DuckDBPyConnection, name: str, criterion: str) -> dict[str, Any]:
    cell = [name, criterion]
    signal = row(connection, _SIGNAL, cell)
    scores: dict[str, list[tuple[int, int, int]]] = {}
    for stratum, items, successes, calls in connection.execute(_SCORES, cell).fetchall():
        scores.setdefault(stratum, []).append((items, int(successes), calls))
    patterns: dict[str, dict[str, int]] = {}
    query = "SELECT kind, pattern, count(*) FROM pairs WHERE configuration = $1 AND criterion = $2 GROUP BY kind, pattern"
    for kind, pattern, count in connection.execute(query, cell).fetchall():
        patterns.setdefault(kind, dict.fromkeys(PATTERNS, 0))[pattern] = count
    return {
        "configuration": name,
        "criterion": criterion,
        "clone": {
            stratum: row(connection, _CLONE, [*cell, stratum])
            for stratum in ("core", "edge-empty", "edge-whitespace")
        },
        "signal": {
            "items": signal["items"],
            "verdicts": {key: signal[key] for key in ("correct", "tie", "wrong", "invalid")},
            "orders": {
                key.upper(): {"n": signal[key], "success": signal[f"{key}_success"]} for key in ("ab", "ba")
            },
            "places": {
                key: {"n": signal[key], "success": signal[f"{key}_success"]} for key in ("first", "second")
            },
            "scores": scores,
        },
        "patterns": patterns,
        **counted_arms(connection, name, criterion),
    }
