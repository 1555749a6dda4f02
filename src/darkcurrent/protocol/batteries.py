"""`[battery]`: what can be declared of each source of matched items."""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from darkcurrent.protocol.battery_base import BatteryBase
from darkcurrent.protocol.outside import EquivalenceBattery, RewardBench2Battery, StudyBattery
from darkcurrent.records import ArmName, Record

__all__ = [
    "BatteryBase",
    "BatteryTable",
    "ContextBattery",
    "ControlCounts",
    "ControlsBattery",
    "FiniteCodeBattery",
    "LadderBattery",
    "PairsBattery",
    "PairsColumns",
]

_T = TypeVar("_T", bound="BatteryBase")


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


def _named_once(settings: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(settings)) < len(settings):
        raise ValueError("`settings` names a setting twice: each item is taken once")
    return settings


Settings = Annotated[
    tuple[Annotated[int, Field(ge=0, le=11)], ...], Field(min_length=1), AfterValidator(_named_once)
]
"""Which of the twelve settings of each family of programs are taken."""


class FiniteCodeBattery(BatteryBase):
    """`[battery]` with `source = "finite-code"`: programs whose right answer is known on a finite domain."""

    source: Literal["finite-code"]
    settings: Settings = tuple(range(12))
    arms: Annotated[tuple[ArmName, ...], Field(min_length=1)] = ("clone", "signal")


class ContextBattery(BatteryBase):
    """`[battery]` with `source = "context"`: programs shown with and without a third one that cannot win."""

    source: Literal["context"]
    settings: Settings = (0, 3, 6, 9)
    arms: Annotated[tuple[Literal["equivalent", "signal"], ...], Field(min_length=1)] = (
        "equivalent",
        "signal",
    )


_Controls = Annotated[int, Field(ge=0, le=40)]


class ControlCounts(Record):
    """How many identical pairs of each null stratum are shown, each under a prompt of its own."""

    empty: _Controls = 40
    whitespace: _Controls = 40
    nonblank: _Controls = 40

    @model_validator(mode="after")
    def _there_are_some(self) -> Self:
        if self.empty + self.whitespace + self.nonblank == 0:
            raise ValueError("`empty`, `whitespace` and `nonblank` are all 0: there is nothing to show")
        return self


class ControlsBattery(ControlCounts, BatteryBase):
    """`[battery]` with `source = "controls"`: identical pairs that are empty, blank, or a short answer."""

    source: Literal["controls"]
    arms: Annotated[tuple[Literal["clone"], ...], Field(min_length=1)] = ("clone",)

    @model_validator(mode="after")
    def _edges_are_declared_once(self) -> Self:
        return _without_edge_controls(self, "`empty` and `whitespace`")


class LadderBattery(BatteryBase):
    """`[battery]` with `source = "ladder"`: texts that state none to five of five required elements.

    Attributes
    ----------
    controls : ControlCounts or None
        Controls that are shown in the same study.
    """

    source: Literal["ladder"]
    arms: Annotated[tuple[Literal["ladder"], ...], Field(min_length=1)] = ("ladder",)
    controls: ControlCounts | None = None

    @model_validator(mode="after")
    def _edges_are_declared_once(self) -> Self:
        return _without_edge_controls(self, "`[battery.controls]`")


def _without_edge_controls(table: _T, instead: str) -> _T:
    if table.edge_controls:
        raise ValueError(
            f"this battery has controls of its own: declare {instead} in place of `edge_controls`"
        )
    return table


BatteryTable = Annotated[
    PairsBattery
    | FiniteCodeBattery
    | ContextBattery
    | ControlsBattery
    | LadderBattery
    | RewardBench2Battery
    | StudyBattery
    | EquivalenceBattery,
    Field(discriminator="source"),
]
