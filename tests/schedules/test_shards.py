"""Which calls go to which shard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.errors import ProtocolError
from darkcurrent.schedules import divide
from support.studies import make_calls

CALLS = {(count, blocks): make_calls(count, blocks)[0] for count in (7, 24) for blocks in (1, 3, 6)}


@given(st.sampled_from(sorted(CALLS)), st.integers(1, 9), st.sampled_from(["hash", "shuffle", "crossover"]))
def test_shards_are_disjoint_whole_and_in_order(size, shards, kind):
    calls = CALLS[size]
    free = kind != "crossover"
    units = len(calls) if free else len({call.block for call in calls})
    if shards > units:
        with pytest.raises(ProtocolError, match=f"capture.shards = {shards}"):
            divide(calls, shards, kind)
        return
    parts = divide(calls, shards, kind)
    assert [shard.number for shard in parts] == list(range(1, shards + 1))
    assert {shard.of for shard in parts} == {shards}
    assert tuple(call for part in parts.values() for call in part) == calls
    assert all(parts.values())
    if not free:
        blocks = [{call.block for call in part} for part in parts.values()]
        assert sum(map(len, blocks)) == len(set().union(*blocks)), "a block is on two nodes"
    sizes = sorted(map(len, parts.values()))
    if free:
        assert sizes[-1] - sizes[0] <= 1


def test_what_follows_what_is_not_divided():
    with pytest.raises(ProtocolError, match="a `carryover` schedule is about what follows what"):
        divide(CALLS[24, 6], 2, "carryover")
    assert len(divide(CALLS[24, 6], 1, "carryover")) == 1
