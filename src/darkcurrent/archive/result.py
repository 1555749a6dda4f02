"""The canonical result: the form of an analysis that two machines must agree on, byte for byte."""

from __future__ import annotations

import json
from typing import Any, Final

from darkcurrent.archive.words import NOT_HERE, server_word
from darkcurrent.canonical import canonical_json
from darkcurrent.results import Analysis

__all__ = ["DIGITS", "canonical_result", "first_difference", "rounded"]

DIGITS: Final = 7
"""Significant decimal digits of every number that is no whole one.

Versions of numpy and scipy, and processors, differ in the last of sixteen digits: sums are added in another order,
and the inverse of a tail is found by other steps. Seven digits are far above that, and more than anybody reads. Each
digit more would make it ten times as likely that such a difference falls on the edge between two rounded numbers.
"""

_NO_RESULT: Final = {"software", "title", "commitment"}
"""Keys that are no result: what it was computed with, free text, and who vouches for its beginning."""


_ENDED: Final = "ended for good: "
_ANOTHER_MACHINE: Final = "`host` changed between runs"
"""How two deviations begin that go on with words that do not leave."""


def canonical_result(analysis: Analysis) -> bytes:
    """Return an analysis as RFC 8785 JSON: numbers rounded to `DIGITS`, no versions, no free text.

    What a journal says of why a campaign ended may quote a server; in its place stands a sentence of our own.
    """
    result = analysis.model_dump(mode="json", by_alias=True, exclude=_NO_RESULT)
    for campaign in result["campaigns"]:
        _without_words(campaign)
    return canonical_json(rounded(result))


def _without_words(campaign: dict[str, Any]) -> None:
    """Put what a journal or a service said in words out of a campaign's result; the original and the replay lose alike."""
    why = campaign["stopped"]
    if why is not None:
        campaign["stopped"] = NOT_HERE
        campaign["reasons"] = [NOT_HERE if reason == why else reason for reason in campaign["reasons"]]
    campaign["deviations"] = [_without_names(said) for said in campaign["deviations"]]
    campaign["identity"] = None
    campaign["served_models"] = sorted({server_word(name) for name in campaign["served_models"]})


def _without_names(deviation: str) -> str:
    if deviation.startswith(_ENDED):
        return f"{_ENDED}{NOT_HERE}"
    return _ANOTHER_MACHINE if deviation.startswith(_ANOTHER_MACHINE) else deviation


def rounded(value: Any) -> Any:
    """Return a JSON value with every number that is no whole one rounded to `DIGITS` significant digits."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") + 0.0  # no negative zero
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return value


def first_difference(one: Any, other: Any, place: str = "") -> str | None:
    """Return where two JSON values differ first, and how; None where they are the same.

    Examples
    --------
    >>> first_difference({"a": [1, 2]}, {"a": [1, 3]})
    'a[1] is 2 there and 3 here'
    """
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            inner = f"{place}.{key}" if place else key
            if key not in one or key not in other:
                return f"{inner} is only {'here' if key not in one else 'there'}"
            if found := first_difference(one[key], other[key], inner):
                return found
        return None
    if isinstance(one, list) and isinstance(other, list):
        for index, (left, right) in enumerate(zip(one, other, strict=False)):
            if found := first_difference(left, right, f"{place}[{index}]"):
                return found
        return (
            None if len(one) == len(other) else f"{place} has {len(one)} entries there and {len(other)} here"
        )
    if one == other and isinstance(one, bool) == isinstance(other, bool):
        return None
    return f"{place} is {_short(one)} there and {_short(other)} here"


def _short(value: Any) -> str:
    shown = json.dumps(value)
    return shown if len(shown) <= 120 else f"{shown[:117]}..."
