"""Whether the tables of an archive belong together: one row of each that breaks a rule is enough to refuse it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from darkcurrent.archive.columns import TABLES
from darkcurrent.archive.layout import table_file
from darkcurrent.archive.rules import RULES
from darkcurrent.errors import IntegrityError
from darkcurrent.ledger import READINGS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["check_journals", "check_rules", "check_schedule"]

_NOT_IN_CALL_ID: Final = {"call_id", "position", "block", "stratum", "cluster"}
"""Columns of a scheduled call that do not define the request."""

_CHUNK: Final = 50_000


def check_rules(
    connection: DuckDBPyConnection, public: Mapping[str, Any], contracts: Mapping[str, str]
) -> int:
    """Check every rule of the tables; return how many there are.

    Parameters
    ----------
    contracts : mapping
        Configuration to its contract, where that has its default options.

    Raises
    ------
    IntegrityError
        Where a row breaks one; it names the file and the row.
    """
    for table, names in (
        ("declared_configurations", public["configurations"]),
        ("declared_criteria", public["criteria"]),
    ):
        connection.execute(f"CREATE TABLE {table} (place INTEGER, name VARCHAR)")
        for place, each in enumerate(names):
            connection.execute(f"INSERT INTO {table} VALUES (?, ?)", [place, each["name"]])  # noqa: S608
    for table, query, wrong in RULES:
        _check_none(connection, table, query.format(table=table), [], wrong)
    read = " OR ".join(f'"{column}" IS NOT NULL' for column in READINGS.values())
    query = f"SELECT rowid FROM terminals WHERE NOT kept AND ({read})"  # noqa: S608
    _check_none(connection, "terminals", query, [], "a contract read a verdict in no reply")
    for name, contract in contracts.items():
        query = f"""SELECT rowid FROM terminals WHERE configuration = ? AND kept
            AND "{READINGS[contract]}" IS DISTINCT FROM value"""  # noqa: S608
        wrong = f"the verdict is not what its contract `{contract}` read"
        _check_none(connection, "terminals", query, [name], wrong)
    return len(RULES) + 1 + len(contracts) + _check_served(connection, public)


def _check_none(
    connection: DuckDBPyConnection, table: str, query: str, arguments: list[str], wrong: str
) -> None:
    (row,) = connection.execute(f"SELECT min(rowid) FROM ({query})", arguments).fetchall()[0]  # noqa: S608
    if row is not None:
        raise IntegrityError(f"{table_file(table)}, row {row + 1}: {wrong}.")


def _check_served(connection: DuckDBPyConnection, public: Mapping[str, Any]) -> int:
    """Compare the served names with those that each configuration accepts; return how many declare any."""
    named = [each for each in public["configurations"] if "model" in each]
    for each in named:
        names = each["accepted_models"] or [each["model"]]
        accepted = [name if isinstance(name, str) else f"sha256:{name['sha256']}" for name in names]
        query = f"""SELECT rowid, served_model FROM terminals WHERE configuration = ? AND kept
            AND (served_model IS NULL OR served_model NOT IN ({", ".join("?" * len(accepted))})) ORDER BY rowid LIMIT 1"""  # noqa: S608
        for row, name in connection.execute(query, [each["name"], *accepted]).fetchall():
            raise IntegrityError(
                f"{table_file('terminals')}, row {row + 1}: the reply is of {name!a}, and the study accepts "
                f"{ascii(accepted)[:120]}."
            )
    return len(named)


def check_schedule(
    connection: DuckDBPyConnection, public: Mapping[str, Any], manifest: Mapping[str, Any]
) -> int:
    """Compute each call's id from its parts and each schedule's digest from its rows; return how many calls there are.

    Raises
    ------
    IntegrityError
        Where a call is not what its id says, or a schedule is not the frozen one.
    """
    names = list(TABLES["schedule"])
    parts = [name for name in names if name not in _NOT_IN_CALL_ID]
    number = 0
    for each in public["configurations"]:
        name, hasher = each["name"], hashlib.sha256()
        rows = connection.execute("SELECT * FROM schedule WHERE configuration = ? ORDER BY rowid", [name])
        while chunk := rows.fetchmany(_CHUNK):
            for values in chunk:
                number += 1
                call = dict(zip(names, values, strict=True))
                due = _call_id({"identity": each["digest"], **{part: call[part] for part in parts}})
                if due != call["call_id"]:
                    raise IntegrityError(
                        f"{table_file('schedule')}, row {number}: {call['call_id'][:12]} is not the hash of its parts."
                    )
                hasher.update(json.dumps(call, sort_keys=True, separators=(",", ":")).encode("ascii") + b"\n")
        file = f"schedule/{name}.jsonl"
        if manifest["files"].get(file, {}).get("sha256") != hasher.hexdigest():
            raise IntegrityError(
                f"{table_file('schedule')}: the calls of `{name}` are not the frozen schedule ({file} has another digest)."
            )
    return number


def _call_id(parts: Mapping[str, Any]) -> str:
    """Return a call's id. For strings and null, this is RFC 8785; a second implementation beside `canonical`."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def check_journals(
    connection: DuckDBPyConnection, journals: Mapping[str, Mapping[str, Any]], configurations: Sequence[str]
) -> int:
    """Compare the rows of each configuration with the length of its journal; return how many rows there are.

    Raises
    ------
    IntegrityError
        Where a row of a journal is missing, or there are more.
    """
    seen = 0
    for name in configurations:
        due = journals.get(name, {}).get("rows", 0)
        counts = """
            SELECT (SELECT count(*) + coalesce(sum(refusals + retries), 0) FROM intents WHERE configuration = $1)
                 + (SELECT count(*) FROM terminals WHERE configuration = $1)
                 + (SELECT count(*) FROM events WHERE configuration = $1),
                   (SELECT coalesce(max(seq), 0) FROM (FROM intents SELECT configuration, seq UNION ALL
                    FROM terminals SELECT configuration, seq UNION ALL FROM events SELECT configuration, seq)
                    WHERE configuration = $1)"""
        found, last = connection.execute(counts, [name]).fetchall()[0]
        if found != due or last > due:
            raise IntegrityError(
                f"data/tables: `{name}` has {found} rows up to number {last}, and archive.json says that its journal has {due}: "
                "an intent, a terminal or an event is missing or was added."
            )
        seen += int(found)
    return seen
