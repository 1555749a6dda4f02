"""The tables as CSV: one text per table, with the same cells as in every other form of the report."""

from __future__ import annotations

import csv
import io

from darkcurrent.printable import printable
from darkcurrent.reports.paper_tables import paper_tables
from darkcurrent.reports.table import Table
from darkcurrent.reports.tables import all_tables
from darkcurrent.results import Analysis

__all__ = ["csv_tables"]


def csv_tables(analysis: Analysis) -> dict[str, str]:
    """Return by file name every table that has rows."""
    return {f"{table.key}.csv": _csv(table) for table in (*all_tables(analysis), *paper_tables(analysis))}


def _csv(table: Table) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in (table.columns, *table.rows):
        writer.writerow(map(_inert, row))
    return text.getvalue()


def _inert(cell: str) -> str:
    """Keep a name from being run as a formula by whatever opens the file; numbers stay as they are."""
    shown = printable(cell)
    number = shown.startswith("-") and shown[1:2] in tuple(".0123456789")
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@")) and not number else shown
