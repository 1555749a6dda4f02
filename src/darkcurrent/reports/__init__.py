"""An analysis as people read it: in the terminal, as Markdown, as one HTML page. All show the same tables."""

from darkcurrent.reports.html import html_report
from darkcurrent.reports.markdown import markdown_report
from darkcurrent.reports.terminal import terminal_report

__all__ = ["html_report", "markdown_report", "terminal_report"]
