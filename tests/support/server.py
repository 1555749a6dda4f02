"""Servers for tests: one that counts what it is asked, and one that speaks raw bytes."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Self

from aiohttp import web

__all__ = ["ChatServer", "RawServer", "completion", "http_reply"]

MODEL = "planted-1"


def completion(content: Any = '{"winner":"tie"}', **changes: Any) -> dict[str, Any]:
    """Return the envelope of a chat completion; a change to None removes a key."""
    envelope: dict[str, Any] = {
        "id": "same-for-all",
        "model": MODEL,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
        **changes,
    }
    return {key: value for key, value in envelope.items() if value is not None}


Answer = Callable[[web.Request, bytes], Awaitable[web.StreamResponse]]


class ChatServer:
    """An OpenAI-compatible server in a thread, which keeps every request that reaches it.

    Parameters
    ----------
    answer : coroutine function, optional
        Gets the request and its body and returns the response; by default every answer is a tie.
    delay : float
        Seconds before an answer.
    """

    def __init__(self, answer: Answer | None = None, delay: float = 0.0, models: Any = (MODEL,)) -> None:
        self._answer = answer or _tie
        self._delay = delay
        self._models = models
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.flying = 0
        self.most_flying = 0
        self.on_request: Callable[[int], None] = lambda number: None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    @property
    def seen(self) -> Counter[str]:
        """How often each request came, by the digest of its bytes."""
        return Counter(hashlib.sha256(body).hexdigest() for body in self.bodies)

    @property
    def url(self) -> str:
        """The base address."""
        return f"http://127.0.0.1:{self.port}/v1"

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
        application = web.Application(client_max_size=2**24)
        application.router.add_get("/v1/models", self._list)
        application.router.add_post("/v1/chat/completions", self._chat)
        # A client that is gone ends the handler; nobody waits for answers that nobody reads.
        self._runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _list(self, request: web.Request) -> web.StreamResponse:
        self.headers.append(dict(request.headers))
        if isinstance(self._models, int):
            return web.Response(status=self._models)
        return web.json_response({"data": [{"id": name} for name in self._models]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        self.flying += 1
        self.most_flying = max(self.flying, self.most_flying)
        try:
            self.on_request(len(self.bodies))
            await asyncio.sleep(self._delay)
            return await self._answer(request, body)
        finally:
            self.flying -= 1


async def _tie(request: web.Request, body: bytes) -> web.StreamResponse:
    return web.json_response(completion(model=json.loads(body)["model"]))


class RawServer:
    """A TCP server that answers the n-th connection as it is told, and keeps the requests it could read.

    Parameters
    ----------
    talk : callable
        Gets the connection and its number, from 0; the connection is closed when it returns.
    """

    def __init__(self, talk: Callable[[socket.socket, int], None]) -> None:
        self._talk = talk
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self.requests: list[bytes] = []
        self.connections = 0

    @property
    def url(self) -> str:
        """The base address."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join(10)
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            number, self.connections = self.connections, self.connections + 1
            thread = threading.Thread(target=self._serve, args=(connection, number))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        connection.settimeout(10)
        with connection:
            self._talk(connection, number)

    def read_request(self, connection: socket.socket) -> bytes:
        """Read one request with its body and keep it; empty where the other side closed."""
        data = b""
        while b"\r\n\r\n" not in data:
            part = connection.recv(65536)
            if not part:
                return b""
            data += part
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(
            (
                int(line.split(b":")[1])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length")
            ),
            0,
        )
        while len(body) < length:
            body += connection.recv(65536)
        self.requests.append(head + b"\r\n\r\n" + body)
        return self.requests[-1]


def http_reply(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """Return the bytes of a reply."""
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
