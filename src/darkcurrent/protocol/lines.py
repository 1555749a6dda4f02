"""In which line of a TOML file a key stands.

`tomllib` gives no positions. An error that names the line saves a search in a long protocol, so the lines are
found again here; the file is known to be valid TOML by then, which keeps the reading short.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

__all__ = ["line_of"]

_PART = r"(?:[A-Za-z0-9_-]+|\"(?:[^\"\\]|\\.)*\"|'[^']*')"
_DOTTED = rf"[ \t]*({_PART}(?:[ \t]*\.[ \t]*{_PART})*)[ \t]*"
_HEADER = re.compile(rf"[ \t]*(\[\[?){_DOTTED}\]")
_KEY = re.compile(rf"{_DOTTED}=")

Path = tuple[str | int, ...]


def line_of(text: str, path: Path) -> int | None:
    """Return the first line, from 1, that writes out the longest part of a path; None where no line writes any."""
    best_line, best_length = None, 0
    for line, found in _keys(text):
        length = _common(found, path)
        if length > best_length:
            best_line, best_length = line, length
    return best_line


def _common(one: Path, other: Path) -> int:
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += 1
    return length


def _keys(text: str) -> Iterator[tuple[int, Path]]:
    table: Path = ()
    arrays: dict[Path, int] = {}
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        start = number + 1
        header = _HEADER.match(lines[number])
        key = _KEY.match(lines[number])
        if key:
            yield start, table + _split(key[1])
            number = _end_of_value(lines, number)
        elif header:
            table = _resolve(_split(header[2]), arrays)
            if header[1] == "[[":
                arrays[table] = arrays.get(table, -1) + 1
                table = (*table, arrays[table])
            yield start, table
            number += 1
        else:
            number += 1


def _resolve(keys: tuple[str, ...], arrays: dict[Path, int]) -> Path:
    """Put the current index behind each key that is an array of tables (but the last)."""
    path: Path = ()
    for key in keys:
        if path in arrays:
            path = (*path, arrays[path])
        path = (*path, key)
    return path


def _split(dotted: str) -> tuple[str, ...]:
    keys: list[str] = []
    value = tomllib.loads(f"{dotted} = 0")
    while isinstance(value, dict):
        key, value = next(iter(value.items()))
        keys.append(key)
    return tuple(keys)


def _end_of_value(lines: list[str], number: int) -> int:
    """Return the index of the line behind a value that may go over several lines."""
    for end in range(number + 1, len(lines) + 1):
        try:
            tomllib.loads("\n".join(lines[number:end]))
        except tomllib.TOMLDecodeError:
            continue
        return end
    return number + 1
