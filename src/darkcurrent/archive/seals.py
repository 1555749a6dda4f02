"""The digests of an archive that hang together: archive.json, the frozen manifest, the study digest, the result."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from darkcurrent.archive.columns import FORMAT, TABLES
from darkcurrent.archive.layout import (
    ANALYSIS,
    ARCHIVE,
    ASSIGNMENT,
    MANIFEST,
    PUBLIC,
    TIMESTAMP,
    schema_file,
    texts_file,
)
from darkcurrent.archive.schema import shipped_schema
from darkcurrent.canonical import canonical_json, digest, digest_bytes
from darkcurrent.errors import IntegrityError, MissingExtraError, UsageError
from darkcurrent.protocol.public import PUBLIC_FILE
from darkcurrent.protocol.timestamp import check_token

__all__ = ["Seals", "check_commitment", "check_seals"]


_FACTS: Final = {
    *("format", "study", "study_digest", "result_sha256", "rows", "journals", "software", "declared"),
}
_DECLARED: Final = {"title", "licence", "sources", "texts"}
_INFO: Final = re.compile(
    rb"Bag-Software-Agent: darkcurrent [A-Za-z0-9.+-]+\nBagging-Date: [0-9]{4}-[0-9]{2}-[0-9]{2}\n"
    rb"External-Identifier: ([0-9a-f]{64})\nPayload-Oxum: ([0-9]+)\.([0-9]+)\n"
)


class Seals:
    """The JSON files of an archive, once their digests are found to fit.

    Attributes
    ----------
    facts, manifest, public, analysis : dict
        `archive.json`, the frozen manifest, the public part of the protocol, the analysis.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.facts = _canonical(files, ARCHIVE)
        self.manifest = _canonical(files, MANIFEST)
        self.public = _canonical(files, PUBLIC)
        self.analysis = _canonical(files, ANALYSIS)


def check_seals(files: Mapping[str, bytes]) -> Seals:
    """Check version, schemas and every digest that names another.

    Raises
    ------
    UsageError
        Where a later version of darkcurrent wrote the archive.
    IntegrityError
        Where a digest does not fit; it names the file.
    """
    seals = Seals(files)
    facts, manifest, public = seals.facts, seals.manifest, seals.public
    form = facts.get("format")
    if form != FORMAT:
        if isinstance(form, str) and re.fullmatch(r"darkcurrent/archive/\d{1,4}", form):
            raise UsageError(
                f"The archive has the form {form} and this version of darkcurrent reads {FORMAT}: use one that reads it."
            )
        raise IntegrityError(f"{ARCHIVE}: the format is not {FORMAT}.")
    for table in TABLES:
        if files[schema_file(table)] != shipped_schema(table):
            raise IntegrityError(f"{schema_file(table)} is not the schema of {FORMAT}.")
    try:
        content = {"format": manifest["format"], "files": manifest["files"]}
        stated = manifest["study_digest"]
        listed = {name: entry["sha256"] for name, entry in manifest["files"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise IntegrityError(f"{MANIFEST} is no manifest of a frozen study.") from error
    if digest(content) != stated:
        raise IntegrityError(f"{MANIFEST} does not have the study digest that it states.")
    if listed.get(PUBLIC_FILE) != digest_bytes(files[PUBLIC]):
        raise IntegrityError(
            f"{PUBLIC} is not the file that was frozen: its digest in {MANIFEST} is another one."
        )
    if (ASSIGNMENT in files) != ("assignment.json" in listed):
        raise IntegrityError(f"{ASSIGNMENT} is missing, or is there though nothing of the kind was frozen.")
    if ASSIGNMENT in files and listed["assignment.json"] != digest_bytes(files[ASSIGNMENT]):
        raise IntegrityError(
            f"{ASSIGNMENT} is not the file that was frozen: its digest in {MANIFEST} is another one."
        )
    if public.get("format") != "darkcurrent/public/1":
        raise IntegrityError(f"{PUBLIC}: the format is not darkcurrent/public/1.")
    for place, found in (
        (ARCHIVE, facts.get("study_digest")),
        (ANALYSIS, seals.analysis.get("study_digest")),
    ):
        if found != stated:
            raise IntegrityError(f"{place}: the study digest is not that of {MANIFEST}.")
    _check_info(files, stated)
    for key in ("rows", "journals", "declared", "software"):
        if not isinstance(facts.get(key), dict):
            raise IntegrityError(f"{ARCHIVE}: `{key}` is missing.")
    for found, due, place in (
        (facts.keys(), _FACTS, "its keys"),
        (facts["declared"].keys(), _DECLARED, "the keys of `declared`"),
    ):
        if found != due:
            raise IntegrityError(f"{ARCHIVE}: {place} are not {', '.join(sorted(due))}.")
    if facts["study"] != public.get("study"):
        raise IntegrityError(f"{ARCHIVE}: the study is not called as in {PUBLIC}.")
    if facts["rows"].keys() != TABLES.keys() or not all(type(each) is int for each in facts["rows"].values()):
        raise IntegrityError(f"{ARCHIVE}: `rows` does not count the rows of each table.")
    if facts.get("result_sha256") != digest_bytes(files[ANALYSIS]):
        raise IntegrityError(f"{ANALYSIS} does not have the digest `result_sha256` of {ARCHIVE}.")
    declared = facts["declared"]["texts"]
    if not isinstance(declared, dict):
        raise IntegrityError(f"{ARCHIVE}: `declared.texts` names no texts and licences.")
    for name in files:
        if name.startswith("data/texts/") and name not in map(texts_file, declared):
            raise IntegrityError(f"{name} is there without a licence in {ARCHIVE}.")
    for source in declared:
        if texts_file(source) not in files:
            raise IntegrityError(f"{texts_file(source)} is missing, and {ARCHIVE} declares it.")
    return seals


def _check_info(files: Mapping[str, bytes], study_digest: str) -> None:
    payload = [len(data) for name, data in files.items() if name.startswith("data/")]
    said = _INFO.fullmatch(files["bag-info.txt"])
    if said is None or said.groups() != tuple(
        str(each).encode() for each in (study_digest, sum(payload), len(payload))
    ):
        raise IntegrityError("bag-info.txt is not that of this study digest and payload.")


def check_commitment(files: Mapping[str, bytes], study_digest: str, authorities: Path | None) -> str:
    """Check the time-stamp token, where there is one, and say who vouches for the study digest.

    Parameters
    ----------
    authorities : Path or None
        A PEM file with the certificates to trust; those in the archive, where None.

    Raises
    ------
    IntegrityError
        Where the token is not over this digest, or its certificates are not with it.
    UsageError
        Where `authorities` cannot be read, or there is no token that they could vouch for.
    """
    there = [name for name in TIMESTAMP.values() if name in files]
    if not there:
        if authorities is not None:
            raise UsageError("The archive has no time stamp, and --timestamp-ca was given for one.")
        return "Locally frozen, no third party."
    if len(there) < len(TIMESTAMP):
        raise IntegrityError(f"{there[0]} is there, and its other half is missing.")
    token, pem = (files[name] for name in TIMESTAMP.values())
    if authorities is not None:
        try:
            pem = authorities.read_bytes()
        except OSError as error:
            raise UsageError(f"{authorities} cannot be read ({error.strerror}).") from error
    try:
        found = check_token(token, pem, study_digest)
    except MissingExtraError as error:
        return f"A time-stamp token is there and was not checked: {error}"
    except UsageError as error:
        raise IntegrityError(f"{TIMESTAMP['authorities.pem']}: {error}") from error
    trusted = (
        "which you trust"
        if authorities is not None
        else "which it brings with it: whether to trust them is for you to say"
    )
    return f"Stamped by {found.authority} at {found.at} (RFC 3161), by the certificates {trusted}."


def _canonical(files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    """Read a JSON object that has one form only, so that no key can stand in it twice."""
    try:
        value = json.loads(files[name])
        same = isinstance(value, dict) and canonical_json(value) == files[name]
    except (ValueError, RecursionError, UsageError) as error:
        raise IntegrityError(f"{name} is no JSON.") from error
    if not same:
        raise IntegrityError(f"{name} is not in canonical form (RFC 8785), in which it was written.")
    found: dict[str, Any] = value
    return found
