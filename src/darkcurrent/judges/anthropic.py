"""Backend `anthropic`: Anthropic's messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from darkcurrent.judges.base import Identity, Reply
from darkcurrent.judges.http import HttpJudge
from darkcurrent.judges.openai_chat import served_models
from darkcurrent.judges.reading import as_count, as_text
from darkcurrent.protocol.configurations import AnthropicConfiguration

__all__ = ["AnthropicJudge"]

_FINISH = {"end_turn": "stop", "stop_sequence": "stop"}
"""The stop reasons of a whole answer. The others (`max_tokens`, `refusal`, ...) are kept: contracts know them."""

_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class AnthropicJudge(HttpJudge[AnthropicConfiguration]):
    """Asks `POST {base}/messages`."""

    path: ClassVar[str] = "/messages"
    taken: ClassVar[frozenset[str]] = frozenset({"reasoning_effort", "thinking"})
    key_header: ClassVar[str] = "x-api-key"
    headers: ClassVar[Mapping[str, str]] = {"anthropic-version": "2023-06-01"}

    async def identify(self) -> Identity:
        """Read the list of models that the account may use."""
        listed = await self._told("/models?limit=1000")
        served = sorted(str(row["id"]) for row in served_models(listed))
        return Identity("service's declaration", {"served": served or None})

    def content(self, system: str, user: str) -> dict[str, Any]:
        """Return the rubric as the system prompt, and the user message."""
        return {"system": system, "messages": [{"role": "user", "content": user}]}

    def fields(self) -> dict[str, Any]:
        """Return the declared fields; the effort and the thinking switch have places of their own."""
        if "max_tokens" in self._decoder.omit:
            self._cannot("a request without `max_tokens`", "take it out of `decoder.omit`")
        fields = self._sent("temperature", "max_tokens")
        if self._decoder.thinking is not None:
            fields["thinking"] = {"type": "adaptive" if self._decoder.thinking else "disabled"}
        if self._decoder.reasoning_effort is not None:
            fields["output_config"] = {"effort": self._decoder.reasoning_effort}
        return fields

    def read(self, envelope: Any) -> Reply:
        """Read a message: its text blocks one behind the other. Thinking is seen to be there and is never read."""
        blocks = [(block["type"], block) for block in envelope["content"]]
        texts = [block["text"] for kind, block in blocks if kind == "text"]
        usage = envelope.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        counts = [as_count(usage.get(name)) for name in _INPUT]
        finish = as_text(envelope.get("stop_reason"))
        return Reply(
            text="".join(texts) if texts else None,
            finish=_FINISH.get(finish or "", finish),
            served_model=as_text(envelope.get("model")),
            body=b"",
            reasoning=any(kind in ("thinking", "redacted_thinking") for kind, _ in blocks),
            prompt_tokens=sum(filter(None, counts)) if counts[0] is not None else None,
            completion_tokens=as_count(usage.get("output_tokens")),
        )
