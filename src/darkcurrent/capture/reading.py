"""Reading a journal, row by row along its chain; works beside the campaign that writes it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from heapq import merge
from pathlib import Path
from typing import Any

from darkcurrent.canonical import digest_bytes
from darkcurrent.capture.rows import FORMAT, TABLES, Row, from_columns, link
from darkcurrent.errors import CaptureError, IntegrityError, UsageError
from darkcurrent.records import Event, Intent, RequestRefusal, Retry, Terminal

__all__ = [
    "JournalSummary",
    "cannot",
    "check_header",
    "open_read_only",
    "read_header",
    "read_journal",
    "read_rows",
]

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
    refusals, retries : dict
        Call to the number of its refusals, and to how often it was about to be sent again.
    events : list of Event
        What happened to the campaign as a whole, in order.
    prompt_tokens, completion_tokens : int
        Sums over the terminals that state both.
    unmetered : set of str
        The calls whose terminal does not.
    elapsed_ms : int
        The campaign's own time so far.
    """

    header: dict[str, Any]
    intents: set[str] = field(default_factory=set)
    terminals: set[str] = field(default_factory=set)
    refusals: dict[str, int] = field(default_factory=dict)
    retries: dict[str, int] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unmetered: set[str] = field(default_factory=set)
    elapsed_ms: int = 0

    @property
    def ambiguous(self) -> set[str]:
        """The calls that were about to be sent, for the first time or again, and whose end nobody knows."""
        return self.intents - self.terminals - self.refused

    @property
    def refused(self) -> set[str]:
        """The calls whose last request was refused without an observation: they may be sent again."""
        return {
            call_id
            for call_id, number in self.refusals.items()
            if number > self.retries.get(call_id, 0) and call_id not in self.terminals
        }

    @property
    def stopped(self) -> Event | None:
        """What ended the campaign for good, where something did."""
        return next((event for event in self.events if event.kind == "stopped"), None)

    @property
    def handed_out(self) -> list[Event]:
        """When a shard of the campaign was given to a node of a cluster, and which."""
        return [event for event in self.events if event.kind == "handed-out"]

    def add(self, row: Row) -> None:
        """Count one more row."""
        self.elapsed_ms = max(self.elapsed_ms, row.elapsed_ms)
        if isinstance(row, Intent):
            self.intents.add(row.call_id)
        elif isinstance(row, Terminal):
            self.terminals.add(row.call_id)
            if row.prompt_tokens is None or row.completion_tokens is None:
                self.unmetered.add(row.call_id)
            else:
                self.prompt_tokens += row.prompt_tokens
                self.completion_tokens += row.completion_tokens
        elif isinstance(row, RequestRefusal):
            self.refusals[row.call_id] = row.number
        elif isinstance(row, Retry):
            self.retries[row.call_id] = row.number
        else:
            self.events.append(row)


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
    UsageError
        Where another version of darkcurrent wrote it.
    CaptureError
        Where the file cannot be opened.
    """
    with open_read_only(path) as connection:
        return read_rows(connection, path, visit)[0]


@contextmanager
def open_read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a journal for reading, and hold one state of it for all reads."""
    try:
        with closing(_read_only(path)) as connection:
            yield connection
    except sqlite3.DatabaseError as error:
        raise cannot("read", path, error) from error


def _read_only(path: Path) -> sqlite3.Connection:
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


def read_header(connection: sqlite3.Connection, path: Path) -> tuple[dict[str, Any], str]:
    """Return what a journal belongs to, and the first link of its chain."""
    headers = connection.execute("SELECT CAST(content AS BLOB), chain FROM header").fetchall()
    if len(headers) != 1 or digest_bytes(headers[0][0]) != headers[0][1]:
        raise IntegrityError(f"The journal {path} was edited: its header does not have its digest.")
    header = json.loads(headers[0][0])
    form = header.pop("format", "darkcurrent/journal/1")
    if form != FORMAT:
        raise UsageError(
            f"The journal {path} has the form {form} and this version of darkcurrent reads {FORMAT}: use the version that "
            "wrote it, or start a new study in another folder."
        )
    return header, headers[0][1]


def check_header(path: Path, found: dict[str, Any], header: dict[str, Any]) -> None:
    """Make sure that a journal belongs to the study and the configuration that a header names.

    Raises
    ------
    IntegrityError
        Where it does not.
    """
    keys = sorted(header.keys() | found.keys())
    differing = [key for key in keys if found.get(key) != header.get(key)]
    if differing:
        raise IntegrityError(
            f"The journal {path} belongs to another study or configuration ({', '.join(differing)} differ): "
            "the frozen files were replaced after capture began."
        )


def read_rows(
    connection: sqlite3.Connection, path: Path, visit: Callable[[Row], None] | None
) -> tuple[JournalSummary, int, str]:
    """Read every row in order and follow the chain."""
    header, chain = read_header(connection, path)
    summary = JournalSummary(header)
    seq = 0
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
    return merge(*(_rows(connection, table) for table in TABLES), key=_number)


def _number(row: tuple[str, dict[str, Any]]) -> int:
    number = row[1].get("seq")
    return number if isinstance(number, int) else -1  # edited: it will not be the number that is expected


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[tuple[str, dict[str, Any]]]:
    cursor = connection.execute(f"SELECT * FROM {table} ORDER BY rowid")  # noqa: S608 - names of our own
    names = [column[0] for column in cursor.description]
    return ((table, dict(zip(names, values, strict=True))) for values in cursor)


def cannot(verb: str, path: Path, error: sqlite3.DatabaseError) -> CaptureError | IntegrityError:
    """Return what an error of SQLite means for a person: something of the machine, or a damaged file."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the rest of it is detail
    if code in _OF_THE_SYSTEM:
        return CaptureError(
            f"The journal {path} cannot be {verb} ({error}): make room or grant access, then try again."
        )
    return IntegrityError(f"The journal {path} is damaged or was edited ({error}): restore it from a copy.")
