"""What an importer hands over: one recorded call, and how it came to be coded so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from darkcurrent.batteries.rows import read_rows, shown
from darkcurrent.errors import BatteryError
from darkcurrent.verdicts.verdict import Choice

__all__ = [
    "Format",
    "Intake",
    "Label",
    "Observation",
    "Place",
    "Source",
    "name_of",
    "rows_of",
    "slot_of",
    "text_of",
    "value_of",
]

Place = Literal["first", "second", "tie"]
"""A winner by content: the text that stands in slot A in order AB, the other one, or neither."""


class Label(NamedTuple):
    """A verdict as somebody recorded it.

    Attributes
    ----------
    value : {"A", "B", "tie"} or None
        The slot that it means; None where the record says that there is no verdict.
    written : str
        How it stands in the file.
    """

    value: Choice | None
    written: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One recorded call.

    Attributes
    ----------
    where : str
        File and row.
    judge, criterion : str
        The cell: who was asked, and with which prompt.
    item, stratum, cluster : str
        As in a battery; `cluster` defaults to the item.
    order : str
        `AB` where `first` stands in slot A.
    repetition : int
        The same request, asked again; from 1.
    first, second : str
        What the two texts are called.
    gold : Place or None
        Which text is the better one by the source's own label.
    texts : tuple of str, optional
        The texts `first` and `second`, where the source has them.
    identical : bool
        Whether both texts are the same bytes.
    prompt : str or None
        What the judge was asked, where the source has it.
    kept : bool
        Whether the source has the judge's reply; `reply` may still be None, where the reply had no content.
    failure : str or None
        The reason of a call that gave no reply at all.
    label : Label or None
        The recorded verdict; None where the source records none.
    """

    where: str
    judge: str
    criterion: str = "recorded"
    item: str
    stratum: str = "all"
    cluster: str | None = None
    order: Literal["AB", "BA"]
    repetition: int = 1
    first: str = "first"
    second: str = "second"
    gold: Place | None = None
    texts: tuple[str, str] | None = None
    identical: bool = False
    prompt: str | None = None
    kept: bool = True
    reply: str | None = None
    finish: str | None = None
    reasoning: bool = False
    served_model: str | None = None
    failure: str | None = None
    label: Label | None = None


class Source(NamedTuple):
    """A file to import: where it is, and what it is called in everything that is written."""

    path: Path
    name: str


@dataclass
class Intake:
    """What an importer found.

    Attributes
    ----------
    observations : list of Observation
        In the order of the files.
    notes : list of str
        What a reader of the study should know of the files.
    """

    observations: list[Observation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Format:
    """A way in which verdicts are recorded.

    Attributes
    ----------
    read : callable
        From sources and the mapping's path (None where none was given) to an `Intake`.
    coding : str
        What the labels of this format mean.
    pattern : str
        The names of its files, for a folder that is given whole.
    contract : str or None
        The contract of the judges' own format, where the format has one.
    mapping : str or None
        What the mapping file holds, where one is needed.
    """

    name: str
    read: Callable[[list[Source], Path | None], Intake]
    coding: str
    pattern: str
    contract: str | None = None
    mapping: str | None = None


def rows_of(sources: Iterable[Source]) -> Iterator[tuple[Source, str, dict[str, Any]]]:
    """Yield the rows of files with the source and where they stand, as it is written."""
    for source in sources:
        for where, row in read_rows(source.path):
            yield source, source.name + where.removeprefix(str(source.path)), row


def value_of(row: dict[str, Any], key: str, where: str) -> Any:
    """Return a value of a row.

    Raises
    ------
    BatteryError
        Where the row has no such key.
    """
    if key not in row:
        raise BatteryError(
            f"{where} has no `{key}` (it has {', '.join(f'`{name}`' for name in row)}): is this the right format?"
        )
    return row[key]


def text_of(row: dict[str, Any], key: str, where: str) -> str:
    """Return a text of a row.

    Raises
    ------
    BatteryError
        Where there is none.
    """
    value = value_of(row, key, where)
    if not isinstance(value, str):
        raise BatteryError(f"{where}: `{key}` is {shown(value)}, not a text: correct the row.")
    return value


def name_of(row: dict[str, Any], key: str, where: str) -> str:
    """Return a name or a whole number of a row as a name.

    Raises
    ------
    BatteryError
        Where there is none.
    """
    value = value_of(row, key, where)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise BatteryError(f"{where}: `{key}` is {shown(value)}: give a text or a whole number.")
    return str(value)


def slot_of(winner: Place, order: Literal["AB", "BA"]) -> Choice:
    """Return the slot in which a winner by content stood.

    Examples
    --------
    >>> slot_of("first", "AB"), slot_of("first", "BA"), slot_of("tie", "BA")
    ('A', 'B', 'tie')
    """
    if winner == "tie":
        return "tie"
    return cast(Choice, order[0] if winner == "first" else order[1])
