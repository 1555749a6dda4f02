"""The stream of random numbers is what its words say, so that anyone can draw a schedule again."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.schedules.stream import STREAM, Stream
from darkcurrent.schedules.williams import williams


def test_the_first_numbers_by_hand():
    assert "darkcurrent/stream/1:SEED:PURPOSE:COUNTER" in STREAM
    words = [
        int.from_bytes(hashlib.sha256(f"darkcurrent/stream/1:7:items:{n}".encode()).digest()[:8])
        for n in range(5)
    ]
    stream = Stream(7, "items")
    assert [stream.below(1000) for _ in range(5)] == [word % 1000 for word in words]


def test_a_shuffle_by_hand():
    stream, values = Stream(3, "x"), list("abcdef")
    for last in range(5, 0, -1):
        other = stream.below(last + 1)
        values[last], values[other] = values[other], values[last]
    assert Stream(3, "x").shuffled("abcdef") == values


def test_what_would_come_too_often_is_thrown_away():
    """Just above half of the range every second word is; without that a third of the numbers came twice as often."""
    bound = 2**63 + 1
    found = Stream(1, "x")
    words = [
        int.from_bytes(hashlib.sha256(f"darkcurrent/stream/1:1:x:{n}".encode()).digest()[:8])
        for n in range(99)
    ]
    kept = [word for word in words if word < bound]
    assert len(kept) < 70
    assert [found.below(bound) for _ in kept] == kept


def test_every_order_comes_equally_often():
    counts = Counter(tuple(Stream(seed, "x").shuffled("abc")) for seed in range(1200))
    # 200 expected each, standard deviation 13
    assert len(counts) == 6
    assert all(140 < count < 260 for count in counts.values())


@given(st.integers(0, 2**53), st.text(max_size=5))
def test_seed_and_purpose_each_make_another_stream(seed, purpose):
    def first(seed, purpose):
        stream = Stream(seed, purpose)
        return [stream.below(2**32) for _ in range(3)]

    assert first(seed, purpose) == first(seed, purpose)
    assert first(seed, purpose) != first(seed + 1, purpose)
    assert first(seed, purpose) != first(seed, f"{purpose}/")


@pytest.mark.parametrize("treatments", range(1, 20))
def test_a_williams_design_balances_periods_and_carry_over(treatments):
    rows = williams(treatments)
    each = 1 if treatments % 2 == 0 or treatments == 1 else 2
    assert len(rows) == each * treatments
    for period in zip(*rows, strict=True):
        assert Counter(period) == dict.fromkeys(range(treatments), each)
    after = Counter(pair for row in rows for pair in pairwise(row))
    assert after == {(a, b): each for a in range(treatments) for b in range(treatments) if a != b}
