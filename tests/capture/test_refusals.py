"""Refusals that carry no observation: waited for where that is declared, journalled each, and sent again once each."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections import Counter
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkcurrent.capture import campaign_state, glance, journal_path, limits, read_journal
from darkcurrent.capture.journal import Journal
from darkcurrent.capture.limits import Budget
from darkcurrent.errors import IntegrityError
from darkcurrent.judges.base import RequestFailed
from darkcurrent.judges.simulated import Faults, SimulatedServer
from darkcurrent.protocol.model import CaptureTable
from darkcurrent.records import Event, Intent, RequestRefusal, Retry, Terminal
from support.captures import HEADER, Capture, later, prompt
from support.judges import ScriptedJudge, reply, wait_forever
from support.studies import http_study, program


def refusal(retry_after=None, status=429):
    return RequestFailed(f"http-{status}", f"HTTP {status}: slow down", status, b"", retry_after)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(limits, "_FIRST_SECONDS", 0.002)


def refusing(times, wait="0", ticks=0):
    """Return a judge that refuses each prompt so often as `times` says, and the count of what it was asked."""
    left = Counter(times)

    def script(name):
        if left[name] > 0:
            left[name] -= 1
            return later(ticks, refusal(wait))
        return later(ticks, reply())

    return ScriptedJudge(script)


def test_by_default_a_refusal_stops_the_campaign(tmp_path):
    capture = Capture(tmp_path, 4, judge=refusing({prompt(1): 1}))
    assert capture.run() == "PARTIAL_HOLD_TRANSPORT"
    assert capture.rows(RequestRefusal) == []
    assert capture.rows(Terminal)[-1].status == "failed"
    assert capture.judge.asked == [prompt(0), prompt(1)]


def test_a_refused_call_goes_again_before_the_next_one(tmp_path):
    capture = Capture(tmp_path, 4, judge=refusing({prompt(1): 2}), on_rate_limit="wait")
    assert capture.run() == "COMPLETE"
    assert capture.judge.asked == [prompt(n) for n in (0, 1, 1, 1, 2, 3)]
    first, second = capture.rows(RequestRefusal)
    assert (first.number, first.reason, first.http_status, first.retry_after) == (1, "http-429", 429, "0")
    assert second.number == 2
    assert "slow down" in second.detail
    kinds = [type(row).__name__ for row in capture.rows((Intent, Terminal, RequestRefusal, Retry))]
    again = ["Retry", "RequestRefusal", "Retry", "Terminal"]
    assert kinds == [
        "Intent",
        "Terminal",
        "Intent",
        "RequestRefusal",
        *again,
        "Intent",
        "Terminal",
        "Intent",
        "Terminal",
    ]
    assert capture.progress[-1].done == 4


@pytest.mark.parametrize(
    "failure", [refusal(status=503), RequestFailed("connection", "no connection: refused")]
)
def test_every_kind_of_refusal_waits(tmp_path, failure):
    script = iter([failure])
    capture = Capture(tmp_path, 2, on_rate_limit="wait")
    assert capture.run(ScriptedJudge(lambda name: next(script, reply()))) == "COMPLETE"
    assert len(capture.rows(RequestRefusal)) == 1
    assert capture.judge.asked == [prompt(0), prompt(0), prompt(1)]


@pytest.mark.parametrize(
    "failure",
    [
        RequestFailed("http-500", "-", 500),
        RequestFailed("timeout", "-"),
        RequestFailed("connection-lost", "-"),
    ],
)
def test_what_may_have_been_observed_is_never_sent_again(tmp_path, failure):
    script = iter([failure])
    capture = Capture(tmp_path, 3, on_rate_limit="wait")
    assert capture.run(ScriptedJudge(lambda name: next(script, reply()))) == "PARTIAL_HOLD_TRANSPORT"
    assert capture.judge.asked == [prompt(0)]


@settings(max_examples=50, deadline=None)
@given(
    times=st.lists(st.sampled_from([0, 0, 0, 1, 2, 4]), min_size=1, max_size=12),
    in_flight=st.integers(1, 6),
    blocks=st.integers(1, 3),
    ticks=st.integers(0, 4),
)
def test_any_mix_of_refusals(tmp_path_factory, times, in_flight, blocks, ticks):
    planted = {prompt(n): count for n, count in enumerate(times)}
    capture = Capture(
        tmp_path_factory.mktemp("refusals"),
        len(times),
        blocks,
        refusing(planted, ticks=ticks),
        in_flight=in_flight,
        on_rate_limit="wait",
    )
    assert capture.run() == "COMPLETE"
    # One observation per call: each was asked once more than it was refused.
    assert Counter(capture.judge.asked) == {name: count + 1 for name, count in planted.items()}
    assert capture.judge.most_flying <= in_flight
    assert len(capture.rows(RequestRefusal)) == len(capture.rows(Retry)) == sum(times)
    firsts = list(dict.fromkeys(capture.judge.asked))
    assert firsts == list(planted), "dispatch order is schedule order"
    assert capture.summary.ambiguous == set() == capture.summary.refused


def test_after_a_refusal_one_request_goes_alone(tmp_path):
    judge = refusing({prompt(n): 1 for n in range(4)} | {prompt(0): 3}, ticks=3)
    capture = Capture(tmp_path, 8, judge=judge, in_flight=4, on_rate_limit="wait")
    assert capture.run() == "COMPLETE"
    assert judge.asked[:6] == [prompt(n) for n in (0, 1, 2, 3, 0, 0)]
    assert Counter(judge.asked) == {prompt(n): {0: 4, 1: 2, 2: 2, 3: 2}.get(n, 1) for n in range(8)}


def test_retry_after_is_waited_for(tmp_path):
    capture = Capture(tmp_path, 2, judge=refusing({prompt(0): 1}, wait="0.15"), on_rate_limit="wait")
    assert capture.run() == "COMPLETE"
    (row,) = capture.rows(RequestRefusal)
    (again,) = capture.rows(Retry)
    assert 145 <= row.wait_ms <= 150
    assert again.elapsed_ms - row.elapsed_ms >= 145
    assert max(progress.waiting_seconds for progress in capture.progress) > 0.1


def test_a_wait_beyond_the_deadline_ends_the_campaign_at_once(tmp_path):
    capture = Capture(
        tmp_path, 3, judge=refusing({prompt(1): 1}, wait="90"), on_rate_limit="wait", deadline_minutes=1.0
    )
    assert capture.run() == "PARTIAL_HOLD_DEADLINE"
    assert capture.judge.asked == [prompt(0), prompt(1)]
    why = capture.summary.stopped.detail["why"]
    assert "the service refused (http-429) and may be asked again in 90 s; the deadline leaves 60 s" in why
    assert capture.summary.ambiguous == set(), "a refused call was not observed"
    assert capture.prompts(capture.summary.refused) == {prompt(1)}


def test_a_service_that_refuses_for_ever_ends_at_the_deadline(tmp_path):
    capture = Capture(
        tmp_path, 2, judge=ScriptedJudge(lambda name: refusal()), on_rate_limit="wait", deadline_minutes=0.005
    )
    assert capture.run() == "PARTIAL_HOLD_DEADLINE"
    assert 3 <= len(capture.judge.asked) < 100
    assert capture.summary.elapsed_ms <= 400


def test_a_pause_ends_a_wait(tmp_path):
    capture = Capture(tmp_path, 3, judge=refusing({prompt(1): 1}, wait="30"), on_rate_limit="wait")

    def during(capture, journal):
        asyncio.get_running_loop().call_later(0.1, capture.campaign.pause)

    assert capture.run(during=during) == "INTERRUPTED"
    assert capture.summary.elapsed_ms < 5000
    second = ScriptedJudge()
    assert capture.run(second) == "COMPLETE"
    assert second.asked == [prompt(1), prompt(2)], "the refused call goes again, first and once"
    assert [row.number for row in capture.rows(Retry)] == [1]


def test_a_call_that_was_sent_again_and_has_no_end_is_ambiguous(tmp_path):
    """Killed between a second dispatch and its answer: from now on it may have been observed."""
    answers = iter([refusal("0")])
    capture = Capture(tmp_path, 2, on_rate_limit="wait")

    def script(name):
        found = next(answers, None)
        if found is None:
            asyncio.get_running_loop().call_soon(task.cancel)
            return wait_forever()
        return found

    def during(capture, journal):
        nonlocal task
        task = asyncio.current_task()

    task = None
    with pytest.raises(asyncio.CancelledError):
        capture.run(ScriptedJudge(script), during=during)
    assert capture.prompts(capture.summary.ambiguous) == {prompt(0)}
    assert capture.summary.refused == set()
    second = ScriptedJudge()
    assert capture.run(second) == "PARTIAL_HOLD_TRANSPORT"
    assert second.asked == [prompt(1)]


def rows(number=1):
    call_id = "c" * 64
    common = {"call_id": call_id, "at": "now", "elapsed_ms": 0}
    return (
        Intent(**common, request_sha256="0" * 64),
        RequestRefusal(**common, number=number, reason="http-429", detail="-", wait_ms=0),
        Retry(**common, number=number),
        Terminal(**common, status="answered"),
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda intent, refused, retry, terminal: [intent, retry],
        lambda intent, refused, retry, terminal: [refused],
        lambda intent, refused, retry, terminal: [intent, refused, retry, retry],
        lambda intent, refused, retry, terminal: [intent, refused, refused],
        lambda intent, refused, retry, terminal: [intent, refused, retry, terminal, rows(2)[2]],
        lambda intent, refused, retry, terminal: [intent, refused, terminal, retry],
    ],
)
def test_the_file_itself_refuses_a_dispatch_without_a_refusal(tmp_path, wrong):
    with closing(Journal.open(tmp_path / "journal" / "judge.sqlite", HEADER)) as journal:
        with pytest.raises(IntegrityError, match="goes again only after a refusal"):
            journal.commit(wrong(*rows()))
        journal.commit(rows())


@pytest.mark.parametrize("edit", ["UPDATE refusal SET wait_ms = 1", "DELETE FROM retry"])
def test_refusals_and_retries_are_in_the_chain(tmp_path, edit):
    path = tmp_path / "journal" / "judge.sqlite"
    with closing(Journal.open(path, HEADER)) as journal:
        journal.commit(rows())
    with closing(sqlite3.connect(path)) as connection:
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(edit)
        for table in ("refusal", "retry"):
            connection.execute(f"DROP TRIGGER {table}_no_update")
            connection.execute(f"DROP TRIGGER {table}_no_delete")
        connection.execute(edit)
        connection.commit()
    with pytest.raises(IntegrityError, match="edited"):
        read_journal(path)


# ------------------------------------------------------------------ ceilings


def metered(prompt_tokens, completion_tokens):
    return reply(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)


def budget(max_tokens, longest=10):
    return Budget(CaptureTable(max_tokens=max_tokens), None, longest)


def size(capture):
    """Return the bytes of a request, which are the same for each of the first ten calls."""
    call = capture.calls[0]
    keys = (call.rubric, call.prompt, call.text_a, call.text_b)
    return len(capture.judge.request_bytes(*(capture.texts[key] for key in keys)))


@pytest.mark.parametrize("in_flight", [1, 4])
def test_no_call_leaves_that_could_exceed_a_ceiling(tmp_path, in_flight):
    capture = Capture(tmp_path, 9, in_flight=in_flight)
    bound = size(capture) + 10
    capture.judge = ScriptedJudge(lambda name: later(2, metered(20, 5)))
    ceiling = bound + 4 * 25
    assert capture.run(budget=budget(ceiling)) == "HELD_EARLY"
    # Four calls used 25 each; with a fifth in flight the ceiling is just kept, and a sixth could exceed it.
    assert len(capture.judge.asked) == 5
    why = capture.summary.stopped.detail["why"]
    assert why == f"the next call could bring the tokens to {5 * 25 + bound}; `max_tokens` is {ceiling}"
    assert capture.summary.ambiguous == set()


def test_earlier_runs_count_against_a_ceiling(tmp_path):
    capture = Capture(tmp_path, 9)
    bound = size(capture) + 10
    script = iter([metered(20, 5), reply(), metered(20, 5)])

    def first(name):
        if name == prompt(2):
            capture.campaign.pause()
        return next(script)

    assert capture.run(ScriptedJudge(first), budget=budget(10_000)) == "INTERRUPTED"
    second = ScriptedJudge(lambda name: metered(20, 5))
    # Two are known, the one without usage counts as the most it can have used: that leaves room for two more calls.
    assert capture.run(second, budget=budget(2 * 25 + bound + 25 + bound)) == "HELD_EARLY"
    assert second.asked == [prompt(3), prompt(4)]


def test_a_refused_request_does_not_count_against_a_ceiling(tmp_path):
    judge = refusing({prompt(n): 2 for n in range(4)})
    capture = Capture(tmp_path, 4, judge=judge, on_rate_limit="wait")
    assert capture.run(budget=budget(4 * (size(capture) + 10))) == "COMPLETE"
    assert len(judge.asked) == 12


def test_a_ceiling_that_is_not_reached_changes_nothing(tmp_path):
    capture = Capture(tmp_path, 5, judge=ScriptedJudge(lambda name: later(3, metered(20, 5))), in_flight=5)
    assert capture.run(budget=budget(5 * (size(capture) + 10))) == "COMPLETE"
    assert capture.judge.asked == [prompt(n) for n in range(5)]
    assert capture.judge.most_flying == 5


# ------------------------------------------------------------------ with a server


def test_a_whole_campaign_through_refusals(tmp_path):
    faults = Faults(shares={"429": 0.2, "429-retry-after": 0.1, "503": 0.1}, retry_after="0", seed=3)
    with SimulatedServer(faults=faults, model="planted-1") as server:
        study = http_study(tmp_path, server.url, 'in_flight = 3\non_rate_limit = "wait"', items=6)
        assert study.run("judge") == "COMPLETE"
        refused = server.refused.total()
        assert refused >= 3
        assert max(server.observed.values()) == 1
        assert len(server.observed) == 18
        assert server.requests == 18 + refused
    now = glance(tmp_path, study.frozen, "judge")
    assert (now.ended, now.ambiguous, now.waiting, now.refusals) == (18, 0, 0, refused)
    shown = json.loads(program("status", tmp_path, "--json").stdout)["judge"]
    assert shown["refusals"] == refused
    (campaign,) = study.analyze().campaigns
    assert (campaign.terminal, campaign.missing, campaign.ambiguous) == (18, 0, 0)


def test_a_refused_call_that_is_never_sent_again_is_missing_and_not_ambiguous(tmp_path):
    with SimulatedServer(
        faults=Faults(shares={"429-retry-after": 1.0}, retry_after="9999"), model="planted-1"
    ) as server:
        study = http_study(tmp_path, server.url, 'on_rate_limit = "wait"\ndeadline_minutes = 1', items=2)
        ended = program("run", tmp_path)
        assert ended.returncode == 5
        assert "may be asked again in 1e+04 s" in ended.stderr
        assert "requests that were refused without an answer: 1;" in ended.stderr
    (campaign,) = study.analyze().campaigns
    assert (campaign.terminal, campaign.missing, campaign.ambiguous) == (0, 6, 0)
    assert glance(tmp_path, study.frozen, "judge").waiting == 1


def test_a_state_counts_a_refused_call_as_open():
    from darkcurrent.capture import JournalSummary

    summary = JournalSummary({})
    intent, refused, retry, terminal = rows()
    summary.add(Event(at="now", elapsed_ms=0, kind="opened", detail={}))
    for row, state in (
        (intent, "PARTIAL_HOLD_TRANSPORT"),
        (refused, "INTERRUPTED"),
        (retry, "PARTIAL_HOLD_TRANSPORT"),
        (terminal, "COMPLETE"),
    ):
        summary.add(row)
        assert campaign_state(summary, 1) == state


def test_the_journal_of_another_form_is_refused_and_said_to_be(tmp_path):
    study = http_study(tmp_path, "http://127.0.0.1:9", items=2)
    path = journal_path(tmp_path, "judge")
    path.parent.mkdir()
    from darkcurrent.canonical import canonical_json, digest_bytes

    content = canonical_json({"study": study.frozen.study_digest, "configuration": "judge"}).decode()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE header (content TEXT, chain TEXT)")
        connection.execute("INSERT INTO header VALUES (?, ?)", (content, digest_bytes(content.encode())))
        connection.commit()
    for command in ("status", "analyze", "run"):
        ended = program(command, tmp_path)
        assert ended.returncode == 2, ended.stderr
        assert "has the form darkcurrent/journal/1 and this version of darkcurrent reads" in ended.stderr
