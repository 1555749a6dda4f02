"""The report as Markdown, e.g. for a pull request."""

from __future__ import annotations

import re

from darkcurrent.printable import printable
from darkcurrent.reports.paper_tables import paper_tables
from darkcurrent.reports.provenance import Provenance
from darkcurrent.reports.table import Table
from darkcurrent.reports.tables import all_tables
from darkcurrent.reports.words import cell_sentences, commitment_words, limits
from darkcurrent.results import Analysis

__all__ = ["markdown_report"]


def markdown_report(analysis: Analysis, provenance: Provenance | None = None) -> str:
    """Return the whole report: the tables of the page, also those of its provenance where that is given."""
    first, *others = all_tables(analysis)
    lines = [f"# {_safe(analysis.title or analysis.study)}", "", *_table(first), ""]
    lines += [f"- **{_safe(name)}**: {_safe(sentence)}" for name, sentence in cell_sentences(analysis)]
    for table in (*others, *paper_tables(analysis), *(provenance.tables if provenance else ())):
        lines += ["", *_table(table)]
    lines += [
        "",
        "## What this report does not show",
        "",
        *(f"- {_safe(limit)}" for limit in limits(analysis)),
    ]
    software = ", ".join(f"{name} {number}" for name, number in analysis.software.items())
    committed = _safe(commitment_words(analysis))
    lines += ["", f"Study digest `{analysis.study_digest}` · {_safe(software)}", "", committed, ""]
    return "\n".join(lines)


def _table(table: Table) -> list[str]:
    rule = [":--" if table.holds_words(index) else "--:" for index in range(len(table.columns))]
    rows = [table.columns, *table.rows]
    cells = [f"| {' | '.join(_safe(cell) for cell in row)} |" for row in rows]
    return [
        f"## {_safe(table.title)}",
        "",
        _safe(table.note),
        "",
        cells[0],
        f"| {' | '.join(rule)} |",
        *cells[1:],
    ]


def _safe(text: str) -> str:
    """Return a text that Markdown shows as it stands."""
    return re.sub(r"([\\`*_\[\]<>|#&~!])", r"\\\1", printable(text))
