"""Backend `openai-chat`: any endpoint that speaks OpenAI's chat completions."""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Self

from darkcurrent.judges.base import Identity, Reply, RequestFailed
from darkcurrent.judges.render import render_messages
from darkcurrent.judges.transport import HttpReply, Transport
from darkcurrent.protocol.model import Decoder

__all__ = ["OpenAIChatJudge", "read_chat_reply"]

_REFUSED = {400, 413, 422}
"""Statuses by which a server says that it does not accept this one request."""

_PROBE_SECONDS = 30.0


class OpenAIChatJudge:
    """Asks `POST {base}/chat/completions`."""

    def __init__(self, transport: Transport, model: str, decoder: Decoder) -> None:
        self._transport = transport
        self._model = model
        self._decoder = decoder

    async def __aenter__(self) -> Self:
        await self._transport.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transport.close()

    async def identify(self) -> Identity:
        """Read the list of models that the endpoint serves."""
        reply = await self._transport.get("/models", _PROBE_SECONDS)
        if reply.status == 401:
            raise RequestFailed("http-401", "the service does not accept the key", 401)
        facts: dict[str, Any] = {"models_status": reply.status, "served": None}
        if reply.status == 200:
            facts["served"] = sorted(_served_names(reply.body))
        return Identity("service's declaration", facts)

    def request_bytes(self, rubric: str, prompt: str, a: str, b: str) -> bytes:
        """Return the JSON body, in ASCII, its keys in a fixed order."""
        body: dict[str, Any] = {
            "model": self._model,
            "messages": render_messages(rubric, prompt, a, b),
            "temperature": self._decoder.temperature,
            "max_tokens": self._decoder.max_tokens,
        }
        if self._decoder.seed is not None:
            body["seed"] = self._decoder.seed
        body |= self._decoder.extra
        return json.dumps(body, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode("ascii")

    async def ask(self, request: bytes, timeout: float) -> Reply:
        """Send a request once and read the reply."""
        return read_chat_reply(await self._transport.post("/chat/completions", request, timeout))


def _served_names(body: bytes) -> list[str]:
    try:
        rows = json.loads(body)["data"]
        return [str(row["id"]) for row in rows]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def read_chat_reply(reply: HttpReply) -> Reply:
    """Read the envelope of a chat completion; the answer inside is left as it is.

    Raises
    ------
    RequestFailed
        Where the status says that the service failed, or the envelope cannot be read.
    """
    if reply.status in _REFUSED:
        return Reply(None, None, None, reply.body, reply.status, refused=True)
    if reply.status != 200:
        shown = reply.body[:200].decode("utf-8", "replace")
        raise RequestFailed(
            f"http-{reply.status}",
            f"HTTP {reply.status}: {shown}",
            reply.status,
            reply.body,
            reply.headers.get("retry-after"),
        )
    if reply.oversize:
        return Reply(None, None, None, reply.body, reply.status, oversize=True)
    try:
        # A stray byte inside a string must not lose the whole reply: it shows as U+FFFD, and the body is kept.
        envelope = json.loads(reply.body.decode("utf-8", "replace"))
        choice = envelope["choices"][0]
        message = choice["message"]
        content = message.get("content")
        if not isinstance(content, str | None):
            raise TypeError("the content is no text")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise RequestFailed(
            "unreadable-reply",
            f"HTTP 200 with no readable chat completion: {type(error).__name__}: {error}",
            200,
            reply.body,
        ) from error
    usage = envelope.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Reply(
        text=content,
        finish=_text(choice.get("finish_reason")),
        served_model=_text(envelope.get("model")),
        body=reply.body,
        http_status=reply.status,
        fingerprint=_text(envelope.get("system_fingerprint")),
        reasoning=bool(message.get("reasoning_content") or message.get("reasoning")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    """Return a count that a server gives; what cannot be one is unknown."""
    return value if type(value) is int and 0 <= value < 2**53 else None
