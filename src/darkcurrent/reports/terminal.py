"""The report in the terminal."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from darkcurrent.printable import printable
from darkcurrent.reports.paper_tables import paper_tables
from darkcurrent.reports.table import Table
from darkcurrent.reports.tables import all_tables, verdict_table
from darkcurrent.reports.words import cell_sentences
from darkcurrent.results import Analysis

__all__ = ["print_paper_tables", "print_table", "terminal_report"]

_COLOURS = {
    "both gates pass": "green",
    "clone gate only": "yellow",
    "utility gate only": "yellow",
    "neither gate": "red",
    "PASS": "green",
    "MISS": "red",
}

_MOST_ROWS = 40
_GAP = "  "


def terminal_report(analysis: Analysis, console: Console, full: bool = True) -> None:
    """Print an analysis: the verdict table and a sentence per cell, then, if `full`, every table."""
    verdict = verdict_table(analysis)
    print_table(verdict, console)
    for name, sentence in cell_sentences(analysis):
        console.print(Text.assemble((printable(name), "bold"), ": ", printable(sentence)))
    for table in all_tables(analysis)[1:] if full else []:
        print_table(table, console, _MOST_ROWS)


def print_paper_tables(analysis: Analysis, console: Console) -> int:
    """Print the tables of the paper that this analysis has, and return how many."""
    tables = paper_tables(analysis)
    for table in tables:
        print_table(table, console)
    return len(tables)


def print_table(table: Table, console: Console, most: int | None = None) -> None:
    """Print a table, at most so many rows of it.

    No number is ever cut off: where the whole table is too wide, each row's names go on a line of their own, and
    where its numbers alone are too wide, each of them is written out behind its heading.
    """
    console.print()
    console.print(Text(table.title, style="bold"))
    columns = tuple(map(printable, table.columns))
    rows = [tuple(map(printable, row)) for row in table.rows[:most]]
    widths = [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)]
    if _total(widths) <= console.width:
        _print_aligned(table, columns, rows, widths, 0, console)
    elif len(_GAP) + _total(widths[table.left :]) <= console.width:
        _print_aligned(table, columns, rows, widths, table.left, console)
    else:
        for row in rows:
            console.print(_names(row[: table.left]))
            named = zip(columns[table.left :], row[table.left :], strict=True)
            values = Text(", ").join(Text(f"{name} ") + _cell(value) for name, value in named)
            console.print(Padding(values, (0, 0, 0, len(_GAP)), expand=False))
    if len(rows) < len(table.rows):
        console.print(
            Text(f"... and {len(table.rows) - len(rows)} more rows, which the report has.", style="dim")
        )
    console.print(Text(table.note, style="dim"))


def _total(widths: list[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _print_aligned(
    table: Table,
    columns: tuple[str, ...],
    rows: list[tuple[str, ...]],
    widths: list[int],
    skip: int,
    console: Console,
) -> None:
    """Print the columns from `skip` on; the names that are skipped stand above their row."""

    def line(cells: list[Text]) -> Text:
        padded = []
        for index, cell in enumerate(cells, start=skip):
            space = Text(" " * (widths[index] - cell_len(cell.plain)))
            padded.append(cell + space if table.holds_words(index) else space + cell)
        text = Text(_GAP if skip else "") + Text(_GAP).join(padded)
        text.rstrip()
        return text

    console.print(line([Text(column, style="bold") for column in columns[skip:]]))
    console.print(Text("─" * (_total(widths[skip:]) + (len(_GAP) if skip else 0))))
    for row in rows:
        if skip:
            console.print(_names(row[:skip]))
        console.print(line([_cell(value) for value in row[skip:]]))


def _names(names: tuple[str, ...]) -> Text:
    return Text(" / ".join(names))


def _cell(value: str) -> Text:
    return Text(value, style=_COLOURS.get(value) or ("yellow" if value.startswith("HOLD") else ""))
