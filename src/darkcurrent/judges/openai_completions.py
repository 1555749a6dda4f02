"""Backend `openai-completions`: raw text to any endpoint that speaks OpenAI's completions."""

from __future__ import annotations

from typing import Any, ClassVar

from darkcurrent.judges.base import Identity, Reply
from darkcurrent.judges.http import R, RawJudge
from darkcurrent.judges.openai_chat import completion_reply, served_models
from darkcurrent.judges.reading import content_of
from darkcurrent.protocol.configurations import OpenAICompletionsConfiguration

__all__ = ["CompletionsJudge", "OpenAICompletionsJudge"]


class CompletionsJudge(RawJudge[R]):
    """How a completion is asked for and read, whoever serves it."""

    def fields(self) -> dict[str, Any]:
        """Return the declared fields under their own names."""
        return self._sent("temperature", "max_tokens", "seed")

    def read(self, envelope: Any) -> Reply:
        """Read a completion."""
        return completion_reply(envelope, content_of(envelope["choices"][0]["text"]))


class OpenAICompletionsJudge(CompletionsJudge[OpenAICompletionsConfiguration]):
    """Asks `POST {base}/completions`. There is no common way to ask for a tokenizer, so no prompt is counted."""

    path: ClassVar[str] = "/completions"

    async def identify(self) -> Identity:
        """Read the list of models that the endpoint serves; many have none."""
        served = sorted(str(row["id"]) for row in served_models(await self._told("/models")))
        return Identity("service's declaration", {"served": served or None, "prompts_counted_by": None})
