"""Journals of shards, made into one."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkcurrent.capture import read_journal
from darkcurrent.capture.journal import Journal
from darkcurrent.capture.merging import copy_of, hand_out, keep_part, merge, part_path, read_part
from darkcurrent.errors import IntegrityError
from darkcurrent.protocol.configurations import OpenAIChatConfiguration, SimulatedConfiguration
from darkcurrent.records import Event, Intent, RequestRefusal, Retry, Terminal
from darkcurrent.schedules import divide
from support.captures import HEADER
from support.studies import make_calls

CALLS, _ = make_calls(9)
SHARDS = divide(CALLS, 3, "hash")
CONFIGURATION = SimulatedConfiguration(name="judge", backend="simulated")
AT = {"at": "2026-01-01", "elapsed_ms": 5}


def header(shard):
    return {**HEADER, "shard": shard.number, "shards": shard.of}


def ids(shard):
    return {call.call_id for call in SHARDS[shard]}


def rows_of(call, fate):
    """What a journal holds of a call that was left unsent, sent, refused, sent again, or that ended."""
    rows = [Intent(call_id=call.call_id, request_sha256="0" * 64, **AT)]
    if fate in {"refused", "again"}:
        rows.append(RequestRefusal(call_id=call.call_id, number=1, reason="r", detail="d", wait_ms=0, **AT))
    if fate == "again":
        rows.append(Retry(call_id=call.call_id, number=1, **AT))
    if fate == "ended":
        rows.append(
            Terminal(call_id=call.call_id, status="answered", text="{}", served_model="m", body=b"\xff", **AT)
        )
    return rows if fate != "unsent" else []


def journal_of(path, shard, fates, opened=None):
    """Write a node's journal; return it as the bytes that travel."""
    with closing(Journal.open(path, header(shard))) as journal:
        journal._connection.execute("PRAGMA synchronous = OFF")
        journal.commit([Event(kind="opened", detail={"identity": opened or {}}, **AT)])
        for call, fate in zip(SHARDS[shard], fates, strict=True):
            journal.commit(rows_of(call, fate))
        return copy_of(path)  # while it is open: part of it lies in the write-ahead log


FATES = st.sampled_from(["unsent", "sent", "refused", "again", "ended"])


@settings(max_examples=40)
@given(data=st.data())
def test_the_merged_journal_says_what_the_shards_say_and_no_less(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("merge")
    path = folder / "judge.sqlite"
    ended, unknown = set(), set()
    with closing(Journal.open(path, HEADER)) as journal:
        parts, beyond = {}, {}
        for shard, calls in SHARDS.items():
            fates = data.draw(st.none() | st.tuples(*[FATES] * len(calls)))
            is_out = data.draw(st.booleans())
            if fates is not None:
                sent = journal_of(folder / f"{shard.number}.sqlite", shard, fates)
                parts[shard] = keep_part(sent, part_path(path, shard), header(shard), ids(shard), None)
                assert parts[shard].end == read_part(parts[shard].path, header(shard), ids(shard)).end
            of_fate = dict(zip([call.call_id for call in calls], fates or ["unsent"] * 9, strict=False))
            over = {call for call, fate in of_fate.items() if fate == "ended"}
            ended |= over
            unknown |= {call for call, fate in of_fate.items() if fate in {"sent", "again"}}
            if is_out:
                known = parts[shard].summary if shard in parts else None
                beyond[shard] = hand_out(shard, calls, lambda call: "1" * 64, known, 0)
                unknown |= ids(shard) - over
        merge(journal, CONFIGURATION, parts, beyond)
        merge(journal, CONFIGURATION, parts, beyond)  # as often as you like
        summary = journal.summary
    found = read_journal(path)  # follows the chain
    assert found == summary
    assert found.terminals == ended
    assert found.ambiguous == unknown
    assert {event.detail["shard"] for event in found.handed_out} == {
        s.number for s in parts.keys() | beyond.keys()
    }
    # It is a journal like any other: nothing in it is changed or removed, and it goes on.
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute("DELETE FROM header")
    with closing(Journal.open(path, HEADER)) as journal:
        journal.commit([Event(kind="paused", detail={}, **AT)])
    assert read_journal(path).events[-1].kind == "paused"


def test_a_merge_that_fails_leaves_the_journal_as_it_was(tmp_path):
    path = tmp_path / "judge.sqlite"
    (first, *_) = SHARDS
    with closing(Journal.open(path, HEADER)) as journal:
        journal.commit(hand_out(first, SHARDS[first], lambda call: "1" * 64, None, 0))
        before = read_journal(path)
        sent = journal_of(tmp_path / "1.sqlite", first, ["ended"] * 3)
        part = keep_part(sent, part_path(path, first), header(first), ids(first), None)
        with closing(sqlite3.connect(part.path)) as connection:
            connection.execute("DROP TRIGGER terminal_no_update")
            connection.execute("UPDATE terminal SET text = 'A'")
            connection.commit()
        with pytest.raises(IntegrityError, match="was edited"):
            merge(journal, CONFIGURATION, {first: part}, {})
        assert read_journal(path) == before == journal.summary
        journal.commit([Event(kind="paused", detail={}, **AT)])
    assert len(read_journal(path).ambiguous) == 3


def test_a_reader_beside_a_merge_sees_the_one_or_the_other(tmp_path):
    path = tmp_path / "judge.sqlite"
    (first, *_) = SHARDS
    with closing(Journal.open(path, HEADER)) as journal, closing(sqlite3.connect(path)) as reader:
        journal.commit(hand_out(first, SHARDS[first], lambda call: "1" * 64, None, 0))
        reader.execute("BEGIN")
        count = "SELECT (SELECT count(*) FROM intent), (SELECT count(*) FROM terminal)"
        assert reader.execute(count).fetchone() == (3, 0)
        sent = journal_of(tmp_path / "1.sqlite", first, ["ended"] * 3)
        part = keep_part(sent, part_path(path, first), header(first), ids(first), None)
        merge(journal, CONFIGURATION, {first: part}, {})
        assert reader.execute(count).fetchone() == (3, 0)
        reader.execute("ROLLBACK")
        assert reader.execute(count).fetchone() == (3, 3)


def test_a_part_is_replaced_only_by_what_continues_it(tmp_path):
    (first, second, _) = SHARDS
    path = tmp_path / "judge.sqlite"
    where = part_path(path, first)
    short = journal_of(tmp_path / "short.sqlite", first, ["ended", "sent", "unsent"])
    part = keep_part(short, where, header(first), ids(first), None)
    with closing(Journal.open(tmp_path / "short.sqlite", header(first))) as journal:
        journal.commit(rows_of(SHARDS[first][2], "ended"))
    longer = keep_part(copy_of(tmp_path / "short.sqlite"), where, header(first), ids(first), part)
    assert len(longer.summary.terminals) == 2
    other = journal_of(tmp_path / "other.sqlite", first, ["ended"] * 3, {"another": "service"})
    kept = where.read_bytes()
    for data, kind in ((short, "does not continue"), (other, "does not continue")):
        with pytest.raises(IntegrityError, match=kind):
            keep_part(data, where, header(first), ids(first), longer)
    foreign = journal_of(tmp_path / "2.sqlite", second, ["ended"] * 3)
    with pytest.raises(IntegrityError, match="shard differ"):
        keep_part(foreign, where, header(first), ids(first), None)
    with pytest.raises(IntegrityError, match="is not of its shard"):
        keep_part(foreign, part_path(path, second), header(second), ids(first), None)
    with pytest.raises(IntegrityError, match="damaged"):
        keep_part(b"no journal", where, header(first), ids(first), None)
    assert where.read_bytes() == kept
    assert [file.name for file in where.parent.iterdir()] == ["1-of-3.sqlite"]


CHAT = OpenAIChatConfiguration(
    name="judge", backend="openai-chat", model="m", base_url="http://127.0.0.1:1/v1"
)


@pytest.mark.parametrize(
    ("builds", "fingerprints", "why"),
    [
        (("one", "one", "one"), ("x", "x", "x"), None),
        (("one", "other", "one"), ("x", "x", "x"), "build of the service of shard 2 of 3 differ"),
        (("one", "one", "one"), ("x", "x", "y"), "the system fingerprint was 'x' at first and is 'y' now"),
    ],
)
def test_shards_of_several_judges_are_a_stopped_campaign(tmp_path, builds, fingerprints, why):
    path = tmp_path / "judge.sqlite"
    parts = {}
    for shard, build, mark in zip(SHARDS, builds, fingerprints, strict=True):
        told = {"build": build, "served": [str(shard.number)]}
        node = tmp_path / f"{shard.number}.sqlite"
        journal_of(node, shard, ["unsent"] * 3, told)
        with closing(Journal.open(node, header(shard))) as journal:
            intent, terminal = rows_of(SHARDS[shard][2], "ended")
            journal.commit([intent, terminal.model_copy(update={"fingerprint": mark})])
        parts[shard] = keep_part(copy_of(node), part_path(path, shard), header(shard), ids(shard), None)
    configuration = CHAT
    with closing(Journal.open(path, HEADER)) as journal:
        merge(journal, configuration, parts, {})
    stopped = read_journal(path).stopped
    if why is None:
        assert stopped is None
        return
    assert stopped.detail["state"] == "PARTIAL_HOLD_MODEL"
    assert why in stopped.detail["why"]
