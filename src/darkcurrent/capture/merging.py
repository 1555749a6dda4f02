"""The journals that a campaign's shards have on their nodes, made into the one journal of the campaign.

Invariants (see `design/executors.md`): what is merged was checked before; a part is replaced only by one that
continues it; and what a shard may have sent, and no journal tells of, is an intent without an end.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from darkcurrent.capture.asking import now
from darkcurrent.capture.journal import Journal
from darkcurrent.capture.reading import (
    JournalSummary,
    check_header,
    open_read_only,
    read_header,
    read_journal,
    read_rows,
)
from darkcurrent.capture.rows import TABLES, Row
from darkcurrent.capture.service import differing_facts
from darkcurrent.errors import CaptureError, IntegrityError
from darkcurrent.judges import Witness
from darkcurrent.protocol.configurations import Configuration
from darkcurrent.records import Call, Event, Intent, Retry, Terminal
from darkcurrent.schedules import Shard

__all__ = ["Part", "copy_of", "end_of", "hand_out", "keep_part", "merge", "part_path", "read_part"]

End = tuple[int, str]
"""How many rows a journal has, and the last link of its chain."""


@dataclass(frozen=True, slots=True)
class Part:
    """The journal of a shard, as it was collected: checked, and where it ends."""

    path: Path
    summary: JournalSummary
    end: End


def part_path(journal: Path, shard: Shard) -> Path:
    """Return where the collected journal of a shard is kept."""
    return journal.with_suffix(".shards") / f"{shard.number}-of-{shard.of}.sqlite"


def copy_of(journal: Path) -> bytes:
    """Return a journal as the bytes of one file, whatever still lies in its write-ahead log."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "copy.sqlite"
        with open_read_only(journal) as source, closing(sqlite3.connect(path)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # to read it needs no file beside it
        return path.read_bytes()


def end_of(journal: Path) -> End:
    """Follow a journal's chain to its end."""
    with open_read_only(journal) as connection:
        _, rows, chain = read_rows(connection, journal, None)
    return rows, chain


def read_part(path: Path, header: dict[str, Any], calls: Collection[str]) -> Part:
    """Read the journal of a shard and check that it is one: chain, header, and no call of another shard.

    Raises
    ------
    IntegrityError
        Where it is not.
    """
    with open_read_only(path) as connection:
        summary, rows, chain = read_rows(connection, path, None)
    check_header(path, summary.header, header)
    strange = summary.intents.difference(calls)
    if strange:
        raise IntegrityError(
            f"The journal {path} holds the call {min(strange)[:12]}, which is not of its shard."
        )
    return Part(path, summary, (rows, chain))


def keep_part(
    data: bytes, path: Path, header: dict[str, Any], calls: Collection[str], earlier: Part | None
) -> Part:
    """Put the collected journal of a shard in its place, once it is checked and continues what was there before.

    Raises
    ------
    IntegrityError
        Where it is none, or not a continuation: then what was there before stays.
    CaptureError
        Where it cannot be written.
    """
    draft = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(exist_ok=True)
        draft.write_bytes(data)
        part = read_part(draft, header, calls)
        if earlier is not None and _link(draft, earlier.end[0]) != earlier.end[1]:
            raise IntegrityError(
                f"The journal of a node does not continue {path}, which was collected before: its disk was set back, "
                "or two nodes have sent this shard."
            )
        descriptor = os.open(draft, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
        draft.replace(path)
    except OSError as error:
        raise CaptureError(
            f"{path} cannot be written ({error.strerror}): make room or grant access."
        ) from error
    finally:
        draft.unlink(missing_ok=True)
    return Part(path, part.summary, part.end)


def _link(journal: Path, row: int) -> str | None:
    """Return the link of one row; that of row 0 is the header's."""
    with open_read_only(journal) as connection:
        if row == 0:
            return read_header(connection, journal)[1]
        for table in TABLES:
            query = f"SELECT chain FROM {table} WHERE rowid = ?"  # noqa: S608 - names of our own
            found = connection.execute(query, (row,)).fetchone()
            if found:
                return str(found[0])
    return None


def hand_out(
    shard: Shard,
    calls: Iterable[Call],
    request_sha256: Callable[[Call], str],
    known: JournalSummary | None,
    elapsed_ms: int,
) -> list[Row]:
    """Return the rows that say of every call of a shard which may be sent from here on, that it may have been.

    Parameters
    ----------
    known : JournalSummary or None
        What was collected of the shard; what ended there has ended.
    """
    at = now()
    detail = {"shard": shard.number, "shards": shard.of}
    rows: list[Row] = [Event(at=at, elapsed_ms=elapsed_ms, kind="handed-out", detail=detail)]
    for call in calls:
        if known is None or call.call_id not in known.intents:
            rows.append(
                Intent(
                    call_id=call.call_id, at=at, elapsed_ms=elapsed_ms, request_sha256=request_sha256(call)
                )
            )
        elif call.call_id in known.refused:
            number = known.refusals[call.call_id]
            rows.append(Retry(call_id=call.call_id, number=number, at=at, elapsed_ms=elapsed_ms))
    return rows


def merge(
    journal: Journal,
    configuration: Configuration,
    parts: Mapping[Shard, Part],
    beyond: Mapping[Shard, Sequence[Row]],
) -> None:
    """Make the journal of a campaign anew, of what is known of its shards.

    Where the shards were answered by different judges, the campaign has stopped for good, as it would have on one
    machine.

    Parameters
    ----------
    parts : mapping
        What was collected.
    beyond : mapping
        For a shard that was handed out and not collected since: the rows of `hand_out`.
    """
    # What is read last of a journal is how long it took: the part that took longest comes last.
    taken = {shard: part.summary.elapsed_ms for shard, part in parts.items()}
    order = sorted(parts.keys() | beyond.keys(), key=lambda shard: (taken.get(shard, 0), shard.number))

    def fill(write: Callable[[Row], None]) -> None:
        witness, objection = Witness.of(configuration), None
        first: dict[str, Any] | None = None
        for shard in order:
            if shard not in beyond:
                write(_collected(shard, taken[shard]))

            def visit(row: Row, shard: Shard = shard) -> None:
                nonlocal objection, first
                if isinstance(row, Terminal):
                    objection = objection or witness.objection(row)
                elif isinstance(row, Event) and row.kind == "opened":
                    facts = row.detail["identity"]
                    first = facts if first is None else first
                    changed = ", ".join(differing_facts(first, facts))
                    objection = objection or (changed and f"{changed} of the service of shard {shard} differ")
                write(row)

            if shard in parts:
                read_journal(parts[shard].path, visit)
            for row in beyond.get(shard, ()):
                write(row)
        if objection:
            detail = {
                "state": "PARTIAL_HOLD_MODEL",
                "why": f"the shards were answered by several judges: {objection}",
            }
            write(Event(at=now(), elapsed_ms=max(taken.values()), kind="stopped", detail=detail))

    journal.rebuild(fill)


def _collected(shard: Shard, elapsed_ms: int) -> Event:
    """Return what says of a journal that this campaign is one of a cluster."""
    detail = {"shard": shard.number, "shards": shard.of, "collected": True}
    return Event(at=now(), elapsed_ms=elapsed_ms, kind="handed-out", detail=detail)
