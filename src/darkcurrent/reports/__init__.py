"""An analysis as people read it: in the terminal, as Markdown, as one HTML page. All show the same tables."""

from darkcurrent.reports.html import html_report
from darkcurrent.reports.markdown import markdown_report
from darkcurrent.reports.provenance import Provenance, provenance_of_frozen, provenance_of_imported
from darkcurrent.reports.terminal import terminal_report

__all__ = [
    "Provenance",
    "html_report",
    "markdown_report",
    "provenance_of_frozen",
    "provenance_of_imported",
    "terminal_report",
]
