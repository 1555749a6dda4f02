"""What an analysis has to know besides the ledger: the seam between a study and its evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from darkcurrent.protocol.freeze import Frozen
from darkcurrent.protocol.model import AnalysisTable, GatesTable
from darkcurrent.protocol.public import battery_counts
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
        )
