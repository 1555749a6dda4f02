"""The one rule by which a call becomes two messages; its name is part of every configuration.

The rubric is the system message, as its file holds it. The user message holds the request and the two answers,
each between tags on lines of their own, verbatim: candidate text is data and is never escaped, cut or repaired.
A third candidate that cannot win stands behind them, between tags that say so; without one nothing stands there.
A text that holds one of the tags itself is flagged at freezing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["RENDERING", "delimiters_in", "fill_template", "render_messages"]

RENDERING = "tagged/1"
_TAGS = ("request", "answer_A", "answer_B", "not_eligible_C")
_MARK = re.compile(r"<[^<>\s]+>|\[/?[A-Z_]+\]")
"""What ends a turn in the templates of today's models, e.g. `<|im_end|>`, `<end_of_turn>`, `[/INST]`."""


def render_messages(rubric: str, prompt: str, a: str, b: str, c: str | None = None) -> list[dict[str, str]]:
    """Return the system and the user message of a call."""
    shown = zip(_TAGS, (prompt, a, b, c), strict=True)
    parts = [f"<{tag}>\n{text}\n</{tag}>" for tag, text in shown if text is not None]
    return [{"role": "system", "content": rubric}, {"role": "user", "content": "\n\n".join(parts)}]


def fill_template(template: str, system: str, user: str) -> str:
    """Return the prompt of a raw-text backend; what stands in the two texts is never looked at."""
    before, _, rest = template.partition("{system}")
    between, _, behind = rest.partition("{user}")
    return "".join((before, system, between, user, behind))


def delimiters_in(texts: Iterable[str], templates: Iterable[str] = ()) -> bool:
    """Say whether any text holds one of the tags or a mark of a template, in any case and with any white space in it."""
    needles = {f"<{slash}{tag}>" for tag in _TAGS for slash in ("", "/")}
    needles |= {mark for template in templates for mark in _MARK.findall(template)}
    squeezed = {_squeezed(needle) for needle in needles}
    return any(needle in text for text in map(_squeezed, texts) for needle in squeezed)


def _squeezed(text: str) -> str:
    return "".join(text.lower().split())
