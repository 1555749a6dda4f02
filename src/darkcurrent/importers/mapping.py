"""What a person declares of a file of verdicts: which column is which, and what its labels mean."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from darkcurrent.errors import ProtocolError
from darkcurrent.records import Record

__all__ = ["Codes", "Columns", "Mapping", "OrderByFile", "Side", "code_of", "load_mapping"]

Code = str | bool | int | float
Words = tuple[Code, ...]
Column = Annotated[str, Field(min_length=1)]


def code_of(value: Any) -> str:
    """Return a value as it is compared with a declared code: 1, 1.0 and "1" are the same, null is "null".

    Examples
    --------
    >>> code_of(1.0), code_of("1"), code_of(True), code_of(None), code_of(1.5)
    ('1', '1', 'true', 'null', '1.5')
    """
    if isinstance(value, str):
        return value
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value, default=str)


class Columns(Record):
    """`[columns]`: which column of a row is which; what is not declared is not there.

    Attributes
    ----------
    item : str or tuple of str
        Several columns together may name an item.
    first, second : str
        The texts by content: `first` stands in slot A in order AB.
    slot_a, slot_b : str
        The texts by slot, for files in which they change places with the order.
    error : str
        A call with a value here failed, and has no verdict whatever else the row says.
    reasoning : str
        A call with a value here sent reasoning apart from its reply.
    """

    item: Column | Annotated[tuple[Column, ...], Field(min_length=1)]
    judge: Column | None = None
    criterion: Column | None = None
    stratum: Column | None = None
    cluster: Column | None = None
    repetition: Column | None = None
    prompt: Column | None = None
    first: Column | None = None
    second: Column | None = None
    slot_a: Column | None = None
    slot_b: Column | None = None
    reply: Column | None = None
    finish: Column | None = None
    label: Column | None = None
    error: Column | None = None
    reasoning: Column | None = None
    served_model: Column | None = None

    @model_validator(mode="after")
    def _texts_are_two(self) -> Columns:
        for one, other in (("first", "second"), ("slot_a", "slot_b")):
            if (getattr(self, one) is None) != (getattr(self, other) is None):
                raise ValueError(f"`{one}` and `{other}` go together: give both or none")
        if self.first is not None and self.slot_a is not None:
            raise ValueError("give the texts by content (`first`, `second`) or by slot, not both")
        return self


class OrderByColumn(Record):
    """`[order]` with `by = "column"`: one row per call, and a column says in which order it was."""

    by: Literal["column"]
    column: Column
    AB: Annotated[Words, Field(min_length=1)]
    BA: Words = ()

    @model_validator(mode="after")
    def _one_order_each(self) -> OrderByColumn:
        if {code_of(word) for word in self.AB} & {code_of(word) for word in self.BA}:
            raise ValueError("a value stands under `AB` and under `BA`: a value means one order")
        return self


class OrderByFile(Record):
    """`[order]` with `by = "file"`: one row per call, and each file holds one order; names may hold `*`."""

    by: Literal["file"]
    AB: tuple[str, ...] = ()
    BA: tuple[str, ...] = ()


class Side(Record):
    """The columns of one order, where a row holds both."""

    reply: Column | None = None
    finish: Column | None = None
    label: Column | None = None
    error: Column | None = None


class OrderByColumns(Record):
    """`[order]` with `by = "columns"`: one row per pair, with columns for each order."""

    by: Literal["columns"]
    AB: Side
    BA: Side


class Codes(Record):
    """`[labels]` and `[gold]`: what the values of a column mean.

    `A` and `B` are slots: the value says where the winner stood. `first` and `second` are mapped back: the value says
    which text won, in either order. Exactly one of the two ways is declared.

    Attributes
    ----------
    tie : tuple
        Values that mean a tie.
    invalid : tuple
        Values that mean that there is no verdict; write null as "null".
    """

    A: Words = ()
    B: Words = ()
    first: Words = ()
    second: Words = ()
    tie: Words = ()
    invalid: Words = ()

    @model_validator(mode="after")
    def _one_way(self) -> Codes:
        given = {name for name in ("A", "B", "first", "second") if getattr(self, name)}
        if given not in ({"A", "B"}, {"first", "second"}):
            raise ValueError("give `A` and `B` (slots), or `first` and `second` (mapped back), and not both")
        if len(self.meanings) < sum(len(words) for words in self._words.values()):
            raise ValueError("a value stands twice: a value has one meaning")
        return self

    @property
    def _words(self) -> dict[str, Words]:
        return {name: getattr(self, name) for name in ("A", "B", "first", "second", "tie", "invalid")}

    @property
    def meanings(self) -> dict[str, str]:
        """Value (as `code_of` gives it) to the name of its key."""
        return {code_of(word): name for name, words in self._words.items() for word in words}


class Gold(Codes):
    """`[gold]`: the column that says which text is the better one, and what its values mean."""

    column: Column


class Mapping(Record):
    """A mapping file.

    Attributes
    ----------
    judge, criterion : str
        Who was asked and with which prompt, where no column says it.
    """

    judge: Column = "recorded"
    criterion: Column = "recorded"
    columns: Columns
    order: Annotated[OrderByColumn | OrderByFile | OrderByColumns, Field(discriminator="by")]
    labels: Codes | None = None
    gold: Gold | None = None

    @model_validator(mode="after")
    def _something_is_recorded(self) -> Mapping:
        sides: tuple[Columns | Side, ...] = (
            (self.order.AB, self.order.BA) if isinstance(self.order, OrderByColumns) else (self.columns,)
        )
        if any(side.reply is None and side.label is None for side in sides):
            raise ValueError("each order needs a column `reply`, `label` or both")
        if any(side.label is not None for side in sides) and self.labels is None:
            raise ValueError("a column `label` needs a table `[labels]` that says what its values mean")
        return self


def load_mapping(path: Path, defaults: dict[str, Any] | None = None) -> Mapping:
    """Read a mapping file.

    Parameters
    ----------
    path : Path
        A TOML file.
    defaults : dict, optional
        Columns that need not be declared.

    Raises
    ------
    ProtocolError
        Where it cannot be read, or a key is unknown, missing, or has a wrong value.
    """
    try:
        data = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ProtocolError(
            f"The mapping {path} cannot be read ({error.strerror}): check its name."
        ) from error
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML
        raise ProtocolError(f"The mapping {path} is not valid TOML: {error}.") from error
    if defaults and isinstance(data.setdefault("columns", {}), dict):
        data["columns"] = {**defaults, **data["columns"]}
    try:
        return Mapping.model_validate_json(json.dumps(data, default=str))
    except ValidationError as error:
        found = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        place = ".".join(str(part) for part in found["loc"] if part not in ("column", "file"))
        message = found["msg"].removeprefix("Value error, ")
        problem = (
            "is not a known key" if found["type"] == "extra_forbidden" else message[0].lower() + message[1:]
        )
        raise ProtocolError(f"{path}: {f'`{place}`: ' if place else ''}{problem}.") from error
