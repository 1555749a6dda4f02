"""Reading JSON so that nothing a reply says is lost: duplicate keys stay, depth and numbers are bounded."""

from __future__ import annotations

import json
import re
from typing import Any, Final

__all__ = ["MAX_DEPTH", "WHITESPACE", "TooDeepError", "count_objects", "decode", "ends_early"]

MAX_DEPTH: Final = 64
"""The deepest nesting of arrays and objects that is read. The interpreter's own limit differs by version."""

WHITESPACE: Final = " \t\n\r"
"""What RFC 8259 calls white space, and nothing else."""

_LONGEST_INTEGER = 18  # characters; Python refuses to convert more than 4,300 digits to int
_MOST_STARTS = 32  # places at which an object inside other text is looked for
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_OPEN_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+\\?\Z', re.DOTALL)


class TooDeepError(ValueError):
    """The text nests deeper than `MAX_DEPTH`."""


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)


def _refuse_constant(name: str) -> Any:
    # NaN, Infinity and -Infinity are no JSON, though the standard library reads them
    raise json.JSONDecodeError("Expecting value", name, 0)


# Objects become tuples of (key, value), so that duplicate keys are seen and an array (a list) is told apart.
_DECODER = json.JSONDecoder(
    object_pairs_hook=tuple,
    parse_int=_integer,
    parse_constant=_refuse_constant,
)
_decode = _DECODER.decode


def _check_depth(text: str, start: int = 0) -> None:
    """Raise `TooDeepError` if the value that begins at `start` has more than `MAX_DEPTH` brackets open."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for token in _TOKEN.finditer(text, start):
        sign = token[0]
        if sign in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise TooDeepError
        elif sign in "]}":
            depth -= 1
            if depth <= 0:
                return


def decode(text: str) -> Any:
    """Read exactly one RFC 8259 value with nothing but white space around it.

    Objects are tuples of (key, value) pairs in their order and arrays are lists. An integer of more than 18
    characters becomes a float, like every number with a fraction or an exponent: no label is a float.

    Raises
    ------
    TooDeepError
        If it nests deeper than `MAX_DEPTH`.
    json.JSONDecodeError
        If the text is not JSON; NaN and Infinity are not.
    """
    if len(text) > MAX_DEPTH:  # a shorter text cannot be deep: the common reply is spared the count
        _check_depth(text)
    return _decode(text)


def ends_early(text: str) -> bool:
    """Whether the text is JSON up to its end and then stops inside an array, an object or a string."""
    try:
        decode(text)
    except json.JSONDecodeError as error:
        rest = text[error.pos :]
        return not rest.strip(WHITESPACE) or _OPEN_STRING.match(rest) is not None
    except TooDeepError:
        pass
    return False


def count_objects(text: str) -> int:
    """Count the outermost, non-empty JSON objects inside other text: 0, 1, or 2 for more than one.

    What is read of a broken object belongs to it: the search goes on where it breaks, and ends where NaN or
    Infinity breaks it. At most 32 opening braces are tried, so that no text makes the search long.

    Raises
    ------
    TooDeepError
        If one of them nests deeper than `MAX_DEPTH`.
    """
    found = 0
    start = text.find("{")
    for _ in range(_MOST_STARTS):
        if start < 0 or found == 2:
            break
        _check_depth(text, start)
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            if error.doc is not text:  # raised by _refuse_constant, which does not know the place
                break
            end = max(error.pos, start + 1)
        else:
            found += bool(value)
        start = text.find("{", end)
    return found
