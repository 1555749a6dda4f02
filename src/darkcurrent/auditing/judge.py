"""What a person gives as the judge, as a configuration of a protocol."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from darkcurrent.canonical import digest_text
from darkcurrent.errors import ProtocolError, UsageError
from darkcurrent.judges.source import source_file
from darkcurrent.printable import printable, shortened
from darkcurrent.protocol.configurations import ConfigurationBase, FunctionConfiguration

__all__ = ["Asked", "asked_of"]

_PATHS = ("ca_file", "model_path")
"""Keys that hold a path: relative to the study's folder in a protocol, and to the current one in a call."""


class Asked(NamedTuple):
    """A judge that can be asked.

    Attributes
    ----------
    table : dict
        Its `[[configuration]]`.
    function : callable or None
        The judge itself, where no import can find it.
    """

    table: dict[str, Any]
    function: Callable[..., Any] | None

    @property
    def name(self) -> str:
        """The configuration's name."""
        return str(self.table["name"])


def asked_of(judge: Any, name: str | None) -> Asked:
    """Return the configuration that a judge is.

    Parameters
    ----------
    judge : callable, mapping or ConfigurationBase
        What a person gave.
    name : str or None
        What it is to be called.

    Raises
    ------
    UsageError
        Where it is none of these.
    """
    if isinstance(judge, ConfigurationBase):
        judge = judge.model_dump(mode="json", exclude_defaults=True) | {"backend": _backend(judge)}
    if isinstance(judge, Mapping):
        table = {"name": "judge", **_without_none(judge)}
        if name is not None:
            table["name"] = name
        for key in _PATHS:
            if isinstance(table.get(key), str):
                table[key] = str(Path(table[key]).absolute())
        return Asked(table, None)
    if not callable(judge):
        raise UsageError(
            f'`judge` is a {type(judge).__name__}: give a callable (prompt, a, b) that returns "A", "B" or "tie", a '
            "configuration, or recorded verdicts."
        )
    called = name or _name(getattr(judge, "__name__", type(judge).__name__))
    where = _importable(judge)
    if where is not None:
        return Asked({"name": called, "backend": "function", "callable": where}, None)
    table = {"name": called, "backend": "callable", "described": _described(judge)}
    source = _source(judge)
    if source is not None:
        table["source_sha256"] = digest_text(source)
    return Asked(table, judge)


def _backend(configuration: ConfigurationBase) -> str:
    return str(configuration.backend)  # type: ignore[attr-defined] # every backend's model has this key


def _without_none(value: Any) -> Any:
    """Return a value without what is None: TOML has no null."""
    if isinstance(value, Mapping):
        return {str(key): _without_none(one) for key, one in value.items() if one is not None}
    return [_without_none(one) for one in value] if isinstance(value, list | tuple) else value


def _name(text: str) -> str:
    """Return a text as a name: letters, digits, dot, underscore and hyphen."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:60] or "judge"


def _importable(judge: Callable[..., Any]) -> str | None:
    """Return `module:name` where an import finds this very object and its module has a file."""
    module, name = getattr(judge, "__module__", None), getattr(judge, "__qualname__", None)
    if not inspect.isfunction(judge) or module in (None, "__main__"):
        return None
    if getattr(sys.modules.get(str(module)), str(name), None) is not judge:
        return None
    try:
        where = f"{module}:{name}"
        source_file(FunctionConfiguration(name="x", backend="function", callable=where), Path("/nowhere"))
    except (ProtocolError, ValueError):  # a name that is no plain one, a module without a file
        return None
    return where


def _described(judge: Any) -> str:
    target = judge if inspect.isroutine(judge) else type(judge)
    module = getattr(target, "__module__", None) or "builtins"
    return printable(shortened(f"{module}.{target.__qualname__}", 120))


def _source(judge: Any) -> str | None:
    try:
        return inspect.getsource(judge if inspect.isroutine(judge) else type(judge))
    except (OSError, TypeError):
        return None
