"""Rows of JSONL, JSON, CSV, TSV and Parquet files, exactly as they stand there."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from darkcurrent.errors import BatteryError

__all__ = ["read_rows", "shown"]

Row = tuple[str, dict[str, Any]]
"""Where a row stands (for errors) and its columns."""


def read_rows(
    path: Path, check: str = "`battery.path`, which is relative to the study's folder"
) -> Iterator[Row]:
    """Yield the rows of a file; the ending of its name says what it is.

    A byte-order mark at the head of the file is dropped; one inside a text stays. Lines end with LF or CRLF.
    `check` is what a person should look at where there is no such file.

    Raises
    ------
    BatteryError
        Where the file is missing or a row cannot be read; names the line.
    """
    readers = {
        ".jsonl": _jsonl,
        ".ndjson": _jsonl,
        ".json": _json,
        ".csv": _csv,
        ".tsv": _tsv,
        ".parquet": _parquet,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise BatteryError(
            f"{path} ends with `{path.suffix}`: give a file that ends with one of {', '.join(readers)}."
        )
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name holds a zero byte"
        raise BatteryError(f"The file {path} cannot be read ({reason}): check {check}.") from error
    return reader(path, data)


def shown(value: Any) -> str:
    """Return a value of a row as an error shows it: what kind it is where it may be long."""
    if isinstance(value, list | dict):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    return json.dumps(value, default=str)[:60]


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BatteryError(f"{path}:{line} is not UTF-8: save the file as UTF-8.") from error


def _loads(text: str, where: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for key, value in pairs:
            if key in row:
                raise BatteryError(f"{where} has the key `{key}` twice: keep one.")
            row[key] = value
        return row

    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} " * (error.lineno > 1) + f"column {error.colno}"
        raise BatteryError(f"{where} is not valid JSON ({error.msg}, {place}): correct it.") from error
    except RecursionError as error:
        raise BatteryError(f"{where} is nested too deeply: flatten it.") from error
    except ValueError as error:  # Python reads no whole number of more than 4,300 digits
        raise BatteryError(f"{where} holds a number that is too long: write it as a text.") from error


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BatteryError(f"{where} is {shown(value)}, not an object: write one JSON object per row.")
    return value


def _jsonl(path: Path, data: bytes) -> Iterator[Row]:
    # Split at LF alone: str.splitlines would also split at U+2028 and others inside a text.
    for number, line in enumerate(_text(path, data).split("\n"), start=1):
        if line.strip():
            where = f"{path}:{number}"
            yield where, _object(_loads(line, where), where)


def _json(path: Path, data: bytes) -> Iterator[Row]:
    rows = _loads(_text(path, data), str(path))
    if not isinstance(rows, list):
        raise BatteryError(
            f"{path} is no list of rows: write a JSON list of objects, or JSON lines in a .jsonl file."
        )
    for number, row in enumerate(rows):
        where = f"{path}[{number}]"
        yield where, _object(row, where)


def _csv(path: Path, data: bytes, delimiter: str = ",") -> Iterator[Row]:
    text = _text(path, data)
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next(reader, None)
        if header is None:
            return
        if len(set(header)) < len(header):
            raise BatteryError(f"{path}:1 names a column twice: give each column its own name.")
        start = reader.line_num + 1
        for fields in reader:
            where, start = f"{path}:{start}", reader.line_num + 1
            if not fields:  # a blank line
                continue
            if len(fields) != len(header):
                raise BatteryError(
                    f"{where} has {len(fields)} fields and the header {len(header)}: check the quotes."
                )
            yield where, dict(zip(header, fields, strict=True))
    except csv.Error as error:
        raise BatteryError(f"{path}:{reader.line_num} is not valid CSV: {error}.") from error


def _tsv(path: Path, data: bytes) -> Iterator[Row]:
    return _csv(path, data, "\t")


def _parquet(path: Path, data: bytes) -> Iterator[Row]:
    try:
        frame = pl.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise BatteryError(
            f"{path} is not a readable Parquet file ({str(error).partition(chr(10))[0]}): write it again."
        ) from error
    for number, row in enumerate(frame.iter_rows(named=True)):
        yield f"{path} row {number}", row
