"""What an analysis has to know besides the ledger: the seam between a study and its evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from darkcurrent.protocol.freeze import Frozen
from darkcurrent.protocol.model import AnalysisTable, GatesTable
from darkcurrent.schedules import StoredAssignment
from darkcurrent.verdicts import contract_of, is_plain

__all__ = ["Declared"]


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
            battery=_battery(frozen),
            contracts={c.name: c.contract for c in protocol.configuration if is_plain(contract_of(c))},
            certified=_certified(frozen),
            nested=_nested(frozen),
            schedule=protocol.schedule.kind,
            assignment=StoredAssignment.read(stored) if (stored := frozen.assignment) else None,
        )


_CERTIFICATES = {
    "finite-code": "both programs were run on every declared input",
    "labels": "raters called the two texts equal before any judge was asked",
}
"""Name of a receipt to what it proves of the equivalent arm."""


def _certified(frozen: Frozen) -> str | None:
    return next((words for name, words in _CERTIFICATES.items() if frozen.receipt(name) is not None), None)


def _nested(frozen: Frozen) -> dict[str, frozenset[str]]:
    """Return the parts of the items that their facts name: `nested` is a list of names."""
    named = [(name, item.id) for item in frozen.items for name in item.facts.get("nested", [])]
    return {
        name: frozenset(item for own, item in named if own == name) for name in sorted({n for n, _ in named})
    }


def _battery(frozen: Frozen) -> dict[str, Any]:
    return {
        "source": frozen.protocol.battery.source,
        "items": len(frozen.items),
        "strata": len({item.stratum for item in frozen.items}),
        "refused": len(frozen.refusals),
        "flagged": {
            flag: sum(flag in item.flags for item in frozen.items)
            for flag in sorted({f for i in frozen.items for f in i.flags})
        },
    }
