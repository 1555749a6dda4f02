"""`table`: verdicts in any JSONL, JSON, CSV, TSV or Parquet file, as a mapping file declares them.

Coding: as declared. `[labels]` says which values of the label column mean slot A and B, or the first and the second
text (mapped back), a tie, or no verdict; a value that it does not explain is an error. `[gold]` does the same for
the column that says which text is better. `[order]` says where the order stands: in a column, in the file's name,
or in columns of its own for each order. `docs/importers.md` shows a mapping of each kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from darkcurrent.batteries.rows import shown
from darkcurrent.errors import BatteryError, UsageError
from darkcurrent.importers.mapping import (
    Codes,
    Columns,
    Mapping,
    OrderByFile,
    Side,
    code_of,
    load_mapping,
)
from darkcurrent.importers.observation import (
    Format,
    Intake,
    Label,
    Observation,
    Place,
    Source,
    name_of,
    rows_of,
    slot_of,
    text_of,
    value_of,
)
from darkcurrent.verdicts.verdict import Choice

__all__ = ["TABLE", "TableRow", "observe"]

Order = Literal["AB", "BA"]


class TableRow(NamedTuple):
    """A row of a file, or what another importer makes one of.

    Attributes
    ----------
    failure : str or None
        The reason of a call that gave no reply, where the importer knows it.
    """

    file: str
    where: str
    row: dict[str, Any]
    failure: str | None = None


def observe(rows: Iterable[TableRow], mapping: Mapping) -> Iterator[Observation]:
    """Yield the calls that rows hold, as a mapping declares them.

    Raises
    ------
    BatteryError
        Where a row has not got what the mapping declares, or a value that it does not explain; names file and row.
    """
    for row in rows:
        for order, side in _sides(row, mapping):
            yield _observation(row, order, side, mapping)


def _sides(row: TableRow, mapping: Mapping) -> list[tuple[Order, Columns | Side]]:
    order = mapping.order
    if order.by == "columns":
        return [("AB", order.AB), ("BA", order.BA)]
    if isinstance(order, OrderByFile):
        found = [name for name, patterns in _pair(order) if any(fnmatch(row.file, one) for one in patterns)]
        if len(found) != 1:
            raise BatteryError(
                f"{row.file} stands under {'both' if found else 'neither'} of `order.AB` and `order.BA`: name it once."
            )
        return [(found[0], mapping.columns)]
    code = code_of(value_of(row.row, order.column, row.where))
    for name, codes in _pair(order):
        if code in map(code_of, codes):
            return [(name, mapping.columns)]
    raise BatteryError(
        f"{row.where}: `{order.column}` is {shown(row.row[order.column])}, and neither `order.AB` nor `order.BA` has it."
    )


def _pair(order: Any) -> tuple[tuple[Order, Any], tuple[Order, Any]]:
    return ("AB", order.AB), ("BA", order.BA)


def _observation(entry: TableRow, order: Order, side: Columns | Side, mapping: Mapping) -> Observation:
    _, where, row, failure = entry
    columns = mapping.columns

    def named(column: str | None, default: str) -> str:
        return default if column is None else name_of(row, column, where)

    if side.error is not None and value_of(row, side.error, where) not in (None, "", False):
        failure = failure or "transport"
    keys = (columns.item,) if isinstance(columns.item, str) else columns.item
    item = "/".join(name_of(row, key, where) for key in keys)
    texts = _texts(row, columns, order, where)
    kept = side.reply is not None and failure is None
    return Observation(
        where=where,
        judge=named(columns.judge, mapping.judge),
        criterion=named(columns.criterion, mapping.criterion),
        item=item,
        stratum=named(columns.stratum, "all"),
        cluster=named(columns.cluster, item),
        order=order,
        repetition=_whole(row, columns.repetition, where),
        gold=_gold(row, mapping, order, where),
        texts=texts,
        prompt=None if columns.prompt is None else text_of(row, columns.prompt, where),
        kept=kept,
        reply=_optional(row, side.reply, where) if kept else None,
        finish=_optional(row, side.finish, where) if kept else None,
        reasoning=columns.reasoning is not None and bool(row.get(columns.reasoning)),
        served_model=_optional(row, columns.served_model, where),
        failure=failure,
        label=None if failure else _label(row, side.label, mapping.labels, order, where),
    )


def _label(
    row: dict[str, Any], column: str | None, codes: Codes | None, order: Order, where: str
) -> Label | None:
    if column is None or codes is None:
        return None
    value = value_of(row, column, where)
    meaning = _meaning(value, column, codes, "labels", where)
    if meaning == "invalid":
        return Label(None, code_of(value))
    if meaning in ("first", "second"):
        return Label(slot_of(cast(Place, meaning), order), code_of(value))
    return Label(cast(Choice, meaning), code_of(value))


def _gold(row: dict[str, Any], mapping: Mapping, order: Order, where: str) -> Place | None:
    gold = mapping.gold
    if gold is None:
        return None
    meaning = _meaning(value_of(row, gold.column, where), gold.column, gold, "gold", where)
    if meaning == "invalid":
        return None
    if meaning in ("A", "B"):
        return "first" if meaning == order[0] else "second"
    return cast(Place, meaning)


def _meaning(value: Any, column: str, codes: Codes, table: str, where: str) -> str:
    meaning = codes.meanings.get(code_of(value))
    if meaning is None:
        known = ", ".join(f"`{code}`" for code in codes.meanings)
        raise BatteryError(
            f"{where}: `{column}` is {shown(value)}, and `[{table}]` explains only {known}: add the value there."
        )
    return meaning


def _texts(row: dict[str, Any], columns: Columns, order: Order, where: str) -> tuple[str, str] | None:
    if columns.first is not None and columns.second is not None:
        return text_of(row, columns.first, where), text_of(row, columns.second, where)
    if columns.slot_a is not None and columns.slot_b is not None:
        slots = text_of(row, columns.slot_a, where), text_of(row, columns.slot_b, where)
        return slots if order == "AB" else slots[::-1]
    return None


def _optional(row: dict[str, Any], column: str | None, where: str) -> str | None:
    if column is None or value_of(row, column, where) is None:
        return None
    return text_of(row, column, where)


def _whole(row: dict[str, Any], column: str | None, where: str) -> int:
    if column is None:
        return 1
    value = value_of(row, column, where)
    try:
        if isinstance(value, str | int) and not isinstance(value, bool) and abs(int(value)) < 2**53:
            return int(value)
    except ValueError:
        pass
    raise BatteryError(f"{where}: `{column}` is {shown(value)}: a repetition is a whole number.")


def _read(sources: list[Source], mapping: Path | None) -> Intake:
    if mapping is None:
        raise UsageError("The format table needs --mapping FILE, which says which column is which.")
    declared = load_mapping(mapping)
    rows = (TableRow(source.name, where, row) for source, where, row in rows_of(sources))
    return Intake(list(observe(rows, declared)))


TABLE = Format(
    name="table",
    read=_read,
    coding="as the mapping file declares",
    pattern="*.*",
    mapping="a TOML file that declares columns, order and labels",
)
