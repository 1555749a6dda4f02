"""`DIR/imported/`: recorded verdicts, their texts and how they are coded, under one digest.

Invariant, as for a frozen study: the folder appears whole or not at all, and no byte of it changes afterwards.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from darkcurrent.canonical import canonical_json, digest, digest_bytes, dump_lines, text_bytes
from darkcurrent.declared import Declared
from darkcurrent.errors import IntegrityError, UsageError
from darkcurrent.importers.reading import COLUMNS, Reading
from darkcurrent.ledger import SCHEMA, other_readings
from darkcurrent.protocol.freeze import write_whole
from darkcurrent.protocol.model import AnalysisTable, GatesTable

__all__ = ["UNGRADED", "ImportedStudy", "compared", "load_imported", "write_imported"]

_FORMAT = "darkcurrent/imported/1"

UNGRADED = "recorded by others, with no schedule and nothing frozen before the first call"
"""Why no gate is graded in an imported study."""


@dataclass(frozen=True)
class ImportedStudy:
    """An imported folder whose files have been checked against its manifest.

    Attributes
    ----------
    folder : Path
        `DIR/imported`.
    manifest : dict
        Where the verdicts come from, how they are coded and read, and the digest of each file.
    """

    folder: Path
    manifest: dict[str, Any]

    def ledger(self) -> pl.DataFrame:
        """Return the recorded calls, each kept reply read again under every contract."""
        ledger = pl.read_parquet(io.BytesIO(self._read("ledger.parquet")))
        # What was imported by an earlier version has fewer columns.
        absent = [
            pl.lit(None, kind).alias(name) for name, kind in COLUMNS.items() if name not in ledger.columns
        ]
        ledger = ledger.with_columns(absent).select(list(COLUMNS))
        texts = self.texts()
        read = other_readings()
        readings = [
            read(None if reply is None else texts[reply], finish, reasoning, kept)
            for reply, finish, reasoning, kept in ledger.select(
                "reply", "finish", "reasoning", "kept"
            ).iter_rows()
        ]
        columns = pl.DataFrame(
            readings, schema={name: kind for name, kind in SCHEMA.items() if name not in COLUMNS}
        )
        return pl.concat([ledger, columns], how="horizontal")

    def texts(self) -> dict[str, str]:
        """Return every text by its digest."""
        frame = pl.read_parquet(io.BytesIO(self._read("texts.parquet")))
        return {key: data.decode("utf-8", "surrogatepass") for key, data in frame.iter_rows()}

    def declared(self) -> Declared:
        """Return what an analysis has to know besides the ledger."""
        manifest = self.manifest
        contract = manifest["contract"]
        plain = (
            contract["name"] if manifest["counted"] == "contract" and manifest["contract_is_plain"] else None
        )
        return Declared(
            study=manifest["study"],
            title="",
            study_digest=manifest["study_digest"],
            configurations=tuple(manifest["configurations"]),
            criteria=tuple(manifest["criteria"]),
            gates=GatesTable(),
            method=AnalysisTable(),
            battery={
                "source": f"imported, {manifest['format']}",
                "items": manifest["items"],
                "strata": manifest["strata"],
                "refused": 0,
                "flagged": {},
                "imported": _facts(manifest),
            },
            contracts=dict.fromkeys(manifest["configurations"], plain) if plain else {},
            ungraded=UNGRADED,
        )

    def _read(self, name: str) -> bytes:
        path = self.folder / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise IntegrityError(
                f"{path} is missing or cannot be read: restore it, or import again."
            ) from error
        if path.is_symlink() or digest_bytes(data) != self.manifest["files"][name]:
            raise IntegrityError(
                f"{path} was edited after the import: restore it from a copy, or import again."
            )
        return data


def compared(manifest: dict[str, Any]) -> str:
    """Say what the comparison of labels and replies found; without a contract, no reply was read for its verdict."""
    comparison = manifest["comparison"]
    counts = f"{comparison['disagree']} of {comparison['compared']} recorded labels"
    if manifest["contract"] is None:
        return f"{counts} stand on a reply without an answer; no contract reads the others"
    return f"{counts} disagree with the kept reply"


def _facts(manifest: dict[str, Any]) -> dict[str, str]:
    """Return what a report says of an import."""
    comparison, contract = manifest["comparison"], manifest["contract"]
    counted = "the recorded label" if manifest["counted"] == "recorded" else "what the contract reads"
    facts = {
        "format": manifest["format"],
        "coding": manifest["coding"],
        "verdict that counts": counted,
        "contract": "none" if contract is None else json.dumps(contract, ensure_ascii=True),
        "files": f"{len(manifest['sources'])}, by SHA-256 in imported/manifest.json",
    }
    if comparison["compared"]:
        facts["comparison"] = compared(manifest) + (
            "; listed in disagreements.jsonl" if comparison["disagree"] else ""
        )
    return facts | {f"note {number}": note for number, note in enumerate(manifest["notes"], start=1)}


def write_imported(folder: Path, reading: Reading, facts: dict[str, Any]) -> ImportedStudy:
    """Write an imported folder.

    Parameters
    ----------
    folder : Path
        `DIR/imported`.
    reading : Reading
        The ledger, its texts and the disagreements.
    facts : dict
        What the manifest says of the source; JSON values.

    Raises
    ------
    UsageError
        Where the folder exists already or cannot be written.
    """
    if folder.exists():
        raise UsageError(f"{folder} exists already and is never overwritten: import into another folder.")
    texts = pl.DataFrame(
        [(key, text_bytes(reading.texts[key])) for key in sorted(reading.texts)],
        schema={"sha256": pl.String, "text": pl.Binary},
        orient="row",
    )
    files = {
        "ledger.parquet": _parquet(reading.ledger),
        "texts.parquet": _parquet(texts),
        "disagreements.jsonl": dump_lines(reading.disagreements),
    }
    ledger = reading.ledger
    manifest = {
        "schema": _FORMAT,
        **facts,
        "calls": ledger.height,
        "items": ledger["item"].n_unique(),
        "strata": ledger["stratum"].n_unique(),
        "configurations": ledger["configuration"].unique(maintain_order=True).to_list(),
        "criteria": ledger["criterion"].unique(maintain_order=True).to_list(),
        "comparison": {
            "compared": reading.compared,
            "disagree": len(reading.disagreements),
            "mirrored": {
                order: {"both": both, "mirrored": mirrored}
                for order, (both, mirrored) in reading.mirrored.items()
            },
        },
        "files": {name: digest_bytes(data) for name, data in files.items()},
    }
    manifest["study_digest"] = digest(manifest)
    write_whole(folder, {**files, "manifest.json": canonical_json(manifest)})
    return ImportedStudy(folder, manifest)


def _parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def load_imported(folder: Path) -> ImportedStudy:
    """Read an imported folder and check its manifest; each file is checked when it is read.

    Raises
    ------
    IntegrityError
        Where a file is missing or not what was written.
    """
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_bytes())
        stated = manifest.pop("study_digest")
        whole = manifest["schema"] == _FORMAT and digest(manifest) == stated
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, UsageError) as error:
        raise IntegrityError(
            f"{path} is missing or damaged: restore it from a copy, or import again."
        ) from error
    if not whole:
        raise IntegrityError(
            f"{path} does not have the digest that it states: it was edited after the import."
        )
    return ImportedStudy(folder, {**manifest, "study_digest": stated})
