"""How long a refusal is waited for, and what a ceiling lets through."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.capture import limits
from darkcurrent.capture.limits import Budget, Pacing, is_refusal, retry_after_seconds
from darkcurrent.judges.base import RequestFailed
from darkcurrent.protocol.model import CaptureTable, Price
from darkcurrent.records import Terminal

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0), ("7", 7.0), (" 120 ", 120.0), ("1.5", 1.5),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30.0), ("Sun, 01 Mar 2026 12:01:00 -0000", 60.0),
        ("Sun, 01 Mar 2026 14:00:10 +0200", 10.0), ("Sunday, 01-Mar-26 12:00:05 GMT", 5.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("9" * 400, 1e9),
        (None, None), ("", None), ("soon", None), ("-5", None), ("1e3", None), ("inf", None), ("nan", None), (".", None),
        ("٣", None), ("Sun, 99 Mar 2026 12:00:30 GMT", None),
    ],
)  # fmt: skip
def test_retry_after_is_seconds_or_a_date(value, seconds):
    assert retry_after_seconds(value, NOW) == seconds


@pytest.mark.parametrize(
    "value", ["Mon, 01 Jan {} 00:00:00 GMT", "Mon, 01 Jan 2030 {}:00:00 GMT", "Mon, 01 Jan 2030 00:00:00 +{}"]
)
def test_a_date_beyond_all_numbers_is_none(value):
    assert retry_after_seconds(value.format("9" * 20), NOW) is None


@given(st.text(max_size=40))
def test_no_header_is_an_error(value):
    found = retry_after_seconds(value, NOW)
    assert found is None or 0 <= found <= 1e12


@given(st.integers(-100_000, 100_000))
def test_a_date_is_read_as_it_is_written(seconds):
    assert retry_after_seconds(format_datetime(NOW + timedelta(seconds=seconds), usegmt=True), NOW) == max(
        seconds, 0
    )


@pytest.mark.parametrize(
    ("failure", "refusal"),
    [
        (RequestFailed("connection", "-"), True),
        (RequestFailed("http-429", "-", 429), True),
        (RequestFailed("http-503", "-", 503), True),
        (RequestFailed("http-500", "-", 500), False),
        (RequestFailed("http-502", "-", 502), False),
        (RequestFailed("http-529", "-", 529), False),
        (RequestFailed("timeout", "-"), False),
        (RequestFailed("connection-lost", "-"), False),
        (RequestFailed("unreadable-reply", "-", 200), False),
    ],
)
def test_only_what_was_certainly_not_observed_is_a_refusal(failure, refusal):
    assert is_refusal(failure) is refusal


def test_backoff_doubles_is_jittered_and_is_bounded():
    waits = [Pacing(seed=1).refused("call", number, None) for number in range(1, 200)]
    for number, wait in enumerate(waits, 1):
        longest = min(2.0 ** (number - 1), 60.0)
        assert longest / 2 - 0.1 <= wait <= longest
    shares = [Pacing(seed).refused("call", 1, None) for seed in range(200)]
    assert min(shares) < 0.55
    assert max(shares) > 0.95


def test_the_jitter_is_declared():
    def wait(seed, call_id):
        return round(Pacing(seed).refused(call_id, 3, None), 2)

    assert wait(1, "a") == wait(1, "a")
    assert len({wait(seed, call) for seed in (1, 2) for call in ("a", "b")}) == 4


def test_after_a_refusal_nobody_goes_then_one_then_all(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(limits.time, "monotonic", lambda: now[0])
    pacing = Pacing(seed=1)
    assert pacing.room(in_flight=8, flying=3) == 5
    assert pacing.refused("a", 1, "10") == 10.0
    assert pacing.refused("b", 1, "4") == 10.0, "the longest wait counts"
    assert pacing.room(8, 0) == 0
    now[0] += 9.9
    assert pacing.room(8, 0) == 0
    now[0] += 0.2
    assert pacing.room(8, 0) == 1
    assert pacing.room(8, 1) == 0
    pacing.accepted()
    assert pacing.room(8, 1) == 7


def terminal(call_id, prompt=None, completion=None):
    return Terminal(
        call_id=call_id * 64,
        at="now",
        elapsed_ms=0,
        status="answered",
        prompt_tokens=prompt,
        completion_tokens=completion,
    )


def test_what_is_in_flight_is_set_aside_and_settled_as_reported():
    budget = Budget(CaptureTable(max_tokens=100), None, longest_answer=10)
    assert budget.exceeded_by(bytes(90)) is None, "a bound that is reached exactly is not exceeded"
    assert budget.exceeded_by(bytes(91)) == "the next call could bring the tokens to 101; `max_tokens` is 100"
    budget.set_aside("a" * 64, bytes(60))
    assert budget.exceeded_by(bytes(20)) is None
    assert budget.exceeded_by(bytes(21)) is not None
    budget.settle(terminal("a", 15, 5))
    assert budget.exceeded_by(bytes(70)) is None
    assert budget.exceeded_by(bytes(71)) is not None


def test_what_was_refused_costs_nothing_and_what_is_not_known_the_most():
    budget = Budget(CaptureTable(max_tokens=100), None, longest_answer=10)
    budget.set_aside("a" * 64, bytes(50))
    budget.release("a" * 64)
    assert budget.exceeded_by(bytes(90)) is None
    for unknown in (terminal("b", 5, None), terminal("c", None, 5)):
        budget.set_aside(unknown.call_id, bytes(20))
        budget.settle(unknown)
    assert budget.exceeded_by(bytes(30)) is None
    assert budget.exceeded_by(bytes(31)) is not None


def test_cost_is_by_the_million():
    budget = Budget(CaptureTable(max_cost=3.0), Price(prompt=1.0, completion=20.0), longest_answer=100_000)
    assert budget.exceeded_by(bytes(1_000_000)) is None
    assert (
        budget.exceeded_by(bytes(1_000_001))
        == "the next call could bring the cost to 3.000001; `max_cost` is 3"
    )
    budget.charge(500_000, 50_000)
    assert budget.exceeded_by(bytes(0)) == "the next call could bring the cost to 3.5; `max_cost` is 3"
