"""The contracts whose answer is one JSON object: `sole-object`, `legacy`, `json-field`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from darkcurrent.verdicts.contract import Contract, Labels, LabelTable, label_table, plain_labels
from darkcurrent.verdicts.diagnosis import JSON_TESTS, explain, is_error_text
from darkcurrent.verdicts.json_text import TooDeepError, decode
from darkcurrent.verdicts.verdict import LABELS, Verdict, invalid

__all__ = ["JsonField", "Legacy", "SoleObject"]

_KEY = "winner"


@lru_cache(maxsize=1)  # `read_under_every` asks for each of the three contracts, one after the other
def _not_json(text: str) -> Verdict:
    return explain(text, JSON_TESTS, "not-json")


def _wrong(text: str, reason: str) -> Verdict:
    """Say why a text that is JSON is no answer: `reason`, unless it is an error object."""
    return invalid("error-text" if is_error_text(text) else reason)


def _sole_winner(text: str, value: Any) -> Verdict:
    """Read the decoded JSON value of `text` as an object whose only key is `winner`."""
    if type(value) is not tuple:
        return _wrong(text, "wrong-type")
    if len(value) == 1:
        key, label = value[0]
        if key == _KEY:
            if type(label) is not str:
                return _wrong(text, "wrong-type")
            return LABELS.get(label) or _wrong(text, "wrong-value")
    keys = {key for key, _ in value}
    if len(keys) < len(value):
        return _wrong(text, "duplicate-keys")
    return _wrong(text, "extra-keys" if _KEY in keys else "wrong-key")


class SoleObject(Contract):
    r"""One JSON object and nothing around it: its only key is `winner`, its value `A`, `B` or `tie`.

    Notes
    -----
    ::

        reply  = ws "{" ws name ws ":" ws label ws "}" ws
        name   = the JSON string winner
        label  = the JSON string A, B or tie
        ws     = *( space / tab / LF / CR )

    A JSON string may be written with escapes: ``{"w\u0069nner":"A"}`` is the same object and is accepted.
    """

    name = "sole-object"

    def read(self, text: str) -> Verdict:
        try:
            value = decode(text)
        except (json.JSONDecodeError, TooDeepError):
            return _not_json(text)
        return _sole_winner(text, value)


class Legacy(Contract):
    """As `sole-object`, but where a key stands more than once its last value counts.

    This is how common JSON parsers read, and the sensitivity parser of arXiv 2606.15610.

    Notes
    -----
    ::

        reply  = ws "{" ws *( name ws ":" ws value ws "," ws ) name ws ":" ws label ws "}" ws
        value  = any JSON value

    with `name`, `label` and `ws` as in `sole-object`.
    """

    name = "legacy"

    def read(self, text: str) -> Verdict:
        try:
            value = decode(text)
        except (json.JSONDecodeError, TooDeepError):
            return _not_json(text)
        return _sole_winner(text, tuple(dict(value).items()) if type(value) is tuple else value)


@dataclass(frozen=True)
class JsonField(Contract):
    """One JSON object with the verdict at a declared path; other fields may stand beside it.

    For judges that give reasons or scores together with the verdict.

    Parameters
    ----------
    path : list of str
        The keys that lead to the verdict, outermost first.
    labels : dict of str to list of (str or int)
        For each of A, B and tie the JSON strings and integers that mean it. Upper and lower case matter, and
        ``1`` is not ``"1"``.

    Notes
    -----
    ::

        reply   = ws object(path) ws
        object  = a JSON object, no key twice, whose member with the path's first key is
                  object(the rest of the path), or for the last key one of the labels

    Objects off the path are not looked into, but the whole reply must be JSON with at most 64 levels.
    """

    name = "json-field"
    path: list[str] = field(default_factory=lambda: [_KEY])
    labels: Labels = field(default_factory=plain_labels)
    _table: LabelTable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if (
            not isinstance(self.path, list)
            or not self.path
            or not all(isinstance(key, str) for key in self.path)
        ):
            raise self.refuse("path", "give the keys that lead to the verdict as a list of strings")
        object.__setattr__(self, "_table", label_table(self, self.labels, (str, int)))

    def read(self, text: str) -> Verdict:
        try:
            value = decode(text)
        except (json.JSONDecodeError, TooDeepError):
            return _not_json(text)
        for key in self.path:
            if type(value) is not tuple:
                return _wrong(text, "wrong-type")
            members = dict(value)
            if len(members) < len(value):
                return _wrong(text, "duplicate-keys")
            if key not in members:
                return _wrong(text, "wrong-key")
            value = members[key]
        if type(value) not in (str, int):
            return _wrong(text, "wrong-type")
        return self._table.get((type(value), value)) or _wrong(text, "wrong-value")
