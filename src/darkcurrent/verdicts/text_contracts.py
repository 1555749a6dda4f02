"""The contracts whose answer is written text: `label`, `bracket`, `score-pair`."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from darkcurrent.verdicts.contract import Contract
from darkcurrent.verdicts.diagnosis import (
    FREE_TEXT_TESTS,
    TEXT_TESTS,
    explain,
    is_error_text,
    split_reasoning,
)
from darkcurrent.verdicts.json_text import WHITESPACE
from darkcurrent.verdicts.verdict import LABELS, Verdict, invalid

__all__ = ["Bracket", "FreeText", "Label", "ScorePair"]

_PUNCTUATION = ".,:;!?*_\"'`()[]{}"
_BRACKETS = {"[[A]]": LABELS["A"], "[[B]]": LABELS["B"], "[[C]]": LABELS["tie"], "[[tie]]": LABELS["tie"]}
_BRACKET_LIKE = re.compile(r"\[\[[^\[\]\n]{1,60}+\]\]")
_LARGEST = 10**9  # the numbers of a reply have nine digits at most
_NUMBER = r"(-?[0-9]{1,9}(?:\.[0-9]{1,9})?)"
_SCORES = re.compile(rf"{_NUMBER}(?:[ \t]*+,[ \t]*+|[ \t]++){_NUMBER}")


class Label(Contract):
    """The reply is the bare label `A`, `B` or `tie`.

    Notes
    -----
    ::

        reply  = ws ( "A" / "B" / "tie" ) ws
        ws     = *( space / tab / LF / CR )

    Upper and lower case matter.
    """

    name = "label"

    def read(self, text: str) -> Verdict:
        return LABELS.get(text.strip(WHITESPACE)) or explain(text, TEXT_TESTS, self._reason(text))

    @staticmethod
    def _reason(text: str) -> str:
        words = text.split()
        ends = {word.strip(_PUNCTUATION) for word in (words[0], words[-1])} & LABELS.keys()
        if ends:
            return "prose-around" if len(ends) == 1 else "several-verdicts"
        return "wrong-value" if len(words) == 1 else "no-verdict"


class FreeText(Contract):
    """A contract whose reply may hold free text, so that a draft or an error could be taken for the answer.

    Notes
    -----
    ::

        reply    = [ *white-space "<think>" thought "</think>" ] answer
        thought  = any text without these two tags
        answer   = any text without them that has the form of the contract

    The verdict is read from the answer alone. An error message is never a verdict.
    """

    @abstractmethod
    def read_answer(self, answer: str) -> Verdict:
        """Read the part of a reply after its reasoning."""

    def read(self, text: str) -> Verdict:
        answer, reason = split_reasoning(text)
        if reason is not None:
            return explain(text, TEXT_TESTS, reason)
        return invalid("error-text") if is_error_text(answer) else self.read_answer(answer)


@dataclass(frozen=True)
class Bracket(FreeText):
    """Free text that holds exactly one of `[[A]]`, `[[B]]`, `[[C]]` and `[[tie]]`; the last two mean a tie.

    Parameters
    ----------
    where : {"anywhere", "last-line"}
        Where it stands: anywhere, or in the last line that is not blank. In the second case earlier lines may
        hold anything, also other verdicts.

    Notes
    -----
    ::

        answer     = free verdict free                       (anywhere)
        answer     = [ any LF ] line verdict line *ws        (last-line)
        verdict    = "[[A]]" / "[[B]]" / "[[C]]" / "[[tie]]"
        free, any  = any text; free holds no verdict
        line       = any text without LF and without a verdict

    The same verdict written twice is two verdicts. Reasoning before the answer is described in `FreeText`.
    """

    name = "bracket"
    where: Literal["anywhere", "last-line"] = "anywhere"

    def __post_init__(self) -> None:
        if self.where not in ("anywhere", "last-line"):
            raise self.refuse("where", f"{self.where!r} is not known, use 'anywhere' or 'last-line'")

    def read_answer(self, answer: str) -> Verdict:
        if self.where == "last-line":
            answer = answer.rstrip(WHITESPACE).rpartition("\n")[2]
        found = [(verdict, count) for sign, verdict in _BRACKETS.items() if (count := answer.count(sign))]
        if not found:
            reason = "wrong-value" if _BRACKET_LIKE.search(answer) else "no-verdict"
            return explain(answer, FREE_TEXT_TESTS, reason)
        verdict, count = found[0]
        return verdict if len(found) == count == 1 else invalid("several-verdicts")


@dataclass(frozen=True)
class ScorePair(FreeText):
    """Two numbers, the score of A and the score of B; the higher one wins.

    Parameters
    ----------
    where : {"first-line", "whole"}
        Whether the pair is the first line, with any text after it, or the whole answer.
    tie_width : float
        The two tie when they differ by this much or less. At least 0; compared exactly, in decimal.
    lowest, highest : float
        The scale. A pair with a score outside it is invalid.

    Notes
    -----
    ::

        answer  = ws pair *( space / tab / CR ) [ LF any ]   (first-line)
        answer  = ws pair ws                                 (whole)
        pair    = number ( 1*( space / tab ) / *( space / tab ) "," *( space / tab ) ) number
        number  = [ "-" ] 1*9( digit ) [ "." 1*9( digit ) ]
        ws      = *( space / tab / LF / CR )

    Reasoning before the answer is described in `FreeText`.
    """

    name = "score-pair"
    where: Literal["first-line", "whole"] = "first-line"
    tie_width: float = 0
    lowest: float = 0
    highest: float = 10
    _exact: tuple[Fraction, Fraction, Fraction] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.where not in ("first-line", "whole"):
            raise self.refuse("where", f"{self.where!r} is not known, use 'first-line' or 'whole'")
        for option in ("tie_width", "lowest", "highest"):
            value = getattr(self, option)
            if type(value) not in (int, float) or not -_LARGEST <= value <= _LARGEST:
                raise self.refuse(option, f"{value!r} must be a number between -1e9 and 1e9")
        if self.tie_width < 0:
            raise self.refuse("tie_width", f"{self.tie_width} must not be negative")
        if self.lowest >= self.highest:
            raise self.refuse("lowest", f"{self.lowest} must be below highest, {self.highest}")
        exact = tuple(Fraction(str(value)) for value in (self.tie_width, self.lowest, self.highest))
        object.__setattr__(self, "_exact", exact)

    def read_answer(self, answer: str) -> Verdict:
        line = answer.strip(WHITESPACE)
        if self.where == "first-line":
            line = line.partition("\n")[0].rstrip(WHITESPACE)
        pair = _SCORES.fullmatch(line)
        if pair is None:
            return explain(answer, FREE_TEXT_TESTS, "prose-around" if _SCORES.match(line) else "no-verdict")
        tie_width, lowest, highest = self._exact
        a, b = Fraction(pair[1]), Fraction(pair[2])
        if not (lowest <= a <= highest and lowest <= b <= highest):
            return invalid("wrong-value")
        if abs(a - b) <= tie_width:
            return LABELS["tie"]
        return LABELS["A" if a > b else "B"]
