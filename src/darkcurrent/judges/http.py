"""What all judges share that are asked over HTTP: one request, one reply."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, NoReturn, Self, TypeVar

from darkcurrent.errors import ModelMismatchError, ProtocolError
from darkcurrent.judges.base import Basis, Identity, Reply, RequestFailed
from darkcurrent.judges.identity import Witness, gateway_of
from darkcurrent.judges.reading import parsed, read_reply
from darkcurrent.judges.render import fill_template, render_messages
from darkcurrent.judges.transport import Transport
from darkcurrent.protocol.configurations import HttpConfiguration, RawConfiguration

__all__ = ["PROBE_SECONDS", "HttpJudge", "RawJudge", "encoded"]

PROBE_SECONDS = 30.0
"""The longest that a question to the server about itself may take."""

C = TypeVar("C", bound=HttpConfiguration)
R = TypeVar("R", bound=RawConfiguration)


def encoded(body: dict[str, Any]) -> bytes:
    """Return the bytes of a request: JSON in ASCII, its keys in the order in which they stand here."""
    return json.dumps(body, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode("ascii")


class HttpJudge(ABC, Generic[C]):
    """A backend in two parts: how a request is written, and how its reply is read."""

    path: ClassVar[str]
    """Where requests go, below the base address."""

    taken: ClassVar[frozenset[str]]
    """The optional fields of the decoder that there is a way to send."""

    key_header: ClassVar[str] = "Authorization"
    headers: ClassVar[Mapping[str, str]] = {}
    """The header that the key goes into, and those that every request has."""

    def __init__(
        self, configuration: C, transport: Transport, witness: Witness, artifact: Path | None = None
    ) -> None:
        self._configuration = configuration
        self._decoder = configuration.decoder
        self._transport = transport
        self._witness = witness
        self._artifact = artifact

    async def __aenter__(self) -> Self:
        await self._transport.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transport.close()

    @abstractmethod
    async def identify(self) -> Identity:
        """Ask who answers; makes no judge call."""

    @abstractmethod
    def fields(self) -> dict[str, Any]:
        """Return the declared decoder as this backend sends it."""

    @abstractmethod
    def content(self, system: str, user: str) -> dict[str, Any]:
        """Return the two messages of a call as this backend sends them."""

    @abstractmethod
    def read(self, envelope: Any) -> Reply:
        """Read the envelope of a reply; any error of a lookup says that it is none. The body is filled in later."""

    def request_bytes(self, rubric: str, prompt: str, a: str, b: str, c: str | None = None) -> bytes:
        """Return the exact bytes of a request.

        Raises
        ------
        ProtocolError
            Where the decoder declares what this backend cannot send.
        """
        for name in ("seed", "reasoning_effort", "thinking"):
            if getattr(self._decoder, name) is not None and name not in self.taken:
                self._cannot(
                    f"`decoder.{name}`", "remove it, or declare what the server takes in `decoder.extra`"
                )
        system, user = (message["content"] for message in render_messages(rubric, prompt, a, b, c))
        own = {"model": self._configuration.model, **self.content(system, user), **self.fields()}
        extra = self.extra()
        for key in sorted(own.keys() & extra.keys()):
            self._cannot(f"`{key}` of `decoder.extra`", "the request has this field already")
        return encoded(own | extra)

    def extra(self) -> dict[str, Any]:
        """Return the fields that are declared as they stand."""
        return self._decoder.extra

    async def ask(self, request: bytes, timeout: float) -> Reply:
        """Send a request once and read the reply."""
        answer = await self._transport.post(self.path, request, timeout)
        reply = read_reply(answer, self.read)
        reply = replace(
            reply, body=answer.body, http_status=answer.status, gateway=gateway_of(answer.headers)
        )
        objection = reply.objection or self._witness.objection(reply)
        return reply if objection is None else replace(reply, objection=objection)

    async def _told(self, path: str) -> dict[str, Any]:
        """Return what the server tells of itself at an address."""
        return parsed(await self._transport.get(path, PROBE_SECONDS))

    def _basis(self, stated: object) -> Basis:
        """Return what an identity rests on, where the server states from which file it has its model.

        Raises
        ------
        ModelMismatchError
            Where that is another file than the declared one.
        """
        if self._artifact is None or not isinstance(stated, str):
            return "service's declaration"
        try:
            same = Path(stated).resolve() == self._artifact.resolve()
        except (OSError, ValueError, RuntimeError):  # it states what no path can be
            same = False
        if not same:
            raise ModelMismatchError(
                f"configuration `{self._configuration.name}`: the server has its model from {stated}, and the protocol "
                f"declares {self._artifact}: correct `model_path`."
            )
        return "verified digest"

    def _sent(self, *names: str) -> dict[str, Any]:
        """Return those of the decoder's fields that are declared and not left out."""
        fields = {name: getattr(self._decoder, name) for name in names if name not in self._decoder.omit}
        return {name: value for name, value in fields.items() if value is not None}

    def _cannot(self, what: str, instead: str) -> NoReturn:
        name = self._configuration.name
        raise ProtocolError(f"configuration `{name}`: its backend cannot send {what}: {instead}.")


class RawJudge(HttpJudge[R]):
    """A backend that is sent one text, made by the declared template.

    Where the server has a tokenizer, each prompt is counted by it before it is sent, and the reply has to state the
    same count: a prompt that was cut, or put into a template of the server's own, is noticed.
    """

    taken: ClassVar[frozenset[str]] = frozenset({"seed"})
    tokenizer: ClassVar[str | None] = None
    """Where the server counts tokens, below the base address."""

    def content(self, system: str, user: str) -> dict[str, Any]:
        """Return the whole prompt."""
        return {"prompt": fill_template(self._configuration.template, system, user)}

    def tokens_request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return what the tokenizer is asked, for a request."""
        raise NotImplementedError

    def read_tokens(self, envelope: Any) -> int | None:
        """Read how many tokens the tokenizer found."""
        raise NotImplementedError

    async def ask(self, request: bytes, timeout: float) -> Reply:
        """Count the prompt, send the request once, read the reply and compare the counts."""
        if self.tokenizer is None:
            return await super().ask(request, timeout)
        begun = time.monotonic()
        counted = await self._count(json.loads(request), timeout)
        if counted.refused:
            return counted
        reply = await super().ask(request, max(timeout - (time.monotonic() - begun), 0.001))
        if reply.refused or reply.oversize or reply.prompt_tokens == counted.prompt_tokens:
            return reply
        found = "no count" if reply.prompt_tokens is None else f"{reply.prompt_tokens} tokens"
        objection = f"the reply is to a prompt of {found}, the one that was sent has {counted.prompt_tokens}"
        return replace(reply, objection=reply.objection or objection)

    async def count_tokens(self, request: bytes) -> int | None:
        """Return how many tokens the server finds in the prompt of a request; None where it refuses it.

        Raises
        ------
        RequestFailed
            Where it gives no count.
        """
        return (await self._count(json.loads(request), PROBE_SECONDS)).prompt_tokens

    async def _count(self, request: dict[str, Any], timeout: float) -> Reply:
        assert self.tokenizer is not None

        def read(envelope: Any) -> Reply:
            return Reply(None, None, None, b"", prompt_tokens=self.read_tokens(envelope))

        asked = encoded(self.tokens_request(request))
        try:
            counted = read_reply(await self._transport.post(self.tokenizer, asked, timeout), read)
        except RequestFailed as error:
            raise RequestFailed(
                error.reason,
                f"{self.tokenizer}: {error.detail}",
                error.http_status,
                error.body,
                error.retry_after,
            ) from error
        if not counted.refused and counted.prompt_tokens is None:
            raise RequestFailed(
                "unreadable-reply", f"{self.tokenizer} gives no count", counted.http_status, counted.body
            )
        return counted

    async def _ledger(self) -> dict[str, Any]:
        """Return, as facts of an identity, that the tokenizer answers."""
        await self._count({"model": self._configuration.model, "prompt": "darkcurrent"}, PROBE_SECONDS)
        return {"prompts_counted_by": self.tokenizer}
