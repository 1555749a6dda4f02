"""JSON values as YAML in block style: one way to write each value, so that no text can end the head or become another value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

__all__ = ["yaml_lines"]


def yaml_lines(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the lines of a mapping or a list of JSON values.

    Keys and texts stand in double quotes, as JSON writes them, which YAML reads the same as long as the text is
    printable; plain keys of our own letters stand without.

    Examples
    --------
    >>> print("\\n".join(yaml_lines({"name": "a: b", "sizes": [1, None], "of": {}})))
    name: "a: b"
    sizes:
      - 1
      - null
    of: {}
    """
    space = "  " * depth
    pairs = (
        ((f"{_key(key)}:", inner) for key, inner in value.items())
        if isinstance(value, dict)
        else (("-", inner) for inner in value)
    )
    for mark, inner in pairs:
        if not isinstance(inner, dict | list) or not inner:
            yield f"{space}{mark} {_scalar(inner)}"
        elif mark == "-":
            first, *others = yaml_lines(inner, depth + 1)
            yield f"{space}- {first.lstrip(' ')}"
            yield from others
        else:
            yield f"{space}{mark}"
            yield from yaml_lines(inner, depth + 1)


def _scalar(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    # YAML 1.1 takes 2e-05 for a text, and 2.0e-05 for a number
    return text.replace("e", ".0e") if isinstance(value, float) and "e" in text and "." not in text else text


_NO_TEXT = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
"""What YAML reads as another value where it stands without quotes."""


def _key(key: str) -> str:
    plain = key.isascii() and key.isidentifier() and key.lower() not in _NO_TEXT
    return key if plain else json.dumps(key, ensure_ascii=False)
