"""What can be planted in a simulated judge."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from darkcurrent.records import Record

__all__ = ["Properties"]

_Share = Annotated[float, Field(ge=0, le=1)]


class Properties(Record):
    """How a simulated judge judges. Every answer depends on the request and the seed alone.

    Attributes
    ----------
    habit : str
        `fair`: by the shares below. `tie`: always a tie. `first`: always slot A. `stable`: one of two different
        texts by a taste of its own, in both orders the same one. `one-sided`: the text of its taste where that
        stands in slot A, else a tie. The last two tie on identical texts.
    dark_current : float
        The share of calls with nothing to choose between (identical texts, or no target) on which a fair judge
        chooses all the same; one slot as often as the other.
    utility : float
        The share of calls with a target on which a fair judge chooses it. Of the others one half are ties and one
        half are wrong.
    weak : dict
        Stratum to another utility.
    fenced : float
        The share of answers that stand in a code fence, whatever the habit.
    seed : int
        Of all these shares and of the taste.
    """

    habit: Literal["fair", "tie", "first", "stable", "one-sided"] = "fair"
    dark_current: _Share = 0.0
    utility: _Share = 1.0
    weak: dict[str, _Share] = Field(default_factory=dict)
    fenced: _Share = 0.0
    seed: Annotated[int, Field(ge=0, lt=2**53)] = 0
