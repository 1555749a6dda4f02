"""The frozen records that one stage hands to the next."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

__all__ = [
    "STEPS",
    "ArmName",
    "Battery",
    "Call",
    "Comparison",
    "Context",
    "Digest",
    "Event",
    "Intent",
    "Item",
    "NullStratum",
    "Order",
    "Record",
    "Refusal",
    "RequestRefusal",
    "Retry",
    "Step",
    "Terminal",
]

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""A SHA-256 in lower-case hex."""

ArmName = Literal["clone", "signal", "equivalent", "ladder"]
"""What is shown to the judge."""

NullStratum = Literal["core", "edge-empty", "edge-whitespace", "natural"]
"""Which kind of clone: text left after strip, the empty string, white space only. Never pooled.

`natural` is a core text too, but nobody scheduled it: two candidates of recorded data that happen to be one text.
"""

Context = Literal["absent", "present"]
"""Whether a third candidate, which cannot win, is shown beside the two that are compared."""

Step = Literal[
    "gap-0",
    "gap-1",
    "gap-2",
    "gap-3",
    "gap-4",
    "gap-5",
    "faulty-single",
    "faulty-1",
    "faulty-10",
    "faulty-50",
]
"""A step of a ladder: by how many elements two texts differ, or where a fault shows. Hardest first in each kind."""

STEPS: tuple[Step, ...] = get_args(Step)

Order = Literal["AB", "BA", "IDENTICAL"]
"""In which order the two texts `u` and `v` of a comparison are shown; a clone has none."""


class Record(BaseModel):
    """Base of all records: immutable, no unknown field, no silent conversion of types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Item(Record):
    """One prompt with its candidate texts: the sampling unit.

    Attributes
    ----------
    id : str
        Unique within a study.
    stratum : str
        The subset or family that resampling stays within.
    cluster : str
        Items that are not independent of each other share one.
    prompt : Digest
        The digest of the rendered prompt.
    texts : dict of str to Digest
        Role to the digest of the candidate text with that role.
    flags : tuple of str
        What a reader should know of the texts, e.g. that one holds the prompt's own delimiters.
    facts : dict
        What the source knows of the item (JSON values), e.g. the share of the domain on which a fault shows.
    """

    id: Annotated[str, StringConstraints(min_length=1)]
    stratum: str
    cluster: str
    prompt: Digest
    texts: dict[str, Digest]
    flags: tuple[str, ...] = ()
    facts: dict[str, Any] = Field(default_factory=dict)


class Comparison(Record):
    """Two roles of an item that are to be compared; the schedule makes calls of it.

    Attributes
    ----------
    item : str
        The item's id.
    arm : ArmName
        A clone has `u == v` and one call per criterion; the others have two calls, one per order.
    u, v : str
        Roles. In order `AB`, `u` stands in slot A.
    target : str or None
        The role that a useful judge chooses; None where a tie is the right answer.
    null_stratum : NullStratum or None
        Set for clones only.
    step : Step or None
        Set for the ladder only: how hard the contrast is. Steps are never pooled.
    context : Context or None
        Set where a third candidate is at issue: each pair is then compared twice, without it and with it.
    third : str or None
        The role of that candidate; set where it is shown (`present`) and nowhere else.
    """

    item: str
    arm: ArmName
    u: str
    v: str
    target: str | None = None
    null_stratum: NullStratum | None = None
    step: Step | None = None
    context: Context | None = None
    third: str | None = None

    @model_validator(mode="after")
    def _the_third_is_shown_where_it_is_present(self) -> Self:
        if (self.third is not None) != (self.context == "present"):
            raise ValueError("a comparison has a `third` exactly where its `context` is `present`")
        return self


class Refusal(Record):
    """A row or an arm of it that was not taken, with the reason. Nothing is dropped without one."""

    where: str
    stratum: str
    arm: ArmName | None
    reason: str


class Battery(Record):
    """Everything that a source gave: what was taken, what was refused, and the texts by their digest.

    Attributes
    ----------
    instruction : str
        What every rubric has to say besides for these items; it is added to each system message.
    shortfalls : tuple of str
        What keeps this battery from being frozen, one sentence each; `battery check` still shows the rest.
    """

    items: tuple[Item, ...]
    comparisons: tuple[Comparison, ...]
    texts: dict[Digest, str]
    refusals: tuple[Refusal, ...] = ()
    receipts: dict[str, Any] = Field(default_factory=dict)
    instruction: str = ""
    shortfalls: tuple[str, ...] = ()


class Call(Record):
    """One scheduled request.

    Attributes
    ----------
    call_id : Digest
        A hash of everything that defines the request: configuration, rubric, texts, slots, item and arm.
    position : int
        The place in dispatch order, from 0.
    block : int
        The temporal block; a block begins only when the one before it has ended.
    slot_a, slot_b : str
        The roles of the texts in slots A and B.
    step, context, third : str or None
        As in `Comparison`.
    text_c : Digest or None
        The text of the third candidate, where one is shown.
    """

    call_id: Digest
    position: Annotated[int, Field(ge=0)]
    block: Annotated[int, Field(ge=0)]
    configuration: str
    criterion: str
    item: str
    stratum: str
    cluster: str
    arm: ArmName
    null_stratum: NullStratum | None
    order: Order
    slot_a: str
    slot_b: str
    target: str | None
    rubric: Digest
    prompt: Digest
    text_a: Digest
    text_b: Digest
    step: Step | None = None
    context: Context | None = None
    third: str | None = None
    text_c: Digest | None = None

    @property
    def shown(self) -> tuple[str, ...]:
        """The digests of what the judge is shown: rubric, prompt, both texts, and the third where there is one."""
        return (self.rubric, self.prompt, self.text_a, self.text_b, *([self.text_c] if self.text_c else []))


class Intent(Record):
    """The durable record that a call is about to be sent.

    Attributes
    ----------
    at : str
        UTC time, for people; nothing is computed from it.
    elapsed_ms : int
        The campaign's own time, summed over its runs by a clock that cannot be set back.
    request_sha256 : Digest
        The digest of the exact bytes that are sent.
    """

    call_id: Digest
    at: str
    elapsed_ms: int
    request_sha256: Digest


class Terminal(Record):
    """The durable record of how a call ended. There is at most one, and it is never replaced.

    Attributes
    ----------
    status : str
        `answered`: a reply came, whatever it says. `refused`: the server did not accept this request,
        or a callable raised. `failed`: no usable reply came; the campaign stops.
    reason : str or None
        A code from the vocabulary of reasons; None where a reply came.
    text : str or None
        The answer's content as the server gave it; None where there was none.
    gateway : str or None
        The headers of the reply that tell by which way it came and who made it, as a JSON object.
    body : bytes
        The reply as it came, up to the declared size.
    """

    call_id: Digest
    at: str
    elapsed_ms: int
    status: Literal["answered", "refused", "failed"]
    reason: str | None = None
    detail: str | None = None
    http_status: int | None = None
    text: str | None = None
    finish: str | None = None
    served_model: str | None = None
    fingerprint: str | None = None
    gateway: str | None = None
    reasoning: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    latency_ms: float | None = None
    body: bytes = b""


class RequestRefusal(Record):
    """The durable record that a request was refused without an observation, so that the call may be sent again.

    Attributes
    ----------
    number : int
        Which refusal of this call it is, from 1.
    retry_after : str or None
        The header `Retry-After` as the server sent it.
    wait_ms : int
        How long the campaign waits from here before anything is sent again.
    """

    call_id: Digest
    number: Annotated[int, Field(ge=1)]
    at: str
    elapsed_ms: int
    reason: str
    detail: str
    http_status: int | None = None
    retry_after: str | None = None
    wait_ms: Annotated[int, Field(ge=0)]


class Retry(Record):
    """The durable record that a call is about to be sent again, after its refusal of the same number."""

    call_id: Digest
    number: Annotated[int, Field(ge=1)]
    at: str
    elapsed_ms: int


class Event(Record):
    """What happened to a campaign: `opened`, `stopped` (for good), `paused`; or a shard of it was `handed-out`."""

    at: str
    elapsed_ms: int
    kind: Literal["opened", "stopped", "paused", "handed-out"]
    detail: dict[str, Any]
