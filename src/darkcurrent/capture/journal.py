"""The durable record of a campaign: one SQLite file, append-only, chained row by row.

Invariants (see `design/journal.md`): no request leaves before its intent is committed; a call has at most one
intent and one terminal, ever; no row is changed or removed; and a change by hand is noticed.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from darkcurrent.canonical import canonical_json, digest_bytes, text_bytes
from darkcurrent.errors import CaptureError, IntegrityError
from darkcurrent.records import Event, Intent, Record, Terminal

__all__ = ["Journal", "JournalSummary", "Row", "read_journal"]

_TABLES: dict[str, type[Record]] = {"intent": Intent, "terminal": Terminal, "event": Event}
_SQL_TYPES = {"elapsed_ms": "INTEGER", "reasoning": "INTEGER", "body": "BLOB", "latency_ms": "REAL"}


def _schema() -> str:
    parts = ["CREATE TABLE header (content TEXT NOT NULL, chain TEXT NOT NULL);"]
    for table, kind in _TABLES.items():
        columns = [
            f"{name} {_SQL_TYPES.get(name, '')}".strip() for name in kind.model_fields if name != "call_id"
        ]
        key = ["call_id TEXT PRIMARY KEY" + (" REFERENCES intent (call_id)" if table == "terminal" else "")]
        columns = [
            "seq INTEGER NOT NULL UNIQUE",
            *(key if "call_id" in kind.model_fields else []),
            *columns,
            "chain TEXT NOT NULL",
        ]
        parts.append(f"CREATE TABLE {table} ({', '.join(columns)});")
    for table in ("header", *_TABLES):
        for verb in ("UPDATE", "DELETE"):
            parts.append(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, 'a journal is append-only'); END;"
            )
    return "\n".join(parts)


Row = Intent | Terminal | Event


@dataclass
class JournalSummary:
    """What a journal says of its campaign, without the replies.

    Attributes
    ----------
    header : dict
        What the journal belongs to: study digest, configuration and its digest.
    intents, terminals : set of str
        The calls that were about to be sent, and those whose end is known.
    events : list of Event
        What happened to the campaign as a whole, in order.
    elapsed_ms : int
        The campaign's own time so far.
    """

    header: dict[str, Any]
    intents: set[str] = field(default_factory=set)
    terminals: set[str] = field(default_factory=set)
    events: list[Event] = field(default_factory=list)
    elapsed_ms: int = 0

    @property
    def ambiguous(self) -> set[str]:
        """The calls that were about to be sent and whose end nobody knows."""
        return self.intents - self.terminals

    def add(self, row: Row) -> None:
        """Count one more row."""
        self.elapsed_ms = max(self.elapsed_ms, row.elapsed_ms)
        if isinstance(row, Intent):
            self.intents.add(row.call_id)
        elif isinstance(row, Terminal):
            self.terminals.add(row.call_id)
        else:
            self.events.append(row)


class Journal:
    """The one writer of a campaign's journal. `Journal.open` creates the file or goes on with it."""

    def __init__(self, connection: sqlite3.Connection, summary: JournalSummary, seq: int, chain: str) -> None:
        self._connection = connection
        self._seq = seq
        self._chain = chain
        self.summary = summary

    @classmethod
    def open(cls, path: Path, header: dict[str, Any], visit: Callable[[Row], None] | None = None) -> Journal:
        """Open a journal for writing; `visit` sees each row that it holds already.

        Raises
        ------
        IntegrityError
            Where it belongs to another study or configuration, or its chain is broken.
        CaptureError
            Where the file cannot be written.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, isolation_level=None, timeout=5)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                _create(connection, header)
            summary, seq, chain = _read(connection, path, visit)
        except sqlite3.DatabaseError as error:
            raise _cannot(path, error) from error
        except OSError as error:
            raise CaptureError(
                f"The journal {path} cannot be written ({error.strerror}): make room or choose another folder."
            ) from error
        if summary.header != header:
            differing = sorted(key for key in header if summary.header.get(key) != header[key])
            raise IntegrityError(
                f"The journal {path} belongs to another study or configuration ({', '.join(differing)} differ): "
                "the frozen files were replaced after capture began."
            )
        return cls(connection, summary, seq, chain)

    def commit(self, rows: Sequence[Row]) -> None:
        """Write rows in one transaction; they are on disk when this returns.

        Raises
        ------
        CaptureError
            Where the disk is full or the file cannot be written; nothing of the rows is kept then.
        IntegrityError
            Where a call has an intent or a terminal already.
        """
        if not rows:
            return
        seq, chain = self._seq, self._chain
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for row in rows:
                seq += 1
                chain = _append(self._connection, row, seq, chain)
            self._connection.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.IntegrityError):
                raise IntegrityError(f"The journal already holds this call: {error}.") from error
            raise _cannot(
                Path(self._connection.execute("PRAGMA database_list").fetchone()[2]), error
            ) from error
        self._seq, self._chain = seq, chain
        for row in rows:
            self.summary.add(row)

    def close(self) -> None:
        """Close the file; what was committed is in the main file then."""
        with closing(self._connection):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def read_journal(path: Path, visit: Callable[[Row], None] | None = None) -> JournalSummary:
    """Read a journal and check its chain; works beside a running campaign.

    Parameters
    ----------
    path : Path
        The file.
    visit : callable, optional
        Sees each row, in the order in which they were written.

    Raises
    ------
    IntegrityError
        Where a row was changed, removed or added by hand, or the file is damaged.
    """
    with _reading(path) as connection:
        return _read(connection, path, visit)[0]


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
        ) as connection:
            connection.execute("BEGIN")  # one state of the file for all reads
            yield connection
    except sqlite3.DatabaseError as error:
        raise IntegrityError(
            f"The journal {path} cannot be read ({error}): restore it from a copy."
        ) from error


def _create(connection: sqlite3.Connection, header: dict[str, Any]) -> None:
    content = canonical_json(header).decode()
    connection.execute("BEGIN IMMEDIATE")
    for statement in _schema().split(";\n"):
        connection.execute(statement)
    connection.execute("INSERT INTO header VALUES (?, ?)", (content, digest_bytes(content.encode())))
    connection.execute("COMMIT")


def _append(connection: sqlite3.Connection, row: Row, seq: int, chain: str) -> str:
    table = type(row).__name__.lower()
    values = {name: _to_column(value) for name, value in row}
    chain = _link(chain, seq, table, values)
    names = ["seq", *values, "chain"]
    marks = ", ".join("?" * len(names))
    # The names are our own, never a reply's.
    statement = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"  # noqa: S608
    connection.execute(statement, (seq, *values.values(), chain))
    return chain


def _to_column(value: Any) -> Any:
    """Return a value as SQLite keeps it. A text with a lone surrogate, which TEXT cannot hold, becomes a BLOB."""
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return text_bytes(value)
    return int(value) if isinstance(value, bool) else value


def _link(chain: str, seq: int, table: str, values: dict[str, Any]) -> str:
    """Return the next link: the digest of the link before it and of the row, each field with its type and length."""
    parts = hashlib.sha256(f"{chain}\n{seq}\n{table}".encode())
    for name, value in values.items():
        data = value if isinstance(value, bytes) else repr(value).encode("utf-8")
        parts.update(f"\n{name}:{type(value).__name__}:{len(data)}:".encode())
        parts.update(data)
    return parts.hexdigest()


def _read(
    connection: sqlite3.Connection, path: Path, visit: Callable[[Row], None] | None
) -> tuple[JournalSummary, int, str]:
    """Read every row in order and follow the chain."""
    headers = connection.execute("SELECT content, chain FROM header").fetchall()
    if len(headers) != 1 or digest_bytes(headers[0][0].encode()) != headers[0][1]:
        raise IntegrityError(f"The journal {path} was edited: its header does not have its digest.")
    summary = JournalSummary(json.loads(headers[0][0]))
    seq, chain = 0, headers[0][1]
    for table, values in _in_order(connection):
        seq += 1
        stated = values.pop("chain")
        if values.pop("seq") != seq:
            raise IntegrityError(f"The journal {path} was edited: row {seq} is missing.")
        chain = _link(chain, seq, table, values)
        if chain != stated:
            raise IntegrityError(
                f"The journal {path} was edited: row {seq} ({table}) is not what was written."
            )
        row = _from_columns(_TABLES[table], values)
        summary.add(row)
        if visit is not None:
            visit(row)
    return summary, seq, chain


def _in_order(connection: sqlite3.Connection) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of all tables by their number."""
    rows = {table: _rows(connection, table) for table in _TABLES}
    heads: dict[str, dict[str, Any]] = {}
    for table in _TABLES:
        head = next(rows[table], None)
        if head is not None:
            heads[table] = head
    while heads:
        table = min(heads, key=lambda name: heads[name]["seq"])
        yield table, heads[table]
        head = next(rows[table], None)
        if head is None:
            del heads[table]
        else:
            heads[table] = head


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    cursor = connection.execute(f"SELECT * FROM {table} ORDER BY seq")  # noqa: S608 - names of our own
    names = [column[0] for column in cursor.description]
    return (dict(zip(names, values, strict=True)) for values in cursor)


def _from_columns(kind: type[Record], values: dict[str, Any]) -> Row:
    if kind is Terminal:
        text = values["text"]
        if isinstance(text, bytes):
            values["text"] = text.decode("utf-8", "surrogatepass")
        values["reasoning"] = bool(values["reasoning"])
    if kind is Event:
        values["detail"] = json.loads(values["detail"])
    return kind(**values)  # type: ignore[return-value]


def _cannot(path: Path, error: sqlite3.DatabaseError) -> CaptureError | IntegrityError:
    if isinstance(error, sqlite3.OperationalError):
        return CaptureError(
            f"The journal {path} cannot be written ({error}): make room or allow writing, then run again."
        )
    return IntegrityError(f"The journal {path} is damaged ({error}): restore it from a copy.")
