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
from darkcurrent.results.comparison import (
    ArmComparison,
    CallChange,
    CellComparison,
    CellName,
    Comparison,
    StudyName,
)
from darkcurrent.results.risk import (
    BreakEven,
    CallCounts,
    CellRisk,
    GridSummary,
    LossTable,
    Margin,
    PairBreakEvens,
    RateTable,
    RiskResult,
    Selection,
)
from darkcurrent.results.study import SCHEMA_NAME, Analysis, AnalysisState
from darkcurrent.results.tests import FamilyResult, RandomizationTestResult

__all__ = [
    "SCHEMA_NAME",
    "Analysis",
    "AnalysisState",
    "ArmComparison",
    "BreakEven",
    "CallChange",
    "CallCounts",
    "CampaignResult",
    "CampaignState",
    "CellComparison",
    "CellName",
    "CellResult",
    "CellRisk",
    "CloneResult",
    "Comparison",
    "ContextResult",
    "ContractReading",
    "ContrastResult",
    "CoverageResult",
    "FamilyResult",
    "GridSummary",
    "LadderResult",
    "LossTable",
    "Margin",
    "NestedResult",
    "NullPairsResult",
    "OrderResult",
    "PairBreakEvens",
    "RandomizationTestResult",
    "RateTable",
    "RetestResult",
    "RiskResult",
    "Selection",
    "SignalResult",
    "StepResult",
    "StratumResult",
    "StudyName",
    "Timeline",
    "VerdictCounts",
]
