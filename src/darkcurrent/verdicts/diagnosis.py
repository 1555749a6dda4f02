"""What a text is that is not an answer: the facts behind the reasons that no contract's own form shows.

Nothing here makes a reply valid. `error-text` alone can make one invalid that has the declared form: an error
message that quotes a label is no verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from darkcurrent.verdicts.json_text import TooDeepError, count_objects, decode, ends_early
from darkcurrent.verdicts.reasons import rank
from darkcurrent.verdicts.verdict import Verdict, invalid

__all__ = ["FREE_TEXT_TESTS", "JSON_TESTS", "TEXT_TESTS", "explain", "is_error_text", "split_reasoning"]

# How clients, gateways and evaluation scripts write a failure into the place of an answer. Anchored at the
# start: a judge that discusses an error further on is not one. "ERROR:" in capitals is one, and so is an
# "Error:" with a status; "Error: the answer A ..." is not.
_ERROR_TEXT = re.compile(
    r"""\s*+(?:
        \$ERROR\$
      | ERROR\s*+(?::|$)
      | (?i:(?:api\ )?error(?:\ code)?|http(?:/[0-9.]+)?(?:\ error|\ status)?(?:\ code)?)[\ :]++[45][0-9]{2}\b
      | (?i:client|server)\ (?i:error)\ '[45][0-9]{2}\b
      | [45][0-9]{2}[\ :,-]++(?i:bad\ request|unauthorized|forbidden|not\ found|method\ not\ allowed
          |request\ time-?out|(?:payload|content|request\ entity)\ too\ large|uri\ too\ long
          |unprocessable\ (?:entity|content)|too\ many\ requests|internal\ server\ error|not\ implemented
          |bad\ gateway|service\ (?:temporarily\ )?unavailable|gateway\ time-?out)\b
      | (?i:rate\ limit\ (?:reached|exceeded))
      | (?:[A-Za-z_]\w*+\.)*+[A-Z]\w*(?:Error|Exception)[:(]
      | Traceback\ \(most\ recent\ call\ last\)
      | (?i:<!doctype\ html|<html\b)
      | \{\s*+"error"\s*+:
    )""",
    re.VERBOSE,
)

# English only, and only at the start of a text: a verdict that mentions a refusal of a candidate is none.
_REFUSAL = re.compile(
    r"""\W{0,3}+
    (?:(?:i\ am|i'm|i’m)\ (?:very\ |so\ )?sorry\b\W{0,3}+|sorry\b\W{0,3}+|i\ apologi[sz]e\b\W{0,3}+
      |unfortunately\b\W{0,3}+|as\ an\ ai(?:\ language)?(?:\ model|\ assistant)?\b\W{0,3}+)*+
    (?:but\ )?
    (?:i\ (?:(?:must|have\ to)\ decline\b|(?:decline|refuse)\ to\b)
      |(?:i\ (?:cannot|can\ not|can't|can’t|won't|won’t|will\ not)
        |i(?:\ am|'m|’m)\ (?:unable|not\ able|not\ allowed|not\ permitted)\ to)
       \ (?:help|assist|comply|provide|answer|respond|evaluate|judge|assess|compare|rate|rank|choose|select
        |pick|decide|continue|fulfill?|engage|discuss|create|generate|complete|do\ (?:that|this))\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)

_FENCE_AT_START = re.compile(r"\s*+(?:```|~~~)")
_FENCED_OBJECT = re.compile(r"(?:```|~~~)[^\n`~{]*+\n?[ \t\r\n]*+\{")

_OPENING, _CLOSING = "<think>", "</think>"


def is_error_text(text: str) -> bool:
    """Whether the reply is an error message that was recorded as if it were an answer."""
    return _ERROR_TEXT.match(text) is not None


def split_reasoning(text: str) -> tuple[str, str | None]:
    """Take the one think block off that a reply may begin with, and return what follows it.

    A reply is ``[white space "<think>" thought "</think>"] answer``, where neither part holds a tag. Anything
    else that holds a tag is invalid: a draft verdict cannot be told from the final one.

    Returns
    -------
    answer : str
        The text after the block, or all of it when there is no tag.
    reason : str or None
        `reasoning-only` when the block is never closed or nothing but white space follows it,
        `reasoning-inside` when tags stand anywhere else; the answer is empty then.
    """
    if _OPENING not in text and _CLOSING not in text:
        return text, None
    head, opening, rest = text.partition(_OPENING)
    thought, _, answer = rest.partition(_CLOSING)
    stray = any(tag in part for part in (thought, answer) for tag in (_OPENING, _CLOSING))
    if head.strip() or not opening or stray:
        return "", "reasoning-inside"
    if not answer.strip():
        return "", "reasoning-only"
    return answer, None


def _reasoning_only(text: str) -> bool:
    return split_reasoning(text)[1] == "reasoning-only"


def _reasoning_inside(text: str) -> bool:
    return _CLOSING in text or text.lstrip().startswith(_OPENING)


def _too_deep(text: str) -> bool:
    for read in (decode, count_objects):
        try:
            read(text)
        except TooDeepError:
            return True
        except json.JSONDecodeError:
            pass
    return False


def _byte_order_mark(text: str) -> bool:
    return text.startswith("\ufeff")


def _fenced(text: str) -> bool:
    if text.lstrip()[:1] == "{":  # a fence further on stands inside a string, or after the object
        return False
    return _FENCE_AT_START.match(text) is not None or _FENCED_OBJECT.search(text) is not None


def _several_objects(text: str) -> bool:
    return count_objects(text) > 1


def _prose_around(text: str) -> bool:
    return count_objects(text) > 0


def _refusal_like(text: str) -> bool:
    return _REFUSAL.match(text) is not None


Tests = Mapping[str, Callable[[str], bool]]

TEXT_TESTS: Final[Tests] = {
    "reasoning-only": _reasoning_only,
    "error-text": is_error_text,
    "byte-order-mark": _byte_order_mark,
    "reasoning-inside": _reasoning_inside,
    "fenced": _fenced,
    "refusal-like": _refusal_like,
}
"""Reason to its test, most specific first, for a text whose declared form is not JSON."""

FREE_TEXT_TESTS: Final[Tests] = {"refusal-like": _refusal_like}
"""The same for the answer of a contract that allows free text: fences and marks are part of it."""

JSON_TESTS: Final[Tests] = {
    "truncated": ends_early,
    "reasoning-only": _reasoning_only,
    "error-text": is_error_text,
    "too-deep": _too_deep,
    "byte-order-mark": _byte_order_mark,
    "reasoning-inside": _reasoning_inside,
    "fenced": _fenced,
    "several-objects": _several_objects,
    "prose-around": _prose_around,
    "refusal-like": _refusal_like,
}
"""The tests of a text that is not JSON where one JSON object is declared."""


def explain(text: str, tests: Tests, otherwise: str) -> Verdict:
    """Give the most specific true reason: the first test that holds and wins over `otherwise`, or that.

    Parameters
    ----------
    text : str
        A reply that is not valid under its contract.
    tests : mapping of str to callable
        `TEXT_TESTS` or `JSON_TESTS`, in the order of precedence.
    otherwise : str
        The reason that the contract itself found.
    """
    for code, holds in tests.items():
        if rank(code) > rank(otherwise):
            break
        if holds(text):
            return invalid(code)
    return invalid(otherwise)
