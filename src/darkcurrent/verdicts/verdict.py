"""What one reply says: a label, or the reason why it says none."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from darkcurrent.verdicts.reasons import REASONS

__all__ = ["LABELS", "Choice", "Verdict", "invalid"]

Choice = Literal["A", "B", "tie"]
"""The slot that is preferred, or neither."""


class Verdict(NamedTuple):
    """A reply as its contract reads it. Exactly one of the two fields is None.

    Attributes
    ----------
    value : {"A", "B", "tie"} or None
        The slot that the judge prefers. None when the reply is not a valid answer.
    reason : str or None
        A code of `darkcurrent.verdicts.REASONS` when the reply is not a valid answer.
    """

    value: Choice | None
    reason: str | None


LABELS: Final[dict[object, Verdict]] = {
    "A": Verdict("A", None),
    "B": Verdict("B", None),
    "tie": Verdict("tie", None),
}
"""The three valid verdicts by their label; every valid reply gives one of these objects."""

_INVALID: Final = {code: Verdict(None, code) for code in REASONS}


def invalid(reason: str) -> Verdict:
    """Return the verdict that is invalid for `reason`.

    Raises
    ------
    KeyError
        If `reason` is not in the vocabulary: it is closed.
    """
    return _INVALID[reason]
