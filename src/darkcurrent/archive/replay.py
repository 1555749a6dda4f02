"""The whole analysis again, from an archive alone."""

from __future__ import annotations

import json
from pathlib import Path

from darkcurrent.archive.layout import ANALYSIS
from darkcurrent.archive.restore import analyze_files
from darkcurrent.archive.result import canonical_result, first_difference
from darkcurrent.archive.verify import Verified, verify
from darkcurrent.canonical import digest_bytes
from darkcurrent.errors import IntegrityError
from darkcurrent.results import Analysis

__all__ = ["replay"]


def replay(path: Path) -> tuple[Verified, Analysis]:
    """Verify an archive, evaluate it again, and compare the results byte for byte.

    Raises
    ------
    IntegrityError
        Where the archive is not whole, or the results differ; it names the first field that does.
    UsageError
        Where there is no archive, or one of another version.
    """
    found = verify(path)
    analysis = analyze_files(found.files)
    result = canonical_result(analysis)
    if result != found.files[ANALYSIS]:
        where = first_difference(json.loads(found.files[ANALYSIS]), json.loads(result))
        raise IntegrityError(
            f"{ANALYSIS} has the digest {found.result_sha256[:12]} and its tables give {digest_bytes(result)[:12]}: {where}."
        )
    return found, analysis
