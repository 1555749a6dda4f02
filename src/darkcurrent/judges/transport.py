"""HTTP, once: no retry, no redirect, a bound on time and on size, and a key that stays here."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import aiohttp

from darkcurrent.errors import SecretError
from darkcurrent.judges.base import RequestFailed

__all__ = ["HttpReply", "Transport", "key_from_environment"]


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A reply with its body, cut off at the declared size; the names of its headers are in lower case."""

    status: int
    body: bytes
    oversize: bool
    headers: Mapping[str, str] = field(default_factory=dict)


_IDLE_SECONDS = 3.0
"""An idle connection is given up after this time: servers close theirs after 5 s or more, and a request that
meets a closing connection is lost, as it is never sent twice."""

_SHORTEST_SECRET = 8
"""Shorter "keys" (`none`, `EMPTY`, `x`) stand for no key; blotting them out would change answers."""


def key_from_environment(name: str | None) -> str | None:
    """Return the key that an environment variable holds.

    Raises
    ------
    SecretError
        Where the variable is named and not set, or holds what no key can be.
    """
    if name is None:
        return None
    value = os.environ.get(name, "").strip()
    if not value:
        raise SecretError(
            f"The environment variable {name}, which should hold the key, is not set: export {name}=... first."
        )
    if not (value.isascii() and value.isprintable()):
        raise SecretError(
            f"The environment variable {name} holds more than a key (a line break or a sign outside ASCII): "
            f"export {name}=... again."
        )
    return value


class Transport:
    """One session to one base address."""

    def __init__(self, base_url: str, key: str | None, connections: int, max_bytes: int) -> None:
        self._base = base_url.rstrip("/")
        self._key = key
        self._connections = connections
        self._max_bytes = max_bytes
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Open the session."""
        headers = {"User-Agent": "darkcurrent"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        connector = aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=_IDLE_SECONDS)
        # No call may depend on the one before it, so that no cookie is kept.
        jar = aiohttp.DummyCookieJar()
        self._session = aiohttp.ClientSession(connector=connector, headers=headers, cookie_jar=jar)

    async def close(self) -> None:
        """Close the session."""
        if self._session is not None:
            await self._session.close()

    async def get(self, path: str, timeout: float) -> HttpReply:
        """Read an address."""
        return await self._send("GET", path, None, timeout)

    async def post(self, path: str, body: bytes, timeout: float) -> HttpReply:
        """Send JSON bytes to an address."""
        return await self._send("POST", path, body, timeout)

    async def _send(self, method: str, path: str, body: bytes | None, timeout: float) -> HttpReply:
        assert self._session is not None, "the transport is not open"
        headers = {"Content-Type": "application/json"} if body is not None else {}
        try:
            async with self._session.request(
                method,
                self._base + path,
                data=io.BytesIO(body) if body is not None else None,
                headers=headers,
                allow_redirects=False,
                # aiohttp would round a longer time up to whole seconds, beyond the deadline
                timeout=aiohttp.ClientTimeout(total=timeout, ceil_threshold=math.inf),
            ) as response:
                content, oversize = await self._read(response)
                headers = {name.lower(): self._words(value) for name, value in response.headers.items()}
                return HttpReply(response.status, _blotted(content, self._key), oversize, headers)
        except TimeoutError as error:
            raise RequestFailed("timeout", f"no whole reply within {timeout:.3g} s") from error
        except aiohttp.ClientConnectorError as error:
            raise RequestFailed("connection", self._words(f"no connection: {error}")) from error
        except (aiohttp.ClientError, OSError) as error:
            raise RequestFailed(
                "connection-lost", self._words(f"the connection broke: {type(error).__name__}: {error}")
            ) from error

    def _words(self, text: str) -> str:
        return _blotted(text.encode("utf-8", "replace"), self._key).decode("utf-8")

    async def _read(self, response: aiohttp.ClientResponse) -> tuple[bytes, bool]:
        parts: list[bytes] = []
        size = 0
        async for part in response.content.iter_any():
            parts.append(part)
            size += len(part)
            if size > self._max_bytes:
                response.close()
                return b"".join(parts)[: self._max_bytes], True
        return b"".join(parts), False


def _blotted(content: bytes, key: str | None) -> bytes:
    """Return what a server said without the key, which some repeat in their error message, as text or in JSON."""
    if key is None or len(key) < _SHORTEST_SECRET:
        return content
    in_json = json.dumps(key)[1:-1]
    for form in (key, in_json, in_json.replace("/", "\\/")):
        content = content.replace(form.encode("ascii"), b"[key]")
    return content
