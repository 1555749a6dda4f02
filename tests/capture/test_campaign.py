"""The loop: every call once, in order, within its bounds, and nothing lost whatever happens."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkcurrent.canonical import digest_bytes
from darkcurrent.capture import asking, campaign_state
from darkcurrent.capture import campaign as campaign_module
from darkcurrent.capture.journal import Journal
from darkcurrent.errors import CaptureError
from darkcurrent.judges.base import RequestFailed
from darkcurrent.records import Intent, Terminal
from support.captures import HEADER, Capture, Clock, later, pause_at, prompt
from support.judges import ScriptedJudge, reply, wait_forever

OUTCOMES = {
    "tie": reply(),
    "invalid": reply("I cannot say"),
    "no content": reply(None),
    "refused": reply(None, served_model=None, refused=True, http_status=400),
    "too large": reply(None, served_model=None, oversize=True, http_status=200),
    "other model": reply(served_model="another"),
    "no model": reply(served_model=None),
    "failed": RequestFailed("http-500", "HTTP 500", 500, b"oops"),
    "timeout": RequestFailed("timeout", "too slow"),
}
STOPPING = {
    "other model": "PARTIAL_HOLD_MODEL",
    "no model": "PARTIAL_HOLD_MODEL",
    "failed": "PARTIAL_HOLD_TRANSPORT",
    "timeout": "PARTIAL_HOLD_TRANSPORT",
}


@settings(max_examples=60, deadline=None)
@given(
    outcomes=st.lists(
        st.sampled_from([*OUTCOMES, *["tie", "invalid", "refused"] * 5]), min_size=1, max_size=14
    ),
    in_flight=st.integers(1, 8),
    blocks=st.integers(1, 4),
    ticks=st.lists(st.integers(0, 6), min_size=14, max_size=14),
)
def test_any_mix_of_outcomes(tmp_path_factory, outcomes, in_flight, blocks, ticks):
    folder = tmp_path_factory.mktemp("campaign")
    by_prompt = {prompt(n): later(ticks[n], OUTCOMES[outcome]) for n, outcome in enumerate(outcomes)}
    judge = ScriptedJudge()
    capture = Capture(folder, len(outcomes), blocks, judge, in_flight=in_flight)
    block_of = {capture.texts[call.prompt]: call.block for call in capture.calls}
    stops = {prompt(n) for n, outcome in enumerate(outcomes) if outcome in STOPPING}
    barrier, after_a_stop = [], []

    def watch(name):
        flying = set(judge.asked) - set(judge.ended)
        barrier.append({block_of[other] for other in flying} == {block_of[name]})
        after_a_stop.append(bool(stops & set(judge.ended)))
        return by_prompt.pop(name)

    judge._script = watch
    state = capture.run()
    for coroutine in by_prompt.values():
        coroutine.close()
    # Dispatch order is schedule order, each call at most once, without a gap.
    assert judge.asked == [prompt(n) for n in range(len(judge.asked))]
    assert judge.most_flying <= in_flight
    assert all(barrier), "a block began before the one before it had ended"
    summary = capture.campaign._journal.summary
    assert capture.prompts(summary.terminals) == set(judge.asked), "everything that was asked has an end"
    assert summary.intents == summary.terminals
    stopping = [STOPPING[outcome] for outcome in outcomes[: len(judge.asked)] if outcome in STOPPING]
    if stopping:
        assert state in stopping
        assert sum(after_a_stop) < in_flight, (
            "only what was in flight when a call stopped the campaign is still sent"
        )
        assert [event.kind for event in summary.events] == ["opened", "stopped"]
    else:
        assert state == "COMPLETE"
        assert len(judge.asked) == len(outcomes)
        assert [event.kind for event in summary.events] == ["opened"]
    assert capture.progress[-1].done == len(judge.asked)


def test_the_bounds_are_used(tmp_path):
    """The property above would also hold for a loop that sends one call at a time."""
    capture = Capture(tmp_path, 12, judge=ScriptedJudge(lambda name: later(3, reply())), in_flight=5)
    assert capture.run() == "COMPLETE"
    assert capture.judge.most_flying == 5


def test_no_request_leaves_before_its_intent_is_on_disk(tmp_path):
    capture = Capture(tmp_path, 6, in_flight=3)

    def script(name):
        # A second connection sees what is committed and nothing else.
        assert name in capture.prompts(capture.summary.intents)
        return reply()

    assert capture.run(ScriptedJudge(script)) == "COMPLETE"


def test_only_what_is_on_disk_is_shown_as_done(tmp_path):
    capture = Capture(tmp_path, 5, in_flight=2)
    shown = []

    class Shown(list):
        def append(self, progress):
            shown.append((progress.done, len(capture.summary.terminals)))

    capture.progress = Shown()
    capture.run()
    assert shown[-1] == (5, 5)
    assert all(done <= on_disk for done, on_disk in shown)


def test_the_bytes_that_are_sent_are_those_of_the_intent(tmp_path):
    capture = Capture(tmp_path, 4)
    capture.run()
    again = {
        call.call_id: digest_bytes(
            capture.judge.request_bytes(
                *(capture.texts[key] for key in (call.rubric, call.prompt, call.text_a, call.text_b))
            )
        )
        for call in capture.calls
    }
    assert {row.call_id: row.request_sha256 for row in capture.rows(Intent)} == again


def test_an_invalid_answer_is_kept_and_never_asked_again(tmp_path):
    capture = Capture(tmp_path, 4, judge=ScriptedJudge(lambda name: reply("no JSON \ud800", body=b"\xff")))
    assert capture.run() == "COMPLETE"
    assert capture.run() == "COMPLETE"
    assert len(capture.judge.asked) == 4
    assert {(row.status, row.reason, row.text, row.body) for row in capture.rows(Terminal)} == {
        ("answered", None, "no JSON \ud800", b"\xff")
    }
    assert capture.progress[-1].invalid == 4


@pytest.mark.parametrize(
    ("outcome", "state", "status", "reason", "detail"),
    [
        ("other model", "PARTIAL_HOLD_MODEL", "answered", "mismatched-model", "the reply names 'another', declared are scripted"),
        ("no model", "PARTIAL_HOLD_MODEL", "answered", "mismatched-model", "the reply names no model, declared are scripted"),
        ("failed", "PARTIAL_HOLD_TRANSPORT", "failed", "transport", "http-500: HTTP 500"),
        ("timeout", "PARTIAL_HOLD_TRANSPORT", "failed", "transport", "timeout: too slow"),
        ("refused", "COMPLETE", "refused", "request-refused", "the server answered HTTP 400"),
        ("too large", "COMPLETE", "answered", "reply-too-large", "the reply is longer than 1048576 bytes and was cut off"),
    ],
)  # fmt: skip
def test_what_a_call_ends_with(tmp_path, outcome, state, status, reason, detail):
    script = {prompt(0): reply(), prompt(1): OUTCOMES[outcome], prompt(2): reply()}
    capture = Capture(tmp_path, 3, judge=ScriptedJudge(script.get))
    assert capture.run() == state == capture.state
    row = capture.rows(Terminal)[1]
    assert (row.status, row.reason, row.detail) == (status, reason, detail)
    if state != "COMPLETE":
        assert capture.judge.asked == [prompt(0), prompt(1)], "nothing is sent after what stops a campaign"
        stopped = capture.summary.events[-1]
        assert stopped.detail == {"state": state, "why": detail}


def test_a_campaign_that_is_held_ends_early_only_where_that_is_declared(tmp_path):
    script = ScriptedJudge(lambda name: reply("?"))
    capture = Capture(tmp_path / "declared", 20, judge=script, stop_when_held=True)
    assert capture.run(ceiling=0.1) == "HELD_EARLY"
    assert len(script.asked) == 3, "two invalid answers of twenty are allowed, the third is too many"
    assert Capture(tmp_path / "not", 20, judge=ScriptedJudge(lambda name: reply("?"))).run() == "COMPLETE"


def test_invalid_answers_of_earlier_runs_count(tmp_path):
    capture = Capture(tmp_path, 10, judge=ScriptedJudge(lambda name: reply("?")), stop_when_held=True)
    capture.run(ceiling=0.25, during=lambda capture, journal: pause_at(capture, prompt(1)))
    assert capture.state == "INTERRUPTED"
    assert capture.run(ScriptedJudge(lambda name: reply("?")), ceiling=0.25) == "HELD_EARLY"
    assert len(capture.summary.terminals) == 3


def test_a_pause_waits_for_what_is_in_flight(tmp_path):
    capture = Capture(tmp_path, 9, judge=ScriptedJudge(lambda name: later(5, reply())), in_flight=3)
    state = capture.run(during=lambda capture, journal: pause_at(capture, prompt(4)))
    assert state == "INTERRUPTED"
    assert capture.summary.ambiguous == set()
    assert 5 <= len(capture.judge.asked) < 9
    assert capture.summary.events[-1].kind == "paused"
    before = len(capture.judge.asked)
    assert capture.run(ScriptedJudge()) == "COMPLETE"
    assert capture.judge.asked == [prompt(n) for n in range(before, 9)]


def test_a_cancellation_keeps_the_answers_that_are_here(tmp_path):
    """Ctrl-C twice: an answer that has come in the same moment is written down, the rest stays ambiguous."""
    capture = Capture(tmp_path, 6, in_flight=3)
    task = None

    async def answer_and_cancel():
        task.cancel()
        return reply()

    def script(name):
        return answer_and_cancel() if name == prompt(1) else wait_forever()

    def during(capture, journal):
        nonlocal task
        task = asyncio.current_task()

    with pytest.raises(asyncio.CancelledError):
        capture.run(ScriptedJudge(script), during=during)
    assert capture.prompts(capture.summary.terminals) == {prompt(1)}
    assert capture.prompts(capture.summary.ambiguous) == {prompt(0), prompt(2)}
    assert capture.state == "INTERRUPTED"
    assert capture.run(ScriptedJudge()) == "PARTIAL_HOLD_TRANSPORT"
    assert capture.judge.asked == [prompt(n) for n in (3, 4, 5)], "an ambiguous call is never sent again"
    assert capture.prompts(capture.summary.ambiguous) == {prompt(0), prompt(2)}


def failing(journal, which):
    """Let the commits whose number `which` picks fail, and count them all."""
    real, numbers = journal.commit, []

    def commit(rows):
        if rows:
            numbers.append(len(numbers) + 1)
        if rows and which(numbers[-1]):
            raise CaptureError("The journal cannot be written (disk full): make room, then run again.")
        real(rows)

    journal.commit = commit
    return numbers


def test_a_commit_that_fails_once_loses_no_answer(tmp_path):
    def attempt(at):
        capture = Capture(
            tmp_path / str(at),
            6,
            judge=ScriptedJudge(lambda name: later(int(name[-1]) % 3, reply())),
            in_flight=3,
        )
        numbers = []

        def during(capture, journal):
            nonlocal numbers
            numbers = failing(journal, lambda number: number == at)

        try:
            capture.run(during=during)
        except CaptureError:
            assert at is not None
        else:
            assert at is None
        return capture, len(numbers)

    _, commits = attempt(None)
    assert commits >= 5
    for at in range(1, commits + 1):
        capture, _ = attempt(at)
        asked, summary = list(capture.judge.asked), capture.summary
        assert capture.prompts(summary.intents) == set(asked), "an intent that failed to be written was sent"
        assert summary.ambiguous == set(), "what was in memory or on its way was written at the second try"
        assert capture.run(ScriptedJudge()) == "COMPLETE"
        assert asked + capture.judge.asked == [prompt(n) for n in range(6)]


def test_a_failure_that_comes_while_a_full_disk_is_drained_still_stops_the_campaign(tmp_path):
    script = {prompt(0): reply(), prompt(1): later(9, OUTCOMES["other model"])}
    capture = Capture(tmp_path, 4, judge=ScriptedJudge(script.get), in_flight=2)
    with pytest.raises(CaptureError):
        capture.run(during=lambda capture, journal: failing(journal, lambda number: number == 3))
    assert capture.state == "PARTIAL_HOLD_MODEL"
    assert len(capture.judge.asked) == 2


def test_a_disk_that_stays_full_sends_nothing_more(tmp_path):
    capture = Capture(tmp_path, 8, in_flight=2)

    def during(capture, journal):
        failing(journal, lambda number: number > 3)

    with pytest.raises(CaptureError, match="disk full"):
        capture.run(during=during)
    asked = list(capture.judge.asked)
    assert capture.prompts(capture.summary.intents) == set(asked)
    assert 0 < len(capture.summary.ambiguous) <= 2
    capture.run(ScriptedJudge())
    assert set(capture.judge.asked).isdisjoint(asked)


def test_a_cancellation_in_the_middle_of_a_commit_waits_for_it(tmp_path):
    """Ctrl-C twice while the disk is slow: what is being written is written, once, and nothing else meanwhile."""
    capture = Capture(tmp_path, 8, judge=ScriptedJudge(lambda name: later(1, reply())), in_flight=2)

    def during(capture, journal):
        loop, task, real = asyncio.get_running_loop(), asyncio.current_task(), journal.commit
        writing = threading.Lock()

        def slow(rows):
            assert writing.acquire(blocking=False), "two writers at once"
            if len(journal.summary.terminals) == 2:
                loop.call_soon_threadsafe(task.cancel)
                time.sleep(0.2)
                loop.call_soon_threadsafe(task.cancel)
                time.sleep(0.2)
            real(rows)
            writing.release()

        journal.commit = slow

    with pytest.raises(asyncio.CancelledError):
        capture.run(during=during)
    asked, summary = list(capture.judge.asked), capture.summary
    assert capture.prompts(summary.terminals) == {prompt(n) for n in range(4)}, (
        "answers that were here are kept"
    )
    assert capture.prompts(summary.ambiguous) == {prompt(4), prompt(5)}, "written as about to be sent"
    assert asked == [prompt(n) for n in range(4)]
    assert capture.run(ScriptedJudge()) == "PARTIAL_HOLD_TRANSPORT"
    assert capture.judge.asked == [prompt(6), prompt(7)]


def test_a_fault_of_our_own_loses_no_answer(tmp_path):
    """A parser that fails on one reply must not cost the others theirs."""
    capture = Capture(tmp_path, 4, judge=ScriptedJudge(lambda name: later(1, reply())), in_flight=4)

    def during(capture, journal):
        def parse(terminal):
            raise ZeroDivisionError

        capture.campaign._is_invalid = parse

    with pytest.raises(ZeroDivisionError):
        capture.run(during=during)
    assert len(capture.summary.terminals) == 4
    assert capture.summary.ambiguous == set()


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def test_the_deadline_counts_over_all_runs(tmp_path, clock):
    capture = Capture(tmp_path, 10, deadline_minutes=1.0, timeout_seconds=50)

    def script(name):
        clock.now += 10
        return reply()

    judge = ScriptedJudge(script)
    capture.judge = judge
    assert capture.run(during=lambda capture, journal: pause_at(capture, prompt(2))) == "INTERRUPTED"
    assert judge.timeouts == [50.0, 50.0, 40.0]
    clock.now = 3.0  # another boot: the clock begins anew
    second = ScriptedJudge(script)
    assert capture.run(second) == "PARTIAL_HOLD_DEADLINE"
    assert second.timeouts == [30.0, 20.0, 10.0], "each time-out is bounded by what is left"
    assert capture.summary.elapsed_ms == 60_000
    assert capture.summary.events[-1].detail["why"] == "the deadline of 1 minutes is over"
    elapsed = [row.elapsed_ms for row in (*capture.rows(Intent), *capture.rows(Terminal))]
    assert max(elapsed) == 60_000


def test_a_clock_on_the_wall_that_is_set_back_changes_nothing(tmp_path, monkeypatch):
    times = iter(range(1000, 0, -1))
    for module in (campaign_module, asking):
        monkeypatch.setattr(module, "now", lambda: f"2026-01-01T00:00:{next(times):04d}")
    capture = Capture(tmp_path, 3)
    assert capture.run() == "COMPLETE"
    elapsed = [row.elapsed_ms for row in capture.rows((Intent, Terminal))]
    assert elapsed == sorted(elapsed)


def test_a_campaign_whose_last_answer_comes_at_the_deadline_is_complete(tmp_path, clock):
    def script(name):
        clock.now += 20
        return reply()

    capture = Capture(tmp_path, 3, judge=ScriptedJudge(script), deadline_minutes=1.0)
    assert capture.run() == "COMPLETE"


def test_a_call_that_the_deadline_cut_short_stops_for_the_deadline(tmp_path):
    capture = Capture(tmp_path, 3, judge=ScriptedJudge(lambda name: wait_forever()), deadline_minutes=0.002)
    assert capture.run() == "PARTIAL_HOLD_DEADLINE"
    (row,) = capture.rows(Terminal)
    assert (row.status, row.reason) == ("failed", "deadline")


@pytest.mark.parametrize(
    "state", ["PARTIAL_HOLD_TRANSPORT", "PARTIAL_HOLD_MODEL", "PARTIAL_HOLD_DEADLINE", "HELD_EARLY"]
)
def test_a_state_is_read_from_the_journal_alone(tmp_path, state):
    capture = Capture(tmp_path, 2)
    assert capture.state == "NOT STARTED"
    with closing(Journal.open(capture.path, HEADER)) as journal:
        assert campaign_state(journal.summary, 2) == "NOT STARTED", "a journal without a row was never begun"
    capture.run()
    assert capture.state == "COMPLETE"
    with closing(Journal.open(capture.path, HEADER)) as journal:
        journal.commit([capture.campaign._event("stopped", {"state": state, "why": "-"})])
    assert capture.state == state


def test_the_summary_of_a_run_is_plain_json(tmp_path):
    capture = Capture(tmp_path, 1)
    capture.run()
    (opened,) = capture.summary.events
    assert json.loads(json.dumps(opened.detail)) == opened.detail == {"identity": {}}
