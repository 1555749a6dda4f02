"""Protocols to start from: commented TOML files beside this module."""

from __future__ import annotations

from importlib.resources import files

from darkcurrent.errors import UsageError

__all__ = ["template_names", "template_text"]


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
    return files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
