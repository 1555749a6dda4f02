"""Protocols to start from: commented TOML files beside this module.

What several of them say alike stands once, in `parts/`, and a line `#NAME#` of a template stands for it.
"""

from __future__ import annotations

import re
from importlib.resources import files

from darkcurrent.errors import UsageError

__all__ = ["template_names", "template_summary", "template_text"]

_PART = re.compile(r"^#([a-z]+)#\n", re.MULTILINE)


def template_names() -> list[str]:
    """Return the names of the templates."""
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in files(__name__).iterdir()
        if entry.name.endswith(".toml")
    )


def template_text(name: str) -> str:
    """Return the text of a template.

    Raises
    ------
    UsageError
        Where there is none of this name.
    """
    if name not in template_names():
        raise UsageError(f"There is no template `{name}`: known are {', '.join(template_names())}.")
    return _PART.sub(lambda found: _read("parts", f"{found[1]}.toml"), _read(f"{name}.toml"))


def template_summary(name: str) -> str:
    """Return what a template is for: its first line, without the mark of a comment."""
    return template_text(name).partition("\n")[0].removeprefix("# ").removeprefix(f"{name}: ")


def _read(*path: str) -> str:
    return files(__name__).joinpath(*path).read_text(encoding="utf-8")
