"""Judges without a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, Self

from darkcurrent.judges.base import Identity, Reply, RequestFailed

__all__ = ["MODEL", "ScriptedJudge", "reply", "wait_forever"]

MODEL = "scripted"


def reply(text: str | None = '{"winner":"tie"}', **changes: Any) -> Reply:
    """Return an ordinary reply, or one with changes."""
    return Reply(**{"text": text, "finish": "stop", "served_model": MODEL, "body": b"{}", **changes})


async def wait_forever() -> None:
    """Wait until cancelled."""
    await asyncio.Event().wait()


class ScriptedJudge:
    """Answers the n-th request that reaches it by what a function of its prompt gives: a reply, an error, a wait.

    Attributes
    ----------
    asked : list of str
        The prompts, in the order in which they were sent.
    most_flying : int
        How many requests were under way at once, at most.
    """

    def __init__(self, script: Callable[[str], Any] = lambda prompt: reply()) -> None:
        self._script = script
        self.asked: list[str] = []
        self.ended: list[str] = []
        self.timeouts: list[float] = []
        self.flying = 0
        self.most_flying = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        return None

    async def identify(self) -> Identity:
        return Identity("verified digest", {"served": [MODEL]})

    def request_bytes(self, rubric: str, prompt: str, a: str, b: str) -> bytes:
        return json.dumps([rubric, prompt, a, b]).encode()

    async def ask(self, request: bytes, timeout: float) -> Reply:
        prompt = json.loads(request)[1]
        self.asked.append(prompt)
        self.timeouts.append(timeout)
        self.flying += 1
        self.most_flying = max(self.flying, self.most_flying)
        try:
            found = self._script(prompt)
            if asyncio.iscoroutine(found):
                try:
                    async with asyncio.timeout(timeout):
                        found = await found
                except TimeoutError as error:
                    raise RequestFailed("timeout", "too slow") from error
            if isinstance(found, BaseException):
                raise found
            assert isinstance(found, Reply)
            return found
        finally:
            self.flying -= 1
            self.ended.append(prompt)
