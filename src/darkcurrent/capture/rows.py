"""A row of the journal: its columns, its link in the chain, and the way back to a record."""

from __future__ import annotations

import hashlib
import json
from typing import Any, TypeVar

from darkcurrent.canonical import text_bytes
from darkcurrent.records import Event, Intent, Record, RequestRefusal, Retry, Terminal

__all__ = [
    "FORMAT",
    "INSERTIONS",
    "TABLES",
    "TABLE_OF",
    "Row",
    "from_columns",
    "link",
    "schema",
    "text_of",
    "to_columns",
]

R = TypeVar("R", bound=Record)

FORMAT = "darkcurrent/journal/2"
"""Stands in the header of each journal: which tables and columns it has, and how its chain is made."""

Row = Intent | Terminal | RequestRefusal | Retry | Event

TABLES: dict[str, type[Row]] = {
    "intent": Intent,
    "terminal": Terminal,
    "refusal": RequestRefusal,
    "retry": Retry,
    "event": Event,
}
TABLE_OF = {kind: table for table, kind in TABLES.items()}

_SQL_TYPES = {
    "call_id": "TEXT NOT NULL",
    "elapsed_ms": "INTEGER",
    "reasoning": "INTEGER",
    "body": "BLOB",
    "latency_ms": "REAL",
    "number": "INTEGER NOT NULL",
}
_KEYS = {
    "intent": "PRIMARY KEY (call_id)",
    "terminal": "PRIMARY KEY (call_id), FOREIGN KEY (call_id) REFERENCES intent (call_id)",
    "refusal": "PRIMARY KEY (call_id, number), FOREIGN KEY (call_id) REFERENCES intent (call_id)",
    # A call goes again only after a refusal that is on disk, and once for each.
    "retry": "PRIMARY KEY (call_id, number), FOREIGN KEY (call_id, number) REFERENCES refusal (call_id, number)",
}


def schema() -> list[str]:
    """Return the statements that make an empty journal: unique keys, and no row ever changed or removed."""
    parts = ["CREATE TABLE header (content TEXT NOT NULL, chain TEXT NOT NULL)"]
    for table, kind in TABLES.items():
        columns = [f"{name} {_SQL_TYPES.get(name, '')}".strip() for name in kind.model_fields]
        keys = [_KEYS[table]] if table in _KEYS else []
        # `seq` is the rowid as well: its order and its uniqueness cost no index, which each commit would write.
        content = ", ".join(["seq INTEGER NOT NULL", *columns, "chain TEXT NOT NULL", *keys])
        parts.append(f"CREATE TABLE {table} ({content})")
    for table in ("header", *TABLES):
        for verb in ("UPDATE", "DELETE"):
            parts.append(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, 'a journal is append-only'); END;"
            )
    parts.append(
        "CREATE TRIGGER retry_no_ended BEFORE INSERT ON retry "
        "WHEN EXISTS (SELECT 1 FROM terminal WHERE call_id = NEW.call_id) "
        "BEGIN SELECT RAISE(ABORT, 'the call has ended'); END;"
    )
    return parts


def _insertion(table: str) -> str:
    names = ["rowid", "seq", *TABLES[table].model_fields, "chain"]
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608 - our own


INSERTIONS = {table: _insertion(table) for table in TABLES}
"""The statement that adds a row to a table; its values are `seq` twice, the columns, and the link."""


def to_columns(row: Row) -> dict[str, Any]:
    """Return the columns of a record as SQLite keeps them, without `seq` and `chain`."""
    return {
        name: value if type(value) in _AS_THEY_ARE else _to_column(value)
        for name, value in row.__dict__.items()
    }


_AS_THEY_ARE = {int, float, bytes, type(None)}


def _to_column(value: Any) -> Any:
    """Return a value as SQLite keeps it. A text with a lone surrogate, which TEXT cannot hold, becomes a BLOB."""
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return text_bytes(value)
    return int(value) if isinstance(value, bool) else value


def link(chain: str, seq: int, table: str, values: dict[str, Any]) -> str:
    """Return the next link: the digest of the link before it and of the row, each field with its type and length."""
    parts = [f"{chain}\n{seq}\n{table}".encode()]
    for name, value in values.items():
        # A text is taken as its bytes; its `repr` would depend on the Unicode tables of the Python that runs.
        data = value if isinstance(value, bytes) else str(value).encode()
        parts += (f"\n{name}:{type(value).__name__}:{len(data)}:".encode(), data)
    return hashlib.sha256(b"".join(parts)).hexdigest()


def text_of(value: Any) -> Any:
    """Return what a column holds; a text with a lone surrogate lies there as its bytes."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value


def from_columns(kind: type[R], values: dict[str, Any]) -> R:
    """Return the record that columns were made of; a ValueError where they are none."""
    values = {name: value if name == "body" else text_of(value) for name, value in values.items()}
    if kind is Terminal:
        values["reasoning"] = bool(values["reasoning"])
    if kind is Event:
        values["detail"] = json.loads(values["detail"])
    return kind(**values)
