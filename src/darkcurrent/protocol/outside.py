"""`[battery]` of the sources whose items come from outside: a public data set, an earlier study, human labels."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from darkcurrent.protocol.battery_base import BatteryBase
from darkcurrent.records import ArmName, Record

__all__ = [
    "EquivalenceBattery",
    "EquivalenceColumns",
    "LabelsTable",
    "RewardBench2Battery",
    "StudyBattery",
]

_Rater = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
"""A rater's name is the name of a file too."""


def _in_one_sentence(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """Say what both kinds of value are, where pydantic would say what is wrong with the first kind."""
    try:
        return handler(value)
    except ValidationError as error:
        raise ValueError('give a whole number from 1 on, or "all"') from error


class RewardBench2Battery(BatteryBase):
    """`[battery]` with `source = "rewardbench2"`: rows of RewardBench 2, one length-matched pair of each.

    Attributes
    ----------
    revision : str or None
        The commit of the hub's data set, all 40 digits: a branch can move, a commit cannot.
    path : str or None
        A local `.jsonl`, `.json` or `.parquet` file with the hub's columns, in the place of `revision`.
    dataset, file : str
        The data set's name on the hub and the file in it.
    seed : int
        Changes which rows are drawn and nothing else.
    per_stratum : int or "all"
        How many rows are drawn of each stratum.
    strata : tuple of str or None
        The subsets to draw from; None stands for every subset that the file has.
    max_words, max_percent : int
        A rejected answer is eligible if its number of words differs from that of the chosen one by at most this
        many, and by at most this percentage of the chosen one's.
    exclude : tuple of str
        Folders of earlier studies, none of whose items or prompts is used again.
    nested : dict of str to int
        Name of a smaller set to how many of each stratum's first rows it holds.
    """

    source: Literal["rewardbench2"]
    revision: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")] | None = None
    path: Annotated[str, StringConstraints(min_length=1)] | None = None
    dataset: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$")] = (
        "allenai/reward-bench-2"
    )
    file: Annotated[str, StringConstraints(min_length=1)] = "data/test-00000-of-00001.parquet"
    seed: Annotated[int, Field(ge=0, lt=2**53)]
    per_stratum: Annotated[Annotated[int, Field(ge=1)] | Literal["all"], WrapValidator(_in_one_sentence)] = 17
    strata: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    max_words: Annotated[int, Field(ge=0)] = 20
    max_percent: Annotated[int, Field(ge=0)] = 25
    exclude: tuple[Annotated[str, StringConstraints(min_length=1)], ...] = ()
    nested: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    arms: Annotated[tuple[Literal["clone", "signal"], ...], Field(min_length=1)] = ("clone", "signal")

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.revision is None) == (self.path is None):
            raise ValueError(
                "give either `revision` (a commit of the hub's data set) or `path` (a local file)"
            )
        return self


class StudyBattery(BatteryBase):
    """`[battery]` with `source = "study"`: the items of an earlier study, exactly as they were frozen.

    Attributes
    ----------
    path : str
        The earlier study's folder, relative to this study's.
    arms : tuple of ArmName
        What is shown again; by default whatever the earlier study showed.
    strata : tuple of str or None
        The strata to take; None stands for all.
    """

    source: Literal["study"]
    path: Annotated[str, StringConstraints(min_length=1)]
    strata: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    arms: Annotated[tuple[ArmName, ...], Field(min_length=1)] = get_args(ArmName)

    @model_validator(mode="after")
    def _edges_come_with_the_clones(self) -> Self:
        if self.edge_controls:
            raise ValueError("`edge_controls` of the earlier study come with its clones: leave it out")
        return self


class EquivalenceColumns(Record):
    """`[battery.columns]` of the source `equivalence`: which column of the file is which."""

    id: str = "id"
    prompt: str = "prompt"
    first: str = "first"
    second: str = "second"
    stratum: str | None = None
    cluster: str | None = None


class LabelsTable(Record):
    """`[battery.labels]`: who says that two answers are equivalent, and what is enough.

    Attributes
    ----------
    raters : tuple of str
        Names of the raters, at least two; each has a sheet of this name in `labels/`.
    question : str
        What each rater answers of each pair.
    admit : str
        A pair is used where `all` raters call it equivalent, or where a `majority` does.
    min_alpha : float
        What Krippendorff's alpha (nominal) over all labels must reach for any pair to be used. His own lowest
        limit for tentative conclusions is .667, his customary one .800.
    """

    raters: Annotated[tuple[_Rater, ...], Field(min_length=2)]
    question: str = "Do both answers serve the request equally well, so that no careful reader has a reason to prefer one?"
    admit: Literal["all", "majority"] = "all"
    min_alpha: Annotated[float, Field(gt=0, le=1)] = 0.667

    @model_validator(mode="after")
    def _raters_are_different(self) -> Self:
        if len({rater.casefold() for rater in self.raters}) < len(self.raters):
            raise ValueError("`raters` names a rater twice: agreement needs different people")
        return self


class EquivalenceBattery(BatteryBase):
    """`[battery]` with `source = "equivalence"`: distinct answers that people have called equivalent.

    Attributes
    ----------
    path : str
        A file of candidate pairs, relative to the study's folder.
    seed : int
        The key by which items and texts are shuffled on the raters' sheets.
    """

    source: Literal["equivalence"]
    path: Annotated[str, StringConstraints(min_length=1)]
    columns: EquivalenceColumns = EquivalenceColumns()
    seed: Annotated[int, Field(ge=0, lt=2**53)]
    labels: LabelsTable
    arms: Annotated[tuple[Literal["clone", "equivalent"], ...], Field(min_length=1)] = ("equivalent",)
