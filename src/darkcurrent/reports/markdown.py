"""The report as Markdown, e.g. for a pull request."""

from __future__ import annotations

from darkcurrent.reports.marks import SENTENCE, marked, marked_table
from darkcurrent.reports.paper_tables import paper_tables
from darkcurrent.reports.provenance import Provenance
from darkcurrent.reports.risk_tables import break_even_words
from darkcurrent.reports.table import Table
from darkcurrent.reports.tables import all_tables
from darkcurrent.reports.words import cell_sentences, commitment_words, limits
from darkcurrent.results import Analysis

__all__ = ["LONGEST", "markdown_report"]

LONGEST = 65_536
"""Bytes of a report: GitHub takes so many characters in a comment, and no more."""

_CUTS = (None, 200, 100, 50, 30, 20, 12, 8, 5, 3, 1, 0)
"""Rows of each table that are tried, until the report is short enough."""


def markdown_report(analysis: Analysis, provenance: Provenance | None = None) -> str:
    """Return the report: the tables of the page, also those of its provenance where that is given.

    It is never longer than `LONGEST` bytes: of long tables only the first rows stand in it then, and it says so.
    """
    first, *others = all_tables(analysis)
    others += [*paper_tables(analysis), *(provenance.tables if provenance else ())]
    sentences = cell_sentences(analysis)
    report = ""
    for most in _CUTS:
        report = _report(analysis, first, others, sentences, most)
        if len(report.encode()) <= LONGEST:
            break
    return report


def _report(
    analysis: Analysis, first: Table, others: list[Table], sentences: list[tuple[str, str]], most: int | None
) -> str:
    # The answers are what a report is for: more of them stay than of the rest.
    answers = None if most is None else 4 * max(most, 3)
    lines = [f"# {marked(analysis.title or analysis.study)}", "", *marked_table(first, answers), ""]
    lines += [f"- **{marked(name)}**: {marked(sentence, SENTENCE)}" for name, sentence in sentences[:answers]]
    if answers is not None and len(sentences) > answers:
        lines.append(f"- {len(sentences) - answers} more cells are left out here; report.html has all.")
    for table in others:
        lines += ["", *marked_table(table, most)]
        if table.key == "risk":
            words = break_even_words(analysis.risk, leading=3)
            lines += ["", *(f"- {marked(sentence, SENTENCE)}" for sentence in words[:most])]
    lines += ["", "## What this report does not show", ""]
    lines += [f"- {marked(limit, SENTENCE)}" for limit in limits(analysis)]
    software = ", ".join(f"{name} {number}" for name, number in analysis.software.items())
    lines += ["", f"Study digest `{analysis.study_digest}` · {marked(software)}", ""]
    lines += [marked(commitment_words(analysis), SENTENCE), ""]
    return "\n".join(lines)
