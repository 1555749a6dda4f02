"""Backend `simulated`: a judge with planted properties, in this process, for trying out a protocol."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Self

from darkcurrent.judges.base import Identity, Reply
from darkcurrent.judges.simulated.judge import MODEL, Key, SimulatedJudge
from darkcurrent.protocol.configurations import SimulatedConfiguration

__all__ = ["SimulatedBackend"]


class SimulatedBackend:
    """Answers every call at once; the key is the frozen study itself."""

    def __init__(self, configuration: SimulatedConfiguration, folder: Path) -> None:
        self._properties = configuration.properties
        self._folder = folder
        self._judge = SimulatedJudge(self._properties)

    async def __aenter__(self) -> Self:
        self._judge = SimulatedJudge(self._properties, Key.of_folder(self._folder))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    async def identify(self) -> Identity:
        """Say that this is simulated, and how."""
        planted = self._properties.model_dump(mode="json")
        return Identity("service's declaration", {"served": [MODEL], "planted": planted})

    def request_bytes(self, rubric: str, prompt: str, a: str, b: str, c: str | None = None) -> bytes:
        """Return the texts of the call as JSON."""
        texts = [rubric, prompt, a, b, *([] if c is None else [c])]
        return json.dumps(texts, ensure_ascii=True, separators=(",", ":")).encode("ascii")

    async def ask(self, request: bytes, timeout: float) -> Reply:
        """Answer."""
        content = self._judge.answer(*json.loads(request))
        return Reply(text=content, finish="stop", served_model=MODEL, body=content.encode())
