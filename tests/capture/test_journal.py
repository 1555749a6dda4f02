"""The durable record: append-only, unique, chained, and clear about what is wrong with it."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkcurrent.canonical import digest
from darkcurrent.capture import read_journal
from darkcurrent.capture.journal import Journal
from darkcurrent.errors import CaptureError, DarkcurrentError, IntegrityError
from darkcurrent.records import Event, Intent, Terminal
from support.privileges import without_privileges

HEADER = {"study": "s" * 64, "configuration": "judge", "identity": "i" * 64}


def call(number):
    return digest({"call": number})


def intent(number, elapsed=0):
    return Intent(call_id=call(number), at="now", elapsed_ms=elapsed, request_sha256="0" * 64)


def terminal(number, **changes):
    fields = {
        "call_id": call(number),
        "at": "now",
        "elapsed_ms": 0,
        "status": "answered",
        "text": "x",
        "body": b"x",
    }
    return Terminal(**{**fields, **changes})


def event(kind="opened", **detail):
    return Event(at="now", elapsed_ms=0, kind=kind, detail=detail)


@contextmanager
def opened(path, header=HEADER):
    with closing(Journal.open(path, header)) as journal:
        yield journal


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study" / "journal" / "judge.sqlite"


@pytest.fixture
def written(path):
    """A journal with four calls, one of them without an end."""
    with opened(path) as journal:
        journal.commit([event(), intent(0), intent(1)])
        journal.commit([terminal(0), intent(2)])
        journal.commit([terminal(1), terminal(2), intent(3), event("paused")])
    return path


def by_hand(path, *statements, triggers=False):
    """Change a journal as somebody with a SQLite shell would."""
    with closing(sqlite3.connect(path)) as connection:
        if not triggers:
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall():
                connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def rows_of(path):
    rows = []
    read_journal(path, rows.append)
    return rows


def test_what_is_committed_is_read_in_order(written):
    rows = rows_of(written)
    assert [type(row).__name__ for row in rows] == [
        "Event", "Intent", "Intent", "Terminal", "Intent", "Terminal", "Terminal", "Intent", "Event",
    ]  # fmt: skip
    summary = read_journal(written)
    assert summary.header == HEADER
    assert summary.ambiguous == {call(3)}
    assert summary.terminals == {call(0), call(1), call(2)}


def test_a_journal_goes_on_where_it_ended(written):
    with opened(written) as journal:
        assert journal.summary.ambiguous == {call(3)}
        journal.commit([terminal(3)])
    assert read_journal(written).ambiguous == set()
    assert len(rows_of(written)) == 10


@pytest.mark.parametrize("table", ["header", "intent", "terminal", "event"])
@pytest.mark.parametrize("verb", ["UPDATE {0} SET chain = 'x'", "DELETE FROM {0}"])
def test_no_row_is_changed_or_removed(written, table, verb):
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        by_hand(written, verb.format(table), triggers=True)


def test_a_call_has_one_intent_and_then_one_terminal(written):
    with opened(written) as journal:
        for rows in (
            [intent(0)],
            [terminal(0)],
            [intent(9), intent(9)],
            [terminal(3), terminal(3)],
            [terminal(9)],
        ):
            with pytest.raises(IntegrityError, match="one intent and then one terminal"):
                journal.commit(rows)
        # Nothing of a refused transaction is kept, and the journal goes on.
        assert call(9) not in journal.summary.intents
        journal.commit([terminal(3)])
    assert len(rows_of(written)) == 10


def test_the_key_alone_keeps_a_second_writer_from_sending_twice(written):
    """Should the lock fail, the file itself refuses."""
    with opened(written) as one, opened(written) as two:
        one.commit([intent(4)])
        with pytest.raises(IntegrityError):
            two.commit([intent(4)])


EDITS = {
    "a text": ["UPDATE terminal SET text = 'y' WHERE seq = 4"],
    "a body": ["UPDATE terminal SET body = x'79' WHERE seq = 4"],
    "a text as a blob": ["UPDATE terminal SET text = x'78' WHERE seq = 4"],
    "a null": ["UPDATE terminal SET http_status = 200 WHERE seq = 4"],
    "a time": ["UPDATE intent SET elapsed_ms = 1 WHERE seq = 2"],
    "an event": ["UPDATE event SET detail = '{\"a\": 1}' WHERE seq = 1"],
    "a link": ["UPDATE intent SET chain = 'x' WHERE seq = 2"],
    "a row removed": ["DELETE FROM terminal WHERE seq = 4"],
    "a call removed": [f"DELETE FROM terminal WHERE call_id = '{call(0)}'", f"DELETE FROM intent WHERE call_id = '{call(0)}'"],
    "a row added": [f"INSERT INTO terminal (seq, call_id, at, status, chain) VALUES (10, '{call(3)}', 'now', 'answered', 'x')"],
    "a row replaced": [f"INSERT OR REPLACE INTO intent VALUES (2, '{call(0)}', 'now', 5, 'f', 'x')"],
    "two numbers swapped": [
        "UPDATE terminal SET seq = 99 WHERE seq = 6",
        "UPDATE terminal SET seq = 6 WHERE seq = 7",
        "UPDATE terminal SET seq = 7 WHERE seq = 99",
    ],
    "a number that is a text": ["UPDATE terminal SET seq = 'x' WHERE seq = 4"],
    "a number that is used": ["UPDATE event SET seq = 4 WHERE seq = 9"],
    "the header": ["UPDATE header SET content = replace(content, 'judge', 'other')"],
    "the header as bytes": ["UPDATE header SET content = x'00ff'"],
    "a second header": ["INSERT INTO header SELECT * FROM header"],
    "no header": ["DELETE FROM header"],
    "a table gone": ["DROP TABLE event"],
    "a column added": ["ALTER TABLE terminal ADD COLUMN verdict"],
    "a column renamed": ["ALTER TABLE terminal RENAME COLUMN chain TO link"],
    "bytes that are no text": ["UPDATE terminal SET text = CAST(x'ff' AS TEXT) WHERE seq = 4"],
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_an_edit_by_hand_is_noticed(written, edit):
    by_hand(written, *edit)
    with pytest.raises(IntegrityError, match="edited"):
        read_journal(written)
    with pytest.raises(IntegrityError, match="edited"), opened(written):
        pass


def test_what_the_chain_does_not_notice(written):
    """The newest rows cut off: see design/journal.md. The test pins what is documented, so that it stays true."""
    by_hand(written, "DELETE FROM event WHERE seq = 9", "DELETE FROM intent WHERE seq = 8")
    assert read_journal(written).ambiguous == set()


def test_a_journal_of_another_study_is_refused(written):
    with pytest.raises(IntegrityError, match=r"another study or configuration \(study differ\)"):
        Journal.open(written, {**HEADER, "study": "t" * 64})
    with pytest.raises(IntegrityError, match="identity"):
        Journal.open(written, {key: HEADER[key] for key in ("study", "configuration")})


def test_a_file_that_is_no_journal_is_refused(path):
    path.parent.mkdir(parents=True)
    for content in (b"", b"not a database, " * 100):
        path.write_bytes(content)
        with pytest.raises(IntegrityError, match=r"judge\.sqlite"):
            read_journal(path)
        with pytest.raises(IntegrityError, match=r"judge\.sqlite"):
            Journal.open(path, HEADER)


def test_a_journal_appears_whole_or_not_at_all(path, monkeypatch):
    """A draft that a kill left behind is not taken for a journal, and does not stand in the way."""
    path.parent.mkdir(parents=True)
    draft = path.with_name(".judge.sqlite.new")
    draft.write_bytes(b"half of something")
    with opened(path) as journal:
        assert journal.summary.header == HEADER
    assert not draft.exists()


def test_a_damaged_page_is_an_integrity_error(path):
    with opened(path) as journal:
        journal.commit([intent(n) for n in range(300)])
    data = bytearray(path.read_bytes())
    data[4096 * 8 : 4096 * 12] = bytes(4096 * 4)
    path.write_bytes(data)
    with pytest.raises(IntegrityError):
        read_journal(path)


# Lone surrogates and NUL included, which chance alone would seldom bring.
texts = st.text(st.characters(exclude_categories=()), max_size=30) | st.sampled_from(
    ["\ud800", "a\udfffb", "\x00", ""]
)


replies = st.fixed_dictionaries(
    {
        "text": texts | st.none(),
        "detail": texts | st.none(),
        "finish": texts,
        "served_model": texts,
        "body": st.binary(max_size=40),
        "prompt_tokens": st.integers(0, 2**53 - 1) | st.none(),
        "latency_ms": st.floats(0, 1e9) | st.none(),
        "reasoning": st.booleans(),
    }
)


@settings(max_examples=15, deadline=None)
@given(st.lists(replies, min_size=1, max_size=20))
def test_every_reply_survives(tmp_path_factory, replies):
    path = tmp_path_factory.mktemp("journal") / "judge.sqlite"
    written = [terminal(number, **fields) for number, fields in enumerate(replies)]
    with opened(path) as journal:
        journal.commit([*(intent(number) for number in range(len(written))), *written])
    assert rows_of(path)[len(written) :] == written


def test_a_link_does_not_depend_on_the_unicode_tables_of_python():
    """U+1C89 came with Unicode 16: its repr is an escape in Python 3.11 and a sign in 3.14; its bytes are the same."""
    from darkcurrent.capture.rows import link

    assert link("c", 1, "terminal", {"text": "\u1c89"}) == (
        "3abaf863b45d3a94c14fe964e4613218484104eda3927d3a331282ff58b76486"
    )


def test_it_can_be_read_while_it_is_written(path):
    """A reader sees whole transactions, and only ever more of them."""
    seen, over, failures = [], threading.Event(), []

    def read():
        try:
            while not over.is_set():
                summary = read_journal(path)
                assert len(summary.intents) == 2 * len(summary.events)
                seen.append(len(summary.intents))
        except (AssertionError, DarkcurrentError) as error:
            failures.append(error)

    with opened(path) as journal:
        reader = threading.Thread(target=read)
        reader.start()
        for number in range(25):
            journal.commit([intent(2 * number), event(), intent(2 * number + 1)])
        over.set()
        reader.join()
    assert failures == []
    assert len(seen) > 2
    assert seen == sorted(seen)


@pytest.fixture
def read_only(written):
    """The journal in folders that may be read by everybody and written by nobody but root."""
    # A folder of its own: pytest's are closed to others, and are shared with tests that run beside this one.
    with tempfile.TemporaryDirectory() as outer:
        Path(outer).chmod(0o755)
        moved = Path(shutil.copytree(written.parent.parent, Path(outer, "study"))) / "journal" / written.name
        moved.chmod(0o444)
        folders = (moved.parent, moved.parent.parent)
        for folder in folders:
            folder.chmod(0o555)
        yield moved
        for folder in folders:
            folder.chmod(0o755)


def test_it_can_be_read_in_a_folder_that_may_not_be_written(read_only):
    with without_privileges():
        assert read_journal(read_only).ambiguous == {call(3)}
        with pytest.raises(CaptureError, match="cannot be written") as caught:
            Journal.open(read_only, HEADER)
        assert not isinstance(caught.value, IntegrityError)


def test_a_file_that_may_not_be_read_is_no_integrity_failure(read_only):
    read_only.chmod(0o000)
    with without_privileges(), pytest.raises(CaptureError, match="cannot be read"):
        read_journal(read_only)


def test_a_full_disk_keeps_the_journal_whole(path):
    with opened(path) as journal:
        journal.commit([event()])
        journal._connection.execute(
            "PRAGMA max_page_count = 20"
        )  # the disk, as SQLite sees it, is full after this
        with pytest.raises(CaptureError, match="make room"):
            journal.commit([intent(0), terminal(0, body=bytes(200_000))])
        assert journal.summary.intents == set()
        journal.commit([intent(0), terminal(0)])  # what fits is taken
    assert read_journal(path).terminals == {call(0)}


def test_another_one_that_holds_the_file_is_a_clear_error(path):
    with opened(path) as journal:
        journal._connection.execute("PRAGMA busy_timeout = 50")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(CaptureError, match="locked"):
                journal.commit([intent(0)])
        journal.commit([intent(0)])


def test_it_is_written_through_to_the_disk(path):
    with opened(path) as journal:
        assert journal._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert journal._connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert journal._connection.execute("PRAGMA foreign_keys").fetchone() == (1,)


def test_the_writer_keeps_no_reply(path):
    """Memory does not grow with what the replies hold."""
    import gc

    with opened(path) as journal:
        for number in range(20):
            journal.commit([intent(number), terminal(number, body=b"marked" + bytes(1000))])
        gc.collect()
        kept = [thing for thing in gc.get_objects() if isinstance(thing, Terminal)]
    assert kept == []
