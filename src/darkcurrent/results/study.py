"""A study's result: what `analysis.json` holds."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from darkcurrent.protocol.timestamp import Commitment
from darkcurrent.records import Record
from darkcurrent.results.arms import ContrastResult
from darkcurrent.results.campaign import CampaignResult
from darkcurrent.results.cell import CellResult
from darkcurrent.results.risk import RiskResult
from darkcurrent.results.tests import FamilyResult

__all__ = ["SCHEMA_NAME", "Analysis", "AnalysisState"]

SCHEMA_NAME = "darkcurrent/analysis/1"

AnalysisState = Literal["COMPLETE", "PARTIAL", "HOLD", "NOT GRADED"]


class Analysis(Record):
    """A whole study.

    Attributes
    ----------
    state : str
        `COMPLETE` where every campaign may be evaluated, `HOLD` where none may, else `PARTIAL`; `NOT GRADED`
        where nothing was scheduled before the first call.
    battery : dict
        What was shown: source, items, strata, flagged items.
    gates, method : dict
        The declared thresholds, and how utility is resampled.
    commitment : Commitment or None
        What a third party says of when the study digest existed; None where nobody was asked.
    contrasts : list of ContrastResult
        What every further criterion changes, by configuration and arm.
    software : dict
        Versions that the numbers were computed with.
    """

    schema_name: str = Field(default=SCHEMA_NAME, alias="schema")
    study: str
    title: str
    study_digest: str
    commitment: Commitment | None = None
    state: AnalysisState
    battery: dict[str, Any]
    gates: dict[str, Any]
    method: dict[str, Any]
    campaigns: list[CampaignResult]
    cells: list[CellResult]
    tests: list[FamilyResult]
    contrasts: list[ContrastResult] = Field(default_factory=list)
    risk: RiskResult
    software: dict[str, str]
