"""Reading the envelope of a reply: which status is what, and fields that may be anything."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from darkcurrent.judges.base import Reply, RequestFailed, in_one_line
from darkcurrent.judges.transport import HttpReply

__all__ = ["REFUSED", "as_count", "as_text", "content_of", "parsed", "read_reply"]

REFUSED = {400, 413, 422}
"""Statuses by which a server says that it does not accept this one request."""

_SHOWN = 300

_OFTEN = {
    401: " (is the key that `api_key_env` names the right one?)",
    403: " (may the key that `api_key_env` names do this?)",
    404: " (are `base_url` and `model` right?)",
}
"""What to look at, by status."""

_NO_ENVELOPE = (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError, OverflowError)


def read_reply(reply: HttpReply, read: Callable[[Any], Reply]) -> Reply:
    """Return what a reply says; `read` takes its parsed envelope, and the answer inside is left as it is.

    Raises
    ------
    RequestFailed
        Where the status says that the service failed, or the envelope cannot be read.
    """
    if reply.status in REFUSED:
        return Reply(None, None, None, reply.body, reply.status, refused=True, said=in_one_line(_said(reply)))
    if reply.status != 200:
        raise RequestFailed(
            f"http-{reply.status}",
            f"HTTP {reply.status}{_OFTEN.get(reply.status, '')}: {_said(reply)}",
            reply.status,
            reply.body,
            reply.headers.get("retry-after"),
        )
    if reply.oversize:
        return Reply(None, None, None, reply.body, reply.status, oversize=True)
    try:
        return read(_envelope(reply.body))
    except _NO_ENVELOPE as error:
        raise RequestFailed(
            "unreadable-reply",
            f"HTTP 200 with no readable reply: {type(error).__name__}: {error}",
            200,
            reply.body,
        ) from error


def parsed(reply: HttpReply) -> dict[str, Any]:
    """Return the JSON object of a reply that tells who serves; an empty one where it is none.

    Raises
    ------
    RequestFailed
        Where the service does not accept the key, or cannot tell now: then nothing it told before has changed.
    """
    if reply.status == 401:
        raise RequestFailed("http-401", "the service does not accept the key", 401)
    if reply.status == 429 or (reply.status >= 500 and reply.status != 501):
        raise RequestFailed(f"http-{reply.status}", f"HTTP {reply.status}: {_said(reply)}", reply.status)
    try:
        found = _envelope(reply.body) if reply.status == 200 else {}
    except (ValueError, RecursionError):
        found = {}
    return found if isinstance(found, dict) else {}


def _said(reply: HttpReply) -> str:
    return reply.body[:_SHOWN].decode("utf-8", "replace")


def _envelope(body: bytes) -> Any:
    # A stray byte inside a string must not lose the whole reply: it shows as U+FFFD, and the body is kept.
    return json.loads(body.decode("utf-8", "replace"))


def as_text(value: Any) -> str | None:
    """Return a text that a server gives; what is none is unknown."""
    return value if isinstance(value, str) else None


def as_count(value: Any) -> int | None:
    """Return a count that a server gives; what cannot be one is unknown."""
    return value if type(value) is int and 0 <= value < 2**53 else None


def content_of(value: Any) -> str | None:
    """Return the content of an answer: a text or nothing.

    Raises
    ------
    TypeError
        Where it is anything else, so that the envelope is none that is known.
    """
    if not isinstance(value, str | None):
        raise TypeError("the content is no text")
    return value
