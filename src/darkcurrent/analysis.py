"""From ledgers to cells: the three questions, each answered on its own."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import polars as pl

from darkcurrent._version import __version__
from darkcurrent.capture import JournalSummary, campaign_state
from darkcurrent.gates import Gate, clone_gate, joint_label, operational_reasons, utility_gate
from darkcurrent.patterns import PATTERNS, pair_patterns
from darkcurrent.protocol.freeze import Frozen
from darkcurrent.protocol.model import AnalysisTable, GatesTable
from darkcurrent.records import NullStratum
from darkcurrent.results import (
    Analysis,
    CampaignResult,
    CellResult,
    CloneResult,
    OrderResult,
    SignalResult,
    StratumResult,
    VerdictCounts,
)
from darkcurrent.stats import bootstrap, clone_tail, clopper_pearson_upper, holm

__all__ = ["Declared", "analyze"]

_NULL_STRATA: tuple[NullStratum, ...] = ("core", "edge-empty", "edge-whitespace")
_HELD = "the campaign is HOLD"


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
    """

    study: str
    title: str
    study_digest: str
    configurations: tuple[str, ...]
    criteria: tuple[str, ...]
    gates: GatesTable
    method: AnalysisTable
    battery: dict[str, Any]

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
        )


def analyze(
    declared: Declared, ledger: pl.DataFrame, summaries: dict[str, JournalSummary | None]
) -> Analysis:
    """Evaluate a study.

    Parameters
    ----------
    declared : Declared
        What was fixed before the first call.
    ledger : polars.DataFrame
        All campaigns' ledgers, one below the other.
    summaries : dict
        Configuration name to what its journal says; None where nothing was captured.
    """
    patterns = pair_patterns(ledger)
    campaigns = [
        _campaign(
            name,
            _of(ledger, configuration=name),
            _of(patterns, configuration=name),
            summaries[name],
            declared.gates,
        )
        for name in declared.configurations
    ]
    held = {campaign.configuration for campaign in campaigns if campaign.state == "HOLD"}
    keys = [(campaign.configuration, criterion) for campaign in campaigns for criterion in declared.criteria]
    clones = _clones(ledger, keys, held, declared.gates)
    cells = []
    for configuration, criterion in keys:
        own = _of(ledger, configuration=configuration, criterion=criterion)
        signal = _signal(
            own.filter(pl.col("arm") == "signal"), configuration in held, declared.method, declared.gates
        )
        clone = clones[configuration, criterion]
        cells.append(
            CellResult(
                configuration=configuration,
                criterion=criterion,
                state="HOLD" if configuration in held else "EVALUATED",
                clone=clone,
                signal=signal,
                patterns=_pattern_counts(_of(patterns, configuration=configuration, criterion=criterion)),
                joint=joint_label(clone["core"].gate, signal.gate),
            )
        )
    return Analysis(
        schema="darkcurrent/analysis/1",
        study=declared.study,
        title=declared.title,
        study_digest=declared.study_digest,
        state="COMPLETE" if not held else "HOLD" if len(held) == len(campaigns) else "PARTIAL",
        battery=declared.battery,
        gates=declared.gates.model_dump(mode="json"),
        method=declared.method.model_dump(mode="json"),
        campaigns=campaigns,
        cells=cells,
        tests=[],
        risk={},
        software=_software(),
    )


def _campaign(
    name: str, ledger: pl.DataFrame, patterns: pl.DataFrame, summary: JournalSummary | None, gates: GatesTable
) -> CampaignResult:
    ended = ledger.filter(pl.col("ending") == "terminal")
    invalid = ended.filter(pl.col("value").is_null())
    by_reason = dict(
        invalid["reason"]
        .value_counts(sort=True)
        .sort(["count", "reason"], descending=[True, False])
        .iter_rows()
    )
    missing, ambiguous = (_count(ledger["ending"] == ending) for ending in ("missing", "ambiguous"))
    whole = patterns.filter(pl.col("pattern") == "incomplete").height
    reasons = operational_reasons(
        scheduled=ledger.height,
        invalid=invalid.height,
        missing=missing,
        ambiguous=ambiguous,
        mismatched=_count(invalid["reason"] == "mismatched-model"),
        # A pair is also incomplete where a call is missing; that has a reason of its own.
        irreconcilable=whole if not missing and not ambiguous else 0,
        ceiling=gates.invalid_ceiling,
        invalid_by_reason=by_reason,
    )
    events = summary.events if summary else []
    opened = next((event.detail for event in events if event.kind == "opened"), {})
    stopped = next((event.detail for event in events if event.kind == "stopped"), {})
    return CampaignResult(
        configuration=name,
        state="HOLD" if reasons else "COMPLETE",
        capture=campaign_state(summary, ledger.height),
        stopped=stopped.get("why"),
        scheduled=ledger.height,
        terminal=ended.height,
        invalid=invalid.height,
        ambiguous=ambiguous,
        missing=missing,
        invalid_by_reason=by_reason,
        reasons=reasons,
        basis=opened.get("basis"),
        served_models=ended["served_model"].drop_nulls().unique().sort().to_list(),
        prompt_tokens=_sum(ended["prompt_tokens"]),
        completion_tokens=_sum(ended["completion_tokens"]),
        usage_unknown=ended["prompt_tokens"].null_count(),
        latency_ms_median=_rounded(ended["latency_ms"].median()),
    )


Key = tuple[str, str]


def _clones(
    ledger: pl.DataFrame, keys: Sequence[Key], held: set[str], gates: GatesTable
) -> dict[Key, dict[NullStratum, CloneResult]]:
    """Grade the null of every cell. A cell that is HOLD stays in its family, so that it makes no other one's p smaller."""
    counts = {
        (configuration, criterion, stratum): _clone_counts(
            _of(ledger, configuration=configuration, criterion=criterion, null_stratum=stratum)
        )
        for configuration, criterion in keys
        for stratum in _NULL_STRATA
    }
    tails: dict[Key, float | None] = {}
    for key in keys:
        n, adverse = counts[*key, "core"]["n"], counts[*key, "core"]["adverse"]
        graded = key[0] not in held and n > 0 and gates.clone_threshold is not None
        tails[key] = (
            clone_tail(adverse, n, gates.clone_threshold) if graded and gates.clone_threshold else None
        )
    adjusted: dict[Key, float | None] = {}
    for family in _families(keys, gates.clone_family):
        adjusted |= dict(zip(family, holm([tails[key] for key in family]), strict=True))
    results: dict[Key, dict[NullStratum, CloneResult]] = {}
    for key in keys:
        results[key] = {
            stratum: _clone(
                stratum,
                counts[*key, stratum],
                tails[key],
                adjusted[key],
                key[0] in held,
                gates.clone_threshold,
            )
            for stratum in _NULL_STRATA
        }
    return results


def _clone_counts(calls: pl.DataFrame) -> dict[str, int]:
    ended = calls.filter(pl.col("ending") == "terminal")
    a, b = (_count(ended["value"] == slot) for slot in "AB")
    invalid = ended["value"].null_count()
    return {"n": ended.height, "adverse": a + b + invalid, "a": a, "b": b, "invalid": invalid}


def _clone(
    stratum: NullStratum,
    counts: dict[str, int],
    p: float | None,
    p_holm: float | None,
    held: bool,
    threshold: float | None,
) -> CloneResult:
    gate: Gate = "HOLD" if held else "NOT GRADED"
    if held:
        return CloneResult(**counts, gate=gate, reason=_HELD)
    if counts["n"] == 0:
        return CloneResult(**counts, gate=gate, reason="no such clone is in the battery")
    if stratum != "core":
        return CloneResult(
            **counts,
            gate=gate,
            reason="edge clones are a stress test of the pipeline; no rate is inferred from them",
        )
    upper = clopper_pearson_upper(counts["adverse"], counts["n"])
    gate = clone_gate(p_holm, upper, threshold)
    reason = "no `gates.clone_threshold` is declared" if threshold is None else None
    return CloneResult(**counts, upper=upper, p=p, p_holm=p_holm, gate=gate, reason=reason)


def _families(keys: Sequence[Key], kind: str) -> list[list[Key]]:
    if kind == "study":
        return [list(keys)]
    names = dict.fromkeys(configuration for configuration, _ in keys)
    return [[key for key in keys if key[0] == name] for name in names]


def _signal(calls: pl.DataFrame, held: bool, table: AnalysisTable, gates: GatesTable) -> SignalResult:
    ended = calls.filter(pl.col("ending") == "terminal").with_columns(
        success=(pl.col("winner") == pl.col("target")).fill_null(value=False)
    )
    correct, tie = _count(ended["success"]), _count(ended["value"] == "tie")
    invalid = ended["value"].null_count()
    verdicts = VerdictCounts(
        correct=correct, tie=tie, wrong=ended.height - correct - tie - invalid, invalid=invalid
    )
    orders = {
        order: OrderResult(n=own.height, success=_count(own["success"]))
        for order in ("AB", "BA")
        for own in [_of(ended, order=order)]
    }
    items = calls["item"].n_unique()
    if held:
        return SignalResult(
            items=items, gate="HOLD", reason=_HELD, orders=orders, verdicts=verdicts, strata={}
        )
    if items == 0:
        reason = "the battery has no signal arm"
        return SignalResult(
            items=0, gate="NOT GRADED", reason=reason, orders=orders, verdicts=verdicts, strata={}
        )
    scores = ended.group_by("item", "stratum", maintain_order=True).agg(score=pl.col("success").mean())
    by_stratum = scores.group_by("stratum").agg(items=pl.len(), mean=pl.col("score").mean()).sort("stratum")
    arguments: dict[str, Any] = {"weights": table.weights}
    values, strata = scores["score"].to_numpy(), scores["stratum"].to_list()
    exact = bootstrap(values, strata, method="exact", **arguments)
    drawn = bootstrap(values, strata, method="monte-carlo", draws=table.draws, seed=table.seed, **arguments)
    return SignalResult(
        items=items,
        mean=exact.mean,
        lower=exact.lower,
        interval=exact.interval,
        bounds={"exact": exact.lower, "monte-carlo": drawn.lower},
        degenerate=exact.degenerate,
        gate=utility_gate(exact.lower, gates.utility_threshold),
        reason="no `gates.utility_threshold` is declared" if gates.utility_threshold is None else None,
        orders=orders,
        verdicts=verdicts,
        strata={name: StratumResult(items=count, mean=mean) for name, count, mean in by_stratum.iter_rows()},
    )


def _pattern_counts(patterns: pl.DataFrame) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for arm in patterns["arm"].unique(maintain_order=True):
        found = dict(_of(patterns, arm=arm)["pattern"].value_counts().iter_rows())
        counts[arm] = {pattern: found.get(pattern, 0) for pattern in PATTERNS}
    return counts


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


def _of(frame: pl.DataFrame, **values: str) -> pl.DataFrame:
    return frame.filter([pl.col(name) == value for name, value in values.items()])


def _count(flags: pl.Series) -> int:
    return int(flags.sum())


def _sum(counts: pl.Series) -> int | None:
    return int(counts.sum()) if counts.null_count() < counts.len() else None


def _rounded(value: Any) -> float | None:
    return None if value is None else round(float(value), 3)


def _software() -> dict[str, str]:
    return {
        "darkcurrent": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "polars")},
    }
