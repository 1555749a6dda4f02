"""HTTP, once: no retry, no redirect, a bound on time and on size, and a key that stays here."""

from __future__ import annotations

import io
import json
import math
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from darkcurrent.errors import ProtocolError
from darkcurrent.judges.base import RequestFailed
from darkcurrent.judges.proxy import proxy_for
from darkcurrent.judges.unpack import PackedBadly, Unpacker

__all__ = ["HttpReply", "Transport"]


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

_LARGE = 2**20
"""From so many bytes a body is sent in parts."""

_SHORTEST_SECRET = 8
"""Shorter "keys" (`none`, `EMPTY`, `x`) stand for no key; blotting them out would change answers."""


class Transport:
    """One session to one base address.

    Parameters
    ----------
    key_header : str
        The header that the key goes into.
    headers : dict
        Further headers of every request.
    ca_file : Path or None
        The authorities that may vouch for the server, instead of the system's (or those of `SSL_CERT_FILE`).

    Raises
    ------
    ProtocolError
        Where `ca_file` cannot be read.
    UsageError
        Where a proxy is set that cannot be used.
    """

    def __init__(
        self,
        base_url: str,
        key: str | None,
        connections: int,
        max_bytes: int,
        *,
        key_header: str = "Authorization",
        headers: Mapping[str, str] | None = None,
        ca_file: Path | None = None,
    ) -> None:
        self._base = base_url.rstrip("/")
        self._options: dict[str, Any] = {"key_header": key_header, "headers": headers, "ca_file": ca_file}
        self._key = key
        self._headers = {
            "User-Agent": "darkcurrent",
            "Accept-Encoding": "identity",
            **(headers or {}),
        }
        if key is not None:
            self._headers[key_header] = f"Bearer {key}" if key_header == "Authorization" else key
        self._proxy = proxy_for(base_url)
        self._secrets = [key] if key is not None and len(key) >= _SHORTEST_SECRET else []
        if self._proxy is not None:
            self._secrets += self._proxy.secrets
        self._ssl = _authorities(ca_file) if base_url.startswith("https:") else True
        self.connections = connections
        self._max_bytes = max_bytes
        self._session: aiohttp.ClientSession | None = None

    def at(self, base_url: str) -> Transport:
        """Return a transport of the same kind to another address."""
        return Transport(base_url, self._key, self.connections, self._max_bytes, **self._options)

    async def open(self) -> None:
        """Open the session."""
        connector = aiohttp.TCPConnector(
            limit=self.connections, keepalive_timeout=_IDLE_SECONDS, ssl=self._ssl
        )
        # No call may depend on the one before it, so that no cookie is kept. The environment is not trusted as a
        # whole: with its proxies, aiohttp would also send the user's passwords from ~/.netrc.
        # Nor has it headers: aiohttp shows a session's headers, and so the key, to a proxy too.
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
        )

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
        options: dict[str, Any] = {"allow_redirects": False, "headers": dict(self._headers)}
        if body is not None:
            # aiohttp would write a large body in one piece, and warns of it; a file is written in parts.
            options["data"] = body if len(body) < _LARGE else io.BytesIO(body)
            options["headers"]["Content-Type"] = "application/json"
        if self._proxy is not None:
            options["proxy"] = self._proxy.url
            # Through a tunnel the server must not see what the proxy is shown.
            shown = "proxy_headers" if self._base.startswith("https:") else "headers"
            options[shown] = {**options.get(shown, {}), **self._proxy.headers}
        # aiohttp would round a longer time up to whole seconds, beyond the deadline
        options["timeout"] = aiohttp.ClientTimeout(total=timeout, ceil_threshold=math.inf)
        try:
            async with self._session.request(method, self._base + path, **options) as response:
                content, oversize = await self._read(response)
                headers = {name.lower(): self._words(value) for name, value in response.headers.items()}
                return HttpReply(response.status, self._blotted(content), oversize, headers)
        except TimeoutError as error:
            raise RequestFailed("timeout", f"no whole reply within {timeout:.3g} s") from error
        except (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError) as error:
            raise RequestFailed("connection", self._words(f"no connection: {error}")) from error
        except (aiohttp.ClientError, OSError) as error:
            words = f"the connection broke: {type(error).__name__}: {error}"
            raise RequestFailed("connection-lost", self._words(words)) from error

    async def _read(self, response: aiohttp.ClientResponse) -> tuple[bytes, bool]:
        """Read a body and unpack it, never more than the declared size of it, however well it is packed."""
        found = bytearray()
        try:
            unpacker = Unpacker(response.headers.get("Content-Encoding", ""))
            async for part in response.content.iter_any():
                found += unpacker.unpack(part, self._max_bytes + 1 - len(found))
                if len(found) > self._max_bytes:
                    response.close()
                    return bytes(found[: self._max_bytes]), True
            unpacker.end()
        except PackedBadly as error:
            response.close()
            raise RequestFailed(
                "unreadable-reply", self._words(f"HTTP {response.status}: {error}"), response.status
            ) from error
        return bytes(found), False

    def _words(self, text: str) -> str:
        return self._blotted(text.encode("utf-8", "replace")).decode("utf-8") if self._secrets else text

    def _blotted(self, content: bytes) -> bytes:
        """Return what a server said without the secrets, which some repeat in an error message, as text or in JSON."""
        for secret in self._secrets:
            in_json = json.dumps(secret)[1:-1]
            for form in (secret, in_json, in_json.replace("/", "\\/")):
                content = content.replace(form.encode("utf-8"), b"[key]")
        return content


def _authorities(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
    except OSError as error:  # an SSLError, where the file holds no certificate, is one too
        raise ProtocolError(
            f"`ca_file` {ca_file} cannot be used ({error.strerror or error}): name a PEM file with a certificate."
        ) from error
