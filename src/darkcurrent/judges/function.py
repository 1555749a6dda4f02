"""Backends `function` and `callable`: a Python callable `(prompt, a, b)` that returns the text of a reply.

Where a third candidate is shown, the callable gets it as `c`.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import json
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from darkcurrent.canonical import text_bytes
from darkcurrent.errors import ProtocolError
from darkcurrent.judges.base import Basis, Identity, Reply, RequestFailed
from darkcurrent.judges.keys import without_secrets
from darkcurrent.judges.source import source_file
from darkcurrent.protocol.configurations import CallableConfiguration, FunctionConfiguration

__all__ = ["FunctionJudge"]

_SHOWN = 1000
"""So much of what an exception says is kept."""


class FunctionJudge:
    """Calls the function once per call, in a thread where it is not asynchronous.

    Parameters
    ----------
    function : callable or None
        The judge itself, for a configuration that names no module to import it from.
    max_bytes : int
        A longer reply, in UTF-8, is cut off.
    """

    def __init__(
        self,
        configuration: FunctionConfiguration | CallableConfiguration,
        folder: Path,
        function: Callable[..., Any] | None = None,
        max_bytes: int = 1_048_576,
    ) -> None:
        self._max_bytes = max_bytes
        self._basis: Basis = "verified digest"
        if isinstance(configuration, FunctionConfiguration):
            self._name = configuration.callable
            self._function = _load(configuration, folder)
            return
        self._name = configuration.described
        self._basis = "service's declaration"
        if function is None:
            raise ProtocolError(
                f"configuration `{configuration.name}`: its judge is a Python object of the program that called "
                "`darkcurrent.audit`: to go on, call it there again with the same `journal`."
            )
        self._function = function

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    async def identify(self) -> Identity:
        """Name the callable; where it was imported, the digests of its files are part of the frozen configuration."""
        return Identity(self._basis, {"served": [self._name], "python": sys.version.split()[0]})

    def request_bytes(self, rubric: str, prompt: str, a: str, b: str, c: str | None = None) -> bytes:
        """Return the arguments of the call as JSON; `c` only where a third candidate is shown."""
        arguments = {"prompt": prompt, "a": a, "b": b} | ({} if c is None else {"c": c})
        return json.dumps(arguments, ensure_ascii=True, separators=(",", ":")).encode("ascii")

    async def ask(self, request: bytes, timeout: float) -> Reply:
        """Call the function and take what it returns as the reply; what is no text is shown as Python shows it."""
        try:
            async with asyncio.timeout(timeout):
                kind, value = await _outcome(self._function, json.loads(request))
        except TimeoutError as error:
            raise RequestFailed("timeout", f"{self._name} did not return within {timeout:.3g} s") from error
        if kind == "raised":
            raise RequestFailed("function-raised", f"{self._name} raised {without_secrets(value)[:_SHOWN]}")
        data = text_bytes(value)
        if len(data) > self._max_bytes:
            return Reply(None, None, self._name, data[: self._max_bytes], oversize=True)
        return Reply(text=value, finish="stop", served_model=self._name, body=b"")


_Outcome = tuple[Literal["returned", "raised"], str]


async def _outcome(function: Callable[..., Any], arguments: dict[str, str]) -> _Outcome:
    """Call a function in a thread of its own.

    A pool would let calls wait for each other while their time runs, and would keep the program from ending as
    long as one of them hangs.
    """
    loop = asyncio.get_running_loop()
    returned: asyncio.Future[_Outcome | Awaitable[Any]] = loop.create_future()
    third = {"c": arguments["c"]} if "c" in arguments else {}

    def settle(value: _Outcome | Awaitable[Any]) -> None:
        if not returned.done():
            returned.set_result(value)

    def work() -> None:
        found: _Outcome | Awaitable[Any]
        try:
            value = function(arguments["prompt"], arguments["a"], arguments["b"], **third)
            found = value if inspect.isawaitable(value) else ("returned", _as_text(value))
        except BaseException as error:  # noqa: BLE001 - whatever a user's callable raises is its failure, not ours
            found = ("raised", _as_sentence(error))
        with suppress(RuntimeError):  # the loop has ended: nobody waits for this any more
            loop.call_soon_threadsafe(settle, found)

    threading.Thread(target=work, daemon=True).start()
    found = await returned
    if not isinstance(found, tuple):
        found = await _awaited(found)
    return found


async def _awaited(value: Awaitable[Any]) -> _Outcome:
    try:
        return "returned", _as_text(await value)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return "raised", _as_sentence(error)
    except BaseException as error:  # noqa: BLE001 - as above
        return "raised", _as_sentence(error)


def _as_text(value: Any) -> str:
    return str.__str__(value) if isinstance(value, str) else repr(value)


def _as_sentence(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except BaseException:  # noqa: BLE001 - the error's own code, too
        return type(error).__name__


def _load(configuration: FunctionConfiguration, folder: Path) -> Callable[..., Any]:
    module_name, _, name = configuration.callable.partition(":")
    path = source_file(configuration, folder)
    try:
        if path.is_relative_to(folder):
            # Under a name of its own it hides no other module; dataclasses look theirs up by that name.
            spec = importlib.util.spec_from_file_location(f"darkcurrent_study.{module_name}", path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(module_name)
        function = getattr(module, name)
    except (Exception, SystemExit) as error:
        # The folder is not searched: two studies in one process may each have a module of the same name.
        hint = f"; install it, or set PYTHONPATH={folder}" if isinstance(error, ModuleNotFoundError) else ""
        raise ProtocolError(
            f"configuration `{configuration.name}`: `{configuration.callable}` cannot be loaded: {type(error).__name__}: "
            f"{error}{hint}."
        ) from error
    if not callable(function):
        raise ProtocolError(
            f"configuration `{configuration.name}`: `{configuration.callable}` is not callable."
        )
    return function  # type: ignore[no-any-return]
