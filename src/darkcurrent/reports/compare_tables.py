"""Several studies side by side, as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from darkcurrent.printable import shortened
from darkcurrent.reports.numbers import share
from darkcurrent.reports.risk_tables import risk_table
from darkcurrent.reports.table import Table
from darkcurrent.reports.tables import verdict_table
from darkcurrent.results import Analysis, ArmComparison, CellComparison, CellName, Comparison

__all__ = ["compare_tables", "compare_words", "total_words"]


def compare_tables(analyses: Sequence[Analysis], comparison: Comparison, most: int = 40) -> list[Table]:
    """Return the tables that have rows: studies, their cells, and the shared calls; at most so many single changes."""
    tables = [
        _studies(analyses, comparison),
        _side_by_side([verdict_table(each) for each in analyses], "Their cells"),
        _side_by_side([risk_table(each.risk) for each in analyses], "What using them costs"),
        _shared(comparison),
        _verdicts(comparison),
        _patterns(comparison),
        _changes(comparison, most),
    ]
    return [table for table in tables if table.rows]


def _studies(analyses: Sequence[Analysis], comparison: Comparison) -> Table:
    rows = tuple(
        (
            str(each.number),
            shortened(each.study, 40),
            each.study_digest[:12],
            each.state,
            str(own.battery["items"]),
            str(sum(campaign.scheduled for campaign in own.campaigns)),
        )
        for each, own in zip(comparison.studies, analyses, strict=True)
    )
    return Table(
        "studies",
        "Studies",
        "In the order given; the first is what the others are compared with.",
        ("study", "name", "digest", "state", "items", "calls"),
        rows,
        left=3,
    )


def _side_by_side(tables: list[Table], title: str) -> Table:
    """Put one study's table below the other's. Where a column is missing in some, it is a dash there."""
    columns = list(dict.fromkeys(column for table in tables for column in table.columns))
    rows = []
    for number, table in enumerate(tables, start=1):
        places = [table.columns.index(column) if column in table.columns else None for column in columns]
        rows += [
            (str(number), *("–" if place is None else row[place] for place in places)) for row in table.rows
        ]
    notes = list(dict.fromkeys(table.note for table in tables))
    first = tables[0]
    return replace(
        first,
        title=title,
        note=" ".join(notes),
        columns=("study", *columns),
        rows=tuple(rows),
        left=first.left + 1,
    )


def _shared(comparison: Comparison) -> Table:
    rows = tuple(
        (
            *_names(cell),
            str(cell.shared),
            str(cell.reproduced),
            str(cell.shared - cell.reproduced),
            share(cell.reproduced_valid, cell.valid),
            str(sum(cell.not_compared.values())),
        )
        for cell in comparison.cells
    )
    note = (
        "Calls that showed the same texts of the same item in the same slots, and whether they say the same. Two verdicts "
        "that differ say nothing of why: time, place in the schedule and serving differ too."
    )
    columns = ("cell", "against", "shared", "the same", "changed", "same of valid", "not compared")
    return Table("shared", "Shared calls", note, columns, rows)


def _reached(
    comparison: Comparison, counts: Callable[[ArmComparison], Mapping[str, Mapping[str, int]]]
) -> tuple[tuple[str, ...], ...]:
    """Return a row for each thing that was said before and what became of it."""
    return tuple(
        (*_names(cell), kind, before, after, str(times))
        for cell in comparison.cells
        for kind, arm in cell.arms.items()
        for before, reached in counts(arm).items()
        for after, times in reached.items()
    )


def _verdicts(comparison: Comparison) -> Table:
    rows = _reached(comparison, lambda arm: arm.transitions)
    note = (
        "What was said before and after. target and other: by content, where there is a target; first and second: the slot of "
        "two identical texts; u and v: the texts that stand first and second in order AB of the first study."
    )
    return Table(
        "verdicts",
        "Verdict by verdict",
        note,
        ("cell", "against", "calls of", "before", "after", "calls"),
        rows,
        left=5,
    )


def _patterns(comparison: Comparison) -> Table:
    rows = _reached(comparison, lambda arm: arm.patterns)
    note = "What both orders of a pair say together, before and after; pairs whose two calls are shared."
    return Table(
        "patterns",
        "Pattern by pattern",
        note,
        ("cell", "against", "pairs of", "before", "after", "pairs"),
        rows,
        left=5,
    )


def _changes(comparison: Comparison, most: int) -> Table:
    every = [
        (
            *_names(cell),
            shortened(change.item, 40),
            change.kind,
            change.order or "both",
            change.before,
            change.after,
        )
        for cell in comparison.cells
        for change in (*cell.changes, *cell.pattern_changes)
    ]
    left = len(every) - most
    note = "Each call and each pair (both) that says something else."
    note += f" {left} more are not shown; --json has all." if left > 0 else ""
    columns = ("cell", "against", "item", "calls of", "order", "before", "after")
    return Table("changes", "What changed", note, columns, tuple(every[:most]), left=7)


def total_words(comparison: Comparison) -> list[str]:
    """Say of each further study how many verdicts came again, over the cells that are not HOLD in either."""
    said = []
    for number in dict.fromkeys(cell.other.number for cell in comparison.cells):
        cells = [
            cell
            for cell in comparison.cells
            if cell.other.number == number and "HOLD" not in (cell.base.state, cell.other.state)
        ]
        valid = sum(cell.valid for cell in cells)
        if valid:
            same = sum(cell.reproduced_valid for cell in cells)
            where = f"study {number}" if number > 1 else "the other cells"
            every = [cell for cell in comparison.cells if cell.other.number == number]
            held = " Cells on HOLD are not among them." if len(cells) < len(every) else ""
            said.append(
                f"Of {valid} shared calls with a valid verdict in both, {same} say the same in {where}.{held}"
            )
    return said


def compare_words(comparison: Comparison) -> list[str]:
    """Say what each comparison rests on, and what could not be compared."""
    return [*(line for cell in comparison.cells for line in _words(cell)), *comparison.unmatched]


def _words(cell: CellComparison) -> Iterator[str]:
    who = " against ".join(_names(cell))
    if not cell.shared:
        yield f"{who}: no call is shared"
    for reason, calls in cell.not_compared.items():
        yield f"{who}: {calls} {'call' if calls == 1 else 'calls'} {reason}"
    for note in cell.notes:
        yield f"{who}: {note}"


def _names(cell: CellComparison) -> tuple[str, str]:
    return _name(cell.base), _name(cell.other)


def _name(cell: CellName) -> str:
    return f"{cell.number}: {shortened(cell.configuration, 30)} / {shortened(cell.criterion, 30)}"
