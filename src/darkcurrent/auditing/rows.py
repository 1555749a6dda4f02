"""Rows as a person has them in memory: dicts, or a table of polars or pandas."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from darkcurrent.batteries.rows import read_rows
from darkcurrent.errors import BatteryError

__all__ = ["as_rows", "in_a_call", "is_rows", "plain", "write_rows"]


def in_a_call(argument: str) -> str:
    """Return what to look at where the file that an argument names cannot be read."""
    return f"`{argument}`, which is relative to the current folder"


def is_rows(value: Any) -> bool:
    """Say whether a value is a path, a table, or a list of rows."""
    return isinstance(value, str | Path | list | tuple) or hasattr(value, "to_dicts") or _is_pandas(value)


def _is_pandas(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "to_dict")


def as_rows(value: Any, what: str) -> list[dict[str, Any]]:
    """Return rows as dicts.

    Parameters
    ----------
    value : path, list of dict, or DataFrame
        What a person gave.
    what : str
        What it is called in errors.

    Raises
    ------
    BatteryError
        Where it is nothing of this kind, or a file cannot be read.
    """
    if isinstance(value, str | Path):
        return [row for _, row in read_rows(Path(value), in_a_call(what))]
    if hasattr(value, "to_dicts"):
        rows: Iterable[Any] = value.to_dicts()
    elif _is_pandas(value):
        rows = value.to_dict("records")
    elif isinstance(value, list | tuple):
        rows = value
    else:
        raise BatteryError(
            f"`{what}` is a {type(value).__name__}: give a list of dicts, a DataFrame of polars or pandas, or a path."
        )
    found = []
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise BatteryError(f"{what}[{number}] is a {type(row).__name__}: give one dict per row.")
        found.append(dict(row))
    return found


def write_rows(rows: Iterable[Mapping[str, Any]], columns: set[str], path: Path, what: str) -> None:
    """Write those columns of rows that matter as JSON lines.

    Raises
    ------
    BatteryError
        Where a value is nothing that JSON knows.
    """
    lines = []
    for number, row in enumerate(rows):
        kept = {name: plain(value) for name, value in row.items() if name in columns}
        try:
            lines.append(json.dumps(kept, allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise BatteryError(f"{what}[{number}] holds what is no text: {error}.") from error
    path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")


def plain(value: Any) -> Any:
    """Return a value without the types of numpy; a missing one of pandas is null."""
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, str):
        return str.__str__(value)
    # NaN, NaT and NA are missing values there, and the only things that do not equal themselves.
    if isinstance(value, bool | int) or value is None:
        return value
    try:
        missing = not bool(value == value)
    except TypeError:  # pandas.NA has no truth
        missing = True
    return None if missing else value
