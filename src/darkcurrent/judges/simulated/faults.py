"""What a simulated server does wrong, and how often."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import Field, model_validator

from darkcurrent.records import Record

__all__ = ["FAULTS", "Fault", "Faults"]

Fault = Literal[
    "429",
    "429-retry-after",
    "503",
    "500",
    "reset-before",
    "reset-middle",
    "reset-after",
    "hang",
    "slow-drip",
    "truncated-json",
    "wrong-model",
    "empty",
    "reasoning",
    "fences",
    "identical-ids",
]

FAULTS: dict[Fault, str] = {
    "429": "refused without Retry-After",
    "429-retry-after": "refused with Retry-After",
    "503": "refused as overloaded",
    "500": "an internal error",
    "reset-before": "the connection is reset before the reply",
    "reset-middle": "the connection is reset in the middle of the reply",
    "reset-after": "the connection is reset after the whole reply",
    "hang": "no reply, ever",
    "slow-drip": "the reply comes byte by byte over `drip_seconds`",
    "truncated-json": "the reply's JSON stops in the middle",
    "wrong-model": "the reply names another model",
    "empty": "the content is the empty string",
    "reasoning": "the answer stands in `reasoning_content`, and the content is null",
    "fences": "the answer stands in a code fence",
    "identical-ids": "the reply's id is the same as others'",
}


class Faults(Record):
    """What a simulated server does wrong. Which request meets which fault depends on its bytes and the seed alone.

    Attributes
    ----------
    shares : dict
        Fault to the share of requests that meet it; together at most 1. A request that is sent again draws again.
    latency : float
        Seconds before every reply.
    retry_after : str
        The value of that header in `429-retry-after`: seconds or an HTTP date.
    drip_seconds : float
        How long a reply of `slow-drip` takes.
    seed : int
        Of the shares.
    """

    shares: dict[Fault, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    latency: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    retry_after: str = "1"
    drip_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 2.0
    seed: int = 0

    @model_validator(mode="after")
    def _shares_fit(self) -> Faults:
        if sum(self.shares.values()) > 1 + 1e-9:
            raise ValueError("the shares of the faults are more than 1 together")
        return self

    def of(self, request_sha256: str, time: int) -> Fault | None:
        """Return what a request meets when it comes for the n-th time."""
        if not self.shares:
            return None
        drawn = hashlib.sha256(f"{self.seed}:{request_sha256}:{time}".encode()).digest()
        left = int.from_bytes(drawn[:6]) / 2**48
        for fault, share in self.shares.items():
            left -= share
            if left < 0:
                return fault
        return None
