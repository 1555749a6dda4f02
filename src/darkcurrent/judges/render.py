"""The one rule by which a call becomes two messages; its name is part of every configuration.

The rubric is the system message, as its file holds it. The user message holds the request and the two answers,
each between tags on lines of their own, verbatim: candidate text is data and is never escaped, cut or repaired.
A text that holds one of the tags itself is flagged at freezing.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["RENDERING", "delimiters_in", "render_messages"]

RENDERING = "tagged/1"
_TAGS = ("request", "answer_A", "answer_B")


def render_messages(rubric: str, prompt: str, a: str, b: str) -> list[dict[str, str]]:
    """Return the system and the user message of a call."""
    parts = [f"<{tag}>\n{text}\n</{tag}>" for tag, text in zip(_TAGS, (prompt, a, b), strict=True)]
    return [{"role": "system", "content": rubric}, {"role": "user", "content": "\n\n".join(parts)}]


def delimiters_in(texts: Iterable[str]) -> bool:
    """Say whether any text holds one of the tags, in any case and with any white space in it."""
    lowered = ("".join(text.lower().split()) for text in texts)
    needles = tuple(f"<{slash}{tag.lower()}>" for tag in _TAGS for slash in ("", "/"))
    return any(needle in text for text in lowered for needle in needles)
