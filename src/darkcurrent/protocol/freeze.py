"""`frozen/`: everything that is fixed before the first call, under one digest.

Invariant: **a study's frozen folder appears whole or not at all, and no byte of it changes afterwards.** It is
written beside its place and moved there in one step; `manifest.json` holds the SHA-256 of each file, and the
study digest is the digest of that table. Every journal carries the study digest in its first row, so that
editing a file *and* the manifest is noticed too.
"""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from darkcurrent.canonical import canonical_json, digest, digest_bytes, digest_text, dump_lines
from darkcurrent.errors import IntegrityError, UsageError
from darkcurrent.protocol.model import Protocol
from darkcurrent.protocol.public import PUBLIC_FILE, public_view
from darkcurrent.records import Battery, Call, Item, Record, Refusal

__all__ = ["Frozen", "freeze", "load_frozen", "write_whole"]

_FORMAT = "darkcurrent/frozen/1"
_R = TypeVar("_R", bound=Record)


@dataclass(frozen=True)
class Frozen:
    """A frozen folder whose files have been checked against its manifest.

    Attributes
    ----------
    folder : Path
        `DIR/frozen`.
    study_digest : str
        The digest over all files.
    protocol : Protocol
        The protocol with every default written out.
    configurations : dict
        Configuration name to its frozen identity: `{"digest", "artifacts", "declared"}`.
    digests : dict
        File name to its SHA-256, as the manifest has them.
    """

    folder: Path
    study_digest: str
    protocol: Protocol
    configurations: dict[str, dict[str, Any]]
    digests: dict[str, str]

    def read(self, name: str) -> bytes:
        """Return the bytes of a frozen file, checked: a study may run for days after it was opened.

        Raises
        ------
        IntegrityError
            Where the file is not what was frozen.
        """
        return _read_checked(self.folder, name, self.digests[name])

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The items, in the order of their source."""
        return _records(self, "items.jsonl", Item)

    @cached_property
    def refusals(self) -> tuple[Refusal, ...]:
        """What was not taken, and why."""
        return _records(self, "refusals.jsonl", Refusal)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Every text by its digest."""
        rows = map(json.loads, self.read("texts.jsonl").splitlines())
        texts = {row["sha256"]: row["text"] for row in rows}
        for sha256, text in texts.items():
            if digest_text(text) != sha256:
                raise IntegrityError(
                    f"{self.folder / 'texts.jsonl'}: the text {sha256[:12]} does not have this digest."
                )
        return texts

    def schedule(self, configuration: str) -> tuple[Call, ...]:
        """Return the calls of one configuration in dispatch order."""
        return _records(self, f"schedule/{configuration}.jsonl", Call)

    @cached_property
    def public(self) -> dict[str, Any]:
        """What may be shown to anybody, see `protocol.public`."""
        view: dict[str, Any] = json.loads(self.read(PUBLIC_FILE))
        return view

    @property
    def assignment(self) -> bytes | None:
        """What the schedule drew at random, as it was stored; None where it stored nothing."""
        return self.read("assignment.json") if "assignment.json" in self.digests else None

    def receipt(self, name: str) -> Any:
        """Return a receipt that a battery source wrote, or None."""
        file = f"receipts/{name}.json"
        return json.loads(self.read(file)) if file in self.digests else None


def freeze(
    folder: Path,
    protocol: Protocol,
    protocol_text: str,
    battery: Battery,
    configurations: dict[str, dict[str, Any]],
    schedules: dict[str, tuple[Call, ...]],
    assignment: Record | None = None,
) -> str:
    """Write `folder` (a study's `frozen/`) and return the study digest.

    `assignment` is what the schedule drew at random, where that is kept for randomization tests.

    Raises
    ------
    UsageError
        Where the folder exists already: a frozen study is never overwritten.
    """
    if folder.exists():
        raise UsageError(
            f"{folder} exists already and is never overwritten: start a new study in another folder."
        )
    files: dict[str, bytes] = {
        "protocol.json": canonical_json(protocol.model_dump(mode="json")),
        "protocol.toml": protocol_text.encode("utf-8"),
        "configurations.json": canonical_json(configurations),
        PUBLIC_FILE: canonical_json(
            public_view(protocol, configurations, battery.items, len(battery.refusals))
        ),
        "items.jsonl": dump_lines([item.model_dump(mode="json") for item in battery.items]),
        "refusals.jsonl": dump_lines([refusal.model_dump(mode="json") for refusal in battery.refusals]),
        "texts.jsonl": dump_lines(
            [{"sha256": key, "text": battery.texts[key]} for key in sorted(battery.texts)]
        ),
    }
    receipts = dict(battery.receipts)
    if battery.instruction:  # a later study of these items needs it apart from the rubrics
        receipts["instruction"] = battery.instruction
    for name, receipt in receipts.items():
        files[f"receipts/{name}.json"] = canonical_json(receipt)
    if assignment is not None:
        files["assignment.json"] = canonical_json(assignment.model_dump(mode="json"))
    for name, calls in schedules.items():
        files[f"schedule/{name}.jsonl"] = dump_lines([call.model_dump(mode="json") for call in calls])
    table = {name: {"bytes": len(data), "sha256": digest_bytes(data)} for name, data in sorted(files.items())}
    study_digest = digest({"format": _FORMAT, "files": table})
    files["manifest.json"] = canonical_json({"format": _FORMAT, "files": table, "study_digest": study_digest})
    write_whole(folder, files)
    return study_digest


def write_whole(folder: Path, files: dict[str, bytes]) -> None:
    """Write a new folder beside its place and move it there in one step, so that it appears whole or not at all.

    Raises
    ------
    UsageError
        Where it cannot be written.
    """
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)  # of a process with this number that was killed
    try:
        for name, data in files.items():
            path = temporary / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            _sync(path)
        for path in {(temporary / name).parent for name in files}:
            _sync(path)
        temporary.rename(folder)
        _sync(folder.parent)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written ({error.strerror}): choose a folder with room that you may write to."
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _sync(path: Path) -> None:
    """Have a file or a folder on disk when this returns."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def load_frozen(folder: Path) -> Frozen:
    """Read a frozen folder and check every byte of it.

    Raises
    ------
    UsageError
        Where nothing is frozen yet.
    IntegrityError
        Where a file is missing, added, or not what was frozen.
    """
    path = folder / "manifest.json"
    if not folder.exists() and not (folder.parent / "protocol.toml").exists():
        raise UsageError(
            f"There is no study in {folder.parent}: name another folder, or begin one with "
            f"`darkcurrent init {folder.parent}`."
        )
    if not folder.exists():
        raise UsageError(
            f"{folder.parent} is not frozen yet: run `darkcurrent freeze {folder.parent}` first."
        )
    try:
        manifest = json.loads(path.read_bytes())
        table, study_digest = manifest["files"], manifest["study_digest"]
        whole = (
            manifest.get("format") == _FORMAT and digest({"format": _FORMAT, "files": table}) == study_digest
        )
        digests = {name: table[name]["sha256"] for name in table}
    except (OSError, ValueError, KeyError, TypeError, RecursionError, UsageError) as error:
        raise IntegrityError(
            f"{path} is missing or damaged: restore it from a copy, or freeze a new study."
        ) from error
    if not whole:
        raise IntegrityError(
            f"{path} does not have the study digest that it states: it was edited after freezing."
        )
    present = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }
    for name in sorted(present - digests.keys() - {"manifest.json"}):
        raise IntegrityError(f"{folder / name} was added after freezing: remove it.")
    for name, sha256 in digests.items():
        _read_checked(folder, name, sha256)
    try:
        protocol = Protocol.model_validate_json(
            _read_checked(folder, "protocol.json", digests["protocol.json"])
        )
    except ValidationError as error:
        raise IntegrityError(
            f"{folder / 'protocol.json'} cannot be read by this version of darkcurrent: {error.errors()[0]['msg']}."
        ) from error
    # Canonical JSON sorts keys; the order in which a person wrote the criteria is that of every table.
    written = tomllib.loads(_read_checked(folder, "protocol.toml", digests["protocol.toml"]).decode())[
        "criteria"
    ]
    protocol = protocol.model_copy(update={"criteria": {name: protocol.criteria[name] for name in written}})
    configurations = json.loads(_read_checked(folder, "configurations.json", digests["configurations.json"]))
    return Frozen(folder, study_digest, protocol, configurations, digests)


def _read_checked(folder: Path, name: str, sha256: str) -> bytes:
    path = folder / name
    if path.is_symlink():
        raise IntegrityError(
            f"{path} was replaced by a link after freezing: put the file itself in its place."
        )
    try:
        data = path.read_bytes()
    except OSError as error:
        raise IntegrityError(
            f"{path} is missing or cannot be read: it was removed after freezing; restore it from a copy."
        ) from error
    if digest_bytes(data) != sha256:
        raise IntegrityError(
            f"{path} was edited after freezing: restore it from a copy, or freeze a new study."
        )
    return data


def _records(frozen: Frozen, name: str, kind: type[_R]) -> tuple[_R, ...]:
    try:
        return tuple(kind.model_validate_json(line) for line in frozen.read(name).splitlines())
    except ValidationError as error:
        raise IntegrityError(
            f"{frozen.folder / name} holds a row that is no {kind.__name__}: {error.errors()[0]['msg']}."
        ) from error
