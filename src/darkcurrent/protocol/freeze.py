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
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from darkcurrent.canonical import canonical_json, digest, digest_bytes, digest_text, dump_lines
from darkcurrent.errors import IntegrityError, UsageError
from darkcurrent.protocol.model import Protocol
from darkcurrent.records import Battery, Call, Item, Record, Refusal

__all__ = ["Frozen", "freeze", "load_frozen"]

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
    """

    folder: Path
    study_digest: str
    protocol: Protocol
    configurations: dict[str, dict[str, Any]]

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The items, in the order of their source."""
        return _read_records(self.folder / "items.jsonl", Item)

    @cached_property
    def refusals(self) -> tuple[Refusal, ...]:
        """What was not taken, and why."""
        return _read_records(self.folder / "refusals.jsonl", Refusal)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Every text by its digest."""
        texts = {row["sha256"]: row["text"] for row in _read_lines(self.folder / "texts.jsonl")}
        for sha256, text in texts.items():
            if digest_text(text) != sha256:
                raise IntegrityError(
                    f"{self.folder / 'texts.jsonl'}: the text {sha256[:12]} does not have this digest."
                )
        return texts

    def schedule(self, configuration: str) -> tuple[Call, ...]:
        """Return the calls of one configuration in dispatch order."""
        return _read_records(self.folder / "schedule" / f"{configuration}.jsonl", Call)

    def receipt(self, name: str) -> Any:
        """Return a receipt that a battery source wrote, or None."""
        path = self.folder / "receipts" / f"{name}.json"
        return json.loads(path.read_bytes()) if path.exists() else None


def freeze(
    folder: Path,
    protocol: Protocol,
    protocol_text: str,
    battery: Battery,
    configurations: dict[str, dict[str, Any]],
    schedules: dict[str, tuple[Call, ...]],
) -> str:
    """Write `folder` (a study's `frozen/`) and return the study digest.

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
        "items.jsonl": dump_lines([item.model_dump(mode="json") for item in battery.items]),
        "refusals.jsonl": dump_lines([refusal.model_dump(mode="json") for refusal in battery.refusals]),
        "texts.jsonl": dump_lines(
            [{"sha256": key, "text": battery.texts[key]} for key in sorted(battery.texts)]
        ),
    }
    for name, receipt in battery.receipts.items():
        files[f"receipts/{name}.json"] = canonical_json(receipt)
    for name, calls in schedules.items():
        files[f"schedule/{name}.jsonl"] = dump_lines([call.model_dump(mode="json") for call in calls])
    table = {name: {"bytes": len(data), "sha256": digest_bytes(data)} for name, data in sorted(files.items())}
    study_digest = digest({"format": _FORMAT, "files": table})
    files["manifest.json"] = canonical_json({"format": _FORMAT, "files": table, "study_digest": study_digest})
    _write_whole(folder, files)
    return study_digest


def _write_whole(folder: Path, files: dict[str, bytes]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        for name, data in files.items():
            path = temporary / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as handle:
                handle.write(data)
                handle.flush()
                os.fsync(handle.fileno())
        temporary.rename(folder)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise UsageError(
            f"{folder} cannot be written ({error.strerror}): choose a folder with room that you may write to."
        ) from error
    descriptor = os.open(folder.parent, os.O_RDONLY)
    os.fsync(descriptor)
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
    if not folder.is_dir():
        raise UsageError(
            f"{folder.parent} is not frozen yet: run `darkcurrent freeze {folder.parent}` first."
        )
    try:
        manifest = json.loads(path.read_bytes())
        table, study_digest = manifest["files"], manifest["study_digest"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IntegrityError(
            f"{path} is missing or damaged: restore it from a copy, or freeze a new study."
        ) from error
    if manifest.get("format") != _FORMAT or digest({"format": _FORMAT, "files": table}) != study_digest:
        raise IntegrityError(
            f"{path} does not have the study digest that it states: it was edited after freezing."
        )
    present = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()} - {
        "manifest.json"
    }
    for name in sorted(present | table.keys()):
        if name not in present:
            raise IntegrityError(
                f"{folder / name} is missing: it was removed after freezing; restore it from a copy."
            )
        if name not in table:
            raise IntegrityError(f"{folder / name} was added after freezing: remove it.")
        if digest_bytes((folder / name).read_bytes()) != table[name]["sha256"]:
            raise IntegrityError(
                f"{folder / name} was edited after freezing: restore it from a copy, or freeze a new study."
            )
    try:
        protocol = Protocol.model_validate_json((folder / "protocol.json").read_bytes())
    except ValidationError as error:
        raise IntegrityError(
            f"{folder / 'protocol.json'} cannot be read by this version of darkcurrent: {error.errors()[0]['msg']}."
        ) from error
    configurations = json.loads((folder / "configurations.json").read_bytes())
    return Frozen(folder, study_digest, protocol, configurations)


def _read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def _read_records(path: Path, kind: type[_R]) -> tuple[_R, ...]:
    try:
        return tuple(kind.model_validate_json(line) for line in path.read_bytes().split(b"\n") if line)
    except ValidationError as error:
        raise IntegrityError(
            f"{path} holds a row that is no {kind.__name__}: {error.errors()[0]['msg']}."
        ) from error
