"""llama.cpp's server as a child process, from its start to its end."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from dataclasses import dataclass
from typing import IO, Any

from darkcurrent.errors import TransportError

__all__ = ["LlamaProcess"]

_START_SECONDS = 180.0


@dataclass
class LlamaProcess:
    """A running server.

    Attributes
    ----------
    address : str
        Where it listens.
    build : str
        The version of the package that it comes from.
    """

    address: str
    build: str
    _process: asyncio.subprocess.Process
    _log: IO[bytes]

    @classmethod
    async def start(cls, name: str, settings: dict[str, Any]) -> LlamaProcess:
        """Start the server of a configuration and wait until it listens.

        Raises
        ------
        TransportError
            Where it does not; with its last words.
        """
        log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the server
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "darkcurrent.judges.llama_server",
            json.dumps(settings),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            # Ctrl-C is for us: the server must live until what is in flight has been answered.
            start_new_session=True,
        )
        server = cls("", "", process, log)
        try:
            assert process.stdout is not None
            started = json.loads(await asyncio.wait_for(process.stdout.readline(), _START_SECONDS))
            server.address, server.build = started["address"], started["build"]
        except BaseException as error:
            said = server._last_words()
            await server.stop()
            if not isinstance(error, TimeoutError | ValueError):
                raise
            raise TransportError(
                f"The embedded server did not start for configuration `{name}`: {said}"
            ) from error
        return server

    async def stop(self) -> None:
        """Close its input, which ends it, and wait until it has ended."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), 10)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        self._log.close()

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"
