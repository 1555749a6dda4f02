"""An OpenAI-compatible server around a simulated judge, which keeps account of what it is asked."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, Self

from aiohttp import web

from darkcurrent.canonical import digest_bytes
from darkcurrent.errors import UsageError
from darkcurrent.judges.simulated.faults import Fault, Faults
from darkcurrent.judges.simulated.judge import MODEL, SimulatedJudge, texts_of

__all__ = ["SimulatedServer", "completion"]

_REFUSALS: dict[Fault, int] = {"429": 429, "429-retry-after": 429, "503": 503}


class SimulatedServer:
    """Serves in a thread of its own, from `with` to its end.

    Paths below `/v1`: `chat/completions`, `completions`, `models`; and `/simulated`, which tells what was asked.

    Parameters
    ----------
    judge, faults : SimulatedJudge, Faults
        What is planted.
    port : int
        0 for a free one.
    model : str
        The name that it serves under.

    Attributes
    ----------
    requests : int
        How many requests for a completion came.
    asked : Counter
        How often each request came, by the SHA-256 of its bytes.
    refused : Counter
        How often it was refused without an observation.
    on_request : callable
        Is told with every request how many came so far, in the server's thread.
    """

    def __init__(
        self,
        judge: SimulatedJudge | None = None,
        faults: Faults | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        model: str = MODEL,
    ) -> None:
        self._judge = judge or SimulatedJudge()
        self._faults = faults or Faults()
        self._host = host
        self._port = port
        self._model = model
        self.requests = 0
        self.asked: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.on_request: Callable[[int], None] = lambda number: None

    @property
    def url(self) -> str:
        """The base address, with `/v1`."""
        return f"http://{self._host}:{self._port}/v1"

    @property
    def observed(self) -> Counter[str]:
        """How often each request was taken, by the SHA-256 of its bytes: more than once is a second observation."""
        return self.asked - self.refused

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result()
        self._end()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> None:
        # Nobody waits for answers that nobody reads any more.
        self._runner = web.ServerRunner(
            web.Server(self._handle, access_log=None, handler_cancellation=True), shutdown_timeout=0.1
        )
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            await self._runner.cleanup()
            raise UsageError(
                f"Nothing can be served at {self._host}:{self._port} ({error.strerror}): choose another --port."
            ) from error
        self._port = self._runner.addresses[0][1]

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.path.removeprefix("/v1")
        if request.method == "GET" and path == "/models":
            return web.json_response({"object": "list", "data": [{"id": self._model, "object": "model"}]})
        if request.method == "GET" and path == "/simulated":
            return web.json_response({"asked": self.asked, "refused": self.refused})
        if request.method == "POST" and path in ("/chat/completions", "/completions"):
            return await self._complete(request, chat=path != "/completions")
        return _error(404, f"there is nothing at {request.method} {request.path}")

    async def _complete(self, request: web.BaseRequest, *, chat: bool) -> web.StreamResponse:
        body = await request.read()
        sha256 = digest_bytes(body)
        self.requests += 1
        self.asked[sha256] += 1
        number = self.requests
        self.on_request(number)
        fault = self._faults.of(sha256, self.asked[sha256])
        if fault in _REFUSALS:
            self.refused[sha256] += 1
        if self._faults.latency:
            await asyncio.sleep(self._faults.latency)
        if fault in _REFUSALS:
            headers = {"Retry-After": self._faults.retry_after} if fault == "429-retry-after" else {}
            return _error(_REFUSALS[fault], "planted refusal", headers)
        if fault == "500":
            return _error(500, "planted error")
        if fault == "hang":
            await asyncio.Event().wait()
        try:
            reply = self._reply(json.loads(body), fault, number, chat=chat)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            return _error(400, f"this is no request for a completion: {type(error).__name__}: {error}")
        return await _send(request, reply, fault, self._faults.drip_seconds)

    def _reply(self, wanted: Any, fault: Fault | None, number: int, *, chat: bool) -> bytes:
        rubric, prompt = _parts(wanted["messages"]) if chat else ("", str(wanted["prompt"]))
        texts = texts_of(prompt)
        content = self._judge.answer(rubric, *texts) if texts else "There are no two answers in this request."
        if fault == "fences":
            content = f"```json\n{content}\n```"
        reply = completion(
            "" if fault == "empty" else content, self._model, rubric + prompt, number, chat=chat
        )
        choice = reply["choices"][0]
        if fault == "wrong-model":
            reply["model"] = f"{self._model}-another"
        if fault == "identical-ids":
            reply["id"] = "simulated-0"
        if fault == "reasoning" and chat:
            choice["message"] = {"role": "assistant", "content": None, "reasoning_content": content}
        data = json.dumps(reply).encode()
        return data[: len(data) // 2] if fault == "truncated-json" else data


def completion(content: str, model: str, prompt: str, number: int, *, chat: bool = True) -> dict[str, Any]:
    """Return the envelope of a reply. Its counts of tokens are simulated, too: one for every four characters."""
    tokens = [-(-len(text) // 4) for text in (prompt, content)]
    answer = {"message": {"role": "assistant", "content": content}} if chat else {"text": content}
    return {
        "id": f"simulated-{number}",
        "object": "chat.completion" if chat else "text_completion",
        "created": 0,
        "model": model,
        "system_fingerprint": "simulated",
        "choices": [{"index": 0, **answer, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": tokens[0],
            "completion_tokens": tokens[1],
            "total_tokens": sum(tokens),
        },
    }


def _parts(messages: list[dict[str, str]]) -> tuple[str, str]:
    """Return what the system and what the user says."""
    return tuple(  # type: ignore[return-value]
        "\n".join(message["content"] for message in messages if message["role"] == role)
        for role in ("system", "user")
    )


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response(
        {"error": {"message": message, "type": "simulated"}}, status=status, headers=headers
    )


async def _send(
    request: web.BaseRequest, reply: bytes, fault: Fault | None, drip_seconds: float
) -> web.StreamResponse:
    if fault not in ("reset-before", "reset-middle", "reset-after", "slow-drip"):
        return web.Response(body=reply, content_type="application/json")
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = len(reply)
    if fault == "slow-drip":
        await response.prepare(request)
        for position in range(len(reply)):
            await response.write(reply[position : position + 1])
            await asyncio.sleep(drip_seconds / len(reply))
        return response
    if fault != "reset-before":
        await response.prepare(request)
        await response.write(reply if fault == "reset-after" else reply[: len(reply) // 2])
    if request.transport is not None:
        # Without lingering, closing is a reset.
        request.transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        request.transport.abort()
    return response
