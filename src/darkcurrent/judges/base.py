"""What a backend is: it makes the exact bytes of a request, sends them once, and reads what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from darkcurrent.errors import TransportError

__all__ = ["Basis", "Identity", "Judge", "Reply", "RequestFailed", "in_one_line"]


def in_one_line(text: str) -> str:
    """Return what a server said in one line: what would steer a terminal, line breaks too, becomes a space."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one request.

    Attributes
    ----------
    refused : bool
        The server did not accept this request (HTTP 400, 413 or 422): there is no answer, and the next request
        may well be accepted.
    oversize : bool
        The reply was longer than declared and was cut off.
    said : str
        What the server said in refusing, fit for a terminal.
    gateway : str or None
        The headers that tell by which way the reply came and who made it, as a JSON object.
    objection : str or None
        Why this reply is not one of the declared judge to the prompt that was sent, though its name is right; such
        a reply stops a campaign.
    """

    text: str | None
    finish: str | None
    served_model: str | None
    body: bytes
    http_status: int | None = None
    fingerprint: str | None = None
    reasoning: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    refused: bool = False
    oversize: bool = False
    said: str = ""
    gateway: str | None = None
    objection: str | None = None


class RequestFailed(TransportError):
    """A request left no usable reply. Carries the reason code and what came, if anything."""

    def __init__(
        self,
        reason: str,
        detail: str,
        http_status: int | None = None,
        body: bytes = b"",
        retry_after: str | None = None,
    ) -> None:
        detail = in_one_line(detail)
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.http_status = http_status
        self.body = body
        self.retry_after = retry_after


Basis = Literal["verified digest", "service's declaration"]


@dataclass(frozen=True)
class Identity:
    """Who answers, as far as that can be known without a judge call.

    Attributes
    ----------
    basis : str
        `verified digest` where the bytes of the artifact were hashed here; `service's declaration` where a
        server's word is all there is.
    facts : dict
        What was read, by name.
    """

    basis: Basis
    facts: dict[str, Any] = field(default_factory=dict)


class Judge(Protocol):
    """A backend, opened with `async with`."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def identify(self) -> Identity:
        """Ask who answers; makes no judge call."""

    def request_bytes(self, rubric: str, prompt: str, a: str, b: str, c: str | None = None) -> bytes:
        """Return the exact bytes of a request. The same call gives the same bytes, always.

        `c` is a third candidate that is shown and cannot win.
        """

    async def ask(self, request: bytes, timeout: float) -> Reply:
        """Send a request once and read the reply.

        Raises
        ------
        RequestFailed
            Where no usable reply came within `timeout` seconds.
        """
