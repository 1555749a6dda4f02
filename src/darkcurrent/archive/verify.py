"""Whether an archive is whole, and says of its tables what they hold; nothing of the analysis code is used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darkcurrent.archive.containers import read_files
from darkcurrent.archive.database import check_values, tables_of
from darkcurrent.archive.declaring import declared_of
from darkcurrent.archive.joins import check_journals, check_rules, check_schedule
from darkcurrent.archive.layout import ARCHIVE, PUBLIC, check_tags
from darkcurrent.archive.recount import counted
from darkcurrent.archive.regrade import check_bounds, check_counts
from darkcurrent.archive.seals import Seals, check_commitment, check_seals
from darkcurrent.archive.texts import check_texts
from darkcurrent.errors import IntegrityError
from darkcurrent.results import Analysis

if TYPE_CHECKING:
    from darkcurrent.study import Study

__all__ = ["Verified", "verify", "verify_files"]


@dataclass(frozen=True)
class Verified:
    """What was found of an archive that is whole.

    Attributes
    ----------
    study, study_digest, result_sha256 : str
        What the archive is of, and the digest of its result.
    calls : dict
        Scheduled calls, and those of them with an end (`terminal`), without a known one (`ambiguous`), never sent
        (`missing`).
    checks : dict
        What was checked, and how much of it there was.
    commitment : str
        Who vouches for when the study digest was fixed, and when that was.
    files : dict
        The bytes that all this was found of.
    """

    study: str
    study_digest: str
    result_sha256: str
    calls: dict[str, int]
    checks: dict[str, int]
    commitment: str
    files: Mapping[str, bytes]


def verify(path: Path, against: Study | None = None, authorities: Path | None = None) -> Verified:
    """Check an archive.

    Parameters
    ----------
    path : Path
        A folder, a `.zip` or a `.tar.zst`.
    against : Study, optional
        The study that it was made of: every request is then built again, and every reply read again.
    authorities : Path, optional
        A PEM file with the certificates that you trust for its time stamp; those that it brings, by default.

    Raises
    ------
    IntegrityError
        Where something is not what it must be; it names the place.
    UsageError
        Where there is no archive, or one of another version.
    """
    found = verify_files(read_files(path), authorities)
    if against is None:
        return found
    from darkcurrent.archive.against import check_against

    return Verified(**{**found.__dict__, "checks": {**found.checks, **check_against(found.files, against)}})


def verify_files(files: Mapping[str, bytes], authorities: Path | None = None) -> Verified:
    """Check the files of an archive, as `verify` does."""
    check_tags(files)
    seals = check_seals(files)
    commitment = check_commitment(files, seals.manifest["study_digest"], authorities)
    checks = {"files with their SHA-256": len(files)}
    try:
        return _verify_tables(files, seals, checks, commitment)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        # Its digests fit each other, so that somebody made it so: a JSON file of another shape than the format's.
        raise IntegrityError(
            f"{ARCHIVE}, {PUBLIC} or data/analysis.json lacks a field or has one of another kind ({ascii(str(error))[:120]})."
        ) from error


def _verify_tables(
    files: Mapping[str, bytes], seals: Seals, checks: dict[str, int], commitment: str
) -> Verified:
    facts, public, analysis = seals.facts, seals.public, seals.analysis
    declared = declared_of(public, seals.manifest)
    # A field that no analysis has, or a value of another kind, is refused; the two keys are not in an archive.
    Analysis.model_validate_json(json.dumps({**analysis, "title": "", "software": {}}))
    with tables_of(files, facts["rows"]) as connection:
        checks["values against their schema"] = check_values(connection)
        checks["rules of the joins"] = check_rules(connection, public, declared.contracts)
        checks["calls with the hash of their parts"] = check_schedule(connection, public, seals.manifest)
        checks["rows of the journals"] = check_journals(
            connection, facts["journals"], declared.configurations
        )
        checks["texts with their digest"] = check_texts(files, connection)
        counts = counted(connection, declared.configurations, declared.criteria, declared.contracts)
        states = dict(
            connection.execute("SELECT configuration, state FROM events WHERE kind = 'stopped'").fetchall()
        )
    checks["counts by SQL"] = check_counts(analysis, counts, public)
    states = {name: states.get(name) for name in declared.configurations}
    checks["campaigns and cells graded by a second implementation"] = check_bounds(
        analysis, counts, public, states
    )
    campaigns: list[dict[str, Any]] = counts["campaigns"]
    return Verified(
        study=facts["study"],
        study_digest=facts["study_digest"],
        result_sha256=facts["result_sha256"],
        calls={
            key: sum(campaign[key] for campaign in campaigns)
            for key in ("scheduled", "terminal", "ambiguous", "missing")
        },
        checks=checks,
        commitment=commitment,
        files=files,
    )
