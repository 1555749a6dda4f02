"""The durable record of a campaign: one SQLite file, append-only, chained row by row.

Invariants (see `design/journal.md`): no request leaves before its intent is committed; a call has at most one
intent and one terminal, ever; no row is changed or removed; and a change by hand is noticed.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from darkcurrent.canonical import canonical_json, digest_bytes
from darkcurrent.capture.rows import TABLES, Row, from_columns, link, schema, to_columns
from darkcurrent.errors import CaptureError, IntegrityError
from darkcurrent.records import Event, Intent, Terminal

__all__ = ["Journal", "JournalSummary", "Row", "check_header", "read_journal"]

_OF_THE_SYSTEM = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}
"""Errors that speak of the machine; every other one speaks of what the file holds."""


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

    def __init__(
        self, path: Path, connection: sqlite3.Connection, summary: JournalSummary, seq: int, chain: str
    ) -> None:
        self._path = path
        self._connection = connection
        self._seq = seq
        self._chain = chain
        self.summary = summary

    @classmethod
    def open(cls, path: Path, header: dict[str, Any]) -> Journal:
        """Open a journal for writing; create it where there is none.

        Raises
        ------
        IntegrityError
            Where it belongs to another study or configuration, or its chain is broken.
        CaptureError
            Where the file cannot be written.
        """
        try:
            if not path.exists():
                _create(path, header)
            connection = sqlite3.connect(path, isolation_level=None, timeout=5)
        except sqlite3.DatabaseError as error:
            raise _cannot("written", path, error) from error
        except OSError as error:
            raise CaptureError(
                f"The journal {path} cannot be written ({error.strerror}): make room or choose another folder."
            ) from error
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            summary, seq, chain = _read(connection, path, None)
            check_header(path, summary, header)
        except sqlite3.DatabaseError as error:
            connection.close()
            raise _cannot("written", path, error) from error
        except IntegrityError:
            connection.close()
            raise
        return cls(path, connection, summary, seq, chain)

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
        except sqlite3.IntegrityError as error:
            raise IntegrityError(
                f"The journal {self._path} cannot take this row ({error}): a call has one intent and then one terminal."
            ) from error
        except sqlite3.DatabaseError as error:
            raise _cannot("written", self._path, error) from error
        finally:
            if self._connection.in_transaction:
                self._connection.rollback()
        self._seq, self._chain = seq, chain
        for row in rows:
            self.summary.add(row)

    def close(self) -> None:
        """Close the file. SQLite moves what is in the write-ahead log into it, unless somebody is reading."""
        self._connection.close()


def check_header(path: Path, summary: JournalSummary, header: dict[str, Any]) -> None:
    """Make sure that a journal belongs to the study and the configuration that a header names.

    Raises
    ------
    IntegrityError
        Where it does not.
    """
    keys = sorted(header.keys() | summary.header.keys())
    differing = [key for key in keys if summary.header.get(key) != header.get(key)]
    if differing:
        raise IntegrityError(
            f"The journal {path} belongs to another study or configuration ({', '.join(differing)} differ): "
            "the frozen files were replaced after capture began."
        )


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
    CaptureError
        Where the file cannot be opened.
    """
    with _reading(path) as connection:
        return _read(connection, path, visit)[0]


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(_read_only(path)) as connection:
            yield connection
    except sqlite3.DatabaseError as error:
        raise _cannot("read", path, error) from error


def _read_only(path: Path) -> sqlite3.Connection:
    """Open a journal for reading, and hold one state of it for all reads."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    try:
        return _begun(address)
    except sqlite3.OperationalError:
        # In a folder that may not be written, SQLite cannot put the small files beside the journal that readers
        # and a writer share. Where they are not there, nobody writes: the file may be read as one that stands still.
        if path.with_name(f"{path.name}-wal").exists():
            raise
        return _begun(f"{address}&immutable=1")


def _begun(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=True, isolation_level=None)
    try:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master")  # only a read takes hold of a state
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def _create(path: Path, header: dict[str, Any]) -> None:
    """Write an empty journal beside its place and move it there, so that it appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.new")
    draft.unlink(missing_ok=True)
    content = canonical_json(header).decode()
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for statement in schema():
            connection.execute(statement)
        connection.execute("INSERT INTO header VALUES (?, ?)", (content, digest_bytes(content.encode())))
        connection.execute("COMMIT")
    draft.rename(path)
    for folder in (path.parent, path.parent.parent):  # a lost folder entry would be a lost journal
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def _append(connection: sqlite3.Connection, row: Row, seq: int, chain: str) -> str:
    table = type(row).__name__.lower()
    values = to_columns(row)
    chain = link(chain, seq, table, values)
    names = ["seq", *values, "chain"]
    marks = ", ".join("?" * len(names))
    # The names are our own, never a reply's.
    statement = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"  # noqa: S608
    connection.execute(statement, (seq, *values.values(), chain))
    return chain


def _read(
    connection: sqlite3.Connection, path: Path, visit: Callable[[Row], None] | None
) -> tuple[JournalSummary, int, str]:
    """Read every row in order and follow the chain."""
    headers = connection.execute("SELECT CAST(content AS BLOB), chain FROM header").fetchall()
    if len(headers) != 1 or digest_bytes(headers[0][0]) != headers[0][1]:
        raise IntegrityError(f"The journal {path} was edited: its header does not have its digest.")
    summary = JournalSummary(json.loads(headers[0][0]))
    seq, chain = 0, headers[0][1]
    for table, values in _in_order(connection):
        seq += 1
        stated = values.pop("chain", None)
        if values.pop("seq", None) != seq:
            raise IntegrityError(f"The journal {path} was edited: row {seq} is missing.")
        chain = link(chain, seq, table, values)
        if chain != stated:
            raise IntegrityError(
                f"The journal {path} was edited: row {seq} ({table}) is not what was written."
            )
        try:
            row = from_columns(TABLES[table], values)
        except ValueError as error:
            raise IntegrityError(f"The journal {path} was edited: row {seq} is no {table}.") from error
        summary.add(row)
        if visit is not None:
            visit(row)
    return summary, seq, chain


def _in_order(connection: sqlite3.Connection) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of all tables by their number."""
    places = " UNION ALL ".join(f"SELECT seq, '{table}' FROM {table}" for table in TABLES)  # noqa: S608 - names of our own
    rows = {table: _rows(connection, table) for table in TABLES}
    for _, table in connection.execute(f"{places} ORDER BY 1"):
        yield table, next(rows[table])


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    cursor = connection.execute(f"SELECT * FROM {table} ORDER BY seq")  # noqa: S608 - names of our own
    names = [column[0] for column in cursor.description]
    return (dict(zip(names, values, strict=True)) for values in cursor)


def _cannot(verb: str, path: Path, error: sqlite3.DatabaseError) -> CaptureError | IntegrityError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the rest of it is detail
    if code in _OF_THE_SYSTEM:
        return CaptureError(
            f"The journal {path} cannot be {verb} ({error}): make room or grant access, then try again."
        )
    return IntegrityError(f"The journal {path} is damaged or was edited ({error}): restore it from a copy.")
