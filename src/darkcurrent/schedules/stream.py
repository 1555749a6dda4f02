"""The random numbers of every schedule: SHA-256 of a counter, the same on every machine and in every version."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TypeVar

__all__ = ["STREAM", "Stream"]

STREAM = (
    "SHA-256 of `darkcurrent/stream/1:SEED:PURPOSE:COUNTER`, the first 64 bits, Fisher-Yates from the end"
)
"""How a stream is made, for whoever draws it again elsewhere."""

_T = TypeVar("_T")
_RANGE = 1 << 64


class Stream:
    """A stream of random numbers.

    Parameters
    ----------
    seed : int
        The declared one.
    purpose : str
        Streams of one seed with different purposes have nothing to do with each other.
    """

    def __init__(self, seed: int, purpose: str) -> None:
        self._prefix = f"darkcurrent/stream/1:{seed}:{purpose}:"
        self._counter = 0

    def below(self, bound: int) -> int:
        """Return a number from 0 to `bound` - 1, each with exactly the same chance."""
        while True:
            data = hashlib.sha256(f"{self._prefix}{self._counter}".encode()).digest()
            self._counter += 1
            number = int.from_bytes(data[:8])
            if number < _RANGE - _RANGE % bound:  # else the first remainders would come more often
                return number % bound

    def shuffled(self, values: Iterable[_T]) -> list[_T]:
        """Return the values in random order, each order with the same chance."""
        found = list(values)
        for last in range(len(found) - 1, 0, -1):
            other = self.below(last + 1)
            found[last], found[other] = found[other], found[last]
        return found
