"""What can be planted in a simulated judge."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from darkcurrent.records import Record

__all__ = ["Otherwise", "Properties"]

_Share = Annotated[float, Field(ge=0, le=1)]
_PairPattern = Literal["stable", "position", "one-sided"]


def _fit(patterns: dict[_PairPattern, float] | None) -> None:
    if patterns and sum(patterns.values()) > 1 + 1e-9:
        raise ValueError("the shares of `patterns` are more than 1 together")


class Otherwise(Record):
    """What a fair judge does otherwise for some calls; what is not given stays as it is. See `Properties`."""

    dark_current: _Share | None = None
    utility: _Share | None = None
    ties: _Share | None = None
    weak: dict[str, _Share] | None = None
    steps: dict[str, _Share] | None = None
    patterns: dict[_PairPattern, _Share] | None = None

    @model_validator(mode="after")
    def _patterns_fit(self) -> Otherwise:
        _fit(self.patterns)
        return self

    @property
    def given(self) -> dict[str, Any]:
        """What is given, by name."""
        return {name: value for name, value in self if value is not None}


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
        The share of calls with a target on which a fair judge chooses it.
    ties : float
        The share of ties among the others; the rest of them is wrong.
    weak : dict
        Stratum to another utility.
    steps : dict
        Step of a ladder to another utility, before that of the stratum.
    patterns : dict
        The shares of pairs of two different texts without a target that a fair judge meets with the same text in
        both orders (`stable`), the same slot (`position`), or a choice in one order and a tie in the other
        (`one-sided`); it ties on the others. Where this is empty, `dark_current` decides call by call.
    criteria : dict
        Criterion to what a fair judge does otherwise under it. The judge has to know the study.
    present : Otherwise or None
        What it does otherwise where a third candidate is shown, which changes nothing else.
    fenced : float
        The share of answers that stand in a code fence, whatever the habit.
    seed : int
        Of all these shares and of the taste.
    """

    habit: Literal["fair", "tie", "first", "stable", "one-sided"] = "fair"
    dark_current: _Share = 0.0
    utility: _Share = 1.0
    ties: _Share = 0.5
    weak: dict[str, _Share] = Field(default_factory=dict)
    steps: dict[str, _Share] = Field(default_factory=dict)
    patterns: dict[_PairPattern, _Share] = Field(default_factory=dict)
    criteria: dict[str, Otherwise] = Field(default_factory=dict)
    present: Otherwise | None = None
    fenced: _Share = 0.0
    seed: Annotated[int, Field(ge=0, lt=2**53)] = 0

    @model_validator(mode="after")
    def _patterns_fit(self) -> Properties:
        _fit(self.patterns)
        return self

    def under(self, criterion: str | None, present: bool) -> Properties:
        """Return what holds under a criterion, without or with a third candidate."""
        given = self.criteria[criterion].given if criterion in self.criteria else {}
        if present and self.present is not None:
            given = given | self.present.given
        return self.model_copy(update=given)
