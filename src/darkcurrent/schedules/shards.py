"""Which calls of a campaign go to which shard: whole blocks, or runs of an order that no test rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from darkcurrent.errors import ProtocolError
from darkcurrent.records import Call

__all__ = ["Shard", "divide"]

_FREE = {"hash", "shuffle"}


@dataclass(frozen=True, slots=True)
class Shard:
    """Which part of a campaign: `number` from 1 to `of`."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number} of {self.of}"


def divide(calls: Sequence[Call], shards: int, kind: str) -> dict[Shard, tuple[Call, ...]]:
    """Divide the calls of a campaign, in dispatch order, into shards that may be sent at the same time.

    Parameters
    ----------
    calls : sequence of Call
        The whole schedule.
    shards : int
        How many; with 1, everything is one shard.
    kind : str
        The kind of schedule. No test rests on the order of `hash` and `shuffle`: it may be cut anywhere.

    Raises
    ------
    ProtocolError
        Where there are fewer blocks (or calls) than shards, or the schedule is `carryover`.
    """
    if shards == 1:
        return {Shard(1, 1): tuple(calls)}
    if kind == "carryover":
        raise ProtocolError(
            f"`capture.shards = {shards}`: a `carryover` schedule is about what follows what, over all of its blocks: "
            "declare `shards = 1`."
        )
    if kind in _FREE:
        places = [place * shards // len(calls) for place in range(len(calls))]
        units, what = len(calls), "calls"
    else:
        blocks = {block: place for place, block in enumerate(sorted({call.block for call in calls}))}
        places = [blocks[call.block] * shards // len(blocks) for call in calls]
        units, what = len(blocks), "blocks"
    if units < shards:
        raise ProtocolError(
            f"`capture.shards = {shards}`: there are only {units} {what} to divide: declare fewer shards."
        )
    parts: list[list[Call]] = [[] for _ in range(shards)]
    for call, place in zip(calls, places, strict=True):
        parts[place].append(call)
    return {Shard(number, shards): tuple(part) for number, part in enumerate(parts, 1)}
