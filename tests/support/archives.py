"""Small studies of simulated judges, their archives, and ways to spoil one."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from darkcurrent.archive.layout import ANALYSIS, ARCHIVE, tags_of
from darkcurrent.archive.pack import Declaration, pack_files
from darkcurrent.canonical import canonical_json, digest_bytes
from darkcurrent.study import Study

__all__ = ["PROTOCOL", "captured", "edited", "files_of", "retagged", "sealed"]

PROTOCOL = """format = 1
[study]
name = "small"
title = "A title that stays at home"
[battery]
source = "finite-code"
settings = [0]
edge_controls = 1
[criteria.neutral]
rubric = "code-neutral"
[criteria.strict]
rubric = "code-strict"
[[configuration]]
name = "fair"
backend = "simulated"
properties = { utility = 0.9, dark_current = 0.1, seed = 3 }
[[configuration]]
name = "fenced"
backend = "simulated"
properties = { utility = 0.9, fenced = 0.3, seed = 3 }
[schedule]
seed = 5
[capture]
in_flight = 16
[gates]
clone_threshold = 0.45
utility_threshold = 0.6
"""


def captured(folder: Path, protocol: str = PROTOCOL) -> Study:
    """Return a study whose campaigns have ended."""
    folder.mkdir(parents=True)
    (folder / "protocol.toml").write_text(protocol, encoding="utf-8")
    study = Study(folder)
    study.freeze()
    for configuration in study.frozen.protocol.configuration:
        study.run(configuration.name)
    return study


@cache
def _files() -> dict[str, bytes]:
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="darkcurrent-tests-"))
    try:
        return pack_files(captured(folder / "study"), Declaration(licence="CC0-1.0"))
    finally:
        shutil.rmtree(folder)


def files_of() -> dict[str, bytes]:
    """Return the files of a small archive, made once for each process; the caller may change the dict."""
    return dict(_files())


def sealed(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return an archive whose checksums were all made to fit what is in it: those of a forger who knows the format."""
    facts = json.loads(files[ARCHIVE])
    facts["result_sha256"] = digest_bytes(files[ANALYSIS])
    for table in facts["rows"]:
        facts["rows"][table] = pl.read_parquet(io.BytesIO(files[f"data/tables/{table}.parquet"])).height
    files = {**files, ARCHIVE: canonical_json(facts)}
    return retagged(files)


def retagged(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return an archive whose tags were made to fit its payload, which may be broken."""
    payload = {name: data for name, data in files.items() if name.startswith("data/")}
    facts = json.loads(files[ARCHIVE])
    due = f"External-Identifier: {facts['study_digest']}\nPayload-Oxum: {sum(map(len, payload.values()))}.{len(payload)}\n"
    info = files["bag-info.txt"].partition(b"External-Identifier")[0] + due.encode()
    return {**payload, **tags_of(payload, info)}


def edited(files: dict[str, bytes], name: str, change: Callable[[Any], Any]) -> dict[str, bytes]:
    """Return an archive in which a table (by its name) or a JSON file was changed; its checksums are made to fit."""
    if name.endswith(".json"):
        value = json.loads(files[name])
        changed = change(value)
        data = canonical_json(value if changed is None else changed)
    else:
        name = f"data/tables/{name}.parquet"
        buffer = io.BytesIO()
        change(pl.read_parquet(io.BytesIO(files[name]))).write_parquet(buffer)
        data = buffer.getvalue()
    return sealed({**files, name: data})
