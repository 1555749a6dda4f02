"""The result of an analysis: what `analysis.json` holds, field by field.

Numbers are finite or null; where one is null, `reason` beside it says why.
"""

from __future__ import annotations

from darkcurrent.results.arms import (
    ContextResult,
    ContrastResult,
    CoverageResult,
    LadderResult,
    NestedResult,
    NullPairsResult,
    StepResult,
)
from darkcurrent.results.campaign import CampaignResult, CampaignState, ContractReading, Timeline
from darkcurrent.results.cell import (
    CellResult,
    CloneResult,
    OrderResult,
    RetestResult,
    SignalResult,
    StratumResult,
    VerdictCounts,
)
from darkcurrent.results.study import SCHEMA_NAME, Analysis, AnalysisState
from darkcurrent.results.tests import FamilyResult, RandomizationTestResult

__all__ = [
    "SCHEMA_NAME",
    "Analysis",
    "AnalysisState",
    "CampaignResult",
    "CampaignState",
    "CellResult",
    "CloneResult",
    "ContextResult",
    "ContractReading",
    "ContrastResult",
    "CoverageResult",
    "FamilyResult",
    "LadderResult",
    "NestedResult",
    "NullPairsResult",
    "OrderResult",
    "RandomizationTestResult",
    "RetestResult",
    "SignalResult",
    "StepResult",
    "StratumResult",
    "Timeline",
    "VerdictCounts",
]
