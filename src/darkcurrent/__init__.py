"""Whether an LLM judge may be trusted with your choice.

Three questions, asked apart: does it give eligible verdicts, does it invent a preference between two identical
texts (its *dark current*), and does it choose the declared target?

Heavy parts are imported when they are first used, so that `import darkcurrent` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from darkcurrent._version import __version__

if TYPE_CHECKING:
    from darkcurrent import errors, patterns, stats
    from darkcurrent.auditing import Audit, audit
    from darkcurrent.study import Study
    from darkcurrent.verdicts import parse_verdict

__all__ = ["Audit", "Study", "__version__", "audit", "errors", "parse_verdict", "patterns", "stats"]

_HOMES = {
    "Audit": "darkcurrent.auditing",
    "audit": "darkcurrent.auditing",
    "Study": "darkcurrent.study",
    "parse_verdict": "darkcurrent.verdicts",
}
_MODULES = {"errors", "patterns", "stats"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"darkcurrent.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'darkcurrent' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
