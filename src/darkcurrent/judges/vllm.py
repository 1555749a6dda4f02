"""Backends `vllm` (chat) and `vllm-raw`: OpenAI's forms, with vLLM's own words on who serves."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from darkcurrent.judges.base import Identity
from darkcurrent.judges.http import HttpJudge
from darkcurrent.judges.openai_chat import ChatJudge, served_models
from darkcurrent.judges.openai_completions import CompletionsJudge
from darkcurrent.judges.reading import as_count, as_text
from darkcurrent.protocol.configurations import VllmBase, VllmConfiguration, VllmRawConfiguration

__all__ = ["VllmJudge", "VllmRawJudge"]

V = TypeVar("V", bound=VllmBase)


class _VllmServer(HttpJudge[V]):
    async def identify(self) -> Identity:
        """Read the server's version, and from where it has the model."""
        version = await self._told("/version")
        rows = served_models(await self._told("/v1/models"))
        own = next((row for row in rows if row["id"] == self._configuration.model), {})
        facts = {
            "served": sorted(str(row["id"]) for row in rows) or None,
            "version": as_text(version.get("version")),
            "root": as_text(own.get("root")),
            "context": as_count(own.get("max_model_len")),
        }
        return Identity(self._basis(own.get("root")), facts)


class VllmJudge(_VllmServer[VllmConfiguration], ChatJudge[VllmConfiguration]):
    """Asks `POST {base}/v1/chat/completions`."""

    path: ClassVar[str] = "/v1/chat/completions"
    taken: ClassVar[frozenset[str]] = frozenset({"seed", "reasoning_effort", "thinking"})

    def fields(self) -> dict[str, Any]:
        """Return the declared fields; the thinking switch is one of the chat template."""
        fields = super().fields()
        if self._decoder.thinking is not None:
            fields["chat_template_kwargs"] = {"enable_thinking": self._decoder.thinking}
        return fields


class VllmRawJudge(_VllmServer[VllmRawConfiguration], CompletionsJudge[VllmRawConfiguration]):
    """Asks `POST {base}/v1/completions`, after `POST {base}/tokenize`."""

    path: ClassVar[str] = "/v1/completions"
    tokenizer: ClassVar[str | None] = "/tokenize"

    async def identify(self) -> Identity:
        """Read who serves, and that the tokenizer answers."""
        found = await super().identify()
        return Identity(found.basis, {**found.facts, **await self._ledger()})

    def tokens_request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Ask as the completion does: with the same special tokens."""
        return {name: request[name] for name in ("model", "prompt", "add_special_tokens") if name in request}

    def read_tokens(self, envelope: Any) -> int | None:
        """Read the count."""
        return as_count(envelope["count"])
