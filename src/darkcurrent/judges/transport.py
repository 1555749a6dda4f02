"""HTTP, once: no retry, no redirect, a bound on time and on size, and a key that stays here."""

from __future__ import annotations

import os
from dataclasses import dataclass

import aiohttp

from darkcurrent.errors import SecretError
from darkcurrent.judges.base import RequestFailed

__all__ = ["HttpReply", "Transport", "key_from_environment"]


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A reply with its body, cut off at the declared size."""

    status: int
    body: bytes
    oversize: bool


def key_from_environment(name: str | None) -> str | None:
    """Return the key that an environment variable holds.

    Raises
    ------
    SecretError
        Where the variable is named and not set.
    """
    if name is None:
        return None
    value = os.environ.get(name, "").strip()
    if not value:
        raise SecretError(
            f"The environment variable {name}, which should hold the key, is not set: export {name}=... first."
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
        connector = aiohttp.TCPConnector(limit=self._connections)
        self._session = aiohttp.ClientSession(connector=connector, headers=headers)

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
                data=body,
                headers=headers,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=timeout),
            ) as response:
                content, oversize = await self._read(response)
                return HttpReply(response.status, self._without_key(content), oversize)
        except TimeoutError as error:
            raise RequestFailed("timeout", f"no whole reply within {timeout:.3g} s") from error
        except aiohttp.ClientConnectorError as error:
            raise RequestFailed("connection", self._words(f"no connection: {error}")) from error
        except aiohttp.ClientError as error:
            raise RequestFailed(
                "connection-lost", self._words(f"the connection broke: {type(error).__name__}: {error}")
            ) from error

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

    def _without_key(self, content: bytes) -> bytes:
        # Some servers repeat a refused key in their error message.
        return content.replace(self._key.encode(), b"[key]") if self._key else content

    def _words(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text
