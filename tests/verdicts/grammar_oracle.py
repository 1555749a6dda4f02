"""What the grammars of docs/contracts.md derive, decided a second time and in another way.

Nothing here imports the package. JSON is read by hand, letter by letter, so that the standard library's
reader is checked as well. Each function returns the label that a text means under a contract, or None.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

LABELS = ("A", "B", "tie")
WS = " \t\n\r"
DEEPEST = 64
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class NotJsonError(Exception):
    pass


class Pairs(list[tuple[str, Any]]):
    """A JSON object, as it is written."""


class Json:
    """A recursive-descent reader of RFC 8259."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def whole(self) -> Any:
        value = self.value(0)
        self.skip()
        if self.at < len(self.text):
            raise NotJsonError
        return value

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip(self) -> None:
        while self.peek() and self.peek() in WS:
            self.at += 1

    def take(self, sign: str) -> None:
        self.skip()
        if self.peek() != sign:
            raise NotJsonError
        self.at += 1

    def value(self, depth: int) -> Any:
        self.skip()
        sign = self.peek()
        if sign in ("{", "["):
            if depth == DEEPEST:
                raise NotJsonError
            return self.members(depth + 1) if sign == "{" else self.elements(depth + 1)
        if sign == '"':
            return self.string()
        for word, meaning in (("true", True), ("false", False), ("null", None)):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return meaning
        number = NUMBER.match(self.text, self.at)
        if number is None:
            raise NotJsonError
        self.at = number.end()
        short_integer = number[1] is number[2] is None and len(number[0]) <= 18
        return int(number[0]) if short_integer else 0.5

    def members(self, depth: int) -> Pairs:
        pairs = Pairs()
        self.take("{")
        self.skip()
        while self.peek() != "}":
            if pairs:
                self.take(",")
                self.skip()
            key = self.string()
            self.take(":")
            pairs.append((key, self.value(depth)))
            self.skip()
        self.at += 1
        return pairs

    def elements(self, depth: int) -> list[Any]:
        values: list[Any] = []
        self.take("[")
        self.skip()
        while self.peek() != "]":
            if values:
                self.take(",")
            values.append(self.value(depth))
            self.skip()
        self.at += 1
        return values

    def string(self) -> str:
        if self.peek() != '"':
            raise NotJsonError
        self.at += 1
        out = []
        while (sign := self.peek()) != '"':
            if not sign or sign < " ":
                raise NotJsonError
            self.at += 1
            if sign == "\\":
                sign = self.escape()
            out.append(sign)
        self.at += 1
        return "".join(out)

    def escape(self) -> str:
        sign = self.peek()
        self.at += 1
        if sign in ESCAPES:
            return ESCAPES[sign]
        digits = self.text[self.at : self.at + 4]
        if sign != "u" or not re.fullmatch("[0-9a-fA-F]{4}", digits):
            raise NotJsonError
        self.at += 4
        return chr(int(digits, 16))


def read_json(text: str) -> Any:
    """Read JSON, or give the empty list, which no contract accepts."""
    try:
        return Json(text).whole()
    except NotJsonError:
        return []


def sole_object(text: str) -> str | None:
    value = read_json(text)
    if isinstance(value, Pairs) and len(value) == 1 and value[0][0] == "winner" and value[0][1] in LABELS:
        return value[0][1]
    return None


def legacy(text: str) -> str | None:
    value = read_json(text)
    if isinstance(value, Pairs) and {key for key, _ in value} == {"winner"} and value[-1][1] in LABELS:
        return value[-1][1]
    return None


def label(text: str) -> str | None:
    found = re.fullmatch(r"[ \t\n\r]*(A|B|tie)[ \t\n\r]*", text)
    return found and found[1]


def json_field(text: str, path: list[str], labels: dict[str, list[Any]]) -> str | None:
    value = read_json(text)
    for key in path:
        if not isinstance(value, Pairs) or len({name for name, _ in value}) < len(value):
            return None
        hits = [inner for name, inner in value if name == key]
        if not hits:
            return None
        value = hits[0]
    for meaning, words in labels.items():
        if any(type(word) is type(value) and word == value for word in words):
            return meaning
    return None


def answer_part(text: str) -> str | None:
    if "<think>" not in text and "</think>" not in text:
        return text
    found = re.fullmatch(r"(?s)\s*<think>(.*?)</think>(.*\S.*)", text)
    if found is None or any(tag in part for part in found.groups() for tag in ("<think>", "</think>")):
        return None
    return found[2]


def bracket(text: str, where: str = "anywhere") -> str | None:
    answer = answer_part(text)
    if answer is None:
        return None
    if where == "last-line":
        lines = [line for line in answer.split("\n") if line.strip(WS)]
        answer = lines[-1] if lines else ""
    found = re.findall(r"\[\[(A|B|C|tie)\]\]", answer)
    if len(found) != 1:
        return None
    return "tie" if found[0] == "C" else found[0]


def score_pair(text: str, where: str, tie_width: str, lowest: str, highest: str) -> str | None:
    answer = answer_part(text)
    if answer is None:
        return None
    while answer[:1] and answer[0] in WS:
        answer = answer[1:]
    if where == "first-line":
        answer = answer.split("\n")[0]
    number = "-?[0-9]{1,9}(?:[.][0-9]{1,9})?"
    found = re.fullmatch(f"({number})([ \t]+|[ \t]*,[ \t]*)({number})[ \t\r\n]*", answer)
    if found is None:
        return None
    a, b = Fraction(found[1]), Fraction(found[3])
    if min(a, b) < Fraction(lowest) or max(a, b) > Fraction(highest):
        return None
    if a - b > Fraction(tie_width):
        return "A"
    return "B" if b - a > Fraction(tie_width) else "tie"


def pattern(text: str, python_pattern: str, labels: dict[str, list[str]]) -> str | None:
    """Python's own engine on a pattern that means the same in both."""
    answer = answer_part(text)
    found = None if answer is None else re.fullmatch(python_pattern, answer)
    if found is None:
        return None
    return next((meaning for meaning, words in labels.items() if found[1] in words), None)
