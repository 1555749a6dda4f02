"""The head of a judge card as data. After a change, write its JSON schema anew: see `card_schema`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from darkcurrent.gates import Gate, Joint
from darkcurrent.printable import printable, shortened
from darkcurrent.records import Record
from darkcurrent.results import Analysis, CampaignState, CellResult, LossTable, RateTable

__all__ = ["CARD_SCHEMA", "CardHead", "card_head"]

CARD_SCHEMA: Literal["darkcurrent/judge-card/1"] = "darkcurrent/judge-card/1"

_LONGEST = 300


class _Clone(Record):
    """Identical texts: items, those not tied, the one-sided 95 % upper bound and the Holm-adjusted p."""

    items: int = Field(ge=0)
    adverse: int = Field(ge=0)
    upper: float | None
    p_holm: float | None
    gate: Gate


class _Utility(Record):
    """The declared target: items, mean share of right choices, and the one-sided 95 % lower bound."""

    items: int = Field(ge=0)
    mean: float | None
    lower: float | None
    gate: Gate


class _Risk(Record):
    """Expected loss in each call at `losses`, from observed `rates`; null where they are not known."""

    losses: LossTable
    rates: RateTable | None
    risk: float | None


class _Criterion(Record):
    """What was found under one criterion."""

    criterion: str
    joint: Joint
    clone: _Clone
    utility: _Utility
    risk: _Risk


class _Study(Record):
    """The audit that the card sums up; `digest` covers all that was fixed before the first call."""

    name: str
    title: str
    digest: str = Field(pattern="^[0-9a-f]{64}$")
    source: str
    items: int = Field(ge=0)
    strata: int = Field(ge=0)


class _Judge(Record):
    """The configuration that was audited."""

    name: str
    digest: str | None = Field(pattern="^[0-9a-f]{64}$")
    backend: str | None
    model: str | None
    contract: str | None
    served_models: list[str]
    identity: Literal["verified digest", "service's declaration", "unknown"]


class _Calls(Record):
    """The calls of the configuration as a whole."""

    state: CampaignState
    scheduled: int = Field(ge=0)
    ended: int = Field(ge=0)
    invalid: int = Field(ge=0)
    reasons: list[str]


class CardHead(Record):
    """The head of a judge card: what a program reads of it. Numbers are finite or null."""

    schema_name: Literal["darkcurrent/judge-card/1"] = Field(alias="schema")
    tags: list[str]
    study: _Study
    judge: _Judge
    calls: _Calls
    thresholds: dict[str, float | None]
    results: list[_Criterion]
    software: dict[str, str]


def card_head(analysis: Analysis, name: str, declared: dict[str, Any], digest: str | None) -> CardHead:
    """Return the head of a configuration's card.

    Parameters
    ----------
    name : str
        The configuration.
    declared : dict
        What the protocol declares of it; empty for imported verdicts.
    digest : str or None
        Of the frozen configuration.
    """
    campaign = next(each for each in analysis.campaigns if each.configuration == name)
    return CardHead(
        schema=CARD_SCHEMA,
        tags=["llm-judge", "judge-audit", "darkcurrent"],
        study=_Study(
            name=_text(analysis.study),
            title=_text(analysis.title),
            digest=analysis.study_digest,
            source=_text(str(analysis.battery["source"])),
            items=analysis.battery["items"],
            strata=analysis.battery["strata"],
        ),
        judge=_Judge(
            name=_text(name),
            digest=digest,
            **{
                key: _text(str(declared[key])) if declared.get(key) else None
                for key in ("backend", "model", "contract")
            },
            served_models=list(map(_text, campaign.served_models[:20])),
            identity=campaign.basis
            if campaign.basis in ("verified digest", "service's declaration")
            else "unknown",  # type: ignore[arg-type]
        ),
        calls=_Calls(
            state=campaign.state,
            scheduled=campaign.scheduled,
            ended=campaign.terminal,
            invalid=campaign.invalid,
            reasons=list(map(_text, campaign.reasons)),
        ),
        thresholds={
            key: analysis.gates[key] for key in ("invalid_ceiling", "clone_threshold", "utility_threshold")
        },
        results=[_criterion(analysis, cell) for cell in analysis.cells if cell.configuration == name],
        software={key: _text(value) for key, value in analysis.software.items()},
    )


def _criterion(analysis: Analysis, cell: CellResult) -> _Criterion:
    core, signal = cell.clone["core"], cell.signal
    priced = next(
        each for each in analysis.risk.cells
        if (each.configuration, each.criterion) == (cell.configuration, cell.criterion)
    )  # fmt: skip
    return _Criterion(
        criterion=_text(cell.criterion),
        joint=cell.joint,
        clone=_Clone(
            items=core.n, adverse=core.adverse, upper=core.upper, p_holm=core.p_holm, gate=core.gate
        ),
        utility=_Utility(items=signal.items, mean=signal.mean, lower=signal.lower, gate=signal.gate),
        risk=_Risk(losses=analysis.risk.losses, rates=priced.rates, risk=priced.risk),
    )


def _text(text: str) -> str:
    return printable(shortened(text, _LONGEST))
