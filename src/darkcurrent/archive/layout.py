"""Which files an archive has, what each may weigh, and the tags that make it a BagIt bag.

Invariant: **the set of file names is closed.** No name of a stranger ever becomes a path: a name is looked up
here, and one that is not found refuses the whole archive.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from darkcurrent.archive.columns import TABLES
from darkcurrent.canonical import digest_bytes
from darkcurrent.errors import IntegrityError

__all__ = [
    "ANALYSIS",
    "ARCHIVE",
    "ASSIGNMENT",
    "LARGEST_TOTAL",
    "LIMITS",
    "MANIFEST",
    "PUBLIC",
    "SOURCES",
    "TIMESTAMP",
    "check_tags",
    "schema_file",
    "table_file",
    "tags_of",
    "texts_file",
]

_MIB: Final = 1 << 20

LARGEST_TOTAL: Final = 4096 * _MIB
"""Bytes of all files of an archive together."""

ARCHIVE: Final = "data/archive.json"
ANALYSIS: Final = "data/analysis.json"
MANIFEST: Final = "data/frozen/manifest.json"
PUBLIC: Final = "data/frozen/public.json"
ASSIGNMENT: Final = "data/frozen/assignment.json"
TIMESTAMP: Final = {
    "token.tsr": "data/frozen/timestamp/token.tsr",
    "authorities.pem": "data/frozen/timestamp/authorities.pem",
}
SOURCES: Final = ("items", "rubrics", "replies")
"""Whose texts can be added, each by an explicit wish with its licence."""

_DECLARATION: Final = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
_TAGS: Final = ("bagit.txt", "bag-info.txt", "manifest-sha256.txt", "tagmanifest-sha256.txt")


def table_file(table: str) -> str:
    """Return where a table lies."""
    return f"data/tables/{table}.parquet"


def schema_file(table: str) -> str:
    """Return where the JSON schema of a table's rows lies."""
    return f"data/schemas/{table}.json"


def texts_file(source: str) -> str:
    """Return where the texts of a source lie."""
    return f"data/texts/{source}.jsonl"


_REQUIRED: Final[dict[str, int]] = {
    **dict.fromkeys(_TAGS, _MIB),
    "data/README.md": _MIB,
    "data/datasheet.md": _MIB,
    ARCHIVE: _MIB,
    ANALYSIS: 64 * _MIB,
    MANIFEST: _MIB,
    PUBLIC: 8 * _MIB,
    "data/report.md": 64 * _MIB,
    "data/report.html": 64 * _MIB,
    **{schema_file(table): _MIB for table in TABLES},
    **{table_file(table): 1024 * _MIB for table in TABLES},
}
_OPTIONAL: Final[dict[str, int]] = {
    **dict.fromkeys(TIMESTAMP.values(), _MIB),
    ASSIGNMENT: 256 * _MIB,
    **{texts_file(source): 1024 * _MIB for source in SOURCES},
}
LIMITS: Final[Mapping[str, int]] = {**_REQUIRED, **_OPTIONAL}
"""Every name that a file of an archive can have, and the most bytes that it may have."""


def tags_of(payload: Mapping[str, bytes], info: bytes) -> dict[str, bytes]:
    """Return the tag files of a bag (RFC 8493) with this payload; SHA-256 is the only algorithm."""
    tags = {
        "bagit.txt": _DECLARATION,
        "bag-info.txt": info,
        "manifest-sha256.txt": _table(payload),
    }
    return {**tags, "tagmanifest-sha256.txt": _table(tags)}


def _table(files: Mapping[str, bytes]) -> bytes:
    return "".join(f"{digest_bytes(files[name])}  {name}\n" for name in sorted(files)).encode("ascii")


def check_tags(files: Mapping[str, bytes]) -> None:
    """Hash every file and compare both manifests, byte for byte, with what they must be.

    A manifest has one form only, so that no byte of it can be changed unnoticed: not its order, its blanks, or
    the case of its digits.

    Raises
    ------
    IntegrityError
        Where a file is missing or is not what the manifest says; it names the file.
    """
    for name in _REQUIRED:
        if name not in files:
            raise IntegrityError(f"{name} is missing: the archive is not whole.")
    payload = {name: data for name, data in files.items() if name.startswith("data/")}
    due = tags_of(payload, files["bag-info.txt"])
    if files["bagit.txt"] != due["bagit.txt"]:
        raise IntegrityError("bagit.txt is not that of a BagIt 1.0 bag in UTF-8.")
    for manifest in ("manifest-sha256.txt", "tagmanifest-sha256.txt"):
        if files[manifest] != due[manifest]:
            raise IntegrityError(_difference(manifest, files[manifest], due[manifest]))


def _difference(manifest: str, found: bytes, due: bytes) -> str:
    lines, wanted = found.split(b"\n"), due.split(b"\n")
    for number, line in enumerate(wanted):
        if number >= len(lines) or lines[number] != line:
            break
    name = line.decode("ascii").partition("  ")[2] or "its end"
    return f"{manifest}, line {number + 1}: {name} does not have the SHA-256 that stands there."
