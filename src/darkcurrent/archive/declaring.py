"""From the public part of a protocol back to what it declared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from darkcurrent.declared import Declared, certified_by, nested_parts
from darkcurrent.errors import UsageError
from darkcurrent.protocol.model import AnalysisTable, GatesTable
from darkcurrent.schedules import StoredAssignment
from darkcurrent.verdicts import get_contract, is_plain

__all__ = ["declared_of"]


def declared_of(
    public: Mapping[str, Any],
    manifest: Mapping[str, Any],
    parts: Iterable[tuple[str, str]] = (),
    assignment: bytes | None = None,
) -> Declared:
    """Return what a study declared, from the part of it that may be shown.

    Parameters
    ----------
    public, manifest : mapping
        The frozen files `public.json` and `manifest.json`.
    parts : iterable of tuple of str
        Name of a part of the items, and an item of it.
    assignment : bytes or None
        The frozen file `assignment.json`, where there is one.
    """
    battery = {key: value for key, value in public["battery"].items() if key != "arms"}
    return Declared(
        study=public["study"],
        title="",
        study_digest=manifest["study_digest"],
        configurations=tuple(each["name"] for each in public["configurations"]),
        criteria=tuple(each["name"] for each in public["criteria"]),
        gates=GatesTable.model_validate_json(json.dumps(public["gates"])),
        method=AnalysisTable.model_validate_json(json.dumps(public["analysis"])),
        battery=battery,
        contracts={each["name"]: each["contract"] for each in public["configurations"] if _is_plain(each)},
        certified=certified_by(manifest["files"]),
        nested=nested_parts(parts),
        schedule=public["schedule"]["kind"],
        assignment=None if assignment is None else StoredAssignment.read(assignment),
    )


def _is_plain(configuration: Mapping[str, Any]) -> bool:
    try:
        return is_plain(get_contract(configuration["contract"], **configuration["contract_options"]))
    except (UsageError, TypeError):
        return False  # an option that is no single word is here as a digest: it is none of the defaults
