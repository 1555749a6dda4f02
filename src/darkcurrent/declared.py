"""What an analysis has to know besides the ledger: the seam between a study and its evaluation."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from darkcurrent.protocol.freeze import Frozen
from darkcurrent.protocol.model import AnalysisTable, GatesTable
from darkcurrent.protocol.public import battery_counts
from darkcurrent.protocol.timestamp import FOLDER, Commitment, commitment_of
from darkcurrent.schedules import StoredAssignment
from darkcurrent.verdicts import contract_of, is_plain

__all__ = ["Declared", "certified_by", "nested_parts"]


@dataclass(frozen=True)
class Declared:
    """What an analysis has to know besides the ledger.

    Attributes
    ----------
    study, title, study_digest : str
        What the study is called, and the digest of what was fixed before the first call.
    configurations, criteria : tuple of str
        The cells are their product, in this order.
    battery : dict
        What was shown, in counts.
    contracts : dict
        Configuration to the contract that its replies were read under, where that has its default options.
    certified : str or None
        What proves that the texts of the equivalent arm are equally good; None where nothing does.
    nested : dict
        Name of a part of the items, chosen before the first call, to their ids.
    commitment : Commitment or None
        What a third party says of when the study digest existed.
    schedule : str or None
        The kind of schedule; None where nothing was scheduled.
    assignment : StoredAssignment or None
        What the schedule drew at random, and stored.
    ungraded : str or None
        Why nothing is graded, where that is so: every number is descriptive then, and nothing is HOLD.
    """

    study: str
    title: str
    study_digest: str
    configurations: tuple[str, ...]
    criteria: tuple[str, ...]
    gates: GatesTable
    method: AnalysisTable
    battery: dict[str, Any]
    contracts: dict[str, str]
    certified: str | None = None
    nested: dict[str, frozenset[str]] = field(default_factory=dict)
    commitment: Commitment | None = None
    schedule: str | None = None
    assignment: StoredAssignment | None = None
    ungraded: str | None = None

    @classmethod
    def of(cls, frozen: Frozen) -> Declared:
        """Return what a frozen study declares."""
        protocol = frozen.protocol
        return cls(
            study=protocol.study.name,
            title=protocol.study.title,
            study_digest=frozen.study_digest,
            configurations=tuple(configuration.name for configuration in protocol.configuration),
            criteria=tuple(protocol.criteria),
            gates=protocol.gates,
            method=protocol.analysis,
            battery=battery_counts(protocol.battery.source, frozen.items, len(frozen.refusals)),
            contracts={c.name: c.contract for c in protocol.configuration if is_plain(contract_of(c))},
            commitment=commitment_of(frozen.folder.parent / FOLDER, frozen.study_digest),
            certified=certified_by(frozen.digests),
            nested=nested_parts(
                (name, item.id) for item in frozen.items for name in item.facts.get("nested", [])
            ),
            schedule=protocol.schedule.kind,
            assignment=StoredAssignment.read(stored) if (stored := frozen.assignment) else None,
        )


_CERTIFICATES = {
    "receipts/finite-code.json": "both programs were run on every declared input",
    "receipts/labels.json": "raters called the two texts equal before any judge was asked",
}
"""A frozen receipt to what it proves of the equivalent arm."""


def certified_by(files: Collection[str]) -> str | None:
    """Return what proves that equivalents are equally good, by the names of the frozen files."""
    return next((words for name, words in _CERTIFICATES.items() if name in files), None)


def nested_parts(named: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Return the parts of the items by name, of pairs of a part's name and an item's id."""
    parts: dict[str, set[str]] = {}
    for name, item in named:
        parts.setdefault(name, set()).add(item)
    return {name: frozenset(parts[name]) for name in sorted(parts)}
