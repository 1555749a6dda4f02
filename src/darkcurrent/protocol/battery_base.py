"""The keys that every battery source has."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from darkcurrent.records import ArmName, Record

__all__ = ["BatteryBase"]


class BatteryBase(Record):
    """Keys that every battery source has.

    Attributes
    ----------
    arms : tuple of ArmName
        What is shown of each item.
    edge_controls : int
        How many items are also shown with two empty and with two white-space candidates, per edge stratum.
    """

    arms: Annotated[tuple[ArmName, ...], Field(min_length=1)]
    edge_controls: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _arms_are_named_once(self) -> Self:
        if len(set(self.arms)) < len(self.arms):
            raise ValueError("`arms` names an arm twice: each item would be asked the same thing twice")
        return self
