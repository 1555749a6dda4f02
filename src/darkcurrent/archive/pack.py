"""From a study to its archive."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from darkcurrent._version import __version__
from darkcurrent.archive.columns import FORMAT, NAME, TABLES, check_allow_list
from darkcurrent.archive.containers import write_files
from darkcurrent.archive.describe import datasheet, readme
from darkcurrent.archive.layout import (
    ANALYSIS,
    ARCHIVE,
    ASSIGNMENT,
    MANIFEST,
    PUBLIC,
    SOURCES,
    TIMESTAMP,
    schema_file,
    table_file,
    tags_of,
    texts_file,
)
from darkcurrent.archive.restore import analyze_files
from darkcurrent.archive.result import canonical_result, first_difference
from darkcurrent.archive.schema import shipped_schema
from darkcurrent.archive.tabulate import Tables, tabulate
from darkcurrent.canonical import canonical_json, digest_bytes, dump_lines
from darkcurrent.errors import IntegrityError, UsageError
from darkcurrent.protocol import Frozen
from darkcurrent.protocol.public import PUBLIC_FILE
from darkcurrent.protocol.timestamp import FOLDER, certificates_only
from darkcurrent.reports import html_report, markdown_report
from darkcurrent.results import Analysis
from darkcurrent.study import Study

__all__ = ["Declaration", "bag_info", "pack", "pack_files"]


@dataclass(frozen=True)
class Declaration:
    """What the person who makes an archive says of it; darkcurrent checks none of it.

    Attributes
    ----------
    title, licence : str or None
        Of the archive.
    sources : tuple of str
        Where the items come from, each with its licence, in the person's words.
    texts : dict
        Source of texts that are added (`items`, `rubrics`, `replies`) to the licence that allows it.
    """

    title: str | None = None
    licence: str | None = None
    sources: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)


def pack(study: Study, path: Path, declaration: Declaration | None = None) -> dict[str, Any]:
    """Write the archive of a study and return what its `archive.json` says.

    Parameters
    ----------
    study : Study
        Frozen; its campaigns may be in any state.
    path : Path
        A new folder, or a file that ends with `.zip` or `.tar.zst`.
    declaration : Declaration, optional
        Licences and sources; texts that are to be added.

    Raises
    ------
    UsageError
        Where a campaign is being captured, the study was imported, a name cannot leave, or `path` is there.
    IntegrityError
        Where a frozen file or a journal is not what was written, or the text-free tables do not give the
        study's own result.
    """
    files = pack_files(study, declaration or Declaration())
    write_files(path, files)
    facts: dict[str, Any] = json.loads(files[ARCHIVE])
    return facts


def pack_files(study: Study, declaration: Declaration) -> dict[str, bytes]:
    """Return the files of a study's archive by name."""
    check_allow_list()
    _check_study(study, declaration)
    frozen = study.frozen
    tables = tabulate(study, with_replies="replies" in declaration.texts)
    files = {
        MANIFEST: (frozen.folder / "manifest.json").read_bytes(),
        PUBLIC: frozen.read(PUBLIC_FILE),
        **({} if frozen.assignment is None else {ASSIGNMENT: _checked(frozen.assignment)}),
        **{table_file(table): tables.parquet(table) for table in TABLES},
        **{schema_file(table): shipped_schema(table) for table in TABLES},
        **_timestamp(study),
        **{texts_file(source): _texts(source, frozen, tables) for source in declaration.texts},
    }
    analysis = analyze_files(files)
    result = canonical_result(analysis)
    original = study.evaluate()
    committed = original.commitment
    frozen_result = canonical_result(original)
    if result != frozen_result:
        raise IntegrityError(
            "The tables without texts do not give this study's result: "
            f"{first_difference(json.loads(frozen_result), json.loads(result))}. Nothing was written; please report it."
        )
    facts = {
        "format": FORMAT,
        "study": frozen.protocol.study.name,
        "study_digest": frozen.study_digest,
        "result_sha256": digest_bytes(result),
        "rows": {table: tables.frames[table].height for table in TABLES},
        "journals": tables.journals,
        "software": analysis.software,
        "declared": asdict(declaration),
    }
    files[ARCHIVE] = canonical_json(facts)
    shown = Analysis.model_validate_json(
        json.dumps(
            {
                **json.loads(result),
                "title": declaration.title or "",
                "software": analysis.software,
                "commitment": None if committed is None else committed.model_dump(mode="json"),
            }
        )
    )
    files |= {
        ANALYSIS: result,
        "data/README.md": readme(facts).encode(),
        "data/datasheet.md": datasheet(facts, json.loads(files[PUBLIC]), tables.frames).encode(),
        "data/report.md": markdown_report(shown).encode(),
        "data/report.html": html_report(shown).encode(),
    }
    return {**files, **tags_of(files, bag_info(facts, files))}


def _check_study(study: Study, declaration: Declaration) -> None:
    if study.is_imported:
        raise UsageError(
            f"{study.folder} holds imported verdicts: without a schedule and a journal there is nothing that an archive could "
            "prove. Share its folder imported/ instead."
        )
    if PUBLIC_FILE not in study.frozen.digests:
        raise UsageError(
            f"{study.frozen.folder} was frozen by an earlier version and has no {PUBLIC_FILE}: its archive could not be checked "
            "against the study digest."
        )
    running = study.running()
    if running:
        raise UsageError(
            f"`{running[0]}` is being captured right now: wait for its end, or press Ctrl-C there."
        )
    for source, licence in declaration.texts.items():
        if source not in SOURCES:
            raise UsageError(f"There are no texts called `{source}`: choose of {', '.join(SOURCES)}.")
        if not licence.strip():
            raise UsageError(f"Texts leave only under a licence: say --with-texts {source}=LICENCE.")


def _checked(assignment: bytes) -> bytes:
    """Return the stored assignment, which holds names, codes and numbers only."""
    waiting = [json.loads(assignment)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and not (len(value) <= 200 and re.fullmatch(NAME, value)):
            raise UsageError(
                f"frozen/assignment.json holds {ascii(value)[:60]}, which is no name that can leave a study."
            )
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
    return assignment


def _timestamp(study: Study) -> dict[str, bytes]:
    folder = study.folder / FOLDER
    files = {
        place: (folder / name).read_bytes() for name, place in TIMESTAMP.items() if (folder / name).exists()
    }
    authorities = TIMESTAMP["authorities.pem"]
    if (
        authorities in files
    ):  # an earlier version kept the file as it was, with a private key if one stood in it
        files[authorities] = certificates_only(files[authorities])
    return files


def _texts(source: str, frozen: Frozen, tables: Tables) -> bytes:
    if source == "replies":
        return dump_lines([{"call_id": key, "text": tables.replies[key]} for key in sorted(tables.replies)])
    frames = tables.frames
    if source == "rubrics":
        wanted = set(frames["schedule"]["rubric"])
    else:
        wanted = {*frames["items"]["prompt"], *frames["candidates"]["sha256"]}
    return dump_lines([{"sha256": key, "text": frozen.texts[key]} for key in sorted(wanted)])


def bag_info(facts: Mapping[str, Any], payload: Mapping[str, bytes]) -> bytes:
    """Return `bag-info.txt`: what made the archive, when, of which study, and how much is in it."""
    size = sum(map(len, payload.values()))
    lines = (
        f"Bag-Software-Agent: darkcurrent {__version__}",
        f"Bagging-Date: {datetime.now(UTC).date().isoformat()}",
        f"External-Identifier: {facts['study_digest']}",
        f"Payload-Oxum: {size}.{len(payload)}",
    )
    return "".join(f"{line}\n" for line in lines).encode("ascii")
