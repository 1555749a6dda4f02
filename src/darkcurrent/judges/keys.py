"""Keys come from the environment and reach no file."""

from __future__ import annotations

import os
import re

from darkcurrent.errors import SecretError

__all__ = ["key_from_environment", "without_secrets"]

_SECRET = re.compile("key|token|secret|passw|credential", re.IGNORECASE)
_SHORTEST = 8
"""A shorter value is no secret, and may be part of any word."""


def key_from_environment(name: str | None) -> str | None:
    """Return the key that an environment variable holds.

    Raises
    ------
    SecretError
        Where the variable is named and not set, or holds what no key can be.
    """
    if name is None:
        return None
    value = os.environ.get(name, "").strip()
    if not value:
        raise SecretError(
            f"The environment variable {name}, which should hold the key, is not set: export {name}=... first."
        )
    if not (value.isascii() and value.isprintable()):
        raise SecretError(
            f"The environment variable {name} holds more than a key (a line break or a sign outside ASCII): "
            f"export {name}=... again."
        )
    return value


def without_secrets(text: str) -> str:
    """Return a text of a person's own code without the values of variables whose names speak of a secret.

    Which key such code uses is not declared, and clients put theirs into what they raise.
    """
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST and _SECRET.search(name):
            text = text.replace(value, "[key]")
    return text
