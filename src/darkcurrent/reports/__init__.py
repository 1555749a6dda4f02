"""An analysis as people read it: in the terminal, as Markdown, as one HTML page. All show the same tables.

The tables of the paper are shown too; `csv_tables` gives every table as CSV.
"""

from darkcurrent.reports.card import judge_card
from darkcurrent.reports.csv_files import csv_tables
from darkcurrent.reports.drawn import drawn_figures
from darkcurrent.reports.html import html_report
from darkcurrent.reports.markdown import markdown_report
from darkcurrent.reports.provenance import Provenance, provenance_of_frozen, provenance_of_imported
from darkcurrent.reports.terminal import print_paper_tables, terminal_report

__all__ = [
    "Provenance",
    "csv_tables",
    "drawn_figures",
    "html_report",
    "judge_card",
    "markdown_report",
    "print_paper_tables",
    "provenance_of_frozen",
    "provenance_of_imported",
    "terminal_report",
]
