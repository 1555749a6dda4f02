"""The durable record of a campaign: one SQLite file, append-only, chained row by row.

Invariants (see `design/journal.md`): no request leaves before its intent is committed; a call has at most one
intent and one terminal, ever, and goes again only after a refusal that is committed; no row is changed or
removed; and a change by hand is noticed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from darkcurrent.canonical import canonical_json, digest_bytes
from darkcurrent.capture.reading import JournalSummary, cannot, check_header, read_rows
from darkcurrent.capture.rows import FORMAT, INSERTIONS, TABLE_OF, TABLES, Row, link, schema, to_columns
from darkcurrent.errors import CaptureError, DarkcurrentError, IntegrityError

__all__ = ["Journal"]

_CHECKPOINT_PAGES = 4000
"""How many pages of 4 KB gather in the write-ahead log before they are moved into the file, which costs two more
waits for the disk."""


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
        UsageError
            Where another version of darkcurrent wrote it.
        CaptureError
            Where the file cannot be written.
        """
        try:
            if not path.exists():
                _create(path, header)
            # Used from one thread at a time, which need not be the one that opened it.
            connection = sqlite3.connect(path, isolation_level=None, timeout=5, check_same_thread=False)
        except sqlite3.DatabaseError as error:
            raise cannot("written", path, error) from error
        except OSError as error:
            raise CaptureError(
                f"The journal {path} cannot be written ({error.strerror}): make room or choose another folder."
            ) from error
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            summary, seq, chain = read_rows(connection, path, None)
            check_header(path, summary.header, header)
        except sqlite3.DatabaseError as error:
            connection.close()
            raise cannot("written", path, error) from error
        except DarkcurrentError:
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
                chain = self._append(row, seq, chain)
            self._connection.execute("COMMIT")
        except sqlite3.IntegrityError as error:
            raise IntegrityError(
                f"The journal {self._path} cannot take this row ({error}): a call has one intent and then one terminal, "
                "and goes again only after a refusal."
            ) from error
        except sqlite3.DatabaseError as error:
            raise cannot("written", self._path, error) from error
        finally:
            if self._connection.in_transaction:
                self._connection.rollback()
        self._seq, self._chain = seq, chain
        for row in rows:
            self.summary.add(row)

    def rebuild(self, fill: Callable[[Callable[[Row], None]], None]) -> None:
        """Write the whole journal anew, in one transaction: only for one that is derived from the journals of shards.

        Parameters
        ----------
        fill : callable
            Is given what writes a row, and calls it for each; where it raises, the journal stays as it was.

        Raises
        ------
        CaptureError, IntegrityError
            As `commit`.
        """
        summary = JournalSummary(self.summary.header)
        seq, chain = 0, ""

        def write(row: Row) -> None:
            nonlocal seq, chain
            seq += 1
            chain = self._append(row, seq, chain)
            summary.add(row)

        try:
            self._connection.execute("BEGIN IMMEDIATE")
            content, chain = self._connection.execute("SELECT content, chain FROM header").fetchone()
            # Another file in its place would meet the write-ahead log of this one. Tables are dropped before those
            # that they refer to.
            for table in (*reversed(TABLES), "header"):
                self._connection.execute(f"DROP TABLE {table}")
            for statement in schema():
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO header VALUES (?, ?)", (content, chain))
            fill(write)
            self._connection.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise cannot("written", self._path, error) from error
        finally:
            if self._connection.in_transaction:
                self._connection.rollback()
        self.summary, self._seq, self._chain = summary, seq, chain

    def _append(self, row: Row, seq: int, chain: str) -> str:
        table = TABLE_OF[type(row)]
        values = to_columns(row)
        chain = link(chain, seq, table, values)
        self._connection.execute(INSERTIONS[table], (seq, seq, *values.values(), chain))
        return chain

    def close(self) -> None:
        """Close the file. SQLite moves what is in the write-ahead log into it, unless somebody is reading."""
        self._connection.close()


def _create(path: Path, header: dict[str, Any]) -> None:
    """Write an empty journal beside its place and move it there, so that it appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.new")
    draft.unlink(missing_ok=True)
    content = canonical_json({**header, "format": FORMAT}).decode()
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
