"""Texts that were added to an archive on purpose."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from darkcurrent.archive.layout import SOURCES, texts_file
from darkcurrent.canonical import digest_text
from darkcurrent.errors import IntegrityError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["check_texts"]

_DIGESTS: Final = {
    "items": "SELECT prompt FROM items UNION SELECT sha256 FROM candidates",
    "rubrics": "SELECT DISTINCT rubric FROM schedule",
}


def check_texts(files: Mapping[str, bytes], connection: DuckDBPyConnection) -> int:
    """Compare every text with its digest, and the digests with those of the tables; return how many there are.

    Raises
    ------
    IntegrityError
        Where a text is not that of its digest, is one of no table, or is missing.
    """
    seen = 0
    for source in SOURCES:
        name = texts_file(source)
        if name not in files:
            continue
        if source == "replies":
            rows = connection.execute(
                "SELECT call_id, text_sha256 FROM terminals WHERE text_sha256 IS NOT NULL"
            ).fetchall()
            due = dict(rows)
        else:
            due = {key: key for (key,) in connection.execute(_DIGESTS[source]).fetchall()}
        for number, (key, text) in enumerate(
            _rows(files[name], name, "call_id" if source == "replies" else "sha256"), 1
        ):
            if due.pop(key, None) != digest_text(text):
                raise IntegrityError(
                    f"{name}, line {number}: the text is not that of a digest in the tables."
                )
            seen += 1
        if due:
            raise IntegrityError(f"{name}: the text of {min(due)[:12]} is missing.")
    return seen


def _rows(data: bytes, name: str, key: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(data.splitlines(), start=1):
        try:
            row: Any = json.loads(line)
            first, text = row[key], row["text"]
            if row.keys() != {key, "text"} or not isinstance(first, str) or not isinstance(text, str):
                raise TypeError
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise IntegrityError(f"{name}, line {number} is no text with its `{key}`.") from error
        yield first, text
