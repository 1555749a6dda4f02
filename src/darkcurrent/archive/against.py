"""An archive against the study that it was made of: texts and replies are at hand again."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from darkcurrent.archive.columns import TABLES
from darkcurrent.archive.layout import ARCHIVE, MANIFEST, PUBLIC, table_file
from darkcurrent.archive.result import first_difference
from darkcurrent.archive.tabulate import tabulate
from darkcurrent.canonical import digest_bytes
from darkcurrent.capture import journal_path
from darkcurrent.errors import IntegrityError
from darkcurrent.judges import request_writer
from darkcurrent.protocol.public import public_view
from darkcurrent.records import Call
from darkcurrent.study import Study

__all__ = ["check_against"]


def check_against(files: Mapping[str, bytes], study: Study) -> dict[str, int]:
    """Compare a verified archive with its study: every request is built again, every reply is read again.

    Parameters
    ----------
    files : mapping
        The archive's files.
    study : Study
        The folder that it was made of.

    Returns
    -------
    dict
        What was checked, and how much of it there was.

    Raises
    ------
    IntegrityError
        Where the study is another one, or a request, a reply or a verdict differs; it names the place.
    """
    frozen = study.frozen
    if (frozen.folder / "manifest.json").read_bytes() != files[MANIFEST]:
        raise IntegrityError(f"{MANIFEST} is not that of {study.folder}: the archive is of another study.")
    view = public_view(frozen.protocol, frozen.configurations, frozen.items, len(frozen.refusals))
    where = first_difference(json.loads(files[PUBLIC]), json.loads(json.dumps(view)))
    if where is not None:
        raise IntegrityError(f"{PUBLIC} is not what the frozen protocol declares: {where}.")
    tables = tabulate(study)  # reads every reply again under the declared contract, and under every other one
    journals = json.loads(files[ARCHIVE])["journals"]
    for name, due in tables.journals.items():
        if journals.get(name) != due:
            raise IntegrityError(
                f"{ARCHIVE}: the journal of `{name}` is not {journal_path(study.folder, name)}."
            )
    for table in TABLES:
        _compare(table, pl.read_parquet(io.BytesIO(files[table_file(table)])), tables.frames[table])
    return {
        "requests built again": _check_requests(study, tables.frames["intents"]),
        "replies read again": int(tables.frames["terminals"]["kept"].sum()),
    }


def _compare(table: str, found: pl.DataFrame, due: pl.DataFrame) -> None:
    if found.equals(due):
        return
    if found.height != due.height:
        raise IntegrityError(
            f"{table_file(table)} has {found.height} rows, and the study gives {due.height}."
        )
    for name in due.columns:
        differs = found[name].ne_missing(due[name])
        if differs.any():
            row = int(differs.arg_max() or 0)
            raise IntegrityError(
                f"{table_file(table)}, row {row + 1}, column `{name}`: {_short(found[name][row])} is there, and the study gives "
                f"{_short(due[name][row])}."
            )


def _short(value: Any) -> str:
    return ascii(value)[:80]


def _check_requests(study: Study, intents: pl.DataFrame) -> int:
    frozen, built = study.frozen, 0
    sent = dict(intents.select("call_id", "request_sha256").iter_rows())
    for configuration in frozen.protocol.configuration:
        build = request_writer(configuration, study.folder).request_bytes
        calls: tuple[Call, ...] = frozen.schedule(configuration.name)
        for call in calls:
            if call.call_id not in sent:
                continue
            request = build(*(frozen.texts[key] for key in call.shown))
            if digest_bytes(request) != sent[call.call_id]:
                raise IntegrityError(
                    f"{table_file('intents')}: the request of the call {call.call_id[:12]} of `{configuration.name}` was "
                    "not built of the frozen texts."
                )
            built += 1
    return built
