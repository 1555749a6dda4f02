"""The tables of arXiv:2606.15610, with its columns, for whatever study has what they show.

Table 1 is the configurations' identities, which `frozen/configurations.json` has.
"""

from __future__ import annotations

from darkcurrent.reports.numbers import interval, number, share
from darkcurrent.reports.table import Table, names
from darkcurrent.reports.words import campaign_of
from darkcurrent.results import Analysis, CellResult, CloneResult, ContextResult, CoverageResult, StepResult

__all__ = ["paper_tables"]

_CELL = ("configuration", "criterion")


def paper_tables(analysis: Analysis) -> list[Table]:
    """Return the paper's tables that have rows here, by number. Recorded data have none: nothing was scheduled."""
    if analysis.state == "NOT GRADED":
        return []
    tables = [
        _controlled(analysis),
        _gates(analysis),
        _certificates(analysis),
        _verdicts(analysis),
        _invalid(analysis),
        _context(analysis),
    ]
    return [table for table in tables if table.rows]


def _controlled(analysis: Analysis) -> Table:
    rows = []
    for cell in analysis.cells:
        ladder = cell.ladder
        if ladder is None or ladder.gap_0 is None:
            continue
        gap_0, held = ladder.gap_0, cell.state == "HOLD"
        smallest = ladder.smallest_75
        rows.append(
            (
                *names(cell),
                _dark_current(cell.clone["core"], held),
                "/".join(_dark_current(cell.clone[edge], held) for edge in ("edge-empty", "edge-whitespace")),
                *map(number, (gap_0.false_preference, gap_0.scs, gap_0.pfp)),
                *(_sensitivity(ladder.steps.get(step)) for step in ("gap-1", "gap-5")),
                "–" if smallest is None else f"{'≤' * (smallest == 'gap-1')}{smallest.removeprefix('gap-')}",
            )
        )
    columns = (*_CELL, "DC core", "DC edge", "RFP0", "SCS", "PFP", "S1", "S5", "smallest gap at .75")
    note = (
        "DC: share of identical pairs with a preference; edge: empty / white space. RFP0, SCS, PFP: pairs of gap 0. S1, S5: "
        "ties are misses."
    )
    return Table("paper-2", "Controlled point estimates (layout of table 2)", note, columns, tuple(rows))


def _dark_current(clone: CloneResult, held: bool) -> str:
    return "–" if held or not clone.n else number((clone.a + clone.b) / clone.n)


def _sensitivity(step: StepResult | None) -> str:
    return number(None if step is None else step.sensitivity)


def _both(analysis: Analysis) -> list[CellResult]:
    """Return the cells with clones and with signal pairs."""
    return [cell for cell in analysis.cells if cell.clone["core"].n and cell.signal.items]


def _gates(analysis: Analysis) -> Table:
    rows = []
    for cell in _both(analysis):
        core, signal, held = cell.clone["core"], cell.signal, cell.state == "HOLD"
        rows.append(
            (
                *names(cell),
                "–" if held else f"{share(core.adverse, core.n)} [{number(core.upper)}]",
                number(core.p_holm),
                "–" if held else f"{number(signal.mean)} [{number(signal.lower)}]",
                signal.gate,
                cell.joint,
            )
        )
    columns = (*_CELL, "clone FP [upper]", "Holm p", "signal [lower]", "utility gate", "joint result")
    note = "Upper: exact one-sided 95 %; lower: one-sided 95 % of resampling the items within their strata."
    return Table("paper-3", "Both gates (layout of table 3)", note, columns, tuple(rows))


def _certificates(analysis: Analysis) -> Table:
    rows = []
    for cell in _both(analysis):
        core, signal, pairs = cell.clone["core"], cell.signal, cell.equivalent
        calls = [one for orders in cell.calls.values() for one in orders.values()]
        held, orders = cell.state == "HOLD", signal.orders
        rows.append(
            (
                *names(cell),
                "–" if held else share(core.adverse, core.n),
                *(number(value, 4) for value in (core.upper, core.p_holm)),
                "–" if held or pairs is None else share(pairs.adverse, pairs.pairs),
                share(sum(one.invalid for one in calls), sum(one.scheduled for one in calls)),
                "–" if held else "/".join(str(orders[order].success) for order in ("AB", "BA")),
                "–" if held else share(signal.verdicts.correct, orders["AB"].n + orders["BA"].n),
                *(number(value, 4) for value in (signal.mean, signal.lower)),
                interval(signal.interval, 4),
                cell.joint,
            )
        )
    columns = (
        "DC",
        "upper",
        "Holm p",
        "EFP",
        "invalid",
        "AB/BA",
        "aligned calls",
        "mean",
        "lower",
        "95 % interval",
        "result",
    )
    note = "DC and EFP: items with any answer that is no tie. AB/BA: successes by order. The two-sided interval is descriptive."
    title = "Complete results (layout of tables 4, 5 and 7)"
    return Table("paper-4-5-7", title, note, (*_CELL, *columns), tuple(rows))


def _verdicts(analysis: Analysis) -> Table:
    rows = tuple(
        (*names(cell), *map(str, (one.correct, one.tie, one.wrong, one.invalid)))
        for cell in analysis.cells
        for one in [cell.signal.verdicts]
        if cell.signal.items
    )
    note = "Signal calls by what they said; they are no independent items."
    columns = (*_CELL, "correct", "tie", "wrong", "invalid")
    return Table("paper-6", "Signal verdicts (layout of table 6)", note, columns, rows)


def _invalid(analysis: Analysis) -> Table:
    counts = [_by_arm(cell) for cell in analysis.cells]
    columns = list(dict.fromkeys(name for found in counts for name in found))
    rows = tuple(
        (*names(cell), *(found.get(name, "–") for name in columns), campaign_of(analysis, cell).state)
        for cell, found in zip(analysis.cells, counts, strict=True)
        if any(campaign.invalid for campaign in analysis.campaigns)
    )
    note = "Calls without a valid verdict, of those scheduled. The state is the whole campaign's: no cell of it is graded apart."
    title = "Invalid answers by arm and order (layout of table 8)"
    return Table("paper-8", title, note, (*_CELL, *columns, "state"), rows)


def _by_arm(cell: CellResult) -> dict[str, str]:
    """Return invalid calls by arm and order; steps and contexts of an arm are counted together, null strata are not."""
    found: dict[str, list[CoverageResult]] = {}
    for kind, orders in cell.calls.items():
        arm = kind if kind.startswith("clone") else kind.partition("/")[0]
        for order, one in orders.items():
            name = arm.removesuffix("/core") if order == "IDENTICAL" else f"{arm} {order}"
            found.setdefault(name, []).append(one)
    return {
        name: share(sum(one.invalid for one in parts), sum(one.scheduled for one in parts))
        for name, parts in found.items()
    }


def _context(analysis: Analysis) -> Table:
    rows = tuple(
        (
            *names(cell),
            arm,
            _held(one) if one.adverse is None else share(one.adverse, one.items),
            *(number(value, 4) for value in (one.absent, one.present)),
            "–"
            if one.difference is None
            else f"{number(one.difference, 4)} {interval(one.drawn_interval, 4)}",
        )
        for cell in analysis.cells
        for arm, one in cell.context.items()
    )
    note = "U: success averaged over an item's orders, C absent (Ua) and present (Up). Interval: the declared seeded draws."
    columns = (*_CELL, "arm", "adverse", "Ua", "Up", "difference [95 % interval]")
    return Table("paper-9", "Context audit (layout of table 9)", note, columns, rows, left=3)


def _held(context: ContextResult) -> str:
    calls = context.calls
    return f"HOLD {share(calls.ended, calls.scheduled)}, {calls.invalid} invalid"
