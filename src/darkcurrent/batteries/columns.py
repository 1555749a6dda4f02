"""What a row of a file has in its columns, or one sentence that says what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from darkcurrent.batteries.rows import shown
from darkcurrent.errors import BatteryError

__all__ = ["answer_in", "name_in", "name_or", "value_in"]


def value_in(row: Mapping[str, Any], column: str, where: str, key: str, otherwise: str = "") -> Any:
    """Return what a row has in a column; `key` is the protocol's word for it, `otherwise` what else would help."""
    if column not in row:
        known = ", ".join(f"`{name}`" for name in row)
        raise BatteryError(
            f"{where} has no column `{column}` (its columns are {known}): "
            f"name the right one as `{key}` in `[battery.columns]`{otherwise}."
        )
    return row[column]


def name_in(row: dict[str, Any], column: str, where: str, key: str, otherwise: str = "") -> str:
    """Return a name: a text of valid Unicode or a whole number."""
    value = value_in(row, column, where, key, otherwise)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise BatteryError(f"{where}: `{column}` is {shown(value)}: give a text or a whole number.")
    if isinstance(value, str) and not _is_unicode(value):
        raise BatteryError(
            f"{where}: `{column}` is {shown(value)}, which holds a lone surrogate: names need valid Unicode (texts do not)."
        )
    return str(value)


def name_or(row: dict[str, Any], column: str | None, where: str, key: str, default: str) -> str:
    """Return the name in a column; where the protocol maps none, that in the column `key` or else a default."""
    if column is None and row.get(key) in (None, ""):
        return default
    return name_in(row, column or key, where, key)


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def answer_in(row: dict[str, Any], column: str, where: str, key: str) -> str:
    """Return a text to be shown; the first one where the column holds a list."""
    value = value_in(row, column, where, key)
    if isinstance(value, list):
        if not value:
            raise BatteryError(f"{where}: `{column}` is an empty list: give at least one text.")
        value = value[0]
    if not isinstance(value, str):
        raise BatteryError(f"{where}: `{column}` is {shown(value)}, not a text: correct the row.")
    return value
