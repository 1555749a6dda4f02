"""`[battery]`: what can be declared of each source of matched items."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from darkcurrent.records import ArmName, Record

__all__ = ["BatteryBase", "BatteryTable", "FiniteCodeBattery", "PairsBattery", "PairsColumns"]


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


class PairsColumns(Record):
    """`[battery.columns]`: which column of the file is which.

    A file says who is better in one of two ways: by the columns `chosen` and `rejected`, or by `first`,
    `second` and a `label` column whose values `labels` explains (`"first"`, `"second"` or `"tie"`).
    """

    id: str = "id"
    prompt: str = "prompt"
    chosen: str = "chosen"
    rejected: str = "rejected"
    stratum: str | None = None
    cluster: str | None = None
    first: str | None = None
    second: str | None = None
    label: str | None = None
    labels: dict[str, Literal["first", "second", "tie"]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _labels_are_whole(self) -> PairsColumns:
        given = [bool(self.first), bool(self.second), bool(self.label), bool(self.labels)]
        if any(given) and not all(given):
            raise ValueError("`first`, `second`, `label` and `labels` go together: give all four or none")
        return self


class PairsBattery(BatteryBase):
    """`[battery]` with `source = "pairs"`: matched texts from a file of one's own.

    Attributes
    ----------
    path : str
        A `.jsonl`, `.json`, `.csv` or `.parquet` file; relative to the study's folder.
    identical : str
        What becomes of a row whose two texts are the same: an error, or a clone without a signal.
    """

    source: Literal["pairs"]
    path: Annotated[str, StringConstraints(min_length=1)]
    columns: PairsColumns = PairsColumns()
    identical: Literal["error", "clone"] = "error"
    arms: Annotated[tuple[Literal["clone", "signal"], ...], Field(min_length=1)] = ("clone", "signal")


class FiniteCodeBattery(BatteryBase):
    """`[battery]` with `source = "finite-code"`: programs whose right answer is known on a finite domain."""

    source: Literal["finite-code"]
    settings: Annotated[tuple[Annotated[int, Field(ge=0, le=11)], ...], Field(min_length=1)] = tuple(
        range(12)
    )
    arms: Annotated[tuple[ArmName, ...], Field(min_length=1)] = ("clone", "signal")

    @model_validator(mode="after")
    def _settings_are_named_once(self) -> Self:
        if len(set(self.settings)) < len(self.settings):
            raise ValueError("`settings` names a setting twice: each item is taken once")
        return self


BatteryTable = Annotated[PairsBattery | FiniteCodeBattery, Field(discriminator="source")]
