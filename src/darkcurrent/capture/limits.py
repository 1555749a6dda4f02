"""What may hold a campaign back: a service that refuses, and ceilings on tokens and cost."""

from __future__ import annotations

import hashlib
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from darkcurrent.judges.base import RequestFailed
from darkcurrent.protocol.model import CaptureTable, Price
from darkcurrent.records import Terminal

__all__ = ["Budget", "Pacing", "is_refusal", "retry_after_seconds"]

_FIRST_SECONDS = 1.0
_LONGEST_SECONDS = 60.0
_LONGEST_ASKED = 1e9
"""Between the first two a wait doubles with every refusal of a call, where the server does not say how long; what a
server asks for is believed up to the third, which is beyond every deadline."""


def is_refusal(failure: RequestFailed) -> bool:
    """Say whether a failed request certainly left no observation behind: it never left, or was turned away."""
    return failure.reason == "connection" or failure.http_status in (429, 503)


def retry_after_seconds(value: str | None, now: datetime) -> float | None:
    """Read a `Retry-After` header: seconds or an HTTP date; None where it is neither.

    Parameters
    ----------
    value : str or None
        The header as it was sent.
    now : datetime
        The time that a date is compared with; a date in the past is 0 seconds.
    """
    text = (value or "").strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return min(float(text), _LONGEST_ASKED)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    # A date without a zone ("-0000") is UTC as well.
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds())


class Pacing:
    """When the next request may leave, and how many at once, after a service has refused one.

    A service that refuses refuses everybody, so that the whole campaign waits. Then one request goes alone, until
    one is answered: sixty-four at once would be refused again.

    Parameters
    ----------
    seed : int
        Of the jitter: the same refusals wait equally long in every run.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._until = 0.0
        self._cautious = False

    def refused(self, call_id: str, number: int, retry_after: str | None) -> float:
        """Take in a call's n-th refusal; return how many seconds nothing is sent from now on."""
        wait = retry_after_seconds(retry_after, datetime.now(UTC))
        if wait is None:
            longest = min(_FIRST_SECONDS * 2.0 ** min(number - 1, 16), _LONGEST_SECONDS)
            wait = longest * (0.5 + 0.5 * _unit(f"{self._seed}:{call_id}:{number}"))
        self._until = max(self._until, time.monotonic() + wait)
        self._cautious = True
        return self.seconds_left()

    def accepted(self) -> None:
        """Take in that a request was not refused."""
        self._cautious = False

    def seconds_left(self) -> float:
        """Return how long nothing may be sent from now on."""
        return max(0.0, self._until - time.monotonic())

    def room(self, in_flight: int, flying: int) -> int:
        """Return how many more requests may leave now."""
        if self.seconds_left() > 0:
            return 0
        return max(0, (1 if self._cautious else in_flight) - flying)


def _unit(text: str) -> float:
    """Return a number in [0, 1) that depends on a text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6]) / 2**48


class Budget:
    """Keeps a campaign below its ceilings: before a request leaves, the most that it can use is set aside.

    A token is at least one byte of the request, so that the request's length bounds its prompt tokens; the declared
    `max_tokens` of the decoder bounds those of the answer. What was used and is not known counts as that bound.

    Parameters
    ----------
    table : CaptureTable
        Holds the ceilings.
    price : Price or None
        What a million tokens cost; needed where `max_cost` is declared.
    longest_answer : int
        The most tokens that an answer can have.
    """

    def __init__(self, table: CaptureTable, price: Price | None, longest_answer: int) -> None:
        self._max_tokens = table.max_tokens
        self._max_cost = table.max_cost
        self._price = price or Price(prompt=0.0, completion=0.0)
        self._longest_answer = longest_answer
        self._prompt = self._completion = 0
        self._aside: dict[str, int] = {}
        self._aside_sum = 0

    def charge(self, prompt: int, completion: int) -> None:
        """Count tokens that earlier runs used."""
        self._prompt += prompt
        self._completion += completion

    def set_aside(self, call_id: str, request: bytes) -> None:
        """Count the most that a request can use, until it is known."""
        self._aside[call_id] = len(request)
        self._aside_sum += len(request)

    def settle(self, terminal: Terminal) -> None:
        """Count what an ended call used instead of what was set aside for it."""
        bound = self.release(terminal.call_id)
        if terminal.prompt_tokens is None or terminal.completion_tokens is None:
            self.charge(bound, self._longest_answer)
        else:
            self.charge(terminal.prompt_tokens, terminal.completion_tokens)

    def release(self, call_id: str) -> int:
        """Count nothing for a request, which was refused; return what was set aside for its prompt."""
        bound = self._aside.pop(call_id)
        self._aside_sum -= bound
        return bound

    def exceeded_by(self, request: bytes) -> str | None:
        """Say which ceiling the campaign could exceed with one more request; None where it could not."""
        prompt = self._prompt + self._aside_sum + len(request)
        completion = self._completion + (len(self._aside) + 1) * self._longest_answer
        cost = (prompt * self._price.prompt + completion * self._price.completion) / 1e6
        if self._max_tokens is not None and prompt + completion > self._max_tokens:
            return f"the next call could bring the tokens to {prompt + completion}; `max_tokens` is {self._max_tokens}"
        if self._max_cost is not None and cost > self._max_cost:
            return f"the next call could bring the cost to {cost:.10g}; `max_cost` is {self._max_cost:g}"
        return None
