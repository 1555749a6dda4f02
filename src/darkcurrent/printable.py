"""How a text from outside is shown: the one rule for the terminal, for errors and for reports."""

from __future__ import annotations

import unicodedata

__all__ = ["printable", "shortened"]

_SEPARATORS = ("Zl", "Zp")
_TAIL = 12


def printable(text: str) -> str:
    """Return a text in one line, with every control, format and unassigned character made visible.

    Names of strata, models and files come from outside: an escape sequence, a line break or a right-to-left
    mark in one must not steer a terminal or reorder a line.
    """
    return "".join(c if _shows(c) else c.encode("unicode_escape").decode() for c in text)


def _shows(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] != "C" and category not in _SEPARATORS


def shortened(text: str, longest: int = 60) -> str:
    """Return a text of at most `longest` characters: what is longer keeps its head and its tail."""
    return text if len(text) <= longest else f"{text[: longest - _TAIL - 1]}…{text[-_TAIL:]}"
