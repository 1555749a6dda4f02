"""A study as tables: every column of the allow-list, and nothing else."""

from __future__ import annotations

import io
import re
from itertools import count
from typing import Any, Final

import polars as pl

from darkcurrent.archive.columns import TABLES, Column
from darkcurrent.archive.words import server_word
from darkcurrent.canonical import digest_bytes, digest_text, text_bytes
from darkcurrent.capture import journal_path
from darkcurrent.capture.reading import open_read_only, read_rows
from darkcurrent.capture.rows import Row
from darkcurrent.errors import UsageError
from darkcurrent.ledger import SCHEMA
from darkcurrent.protocol import Frozen
from darkcurrent.records import Event, Intent, Item, RequestRefusal, Retry, Terminal
from darkcurrent.study import Study

__all__ = ["Tables", "tabulate"]

_TYPES: Final[dict[str, Any]] = {
    "string": pl.String,
    "integer": pl.Int64,
    "number": pl.Float64,
    "boolean": pl.Boolean,
}
_A_PHRASE: Final = 24
"""So many characters in a row that a name shares with a text of its own item are taken for a piece of that text."""


class Tables:
    """The tables of a study.

    Attributes
    ----------
    frames : dict
        Table to its rows.
    journals : dict
        Configuration to the number of rows of its journal and the last link of its chain.
    replies : dict
        Call to the text of its reply, where one came; only if they are asked for.
    """

    def __init__(self) -> None:
        self.frames: dict[str, pl.DataFrame] = {}
        self.journals: dict[str, dict[str, Any]] = {}
        self.replies: dict[str, str] = {}

    def parquet(self, table: str) -> bytes:
        """Return a table as the bytes of its file."""
        buffer = io.BytesIO()
        self.frames[table].write_parquet(buffer, compression="zstd")
        return buffer.getvalue()


def tabulate(study: Study, *, with_replies: bool = False) -> Tables:
    """Return the tables of a frozen study; its replies are kept beside them only if they are asked for.

    Raises
    ------
    UsageError
        Where the name of an item, a stratum or a cluster cannot leave the study.
    IntegrityError
        Where a frozen file or a journal is not what was written.
    """
    frozen = study.frozen
    names = [configuration.name for configuration in frozen.protocol.configuration]
    tables = Tables()
    rows: dict[str, list[dict[str, Any]]] = {table: [] for table in TABLES}
    rows["items"], rows["candidates"] = _items(frozen)
    for name in names:
        rows["schedule"] += [call.model_dump(mode="json") for call in frozen.schedule(name)]
        _read_journal(study, name, rows, tables, with_replies)
    frames = tables.frames
    for table, columns in TABLES.items():
        if table != "terminals":
            frames[table] = pl.DataFrame(rows[table], schema=_schema(columns), orient="row")
    own = pl.DataFrame(rows["terminals"], schema=_schema(_of_the_journal()), orient="row")
    read = [name for name in TABLES["terminals"] if name not in own.columns]
    ended = own.join(study.ledger().select("call_id", *read), on="call_id", how="left", maintain_order="left")
    frames["terminals"] = ended.with_columns(
        pl.col(name).map_elements(server_word, return_dtype=pl.String)
        for name in ("finish", "served_model", "fingerprint")
    ).select(list(TABLES["terminals"]))
    for table, columns in TABLES.items():
        _check_values(table, frames[table], columns)
    return tables


def _of_the_journal() -> dict[str, Column]:
    """Return the columns of a terminal that the ledger has not."""
    return {
        name: column
        for name, column in TABLES["terminals"].items()
        if name not in SCHEMA or name in ("call_id", "configuration", "elapsed_ms")
    }


def _schema(columns: dict[str, Column]) -> dict[str, Any]:
    return {name: _TYPES[column.kind] for name, column in columns.items()}


def _items(frozen: Frozen) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    items, candidates = [], []
    for number, item in enumerate(frozen.items):
        _check_names(item, frozen)
        prompt = _lengths(frozen.texts[item.prompt])
        items.append(
            {
                **{key: getattr(item, key) for key in ("id", "stratum", "cluster", "prompt")},
                "number": number,
                "prompt_characters": prompt["characters"],
                "prompt_bytes": prompt["bytes"],
                "flags": " ".join(item.flags),
                "nested": " ".join(item.facts.get("nested", [])),
            }
        )
        for role, sha256 in item.texts.items():
            candidates.append(
                {"item": item.id, "role": role, "sha256": sha256, **_lengths(frozen.texts[sha256])}
            )
    return items, candidates


def _lengths(text: str) -> dict[str, int]:
    return {"characters": len(text), "bytes": len(text_bytes(text))}


def _check_names(item: Item, frozen: Frozen) -> None:
    texts = [frozen.texts[key] for key in (item.prompt, *item.texts.values())]
    for name in (item.id, item.stratum, item.cluster):
        pieces = [name[start : start + _A_PHRASE] for start in range(len(name) - _A_PHRASE + 1)]
        if any(piece in text for text in texts for piece in pieces):
            raise UsageError(
                f"The item {ascii(item.id)[:60]} is named by a piece of its own text ({ascii(name)[:60]}), and an archive holds "
                "no texts: give items short names of their own in a new study."
            )


def _read_journal(
    study: Study, name: str, rows: dict[str, list[dict[str, Any]]], tables: Tables, with_replies: bool
) -> None:
    path = journal_path(study.folder, name)
    if not path.exists():
        return
    intents: dict[str, dict[str, Any]] = {}
    numbers = count(1)
    machines: list[str] = []

    def visit(row: Row) -> None:
        facts = {"configuration": name, "seq": next(numbers), "at": row.at, "elapsed_ms": row.elapsed_ms}
        if isinstance(row, Intent):
            intents[row.call_id] = {
                "call_id": row.call_id,
                **facts,
                "request_sha256": row.request_sha256,
                "refusals": 0,
                "retries": 0,
            }
        elif isinstance(row, RequestRefusal):
            intents[row.call_id]["refusals"] = row.number
        elif isinstance(row, Retry):
            intents[row.call_id]["retries"] = row.number
        elif isinstance(row, Terminal):
            if with_replies and row.text is not None:
                tables.replies[row.call_id] = row.text
            rows["terminals"].append(
                {
                    "call_id": row.call_id,
                    **facts,
                    "http_status": row.http_status,
                    "response_sha256": digest_bytes(row.body),
                    "text_sha256": None if row.text is None else digest_text(row.text),
                }
            )
        elif isinstance(row, Event):
            rows["events"].append(
                {
                    **facts,
                    "kind": row.kind,
                    "state": row.detail.get("state"),
                    "basis": row.detail.get("basis"),
                    **{key: server_word(row.detail.get(key)) for key in ("darkcurrent", "python")},
                    "machine": _number_of(row.detail.get("host"), machines),
                }
            )

    with open_read_only(path) as connection:
        _, length, chain = read_rows(connection, path, visit)
    rows["intents"] += intents.values()
    tables.journals[name] = {"rows": length, "chain": chain}


def _number_of(host: str | None, machines: list[str]) -> int | None:
    """Return the number of a machine, whose name does not leave."""
    if host is None:
        return None
    if host not in machines:
        machines.append(host)
    return machines.index(host) + 1


def _check_values(table: str, frame: pl.DataFrame, columns: dict[str, Column]) -> None:
    """Make sure that every value is one that may leave."""
    for name, column in columns.items():
        if column.kind != "string":
            continue
        for value in frame[name].unique():
            if value is None:
                fits = column.nullable
            elif column.values:
                fits = value in column.values
            else:
                assert column.pattern is not None
                fits = len(value) <= column.longest and re.fullmatch(column.pattern, value) is not None
            if not fits:
                raise UsageError(
                    f"{ascii(value)[:80]} cannot stand in the column `{name}` of the archive's table `{table}`: {_why(column)}. "
                    "Such a study stays where it is; give the next one other names."
                )


def _why(column: Column) -> str:
    if column.values:
        return f"it has the values {', '.join(column.values)}"
    return f"a value has at most {column.longest} characters and matches {column.pattern}"
