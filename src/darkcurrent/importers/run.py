"""`import_verdicts`: from files to an imported study."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from darkcurrent.canonical import digest_bytes
from darkcurrent.errors import BatteryError, UsageError
from darkcurrent.importers.fastchat import FASTCHAT
from darkcurrent.importers.folder import ImportedStudy, write_imported
from darkcurrent.importers.inspect_logs import INSPECT
from darkcurrent.importers.judgebench import JUDGEBENCH
from darkcurrent.importers.korean_mt_bench import KOREAN_MT_BENCH
from darkcurrent.importers.llmbar import LLMBAR
from darkcurrent.importers.observation import Format, Source
from darkcurrent.importers.openai_batch import OPENAI_BATCH
from darkcurrent.importers.position_bias import POSITION_BIAS
from darkcurrent.importers.reading import Counted, Reading, read_observations
from darkcurrent.importers.table import TABLE
from darkcurrent.verdicts import Contract, get_contract, is_plain

__all__ = ["FORMATS", "import_verdicts"]

FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        FASTCHAT,
        KOREAN_MT_BENCH,
        LLMBAR,
        POSITION_BIAS,
        JUDGEBENCH,
        INSPECT,
        OPENAI_BATCH,
        TABLE,
    )
}
"""Every format by its name."""


def import_verdicts(
    format_name: str,
    paths: Sequence[Path],
    folder: Path,
    *,
    mapping: Path | None = None,
    contract: Contract | None = None,
    count: Counted | None = None,
) -> ImportedStudy:
    """Read recorded verdicts and write them as an imported study.

    Parameters
    ----------
    format_name : str
        A key of `FORMATS`.
    paths : sequence of Path
        Files, or folders whose files with the format's names are all taken.
    folder : Path
        The study's folder; `imported/` is written there.
    mapping : Path, optional
        For the formats that need one.
    contract : Contract, optional
        What kept replies are read under; default: that of the format, if it has one.
    count : {"recorded", "contract"}, optional
        Whose verdict counts. Default: the recorded label, where the files have labels.

    Raises
    ------
    UsageError
        Where a file or a row cannot be used, or nothing says what counts.
    """
    chosen = FORMATS.get(format_name)
    if chosen is None:
        raise UsageError(f"There is no format {format_name!r}: use one of {', '.join(FORMATS)}.")
    for taken in ("imported", "frozen"):
        if (folder / taken).exists():
            raise UsageError(f"{folder} holds a study already: import into another folder.")
    sources = _sources(paths, chosen)
    digests = _digests(sources)
    intake = chosen.read(sources, mapping)
    if contract is None and chosen.contract is not None:
        contract = get_contract(chosen.contract)
    labelled = any(one.label is not None for one in intake.observations)
    counted: Counted = count or ("recorded" if labelled else "contract")
    if counted == "contract" and contract is None:
        raise UsageError("The files hold replies and no labels: say with --contract how to read them.")
    reading = read_observations(intake.observations, contract, counted)
    plain = contract is not None and is_plain(contract)
    facts: dict[str, Any] = {
        "study": folder.resolve().name,
        "format": chosen.name,
        "coding": chosen.coding,
        "mapping": None if mapping is None else _described(mapping, mapping.name),
        "sources": [{"name": source.name, **digests[source]} for source in sources],
        "contract": None if contract is None else contract.declaration(),
        "contract_is_plain": plain,
        "counted": counted,
        "notes": [*intake.notes, *_doubts(reading)],
    }
    return write_imported(folder / "imported", reading, facts)


def _sources(paths: Sequence[Path], chosen: Format) -> list[Source]:
    """Return the files in the order of their names, called by what their folders do not share."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(one for one in path.rglob(chosen.pattern) if one.is_file())
            if not inside:
                raise UsageError(
                    f"{path} holds no file that is called {chosen.pattern}: give the files themselves."
                )
            found += inside
        else:
            found.append(path)
    shared = os.path.commonpath([path.absolute().parent for path in found])
    return [Source(path, path.absolute().relative_to(shared).as_posix()) for path in found]


def _digests(sources: list[Source]) -> dict[Source, dict[str, Any]]:
    """Describe the files, and refuse one that is given twice: its calls would be counted twice."""
    seen: dict[str, Source] = {}
    described = {}
    for source in sources:
        facts = _described(source.path, source.name)
        other = seen.setdefault(facts["sha256"], source)
        if other is not source:
            raise UsageError(f"{source.path} is the same file as {other.path}: give it once.")
        described[source] = facts
    return described


def _described(path: Path, name: str) -> dict[str, Any]:
    if (
        path.exists() and not path.is_file()
    ):  # a pipe or a device has no end, or is empty when it is read again
        raise BatteryError(f"{path} is not a regular file: write its content to one.")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BatteryError(f"{path} cannot be read ({error.strerror}): check its name.") from error
    return {"name": name, "sha256": digest_bytes(data), "bytes": len(data)}


def _doubts(reading: Reading) -> list[str]:
    """Say where labels are the mirror image of what the replies say: then the coding is not what it is taken for."""
    return [
        f"in order {order} {mirrored} of {both} recorded labels name the other slot than the reply does: the labels may "
        "be coded the other way (slot or mapped back)"
        for order, (both, mirrored) in reading.mirrored.items()
        if 2 * mirrored > both
    ]
