"""What is declared before any call: the tables of `protocol.toml`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from darkcurrent.protocol.batteries import BatteryTable
from darkcurrent.protocol.configurations import Configuration, HttpConfiguration, Name, Seed
from darkcurrent.records import Record

__all__ = [
    "AnalysisTable",
    "CaptureTable",
    "Criterion",
    "GatesTable",
    "Price",
    "Protocol",
    "ScheduleTable",
    "StudyTable",
]

Share = Annotated[float, Field(gt=0, lt=1)]


class StudyTable(Record):
    """`[study]`: what the folder is called."""

    name: Name
    title: str = ""


class Criterion(Record):
    """`[criteria.NAME]`: a named rubric, either one that ships with the package or a text file."""

    rubric: str | None = None
    rubric_file: str | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Criterion:
        if (self.rubric is None) == (self.rubric_file is None):
            raise ValueError(
                "give either `rubric` (a rubric that ships with darkcurrent) or `rubric_file` (a text file)"
            )
        return self


class ScheduleTable(Record):
    """`[schedule]`: in which order the calls are made.

    Attributes
    ----------
    kind : str
        `hash`: by their hashes. `shuffle`: one random permutation. `crossover`: cohorts over temporal blocks, the
        sequences of criterion and order drawn at random. `carryover`: Williams squares over all exposures of an item.
        Only the last two store an assignment that randomization tests draw again.
    seed : int
        Of every draw.
    """

    kind: Literal["hash", "shuffle", "crossover", "carryover"] = "hash"
    seed: Seed


class Price(Record):
    """`[capture.prices.NAME]`: what a million tokens of a configuration cost, in the currency of `max_cost`."""

    prompt: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    completion: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class CaptureTable(Record):
    """`[capture]`: how a campaign runs.

    Attributes
    ----------
    in_flight : int
        Requests at the same time.
    timeout_seconds : float
        The longest that one request may take.
    deadline_minutes : float
        The longest that a campaign may take, over all its runs.
    stop_when_held : bool
        End a campaign as HELD_EARLY once the ceiling of invalid answers cannot be kept any more.
    max_reply_bytes : int
        A longer reply is cut off and counts as invalid.
    on_rate_limit : str
        What follows a refusal that carries no observation (no connection, HTTP 429 or 503): the campaign stops for
        good, or it waits and sends the call again, until the deadline. Every other failure always stops it.
    max_tokens : int or None
        A campaign ends as HELD_EARLY where its next call could bring the sum of all its tokens above this. It
        means nothing for a backend without tokens.
    max_cost : float or None
        The same for the cost, by `prices`.
    prices : dict
        Configuration name to what its tokens cost.
    shards : int
        Into how many parts the schedule is divided that nodes of a cluster may send at the same time. `in_flight`
        and `deadline_minutes` are those of each part then.
    """

    in_flight: Annotated[int, Field(ge=1, le=1024)] = 1
    timeout_seconds: Annotated[float, Field(gt=0)] = 120.0
    deadline_minutes: Annotated[float, Field(gt=0)] = 180.0
    stop_when_held: bool = False
    max_reply_bytes: Annotated[int, Field(ge=1024)] = 1_048_576
    on_rate_limit: Literal["stop", "wait"] = "stop"
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_cost: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    prices: dict[Name, Price] = Field(default_factory=dict)
    shards: Annotated[int, Field(ge=1, le=1024)] = 1


class GatesTable(Record):
    """`[gates]`: the thresholds. A gate whose threshold is not declared is NOT GRADED.

    Attributes
    ----------
    invalid_ceiling : float
        The share of a campaign's scheduled calls that may be invalid; more is HOLD.
    clone_threshold : float or None
        The rate of adverse clones that must be excluded.
    utility_threshold : float or None
        What the lower bound of target utility must reach.
    clone_family : str
        The cells that Holm's adjustment runs over: all cells of the study, or those of one configuration.
    """

    invalid_ceiling: Annotated[float, Field(ge=0, lt=1)] = 0.01
    clone_threshold: Share | None = None
    utility_threshold: Share | None = None
    clone_family: Literal["study", "configuration"] = "study"


class AnalysisTable(Record):
    """`[analysis]`: how utility is resampled."""

    weights: Literal["size", "equal"] = "size"
    draws: Annotated[int, Field(ge=1000, le=1_000_000)] = 20_000  # an archive is evaluated by strangers
    seed: Seed = 20_260_615


class Protocol(Record):
    """A whole `protocol.toml`."""

    format: Annotated[int, Field(ge=1, le=1)]
    study: StudyTable
    battery: BatteryTable
    criteria: Annotated[dict[Name, Criterion], Field(min_length=1)]
    configuration: Annotated[tuple[Configuration, ...], Field(min_length=1)]
    schedule: ScheduleTable
    capture: CaptureTable = CaptureTable()
    gates: GatesTable = GatesTable()
    analysis: AnalysisTable = AnalysisTable()

    @field_validator("configuration")
    @classmethod
    def _names_are_unique(cls, configurations: tuple[Configuration, ...]) -> tuple[Configuration, ...]:
        folded = [configuration.name.casefold() for configuration in configurations]
        doubled = sorted({name for name in folded if folded.count(name) > 1})
        if doubled:
            raise ValueError(
                f"two configurations are called `{doubled[0]}`: a name must be unique, whatever its case"
            )
        return configurations

    @model_validator(mode="after")
    def _prices_fit(self) -> Protocol:
        names = {configuration.name for configuration in self.configuration}
        unknown = sorted(self.capture.prices.keys() - names)
        if unknown:
            raise ValueError(f"`capture.prices.{unknown[0]}` is the price of no configuration")
        metered = {each.name for each in self.configuration if isinstance(each, HttpConfiguration)}
        unpriced = sorted(metered - self.capture.prices.keys())
        if self.capture.max_cost is not None and unpriced:
            raise ValueError(f"`capture.max_cost` needs a price: declare `[capture.prices.{unpriced[0]}]`")
        return self
