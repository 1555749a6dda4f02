"""Judges of every backend, and a server that speaks what their servers speak."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from pathlib import Path
from typing import Any, Self

from aiohttp import web
from pydantic import TypeAdapter

from darkcurrent.judges import open_judge
from darkcurrent.judges.base import Identity, Judge, Reply
from darkcurrent.protocol.configurations import Configuration

__all__ = ["TEMPLATE", "PathServer", "asked", "configuration_of", "identified", "judge_of"]

TEMPLATE = "<s>{system}</s>\n<u>{user}</u>\n"
_READ: TypeAdapter[Configuration] = TypeAdapter(Configuration)


def configuration_of(backend: str, **keys: Any) -> Configuration:
    """Return a configuration as a protocol would give it."""
    if backend.endswith(("-raw", "-completions")):
        keys.setdefault("template", TEMPLATE)
    keys.setdefault("base_url", "http://127.0.0.1:1")
    table = {"name": "judge", "backend": backend, "model": "m", **keys}
    return _READ.validate_json(json.dumps(table))


def judge_of(backend: str, folder: Path = Path("absent"), **keys: Any) -> Any:
    """Return the judge of such a configuration."""
    return open_judge(configuration_of(backend, **keys), folder)


def asked(judge: Judge, *requests: bytes, timeout: float = 5.0) -> list[Reply]:
    """Ask a judge one request after the other."""

    async def asking() -> list[Reply]:
        async with judge:
            return [await judge.ask(request, timeout) for request in requests]

    return asyncio.run(asking())


def identified(judge: Judge) -> Identity:
    """Ask a judge who answers."""

    async def asking() -> Identity:
        async with judge:
            return await judge.identify()

    return asyncio.run(asking())


class PathServer:
    """A server in a thread that answers each path as it is told, and keeps what it was asked.

    Parameters
    ----------
    answers : dict
        Path to a JSON value, a response, or a function of the parsed request that gives one of these. Any other path
        is 404.
    """

    def __init__(
        self, answers: dict[str, Any], host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
    ) -> None:
        self._answers = answers
        self._host = host
        self._tls = tls
        self.asked: list[tuple[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    @property
    def url(self) -> str:
        """The address."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}"

    def bodies(self, path: str) -> list[Any]:
        """Return what was sent to a path."""
        return [body for where, body in self.asked if where == path]

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, *exc: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        # The lowest layer, so that a request to a proxy, which names a whole address, is seen too.
        self._runner = web.ServerRunner(web.Server(self._answer), shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, 0, ssl_context=self._tls)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        sent = json.loads(body) if body else None
        self.asked.append((request.path, sent))
        self.headers.append(dict(request.headers))
        if request.path not in self._answers:
            return web.json_response({"error": "no such path"}, status=404)
        answer = self._answers[request.path]
        if callable(answer):
            answer = answer(sent)
        return answer if isinstance(answer, web.StreamResponse) else web.json_response(answer)
