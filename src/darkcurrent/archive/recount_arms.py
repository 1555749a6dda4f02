"""The counts of the arms beside clones and signal pairs, by SQL over the tables that `recount` makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["counted_arms", "row"]

_COVERAGE: Final = """
SELECT kind, "order", count(*), count(*) FILTER (ending = 'terminal'),
       count(*) FILTER (ending = 'terminal' AND value IS NULL)
FROM calls WHERE configuration = $1 AND criterion = $2 GROUP BY kind, "order" """

_CALLS: Final = """
SELECT count(DISTINCT item) AS items, count(*) FILTER (ended) AS calls, count(*) FILTER (ended AND success) AS success,
       count(*) FILTER (ended AND value = 'tie') AS tie,
       count(*) FILTER (ended AND NOT success AND value IN ('A', 'B')) AS wrong,
       count(*) FILTER (ended AND value IS NULL) AS invalid
FROM (SELECT *, ending = 'terminal' AS ended FROM calls WHERE configuration = $1 AND criterion = $2 AND kind = $3)"""

_PAIRS: Final = """
SELECT count(*) AS pairs, count(*) FILTER (pattern <> 'tie') AS adverse,
       count(*) FILTER (pattern NOT IN ('invalid', 'incomplete')) AS valid_pairs
FROM pairs WHERE configuration = $1 AND criterion = $2 AND kind = $3"""

_CONTEXTS: Final = """
SELECT arm, count(*) AS items, count(*) FILTER (invalid) AS invalid, count(*) FILTER (changed AND NOT invalid) AS changed
FROM (SELECT arm, item, bool_or(invalid) AS invalid, bool_or(changed) AS changed FROM (
        SELECT arm, item, "order", count(value) < count(*) AS invalid, count(DISTINCT value) > 1 AS changed
        FROM calls WHERE configuration = $1 AND criterion = $2 AND context IS NOT NULL GROUP BY arm, item, "order")
      GROUP BY arm, item) GROUP BY arm"""


def row(connection: DuckDBPyConnection, query: str, arguments: list[str]) -> dict[str, Any]:
    """Return the one row of a query, by column."""
    cursor = connection.execute(query, arguments)
    names = [column[0] for column in cursor.description or ()]
    return dict(zip(names, cursor.fetchall()[0], strict=True))


def counted_arms(connection: DuckDBPyConnection, configuration: str, criterion: str) -> dict[str, Any]:
    """Return what SQL counts of one cell's arms, in the shape of its result.

    `contexts` has, besides, the adverse and the changed items by arm: a held cell does not show them.
    """
    cell = [configuration, criterion]
    calls: dict[str, dict[str, dict[str, int]]] = {}
    for kind, order, scheduled, ended, invalid in connection.execute(_COVERAGE, cell).fetchall():
        counts = {"scheduled": scheduled, "ended": ended, "invalid": invalid}
        calls.setdefault(kind, {})[order] = counts
    steps = sorted(kind.partition("/")[2] for kind in calls if kind.startswith("ladder/"))
    contexts: dict[str, Any] = {}
    for arm, items, invalid, changed in connection.execute(_CONTEXTS, cell).fetchall():
        contexts[arm] = {"items": items, "adverse": invalid + changed, "changed": changed}
    return {
        "calls": calls,
        "equivalent": _null_pairs(connection, cell, "equivalent") if "equivalent" in calls else None,
        "ladder": {
            "gap_0": _null_pairs(connection, cell, "ladder/gap-0") if "gap-0" in steps else None,
            "steps": {step: _step(connection, cell, f"ladder/{step}") for step in steps if step != "gap-0"},
        }
        if steps
        else None,
        "context": {
            arm: {
                "items": found["items"],
                "calls": {
                    key: sum(
                        counts[key]
                        for context in ("absent", "present")
                        for counts in calls.get(f"{arm}/{context}", {}).values()
                    )
                    for key in ("scheduled", "ended", "invalid")
                },
            }
            for arm, found in contexts.items()
        },
        "contexts": contexts,
    }


def _null_pairs(connection: DuckDBPyConnection, cell: list[str], kind: str) -> dict[str, int]:
    calls = row(connection, _CALLS, [*cell, kind])
    pairs = row(connection, _PAIRS, [*cell, kind])
    return {**{key: calls[key] for key in ("items", "calls", "invalid")}, **pairs}


def _step(connection: DuckDBPyConnection, cell: list[str], kind: str) -> dict[str, int]:
    pairs = row(connection, _PAIRS, [*cell, kind])
    return {**row(connection, _CALLS, [*cell, kind]), "pairs": pairs["pairs"]}
