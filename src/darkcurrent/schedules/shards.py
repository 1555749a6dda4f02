"""Which calls of a campaign go to which shard: whole blocks, or runs of an order that means nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from darkcurrent.errors import ProtocolError
from darkcurrent.records import Call

__all__ = ["Shard", "divide"]


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
        The kind of schedule. The order of `hash` is no assignment: it may be cut anywhere.

    Raises
    ------
    ProtocolError
        Where there are fewer blocks (of the order of `hash`: calls) than shards, or the order is one block.
    """
    if shards == 1:
        return {Shard(1, 1): tuple(calls)}
    if kind == "hash":
        places = [place * shards // len(calls) for place in range(len(calls))]
        units, what = len(calls), "calls"
    else:
        blocks = {block: place for place, block in enumerate(sorted({call.block for call in calls}))}
        if len(blocks) == 1:
            raise ProtocolError(
                f"`capture.shards = {shards}`: the schedule `{kind}` is one block, whose order was drawn as a whole: "
                "declare blocks, or `shards = 1`."
            )
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
