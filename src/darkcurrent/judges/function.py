"""Backend `function`: a Python callable `(prompt, a, b)` that returns the text of a reply."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from darkcurrent.errors import ProtocolError
from darkcurrent.judges.base import Identity, Reply, RequestFailed
from darkcurrent.protocol.model import FunctionConfiguration

__all__ = ["FunctionJudge", "source_file"]


def source_file(configuration: FunctionConfiguration, folder: Path) -> Path:
    """Return the file of the callable's module, without running it.

    Raises
    ------
    ProtocolError
        Where there is no such module.
    """
    module = configuration.callable.partition(":")[0]
    beside = folder.joinpath(*module.split(".")).with_suffix(".py")
    if beside.is_file():
        return beside
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None:
        raise ProtocolError(
            f"configuration `{configuration.name}`: there is no module `{module}`, neither as {beside} nor installed."
        )
    return Path(spec.origin)


class FunctionJudge:
    """Calls the function once per call, in a thread where it is not asynchronous."""

    def __init__(self, configuration: FunctionConfiguration, folder: Path) -> None:
        self._name = configuration.callable
        self._function = _load(configuration, folder)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    async def identify(self) -> Identity:
        """Name the callable; the digest of its file is part of the frozen configuration."""
        return Identity("verified digest", {"served": [self._name], "python": sys.version.split()[0]})

    def request_bytes(self, rubric: str, prompt: str, a: str, b: str) -> bytes:
        """Return the arguments of the call as JSON."""
        return json.dumps(
            {"prompt": prompt, "a": a, "b": b}, ensure_ascii=True, separators=(",", ":")
        ).encode("ascii")

    async def ask(self, request: bytes, timeout: float) -> Reply:
        """Call the function and take what it returns as the reply."""
        arguments = json.loads(request)
        try:
            if inspect.iscoroutinefunction(self._function):
                value = await asyncio.wait_for(self._function(**arguments), timeout)
            else:
                value = await asyncio.wait_for(asyncio.to_thread(self._function, **arguments), timeout)
        except TimeoutError as error:
            raise RequestFailed("timeout", f"{self._name} did not return within {timeout:.3g} s") from error
        except Exception as error:
            raise RequestFailed(
                "function-raised", f"{self._name} raised {type(error).__name__}: {error}"
            ) from error
        text = value if isinstance(value, str) else repr(value)
        return Reply(text=text, finish="stop", served_model=self._name, body=b"")


def _load(configuration: FunctionConfiguration, folder: Path) -> Callable[..., Any]:
    module_name, _, name = configuration.callable.partition(":")
    path = source_file(configuration, folder)
    try:
        if path.is_relative_to(folder):
            spec = importlib.util.spec_from_file_location(module_name, path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(module_name)
        function = getattr(module, name)
    except Exception as error:
        raise ProtocolError(
            f"configuration `{configuration.name}`: `{configuration.callable}` cannot be loaded: {type(error).__name__}: {error}."
        ) from error
    if not callable(function):
        raise ProtocolError(
            f"configuration `{configuration.name}`: `{configuration.callable}` is not callable."
        )
    return function  # type: ignore[no-any-return]
