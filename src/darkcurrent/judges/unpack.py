"""Unpacking the body of a reply, within bounds: a few packed bytes can stand for gigabytes."""

from __future__ import annotations

import zlib

__all__ = ["PackedBadly", "Unpacker"]

_PLAIN = {"", "identity"}
_ZLIB = {"gzip", "x-gzip", "deflate"}
_EITHER_FORM = 32 + zlib.MAX_WBITS
"""Lets zlib find out from the first bytes whether it reads gzip or its own form."""


class PackedBadly(Exception):
    """The body is packed in a way that was not asked for, or is broken."""


class Unpacker:
    """Unpacks a body that comes in parts; `encoding` is the reply's `Content-Encoding`."""

    def __init__(self, encoding: str) -> None:
        encoding = encoding.strip().lower()
        if encoding not in _PLAIN | _ZLIB:
            raise PackedBadly(f"the body is packed as {encoding[:40]!r}, which was not asked for")
        self._zlib = zlib.decompressobj(_EITHER_FORM) if encoding in _ZLIB else None

    def unpack(self, part: bytes, most: int) -> bytes:
        """Return what a part stands for, but at most `most` bytes, of which there is at least one."""
        if self._zlib is None:
            return part
        try:
            found = self._zlib.decompress(part, most)
        except zlib.error as error:
            raise PackedBadly(f"the packed body is broken ({error})") from error
        if self._zlib.unused_data:
            raise PackedBadly("other bytes come behind the packed body")
        return found

    def end(self) -> None:
        """Say that no part is left."""
        if self._zlib is not None and not self._zlib.eof:
            raise PackedBadly("the packed body ends too early")
