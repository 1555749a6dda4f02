"""The report in the terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from darkcurrent.reports.tables import Table, all_tables, verdict_table
from darkcurrent.reports.words import cell_sentences, printable
from darkcurrent.results import Analysis

__all__ = ["terminal_report"]

_COLOURS = {
    "both gates pass": "green",
    "clone gate only": "yellow",
    "utility gate only": "yellow",
    "neither gate": "red",
    "PASS": "green",
    "MISS": "red",
}


def terminal_report(analysis: Analysis, console: Console, full: bool = True) -> None:
    """Print an analysis: the verdict table and a sentence per cell, then, if `full`, every table."""
    tables = all_tables(analysis) if full else [verdict_table(analysis)]
    _print(tables[0], console)
    for name, sentence in cell_sentences(analysis):
        console.print(Text.assemble((printable(name), "bold"), ": ", printable(sentence)))
    for table in tables[1:]:
        _print(table, console)


def _print(table: Table, console: Console) -> None:
    console.print()
    rich = RichTable(
        box=SIMPLE_HEAD,
        title=table.title,
        title_justify="left",
        title_style="bold",
        pad_edge=False,
        show_edge=False,
        padding=(0, 1),
    )
    for index, column in enumerate(table.columns):
        words = index < table.left or column in ("result", "gate", "identity")
        rich.add_column(column, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for row in table.rows:
        rich.add_row(*(_cell(value) for value in row))
    console.print(rich)
    console.print(Text(table.note, style="dim"))


def _cell(value: str) -> Text:
    colour = _COLOURS.get(value) or ("yellow" if value.startswith("HOLD") else "")
    return Text(printable(value), style=colour)
