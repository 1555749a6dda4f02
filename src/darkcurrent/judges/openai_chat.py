"""Backend `openai-chat`: any endpoint that speaks OpenAI's chat completions."""

from __future__ import annotations

from typing import Any, ClassVar

from darkcurrent.judges.base import Identity, Reply
from darkcurrent.judges.http import C, HttpJudge
from darkcurrent.judges.reading import as_count, as_text, content_of
from darkcurrent.protocol.configurations import OpenAIChatConfiguration

__all__ = ["ChatJudge", "OpenAIChatJudge", "completion_reply", "served_models"]


def completion_reply(envelope: Any, text: str | None, *, reasoning: bool = False) -> Reply:
    """Return a reply from what chat completions and completions have in common."""
    usage = envelope.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Reply(
        text=text,
        finish=as_text(envelope["choices"][0].get("finish_reason")),
        served_model=as_text(envelope.get("model")),
        body=b"",
        fingerprint=as_text(envelope.get("system_fingerprint")),
        reasoning=reasoning,
        prompt_tokens=as_count(usage.get("prompt_tokens")),
        completion_tokens=as_count(usage.get("completion_tokens")),
    )


def served_models(listed: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a list of models."""
    rows = listed.get("data")
    return [row for row in rows if isinstance(row, dict) and "id" in row] if isinstance(rows, list) else []


class ChatJudge(HttpJudge[C]):
    """How a chat completion is asked for and read, whoever serves it."""

    def content(self, system: str, user: str) -> dict[str, Any]:
        """Return the rubric as the system message, and the user message."""
        return {
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
        }

    def fields(self) -> dict[str, Any]:
        """Return the declared fields under their own names."""
        return self._sent("temperature", "max_tokens", "seed", "reasoning_effort")

    def read(self, envelope: Any) -> Reply:
        """Read a chat completion. Reasoning is seen to be there and is never read."""
        message = envelope["choices"][0]["message"]
        return completion_reply(
            envelope,
            content_of(message.get("content")),
            reasoning=bool(message.get("reasoning_content") or message.get("reasoning")),
        )


class OpenAIChatJudge(ChatJudge[OpenAIChatConfiguration]):
    """Asks `POST {base}/chat/completions`."""

    path: ClassVar[str] = "/chat/completions"
    taken: ClassVar[frozenset[str]] = frozenset({"seed", "reasoning_effort"})

    async def identify(self) -> Identity:
        """Read the list of models that the endpoint serves; many have none."""
        served = sorted(str(row["id"]) for row in served_models(await self._told("/models")))
        return Identity("service's declaration", {"served": served or None})
