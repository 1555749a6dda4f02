"""Rows of JSONL, JSON, CSV and Parquet files, exactly as they stand there."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from darkcurrent.errors import BatteryError

__all__ = ["read_rows"]

Row = tuple[str, dict[str, Any]]
"""Where a row stands (for errors) and its columns."""


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file; the ending of its name says what it is.

    A byte-order mark at the head of the file is dropped; one inside a text stays. Lines end with LF or CRLF.

    Raises
    ------
    BatteryError
        Where the file is missing or a row cannot be read; names the line.
    """
    readers = {".jsonl": _jsonl, ".ndjson": _jsonl, ".json": _json, ".csv": _csv, ".parquet": _parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise BatteryError(
            f"{path} ends with `{path.suffix}`: give a file that ends with one of {', '.join(readers)}."
        )
    if not path.is_file():
        raise BatteryError(
            f"There is no file {path}: check the path, which is relative to the study's folder."
        )
    return reader(path)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BatteryError(f"{path}:{line} is not UTF-8: save the file as UTF-8.") from error


def _loads(text: str, where: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        doubled = next((key for key in keys if keys.count(key) > 1), None)
        if doubled is not None:
            raise BatteryError(f"{where} has the key `{doubled}` twice: keep one.")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise BatteryError(f"{where} is not valid JSON ({error.msg}, column {error.colno}).") from error
    except RecursionError as error:
        raise BatteryError(f"{where} is nested too deeply.") from error


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BatteryError(
            f"{where} is {json.dumps(value)[:40]}, not an object: write one JSON object per row."
        )
    return value


def _jsonl(path: Path) -> Iterator[Row]:
    # Split at LF alone: str.splitlines would also split at U+2028 and others inside a text.
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if line.strip():
            where = f"{path}:{number}"
            yield where, _object(_loads(line, where), where)


def _json(path: Path) -> Iterator[Row]:
    rows = _loads(_text(path), str(path))
    if not isinstance(rows, list):
        raise BatteryError(
            f"{path} is no list of rows: write a JSON list of objects, or JSON lines in a .jsonl file."
        )
    for number, row in enumerate(rows):
        where = f"{path}[{number}]"
        yield where, _object(row, where)


def _csv(path: Path) -> Iterator[Row]:
    text = _text(path)
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, None)
        if header is None:
            return
        if len(set(header)) < len(header):
            raise BatteryError(f"{path}:1 names a column twice: give each column its own name.")
        for fields in reader:
            where = f"{path}:{reader.line_num}"
            if len(fields) != len(header):
                raise BatteryError(
                    f"{where} has {len(fields)} fields and the header {len(header)}: check the quotes."
                )
            yield where, dict(zip(header, fields, strict=True))
    except csv.Error as error:
        raise BatteryError(f"{path}:{reader.line_num} is not valid CSV: {error}.") from error


def _parquet(path: Path) -> Iterator[Row]:
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BatteryError(f"{path} is not a readable Parquet file: {str(error).splitlines()[0]}.") from error
    for number, row in enumerate(frame.iter_rows(named=True)):
        yield f"{path} row {number}", row
