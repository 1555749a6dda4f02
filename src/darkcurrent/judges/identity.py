"""Whether it is still the same judge that answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from darkcurrent.canonical import digest
from darkcurrent.protocol.configurations import Configuration, HttpConfiguration

__all__ = ["Witness", "artifact_digest", "gateway_of"]

_NAMES_A_MODEL = ("model", "model-id")
"""How the name of a header ends that names a model."""

_WAY = {
    "server",
    "via",
    "openai-version",
    "anthropic-version",
    "x-litellm-version",
    "x-request-id",
    "request-id",
}
_LONGEST = 200


class _Made(Protocol):
    """What is kept of a reply, in memory or in a journal."""

    @property
    def fingerprint(self) -> str | None: ...

    @property
    def gateway(self) -> str | None: ...

    @property
    def served_model(self) -> str | None: ...


def gateway_of(headers: Mapping[str, str]) -> str | None:
    """Return the headers that tell by which way a reply came and who made it, as a JSON object.

    They are those whose name ends with `model` or `model-id`, and a few that are listed here. No other header is
    kept: some tell of the account that asks.
    """
    kept = {
        name: value[:_LONGEST]
        for name, value in sorted(headers.items())
        if name in _WAY or name.endswith(_NAMES_A_MODEL)
    }
    return _in_json(tuple(kept.items())) if kept else None


@lru_cache(maxsize=64)
def _in_json(headers: tuple[tuple[str, str], ...]) -> str:
    """Return headers as a JSON object; most services say the same in every reply."""
    return json.dumps(dict(headers))


class Witness:
    """Compares what each reply says of who made it with what the first one said.

    Parameters
    ----------
    constant : bool
        Whether another system fingerprint or model header than the first is an objection.
    """

    def __init__(self, *, constant: bool = True) -> None:
        self._constant = constant
        self._first: dict[str, str] | None = None
        self._without_objection: tuple[str | None, str | None] | None = None
        """Fingerprint and headers of the last reply that was compared: the same ones need no second look."""

    @classmethod
    def of(cls, configuration: Configuration) -> Witness:
        """Return the witness that a configuration declares."""
        return cls(
            constant=isinstance(configuration, HttpConfiguration) and configuration.fingerprint == "constant"
        )

    def remember(self, made: _Made) -> None:
        """Take a reply of an earlier run for the first one, unless there is one already."""
        if self._first is None and made.served_model is not None:
            self._first = _marks(made)

    def objection(self, reply: _Made) -> str | None:
        """Return why a reply is not from the judge that made the first one; None where nothing says so."""
        if not self._constant or reply.served_model is None:
            return None
        if (reply.fingerprint, reply.gateway) == self._without_objection:
            return None
        self.remember(reply)
        first, now = self._first or {}, _marks(reply)
        for mark in sorted(first.keys() | now.keys()):
            if first.get(mark) != now.get(mark):
                return f"the {mark} was {_shown(first.get(mark))} at first and is {_shown(now.get(mark))} now"
        self._without_objection = (reply.fingerprint, reply.gateway)
        return None


def _marks(made: _Made) -> dict[str, str]:
    headers = json.loads(made.gateway) if made.gateway else {}
    marks = {f"header {name}": value for name, value in headers.items() if name.endswith(_NAMES_A_MODEL)}
    return marks if made.fingerprint is None else {"system fingerprint": made.fingerprint, **marks}


def _shown(value: str | None) -> str:
    return "absent" if value is None else ascii(value)


def artifact_digest(path: Path) -> str:
    """Return the SHA-256 of a file, or that of the table of a folder's files with theirs."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        return digest({file.relative_to(path).as_posix(): artifact_digest(file) for file in files})
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
