"""What every contract is, and the three that take no options."""

from __future__ import annotations

import dataclasses
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from darkcurrent.verdicts.diagnosis import JSON_TESTS, TEXT_TESTS, explain, is_error_text
from darkcurrent.verdicts.json_text import WHITESPACE, TooDeepError, decode
from darkcurrent.verdicts.verdict import LABELS, Verdict, invalid

__all__ = ["Contract", "Label", "Legacy", "SoleObject"]

_KEY = "winner"
_PUNCTUATION = ".,:;!?*_\"'`()[]{}"


@dataclass(frozen=True)
class Contract(ABC):
    """The declared form of a valid answer. It says what a text means and never changes the text.

    The fields of a contract are its options, with the names they have in a protocol.
    """

    name: ClassVar[str]

    @abstractmethod
    def read(self, text: str) -> Verdict:
        """Read a reply that has at least one character which is no white space; never raises."""

    def declaration(self) -> dict[str, Any]:
        """Return the name and all options, defaults included: what a configuration's digest covers."""
        return {"name": self.name, **dataclasses.asdict(self)}


def not_json(text: str) -> Verdict:
    """Say why a text that does not decode is no answer of a JSON contract."""
    return explain(text, JSON_TESTS, "not-json")


def wrong_json(text: str, reason: str) -> Verdict:
    """Say why a text that is JSON is no answer: `reason`, unless it is an error object."""
    return invalid("error-text" if is_error_text(text) else reason)


def label_reason(value: object) -> str:
    """Say why a JSON value in the place of a label is none."""
    return "wrong-value" if isinstance(value, str) else "wrong-type"


def _sole_winner(text: str, value: Any) -> Verdict:
    """Read the decoded JSON value of `text` as an object with the sole key `winner`."""
    if type(value) is not tuple:
        return wrong_json(text, "wrong-type")
    if len(value) == 1:
        key, label = value[0]
        if key == _KEY:
            if type(label) is str and label in LABELS:
                return LABELS[label]
            return wrong_json(text, label_reason(label))
    keys = {key for key, _ in value}
    if len(keys) < len(value):
        return wrong_json(text, "duplicate-keys")
    return wrong_json(text, "extra-keys" if _KEY in keys else "wrong-key")


class SoleObject(Contract):
    """Exactly one JSON object with the sole key `winner` and the value `A`, `B` or `tie`.

    Notes
    -----
    ::

        reply  = ws "{" ws name ws ":" ws label ws "}" ws
        name   = the JSON string winner
        label  = the JSON string A, B or tie
        ws     = *( space / tab / LF / CR )

    A JSON string may be written with escapes, so ``{"w\\u0069nner":"A"}`` is the same object and is accepted.
    """

    name = "sole-object"

    def read(self, text: str) -> Verdict:
        try:
            value = decode(text)
        except (json.JSONDecodeError, TooDeepError):
            return not_json(text)
        return _sole_winner(text, value)


class Legacy(Contract):
    """As `sole-object`, but of a key that stands more than once the last value counts.

    This is how common JSON parsers read, and the sensitivity parser of arXiv 2606.15610.

    Notes
    -----
    ::

        reply  = ws "{" ws *( name ws ":" ws value ws "," ws ) name ws ":" ws label ws "}" ws
        value  = any JSON value
    """

    name = "legacy"

    def read(self, text: str) -> Verdict:
        try:
            value = decode(text)
        except (json.JSONDecodeError, TooDeepError):
            return not_json(text)
        return _sole_winner(text, tuple(dict(value).items()) if type(value) is tuple else value)


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
        bare = text.strip(WHITESPACE)
        if bare in LABELS:
            return LABELS[bare]
        return explain(text, TEXT_TESTS, self._reason(text))

    @staticmethod
    def _reason(text: str) -> str:
        words = text.split()
        ends = {word.strip(_PUNCTUATION) for word in (words[0], words[-1])} & LABELS.keys()
        if ends:
            return "prose-around" if len(ends) == 1 else "several-verdicts"
        return "wrong-value" if len(words) == 1 else "no-verdict"
