"""A campaign along its schedule, and what happened to its capture."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.analysis.history import deviations
from darkcurrent.analysis.timeline import MOST_BINS, timeline
from darkcurrent.capture import JournalSummary
from darkcurrent.records import Event

VALUES = st.sampled_from(["A", "B", "tie", None, "missing"])


def ledger_of(values):
    return pl.DataFrame(
        {
            "call_id": [f"c{n}" for n in range(len(values))],
            "position": list(range(len(values))),
            "ending": ["missing" if value == "missing" else "terminal" for value in values],
            "value": [None if value == "missing" else value for value in values],
            "latency_ms": [None if value == "missing" else float(n) for n, value in enumerate(values)],
        },
        schema={
            "call_id": pl.String,
            "position": pl.Int64,
            "ending": pl.String,
            "value": pl.String,
            "latency_ms": pl.Float64,
        },
    )


@given(st.lists(VALUES, min_size=1, max_size=400), st.randoms(use_true_random=False))
def test_every_call_is_in_one_bin_whatever_the_order_of_the_rows(values, random):
    found = timeline(ledger_of(values).sample(fraction=1, shuffle=True, seed=random.randrange(1000)), {})
    parts = (found.a, found.b, found.tie, found.invalid, found.unended)
    assert [sum(part) for part in parts] == [
        values.count(kind) for kind in ("A", "B", "tie", None, "missing")
    ]
    assert [sum(each) for each in zip(*parts, strict=True)] == found.calls
    assert 1 <= len(found.calls) <= MOST_BINS
    assert max(found.calls) - min(found.calls) <= 1
    begin = 0
    for calls, a in zip(found.calls, found.a, strict=True):
        assert values[begin : begin + calls].count("A") == a
        begin += calls


def test_refusals_and_latencies_stand_where_their_calls_do():
    found = timeline(
        ledger_of(["A"] * 20 + ["tie"] * 20 + ["missing"] * 20), {"c0": 3, "c25": 1, "elsewhere": 9}
    )
    assert found.refused == [3, 1, 0]
    assert found.latency_ms == [9.5, 29.5, None]


def test_no_calls_have_no_bins():
    assert timeline(ledger_of([]), {}).calls == []


def event(kind, **detail):
    return Event(at="2026-01-01T00:00:00Z", elapsed_ms=0, kind=kind, detail=detail)


def test_a_capture_without_incident_has_no_deviation():
    assert deviations(JournalSummary({}, events=[event("opened", darkcurrent="1", host="h")])) == []


def test_runs_changes_refusals_and_the_end_are_told():
    summary = JournalSummary(
        {},
        events=[
            event("opened", darkcurrent="1", host="h"),
            event("paused"),
            event("opened", darkcurrent="2", host="h"),
            event("stopped", why="http-500"),
        ],
        refusals={"a": 2, "b": 1},
        retries={"a": 2},
    )
    assert deviations(summary) == [
        "captured in 2 runs",
        "`darkcurrent` changed between runs: 1, 2",
        "3 requests of 2 calls refused without an observation, 2 sent again",
        "ended for good: http-500",
    ]
