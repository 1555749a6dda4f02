"""Keys come from the environment and reach no file."""

from __future__ import annotations

import os

from darkcurrent.errors import SecretError

__all__ = ["key_from_environment"]


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
