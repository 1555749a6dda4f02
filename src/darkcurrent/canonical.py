"""Canonical bytes and digests: the one home of how anything is hashed."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import rfc8785

from darkcurrent.errors import UsageError

__all__ = ["canonical_json", "digest", "digest_bytes", "digest_text", "dump_lines", "text_bytes"]


def canonical_json(value: Any) -> bytes:
    """Return the RFC 8785 (JCS) bytes of a JSON value.

    Raises
    ------
    UsageError
        Where the value has no canonical form: a number that is not finite, an integer beyond 2**53, a
        string with a lone surrogate. Texts of items are therefore always referred to by their digest.
    """
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise UsageError(f"This value has no canonical JSON form: {error}.") from error


def digest_bytes(data: bytes) -> str:
    """Return the SHA-256 of some bytes, in lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of a value, in lower-case hex."""
    return digest_bytes(canonical_json(value))


def text_bytes(text: str) -> bytes:
    """Return the bytes of a text as they are hashed: UTF-8, in which a lone surrogate keeps its own code.

    Real data holds lone surrogates. Refusing them would lose the row and replacing them would change what the
    judge saw, so they are encoded as three bytes each ("surrogatepass").
    """
    return text.encode("utf-8", "surrogatepass")


def digest_text(text: str) -> str:
    """Return the SHA-256 of `text_bytes`, in lower-case hex."""
    return digest_bytes(text_bytes(text))


def dump_lines(rows: list[dict[str, Any]]) -> bytes:
    """Return rows as JSON lines with sorted keys, in ASCII: lone surrogates survive as escapes.

    Only a high surrogate directly before a low one cannot: JSON has no way to write them apart, so no text
    that was read from JSON, CSV or Parquet holds them.
    """
    return b"".join(
        json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode(
            "ascii"
        )
        + b"\n"
        for row in rows
    )
