"""From ledgers to cells: the three questions, each answered on its own."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import polars as pl

from darkcurrent._version import __version__
from darkcurrent.capture import JournalSummary, campaign_state
from darkcurrent.declared import Declared
from darkcurrent.descriptive import pattern_counts, retest, sensitivity
from darkcurrent.gates import Gate, clone_gate, joint_label, operational_reasons, utility_gate
from darkcurrent.patterns import pair_patterns
from darkcurrent.records import NullStratum
from darkcurrent.results import (
    Analysis,
    AnalysisState,
    CampaignResult,
    CampaignState,
    CellResult,
    CloneResult,
    FamilyResult,
    OrderResult,
    SignalResult,
    StratumResult,
    VerdictCounts,
)
from darkcurrent.stats import bootstrap, clone_tail, clopper_pearson_upper, conservative_lower, holm

__all__ = ["Declared", "analyze"]

_NULL_STRATA: tuple[NullStratum, ...] = ("core", "edge-empty", "edge-whitespace")
_HELD = "the campaign is HOLD"


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
            declared,
        )
        for name in declared.configurations
    ]
    held = {campaign.configuration for campaign in campaigns if campaign.state == "HOLD"}
    # Recorded data need not have every judge under every criterion; a scheduled campaign has.
    present = set(ledger.select("configuration", "criterion").unique().iter_rows())
    keys = [
        key
        for campaign in campaigns
        for criterion in declared.criteria
        if (key := (campaign.configuration, criterion)) in present
    ]
    clones = _clones(ledger, keys, held, declared)
    cells = []
    for configuration, criterion in keys:
        own = _of(ledger, configuration=configuration, criterion=criterion)
        signal = _signal(own.filter(pl.col("arm") == "signal"), configuration in held, declared)
        clone = clones[configuration, criterion]
        cells.append(
            CellResult(
                configuration=configuration,
                criterion=criterion,
                state="NOT GRADED" if declared.ungraded else "HOLD" if configuration in held else "EVALUATED",
                clone=clone,
                signal=signal,
                patterns=pattern_counts(_of(patterns, configuration=configuration, criterion=criterion)),
                retest=retest(own),
                joint=joint_label(clone["core"].gate, signal.gate),
            )
        )
    return Analysis(
        schema="darkcurrent/analysis/1",
        study=declared.study,
        title=declared.title,
        study_digest=declared.study_digest,
        state=_state({campaign.state for campaign in campaigns}),
        battery=declared.battery,
        gates=declared.gates.model_dump(mode="json"),
        method=declared.method.model_dump(mode="json"),
        campaigns=campaigns,
        cells=cells,
        tests=_tests(declared),
        risk={},
        software=_software(),
    )


def _state(campaigns: set[CampaignState]) -> AnalysisState:
    return campaigns.pop() if len(campaigns) == 1 else "PARTIAL"


def _campaign(
    name: str,
    ledger: pl.DataFrame,
    patterns: pl.DataFrame,
    summary: JournalSummary | None,
    declared: Declared,
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
    incomplete = patterns.filter(pl.col("pattern") == "incomplete").height

    def held_with(count: int) -> list[str]:
        return operational_reasons(
            scheduled=ledger.height,
            invalid=count,
            missing=missing,
            ambiguous=ambiguous,
            mismatched=_count(invalid["reason"] == "mismatched-model"),
            # A pair is also incomplete where a call is missing; that has a reason of its own.
            irreconcilable=incomplete if not missing and not ambiguous else 0,
            ceiling=declared.gates.invalid_ceiling,
            invalid_by_reason=by_reason,
        )

    graded = declared.ungraded is None
    reasons = (
        held_with(invalid.height) if graded else _why_not_graded(declared, ledger.height, missing, incomplete)
    )
    events = summary.events if summary else []
    opened = next((event.detail for event in events if event.kind == "opened"), {})
    stopped = next((event.detail for event in events if event.kind == "stopped"), {})
    return CampaignResult(
        configuration=name,
        state="NOT GRADED" if not graded else "HOLD" if reasons else "COMPLETE",
        capture=campaign_state(summary, ledger.height) if graded else "IMPORTED",
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
        sensitivity=sensitivity(ledger, declared.contracts.get(name), held_with if graded else None),
    )


def _why_not_graded(declared: Declared, calls: int, missing: int, incomplete: int) -> list[str]:
    assert declared.ungraded is not None
    reasons = [declared.ungraded]
    if missing:
        reasons.append(f"{missing} of {calls} calls have no reply on record")
    if incomplete:
        reasons.append(f"{incomplete} pairs have not exactly one call in each order")
    return reasons


Key = tuple[str, str]


def _clones(
    ledger: pl.DataFrame, keys: Sequence[Key], held: set[str], declared: Declared
) -> dict[Key, dict[NullStratum, CloneResult]]:
    """Grade the null of every cell. A cell that is HOLD stays in its family, so that it makes no other one's p smaller."""
    gates = declared.gates
    found = set(ledger["null_stratum"].drop_nulls().unique())
    strata: tuple[NullStratum, ...] = (*_NULL_STRATA, "natural") if "natural" in found else _NULL_STRATA
    counts = {
        (configuration, criterion, stratum): _clone_counts(
            _of(ledger, configuration=configuration, criterion=criterion, null_stratum=stratum)
        )
        for configuration, criterion in keys
        for stratum in strata
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
                declared,
            )
            for stratum in strata
        }
    return results


def _clone_counts(calls: pl.DataFrame) -> dict[str, int]:
    ended = calls.filter(pl.col("ending") == "terminal")
    a, b = (_count(ended["value"] == slot) for slot in "AB")
    invalid = ended["value"].null_count()
    adverse = ended.filter(pl.col("value").ne_missing("tie"))
    items, adverse_items = (frame["item"].n_unique() for frame in (ended, adverse))
    return {"n": items, "adverse": adverse_items, "a": a, "b": b, "invalid": invalid}


def _clone(
    stratum: NullStratum,
    counts: dict[str, int],
    p: float | None,
    p_holm: float | None,
    held: bool,
    declared: Declared,
) -> CloneResult:
    threshold = declared.gates.clone_threshold
    gate: Gate = "HOLD" if held else "NOT GRADED"
    if held:
        return CloneResult(**counts, gate=gate, reason=_HELD)
    if counts["n"] == 0:
        return CloneResult(**counts, gate=gate, reason=declared.ungraded or "no such clone is in the battery")
    if stratum.startswith("edge-"):
        return CloneResult(
            **counts,
            gate=gate,
            reason="edge clones are a stress test of the pipeline; no rate is inferred from them",
        )
    upper = clopper_pearson_upper(counts["adverse"], counts["n"])
    gate = clone_gate(p_holm, upper, threshold)
    undeclared = declared.ungraded or "no `gates.clone_threshold` is declared"
    reason = undeclared if threshold is None else None
    return CloneResult(**counts, upper=upper, p=p, p_holm=p_holm, gate=gate, reason=reason)


def _families(keys: Sequence[Key], kind: str) -> list[list[Key]]:
    if kind == "study":
        return [list(keys)]
    names = dict.fromkeys(configuration for configuration, _ in keys)
    return [[key for key in keys if key[0] == name] for name in names]


def _signal(calls: pl.DataFrame, held: bool, declared: Declared) -> SignalResult:
    table, gates = declared.method, declared.gates
    calls = calls.with_columns(success=(pl.col("winner") == pl.col("target")).fill_null(value=False))
    ended = calls.filter(pl.col("ending") == "terminal")
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
    places = {
        place: OrderResult(n=own.height, success=_count(own["success"]))
        for place, slot in (("first", "slot_a"), ("second", "slot_b"))
        for own in [ended.filter(pl.col(slot) == pl.col("target"))]
    }
    shown: dict[str, Any] = {"orders": orders, "places": places, "verdicts": verdicts}
    items = calls["item"].n_unique()
    if held:
        return SignalResult(items=items, gate="HOLD", reason=_HELD, strata={}, **shown)
    if items == 0:
        reason = "no item has a target" if declared.ungraded else "the battery has no signal arm"
        return SignalResult(items=0, gate="NOT GRADED", reason=reason, strata={}, **shown)
    # A recorded call without a reply is no success either: it stays in the denominator.
    scores = calls.group_by("item", "stratum", maintain_order=True).agg(score=pl.col("success").mean())
    by_stratum = scores.group_by("stratum").agg(items=pl.len(), mean=pl.col("score").mean()).sort("stratum")
    arguments: dict[str, Any] = {"weights": table.weights, "draws": table.draws, "seed": table.seed}
    values, strata = scores["score"].to_numpy(), scores["stratum"].to_list()
    exact = bootstrap(values, strata, method="exact", **arguments)
    drawn = bootstrap(values, strata, method="monte-carlo", **arguments)
    return SignalResult(
        items=items,
        mean=exact.mean,
        lower=exact.lower,
        interval=exact.interval,
        bounds={
            # Where the scores lie on no lattice, what was asked for as exact was drawn: it is not called exact.
            "exact": exact.lower if exact.method == "exact" else None,
            "monte-carlo": drawn.lower,
            "conservative": conservative_lower(values, strata, weights=table.weights).lower,
        },
        method=exact.method,
        degenerate=exact.degenerate,
        caveat=exact.caveat,
        remark=exact.reason,
        gate=utility_gate(exact.lower, gates.utility_threshold),
        reason=(declared.ungraded or "no `gates.utility_threshold` is declared")
        if gates.utility_threshold is None
        else None,
        **shown,
        strata={name: StratumResult(items=count, mean=mean) for name, count, mean in by_stratum.iter_rows()},
    )


_UNASSIGNED = (
    "the order of the calls is by hash: no random assignment is stored, so that nothing says what could have been "
    "assigned otherwise"
)


def _tests(declared: Declared) -> list[FamilyResult]:
    """Say of each family of randomization tests why this schedule gives none."""
    families = ["order and criterion x order"]
    if len(declared.criteria) > 1:
        families = ["criterion", *families, "clone-criterion"]
    return [
        FamilyResult(
            configuration=name, family=family, gate="NOT GRADED", reason=declared.ungraded or _UNASSIGNED
        )
        for name in declared.configurations
        for family in families
    ]


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
