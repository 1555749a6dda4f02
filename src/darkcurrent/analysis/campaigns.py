"""The operational question: may a campaign be evaluated at all?"""

from __future__ import annotations

import polars as pl

from darkcurrent.analysis.frames import count, rounded, total
from darkcurrent.analysis.history import deviations
from darkcurrent.analysis.timeline import timeline
from darkcurrent.capture import JournalSummary, campaign_state
from darkcurrent.declared import Declared
from darkcurrent.descriptive import sensitivity
from darkcurrent.gates import operational_reasons
from darkcurrent.results import CampaignResult

__all__ = ["evaluate_campaign"]


def evaluate_campaign(
    name: str,
    ledger: pl.DataFrame,
    patterns: pl.DataFrame,
    summary: JournalSummary | None,
    declared: Declared,
) -> CampaignResult:
    """Say of one configuration's calls whether they may be evaluated, and what they were."""
    ended = ledger.filter(pl.col("ending") == "terminal")
    invalid = ended.filter(pl.col("value").is_null())
    by_reason = dict(
        invalid["reason"]
        .value_counts(sort=True)
        .sort(["count", "reason"], descending=[True, False])
        .iter_rows()
    )
    missing, ambiguous = (count(ledger["ending"] == ending) for ending in ("missing", "ambiguous"))
    incomplete = patterns.filter(pl.col("pattern") == "incomplete").height

    mismatched = count(invalid["reason"] == "mismatched-model")
    events = summary.events if summary else []
    opened = next((event.detail for event in events if event.kind == "opened"), {})
    stopped = next((event.detail for event in events if event.kind == "stopped"), {})
    another = stopped.get("state") == "PARTIAL_HOLD_MODEL" and not mismatched

    def held_with(invalid_calls: int) -> list[str]:
        return operational_reasons(
            scheduled=ledger.height,
            invalid=invalid_calls,
            missing=missing,
            ambiguous=ambiguous,
            mismatched=mismatched,
            # A pair is also incomplete where a call is missing; that has a reason of its own.
            irreconcilable=incomplete if not missing and not ambiguous else 0,
            ceiling=declared.gates.invalid_ceiling,
            invalid_by_reason=by_reason,
            changed=stopped["why"] if another else None,
        )

    graded = declared.ungraded is None
    reasons = (
        held_with(invalid.height) if graded else _why_not_graded(declared, ledger.height, missing, incomplete)
    )
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
        prompt_tokens=total(ended["prompt_tokens"]),
        completion_tokens=total(ended["completion_tokens"]),
        usage_unknown=ended["prompt_tokens"].null_count(),
        latency_ms_median=rounded(ended["latency_ms"].median()),
        sensitivity=sensitivity(ledger, declared.contracts.get(name), held_with if graded else None),
        identity=opened.get("identity"),
        deviations=deviations(summary) if summary else [],
        timeline=timeline(ledger, summary.refusals if summary else {}) if graded else None,
    )


def _why_not_graded(declared: Declared, calls: int, missing: int, incomplete: int) -> list[str]:
    assert declared.ungraded is not None
    reasons = [declared.ungraded]
    if missing:
        reasons.append(f"{missing} of {calls} calls have no reply on record")
    if incomplete:
        reasons.append(f"{incomplete} pairs have not exactly one call in each order")
    return reasons
