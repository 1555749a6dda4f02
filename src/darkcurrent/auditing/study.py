"""From the arguments of a call to a frozen study: the same files that a person writes by hand."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from darkcurrent.auditing.rows import as_rows, in_a_call, write_rows
from darkcurrent.batteries.columns import value_in
from darkcurrent.batteries.rows import read_rows
from darkcurrent.capture import is_running
from darkcurrent.errors import BatteryError, UsageError
from darkcurrent.protocol import load_frozen, parse_protocol
from darkcurrent.protocol.rubrics import built_in_rubrics
from darkcurrent.study import Study

__all__ = ["AUDITS", "Inputs", "freeze_in", "freeze_new"]

AUDITS = "darkcurrent-audits"
"""Where audits are kept that were given no place: a folder in the current one."""

_COLUMNS = ("id", "prompt", "chosen", "rejected", "stratum", "cluster")


class Inputs:
    """What is to be audited.

    Parameters
    ----------
    table : mapping
        The `[[configuration]]`.
    pairs : path, list of dict, or DataFrame
        The pairs.
    criteria : str or mapping
        The name of a rubric that ships with darkcurrent, or criteria by name: such a name, or the rubric's text.
    columns : mapping
        As `[battery.columns]`.
    tables : mapping of mapping
        Keys of the protocol's other tables.
    """

    def __init__(
        self,
        table: Mapping[str, Any],
        pairs: Any,
        criteria: str | Mapping[str, str],
        columns: Mapping[str, Any],
        tables: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self.name = str(table["name"])
        self._pairs = pairs
        self._columns = dict(columns)
        self._rubrics = dict(criteria) if isinstance(criteria, Mapping) else {_one_word(criteria): criteria}
        self._shown = str(pairs) if isinstance(pairs, str | Path) else "pairs"
        self._table = dict(table)
        self._tables = {key: dict(value) for key, value in tables.items()}

    def freeze(self, folder: Path) -> Study:
        """Write protocol, pairs and rubrics into an empty folder and freeze them.

        Raises
        ------
        UsageError
            Where anything of it cannot be used.
        """
        written = self.write_pairs(folder)
        tables: dict[str, Any] = {
            "format": 1,
            **self._tables,
            "configuration": [self._table],
            "study": {"name": self.name, **self._tables.get("study", {})},
            "battery": {"source": "pairs", **written, **self._tables.get("battery", {})},
            "criteria": self._write_rubrics(folder),
        }
        text = tomli_w.dumps(tables)
        parse_protocol(text, "audit")  # so that no error names a file that nobody wrote
        study = Study(folder)
        study.protocol_path.write_text(text, encoding="utf-8")
        try:
            study.freeze()
        except BatteryError as error:
            said = str(error).replace(str(folder / written["path"]), self._shown)
            raise BatteryError(_by_argument(said)) from error
        return study

    def write_pairs(self, folder: Path) -> dict[str, Any]:
        columns = self._columns
        if isinstance(self._pairs, str | Path):
            source = Path(self._pairs)
            first = next((row for _, row in read_rows(source, in_a_call("pairs"))), {})
            path = folder / f"pairs{source.suffix.lower()}"
            shutil.copyfile(source, path)
        else:
            rows = as_rows(self._pairs, "pairs")
            if not rows:
                raise BatteryError("`pairs` is empty: give one row or more.")
            first = rows[0]
            _check_columns(first, columns)
            path = folder / "pairs.jsonl"
            mapped = {value for value in columns.values() if isinstance(value, str)}
            write_rows(rows, {*_COLUMNS, *mapped}, path, "pairs")
        if "id" not in columns and "id" not in first:
            columns = {"id": "@row", **columns}
        return {"path": path.name, **({"columns": columns} if columns else {})}

    def _write_rubrics(self, folder: Path) -> dict[str, dict[str, str]]:
        known = built_in_rubrics()
        tables = {}
        for name, text in self._rubrics.items():
            if text in known or _one_word(text) == text:  # one word is a name, and may be misspelt
                tables[name] = {"rubric": text}
                continue
            path = folder / "rubrics" / f"{len(tables)}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            tables[name] = {"rubric_file": path.relative_to(folder).as_posix()}
        return tables


def _check_columns(row: Mapping[str, Any], columns: Mapping[str, Any]) -> None:
    """Look for the texts while the row has every column that a person gave it: an error names those."""
    sides = ("first", "second", "label") if "label" in columns else ("chosen", "rejected")
    for key in ("prompt", *sides):
        try:
            value_in(row, str(columns.get(key, key)), "pairs:1", key)
        except BatteryError as error:
            raise BatteryError(_by_argument(str(error))) from error


def _by_argument(text: str) -> str:
    """Return an error in the words of the call, which has no protocol to look into."""
    return text.replace("`[battery.columns]`", "`columns`").replace(
        "`[battery]`", '`protocol={"battery": ...}`'
    )


def _one_word(text: str) -> str:
    """Return a text that is one word, and `own` for any other."""
    return text if len(text.split()) == 1 else "own"


def freeze_in(inputs: Inputs, folder: Path) -> Study:
    """Freeze an audit in a folder, or find it frozen there.

    Raises
    ------
    UsageError
        Where the folder holds another study, or other things.
    """
    staging = _staged(inputs, folder)
    try:
        return _placed(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def freeze_new(inputs: Inputs, parent: Path, *, resumes: bool) -> Study:
    """Freeze an audit in a folder of its own, named after its digest.

    Parameters
    ----------
    resumes : bool
        Whether an audit of exactly the same that was interrupted is gone on with.
    """
    staging = _staged(inputs, parent / inputs.name)
    try:
        digest = load_frozen(staging / "frozen").study_digest
        number = 1
        while True:
            folder = parent / f"{inputs.name}-{digest[:12]}{f'-{number}' if number > 1 else ''}"
            if not folder.exists():
                return _placed(staging, folder)
            if resumes and _was_interrupted(folder, inputs.name, digest):
                return Study(folder)
            number += 1
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _staged(inputs: Inputs, folder: Path) -> Path:
    """Freeze an audit beside its place: the digest says whether it is there already."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        staging.chmod(0o777 & ~_umask())
    except OSError as error:
        raise UsageError(
            f"{folder.parent} cannot be written ({error.strerror}): give another `journal`, or `journal=None`."
        ) from error
    try:
        inputs.freeze(staging)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return staging


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _placed(staging: Path, folder: Path) -> Study:
    study = Study(folder)
    if study.is_frozen:
        other = _difference(staging, folder)
        if other:
            raise UsageError(
                f"{folder} holds the audit of something else ({other} differs): give another `journal`, or put back what it was."
            )
        return study
    try:
        staging.rename(folder)  # only an empty folder is replaced by this
    except OSError as error:
        raise UsageError(
            f"{folder} cannot take the journal ({error.strerror}): give the name of a new folder as `journal`."
        ) from error
    return study


def _difference(one: Path, other: Path) -> str | None:
    first, second = (load_frozen(folder / "frozen").digests for folder in (one, other))
    changed = {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}
    if not changed:
        return None
    if "configurations.json" in changed:
        return "the judge"
    return "what it is shown" if {"items.jsonl", "texts.jsonl"} & changed else "a setting"


def _was_interrupted(folder: Path, name: str, digest: str) -> bool:
    try:
        study = Study(folder)
        return (
            study.frozen.study_digest == digest
            and not is_running(folder, name)
            and study.state(name)[0] in ("NOT STARTED", "INTERRUPTED")
        )
    except (UsageError, OSError, json.JSONDecodeError):
        return False
