"""Backends `ollama` (chat) and `ollama-raw` (generate, raw)."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Any, ClassVar, TypeVar

from darkcurrent.canonical import digest_text
from darkcurrent.judges.base import Identity, Reply
from darkcurrent.judges.http import PROBE_SECONDS, HttpJudge, RawJudge, encoded
from darkcurrent.judges.reading import as_count, as_text, content_of, parsed
from darkcurrent.protocol.configurations import OllamaBase, OllamaConfiguration, OllamaRawConfiguration

__all__ = ["OllamaJudge", "OllamaRawJudge"]

_LATEST = ":latest"
_BLOB = re.compile(r"^FROM \S*sha256[-:]([0-9a-f]{64})\s*$", re.MULTILINE)
_OPTIONS = {"temperature": "temperature", "max_tokens": "num_predict", "seed": "seed"}

O = TypeVar("O", bound=OllamaBase)  # noqa: E741 - the module has no number that it could be taken for


class _OllamaServer(HttpJudge[O]):
    """What Ollama's chat and raw text have in common."""

    def fields(self) -> dict[str, Any]:
        """Return the declared options, among them those of `extra.options`; a prompt is never cut to fit."""
        options = {_OPTIONS[name]: value for name, value in self._sent(*_OPTIONS).items()}
        if self._configuration.context is not None:
            options["num_ctx"] = self._configuration.context
        more = self._decoder.extra.get("options", {})
        if not isinstance(more, dict):
            self._cannot("`options` of `decoder.extra` as they are", "make them a table")
        for name in sorted(options.keys() & more.keys()):
            self._cannot(f"`options.{name}` of `decoder.extra`", "the request has this option already")
        return {"stream": False, "truncate": False, "shift": False, **self.think(), "options": options | more}

    @abstractmethod
    def think(self) -> dict[str, Any]:
        """Return the switch for thinking."""

    def extra(self) -> dict[str, Any]:
        """Return the further fields beside the options."""
        return {name: value for name, value in self._decoder.extra.items() if name != "options"}

    async def identify(self) -> Identity:
        """Read the server's version and what it says of the model: the digests of its tag, file and template."""
        version = await self._told("/api/version")
        tags = (await self._told("/api/tags")).get("models")
        rows = [row for row in tags if isinstance(row, dict)] if isinstance(tags, list) else []
        names = {str(row.get("model") or row.get("name")): row for row in rows}
        asked = self._configuration.model
        tag = names.get(asked) or names.get(asked + _LATEST) or {}
        shown = parsed(await self._transport.post("/api/show", encoded({"model": asked}), PROBE_SECONDS))
        details = shown.get("details")
        details = details if isinstance(details, dict) else {}
        blob = _BLOB.search(str(shown.get("modelfile")))
        template = as_text(shown.get("template"))
        facts = {
            "served": sorted({name.removesuffix(_LATEST) for name in names} | names.keys()),
            "version": as_text(version.get("version")),
            "tag_digest": as_text(tag.get("digest")),
            "file_sha256": blob[1] if blob else None,
            "quantization": as_text(details.get("quantization_level")),
            "parameters": as_text(details.get("parameter_size")),
            "chat_template_sha256": digest_text(template) if template else None,
        }
        return Identity("service's declaration", facts)

    def read_answer(self, envelope: Any, text: Any, thinking: Any) -> Reply:
        """Return a reply from what both have in common."""
        if envelope["done"] is not True:
            raise ValueError("the reply is not done")
        return Reply(
            text=content_of(text),
            finish=as_text(envelope.get("done_reason")),
            served_model=as_text(envelope.get("model")),
            body=b"",
            reasoning=bool(thinking),
            prompt_tokens=as_count(envelope.get("prompt_eval_count")),
            completion_tokens=as_count(envelope.get("eval_count")),
        )


class OllamaJudge(_OllamaServer[OllamaConfiguration]):
    """Asks `POST {base}/api/chat`."""

    path: ClassVar[str] = "/api/chat"
    taken: ClassVar[frozenset[str]] = frozenset({"seed", "reasoning_effort", "thinking"})

    def content(self, system: str, user: str) -> dict[str, Any]:
        """Return the rubric as the system message, and the user message."""
        return {"messages": [{"role": "system", "content": system}, {"role": "user", "content": user}]}

    def think(self) -> dict[str, Any]:
        """Return the declared switch, which is also where the effort goes."""
        thinking, effort = self._decoder.thinking, self._decoder.reasoning_effort
        if thinking is not None and effort is not None:
            self._cannot("both `decoder.thinking` and `decoder.reasoning_effort`", "declare one of them")
        value = thinking if effort is None else effort
        return {} if value is None else {"think": value}

    def read(self, envelope: Any) -> Reply:
        """Read a chat reply. Thinking is seen to be there and is never read."""
        message = envelope["message"]
        return self.read_answer(envelope, message.get("content"), message.get("thinking"))


class OllamaRawJudge(_OllamaServer[OllamaRawConfiguration], RawJudge[OllamaRawConfiguration]):
    """Asks `POST {base}/api/generate`. Ollama has no tokenizer to ask, so no prompt is counted."""

    path: ClassVar[str] = "/api/generate"

    def fields(self) -> dict[str, Any]:
        """Return the declared options, and that the prompt is whole as it is."""
        return {"raw": True, **super().fields()}

    def think(self) -> dict[str, Any]:
        """Return that there is none."""
        return {"think": False}

    def read(self, envelope: Any) -> Reply:
        """Read a generated text."""
        return self.read_answer(envelope, envelope["response"], envelope.get("thinking"))
