"""The tables of a report, as data: every form of the report renders these and nothing else."""

from __future__ import annotations

from darkcurrent.patterns import PATTERNS
from darkcurrent.printable import shortened
from darkcurrent.reports.arm_tables import arm_tables
from darkcurrent.reports.randomizations import randomization_table
from darkcurrent.reports.risk_tables import risk_tables
from darkcurrent.reports.table import Table, names
from darkcurrent.reports.words import campaign_of, declared, number, share
from darkcurrent.results import Analysis, CampaignResult, OrderResult

__all__ = ["Table", "all_tables", "verdict_table"]


def all_tables(analysis: Analysis) -> list[Table]:
    """Return every table that has rows, in reading order."""
    tables = [
        verdict_table(analysis),
        _campaigns(analysis),
        _invalid(analysis),
        _sensitivity(analysis),
        _clones(analysis),
        _signal(analysis),
        _strata(analysis),
        _patterns(analysis),
        *arm_tables(analysis),
        *risk_tables(analysis.risk),
        _retest(analysis),
        randomization_table(analysis),
        _imported(analysis),
    ]
    return [table for table in tables if table.rows]


def verdict_table(analysis: Analysis) -> Table:
    """Return the table that answers the three questions, one row per cell."""
    rows = []
    for cell in analysis.cells:
        campaign = campaign_of(analysis, cell)
        core, signal = cell.clone["core"], cell.signal
        held = cell.state == "HOLD"
        valid = campaign.terminal - campaign.invalid
        rows.append(
            (
                cell.configuration,
                cell.criterion,
                f"HOLD {share(valid, campaign.scheduled)}" if held else share(valid, campaign.scheduled),
                "–" if held or not core.n else f"{share(core.adverse, core.n)} [{number(core.upper)}]",
                number(core.p_holm),
                "–" if signal.mean is None else f"{number(signal.mean)} [{number(signal.lower)}]",
                cell.joint,
            )
        )
    threshold, utility = analysis.gates["clone_threshold"], analysis.gates["utility_threshold"]
    return Table(
        key="verdict",
        title="May this judge be used?",
        note=(
            "valid: of all calls of the configuration · "
            f"null: identical texts not tied [upper bound, gate {declared(threshold)}] · "
            f"utility: right text chosen [lower bound, gate {declared(utility)}]"
        ),
        columns=("configuration", "criterion", "valid", "null", "Holm p", "utility", "result"),
        rows=tuple(rows),
    )


def _campaigns(analysis: Analysis) -> Table:
    rows = tuple(
        (
            campaign.configuration,
            _capture(campaign),
            *map(str, (campaign.scheduled, campaign.terminal, campaign.invalid)),
            *map(str, (campaign.ambiguous, campaign.missing)),
            _tokens(campaign.prompt_tokens, campaign.completion_tokens),
            "–" if campaign.latency_ms_median is None else f"{campaign.latency_ms_median / 1000:.3f}",
            _BASES.get(campaign.basis or "", "–"),
        )
        for campaign in analysis.campaigns
    )
    counts = ("scheduled", "ended", "invalid", "ambiguous", "missing")
    return Table(
        "campaigns",
        "Did it answer?",
        "Every scheduled call is counted; an invalid answer is kept and never asked again. Latency: median seconds.",
        ("configuration", "state", *counts, "tokens in/out", "latency", "identity"),
        rows,
    )


def _capture(campaign: CampaignResult) -> str:
    return campaign.state if campaign.capture == "COMPLETE" else f"{campaign.state}, {campaign.capture}"


_BASES = {"verified digest": "verified", "service's declaration": "declared"}


def _tokens(prompt: int | None, completion: int | None) -> str:
    return f"{'–' if prompt is None else prompt}/{'–' if completion is None else completion}"


def _invalid(analysis: Analysis) -> Table:
    rows = tuple(
        (campaign.configuration, reason, share(count, campaign.terminal))
        for campaign in analysis.campaigns
        for reason, count in campaign.invalid_by_reason.items()
    )
    note = "Why calls gave no verdict, of the calls that ended."
    return Table("invalid", "Invalid answers", note, ("configuration", "reason", "calls"), rows)


def _sensitivity(analysis: Analysis) -> Table:
    rows = tuple(
        (
            campaign.configuration,
            reading.contract,
            share(reading.accepted, reading.replies),
            *map(str, (reading.gained, reading.lost, reading.flipped)),
            {True: "yes", False: "no", None: "–"}[reading.evaluable],
        )
        for campaign in analysis.campaigns
        for reading in campaign.sensitivity
        if reading.accepted
    )
    read = "What the contracts, with their default options, read in the same replies; those that read none are left out."
    if "imported" in analysis.battery:
        note = f"{read} Nothing here counts, and nothing is graded."
    else:
        note = f"{read} The judge was asked for the declared form: this changes no gate."
    columns = ("configuration", "contract", "accepted", "new verdicts", "lost", "other label", "evaluable")
    return Table("sensitivity", "Under other contracts", note, columns, rows)


def _clones(analysis: Analysis) -> Table:
    rows = tuple(
        (
            *names(cell),
            stratum,
            share(clone.adverse, clone.n),
            *map(str, (clone.a, clone.b, clone.invalid)),
            number(clone.upper),
            number(clone.p),
            number(clone.p_holm),
            clone.gate,
        )
        for cell in analysis.cells
        for stratum, clone in cell.clone.items()
        if clone.n
    )
    columns = (
        "configuration",
        "criterion",
        "null stratum",
        "adverse",
        "first",
        "second",
        "invalid",
        "upper",
        "p",
        "Holm p",
        "gate",
    )
    note = (
        "Does it invent a preference between two identical texts? Edge strata are shown apart and not graded; a natural "
        "clone is adverse where any of its calls is."
    )
    return Table("null", "Null: identical texts", note, columns, rows, left=3)


def _signal(analysis: Analysis) -> Table:
    rows = tuple(
        (
            *names(cell),
            str(signal.items),
            number(signal.mean),
            number(signal.lower),
            number(signal.bounds.get("conservative")),
            *(share(signal.orders[order].success, signal.orders[order].n) for order in ("AB", "BA")),
            *map(
                str,
                (
                    signal.verdicts.correct,
                    signal.verdicts.tie,
                    signal.verdicts.wrong,
                    signal.verdicts.invalid,
                ),
            ),
            signal.gate,
        )
        for cell in analysis.cells
        for signal in [cell.signal]
        if signal.items
    )
    columns = (
        "configuration",
        "criterion",
        "items",
        "mean",
        "lower",
        "conservative",
        "AB",
        "BA",
        "correct",
        "tie",
        "wrong",
        "invalid",
    )
    note = "Does it choose the target? A tie, a wrong and an invalid answer are no success. Lower bounds: one-sided 95 %."
    return Table("utility", "Utility: target chosen", note, (*columns, "gate"), rows)


def _strata(analysis: Analysis) -> Table:
    rows = tuple(
        (*names(cell), shortened(name), str(stratum.items), number(stratum.mean))
        for cell in analysis.cells
        for name, stratum in cell.signal.strata.items()
    )
    note = "Utility by stratum; descriptive. A pooled pass can hide a weak stratum."
    return Table(
        "strata",
        "Utility by stratum",
        note,
        ("configuration", "criterion", "stratum", "items", "mean"),
        rows,
        left=3,
    )


def _patterns(analysis: Analysis) -> Table:
    rows = tuple(
        (*names(cell), arm, *(str(counts[pattern]) for pattern in PATTERNS))
        for cell in analysis.cells
        for arm, counts in cell.patterns.items()
    )
    note = "What the two orders of a pair say together: the same content (stable), the same slot (position), one tie (one-sided)."
    return Table(
        "patterns",
        "Patterns over both orders",
        note,
        ("configuration", "criterion", "arm", *PATTERNS),
        rows,
        left=3,
    )


def _retest(analysis: Analysis) -> Table:
    rows = tuple(
        (
            *names(cell),
            str(retest.repetitions),
            share(retest.same, retest.units),
            *map(str, (retest.tie_flip, retest.reversed, retest.invalid)),
            *(share(*_counts(retest.orders.get(order))) for order in ("AB", "BA")),
        )
        for cell in analysis.cells
        for retest in [cell.retest]
        if retest is not None
    )
    kinds = ("repetitions", "same", "tie or not", "other slot", "invalid")
    note = "Does it say the same when it is asked the same again? Items in one order; the last two columns: same, by order."
    return Table("retest", "Test and retest", note, ("configuration", "criterion", *kinds, "AB", "BA"), rows)


def _counts(order: OrderResult | None) -> tuple[int, int]:
    return (order.success, order.n) if order else (0, 0)


def _imported(analysis: Analysis) -> Table:
    facts = analysis.battery.get("imported", {})
    rows = tuple((name, value) for name, value in facts.items())
    note = "How these verdicts were recorded and read. A wrong coding makes every number above wrong."
    return Table("imported", "Recorded data", note, ("what", "how"), rows)
