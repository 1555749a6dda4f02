"""Text and tables as Markdown that shows them as they stand, whatever they hold."""

from __future__ import annotations

import re

from darkcurrent.reports.labels import shown
from darkcurrent.reports.table import Table

__all__ = ["FOLD", "SENTENCE", "marked", "marked_table"]

FOLD = 12
"""A table of more rows is folded."""


SENTENCE = 3000
"""Characters that a sentence of our own may have; a name in it is short."""


def marked(text: str, longest: int = 300) -> str:
    """Return a text that Markdown shows as it stands: in one line, printable, and not endless."""
    return re.sub(r"([\\`*_\[\]<>|#&~!@]|:(?=//)|(?<=www)\.)", r"\\\1", shown(text, longest))


def marked_table(table: Table, most: int | None = None, level: int = 2) -> list[str]:
    """Return a table under its title and note, in lines; a long one is folded.

    Parameters
    ----------
    most : int, optional
        Rows that are shown; of the others it is said how many they are.
    level : int
        Of the heading.
    """
    rows = table.rows if most is None else table.rows[:most]
    rule = [":--" if table.holds_words(index) else "--:" for index in range(len(table.columns))]
    lines = [f"| {' | '.join(map(marked, row))} |" for row in (table.columns, *rows)]
    lines.insert(1, f"| {' | '.join(rule)} |")
    if not rows:
        lines = []
    if len(rows) > FOLD:
        lines = ["<details>", f"<summary>{len(rows)} rows</summary>", "", *lines, "", "</details>"]
    if left := len(table.rows) - len(rows):
        lines += [
            "",
            f"{left} of {len(table.rows)} rows are left out here; report.html and `report --format json` have all.",
        ]
    return [f"{'#' * level} {marked(table.title)}", "", marked(table.note, SENTENCE), "", *lines]
