"""The stored random assignment: which sequence of treatments fell on which comparison, drawn before any call."""

from __future__ import annotations

from typing import Literal

from pydantic import ValidationError

from darkcurrent.errors import IntegrityError
from darkcurrent.records import ArmName, Context, NullStratum, Order, Record, Step
from darkcurrent.schedules.stream import STREAM

__all__ = ["ArmAssignment", "DrawnComparison", "StoredAssignment"]


class DrawnComparison(Record):
    """What one comparison of one item was given.

    Attributes
    ----------
    u, v : str
        Its roles; in order `AB`, `u` stands in slot A.
    cohort : str
        The comparisons among which the sequences were dealt out at random, how often each is used being fixed.
    sequence : int
        Index of the sequence that it was given.
    blocks : tuple of int
        The blocks of its places, in time.
    """

    item: str
    u: str
    v: str
    cohort: str
    sequence: int
    blocks: tuple[int, ...]


class ArmAssignment(Record):
    """What was drawn for the comparisons of one kind.

    Attributes
    ----------
    treatments : tuple of (criterion, order)
        What a comparison is asked under, each once.
    sequences : tuple of tuple of int
        The sequences that could be drawn: the index of the treatment on each place, in time.
    drawn : tuple of DrawnComparison
        One for each comparison.
    """

    arm: ArmName
    null_stratum: NullStratum | None
    step: Step | None
    context: Context | None
    treatments: tuple[tuple[str, Order], ...]
    sequences: tuple[tuple[int, ...], ...]
    drawn: tuple[DrawnComparison, ...]


class StoredAssignment(Record):
    """`frozen/assignment.json`.

    Attributes
    ----------
    stream : str
        Where the random numbers come from.
    items : tuple of str
        The order of the items, the same in every block, drawn apart from the treatments.
    """

    format: Literal["darkcurrent/assignment/1"] = "darkcurrent/assignment/1"
    kind: Literal["crossover", "carryover"]
    seed: int
    stream: str = STREAM
    items: tuple[str, ...]
    arms: tuple[ArmAssignment, ...]

    @classmethod
    def read(cls, data: bytes) -> StoredAssignment:
        """Return what a frozen file holds.

        Raises
        ------
        IntegrityError
            Where it holds no assignment that this version can read.
        """
        try:
            return cls.model_validate_json(data)
        except ValidationError as error:
            raise IntegrityError(
                f"frozen/assignment.json holds no assignment: {error.errors()[0]['msg']}."
            ) from error
