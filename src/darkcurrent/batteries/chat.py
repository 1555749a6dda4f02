"""The one rule by which a list of chat messages becomes the text of a prompt.

Each message is its role in square brackets on a line of its own, then its content as it stands; an empty line
lies between two messages. A string is taken as it is.
"""

from __future__ import annotations

from typing import Any

from darkcurrent.batteries.rows import shown
from darkcurrent.errors import BatteryError

__all__ = ["render_prompt"]


def render_prompt(value: Any, where: str) -> str:
    """Return the text of a prompt given as a string or as a list of `{"role", "content"}` messages.

    Raises
    ------
    BatteryError
        Where it is neither; `where` names the row.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not value:
        raise BatteryError(
            f"{where}: the prompt is {shown(value)}: give a string or a list of chat messages."
        )
    parts = []
    for index, message in enumerate(value):
        role = message.get("role") if isinstance(message, dict) else None
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(role, str) or not isinstance(content, str):
            raise BatteryError(
                f"{where}: message {index} of the prompt is no object with a `role` and a `content`, both strings: correct it."
            )
        parts.append(f"[{role}]\n{content}")
    return "\n\n".join(parts)
