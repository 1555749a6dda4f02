"""What the pages of five kinds of study say, word for word.

`DARKCURRENT_GOLDEN=write .venv/bin/pytest tests/reports/test_golden_pages.py` writes the files in `tests/golden/pages`
anew; read the difference before you commit it.
"""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from darkcurrent.reports import html_report
from darkcurrent.results import Analysis
from support.pages import KINDS, page_study

GOLDEN = Path(__file__).parent.parent / "golden" / "pages"
BLOCKS = {"h1", "h2", "h3", "p", "li", "tr", "figcaption", "summary", "dt", "dd", "button", "label", "pre"}


class _Words(HTMLParser):
    """The text of a page, one block a line, cells apart; a chart is its name and the number of its marks."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.lines: list[str] = [""]
        self._silent = 0
        self._marks = 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag in ("style", "script"):
            self._silent += 1
        elif tag == "svg":
            self.lines.append(f"[chart: {dict(attrs)['aria-label']}, ")
            self._silent, self._marks = self._silent + 1, 0
        elif tag == "title" and self._silent:
            self._marks += 1
        elif tag in BLOCKS:
            self.lines.append({"h1": "# ", "h2": "\n## ", "h3": "\n### ", "li": "- "}.get(tag, ""))
        elif tag in ("td", "th"):
            self.lines[-1] += " | "

    def handle_endtag(self, tag):
        if tag == "svg":
            self.lines[-1] += f"{self._marks} marks]"
        if tag in ("style", "script", "svg"):
            self._silent -= 1

    def handle_data(self, data):
        if not self._silent:
            self.lines[-1] += re.sub(r"\s+", " ", data) if data.strip() else " "


def words(page: str) -> str:
    """Return a page as lines of text, without what changes from run to run."""
    lines = [re.sub(r" +", " ", line).rstrip() for line in _Words(page).lines]
    text = "\n".join(line for line in lines if line.strip()) + "\n"
    text = re.sub(r"\b[0-9a-f]{64}\b", "<digest>", text)
    return re.sub(r"darkcurrent \d\S*, python .*", "<software>", text)


def unhurried(analysis: Analysis) -> Analysis:
    """Return an analysis without latencies."""
    campaigns = [
        campaign.model_copy(
            update={
                "latency_ms_median": None,
                "timeline": campaign.timeline.model_copy(
                    update={"latency_ms": [None] * len(campaign.timeline.calls)}
                ),
            }
        )
        for campaign in analysis.campaigns
        if campaign.timeline
    ]
    return analysis.model_copy(update={"campaigns": campaigns})


MANY = {f"judge-{n:02d}": f"{{ utility = 0.{99 - 3 * n}, seed = {n} }}" for n in range(15)}

STUDIES = {
    "hold": {"judges": {"fenced": KINDS["fenced"]}, "items": 40},
    "not-graded": {"judges": {"solid": KINDS["solid"]}, "items": 40, "gates": ""},
    "empty": {"judges": {"solid": KINDS["solid"], "weak": KINDS["weak"]}, "items": 40, "captured": False},
    "one-cell": {"judges": {"weak": KINDS["weak"]}, "items": 120, "criteria": ["neutral"]},
    "thirty-cells": {"judges": MANY, "items": 24},
}


@pytest.mark.parametrize("name", STUDIES)
def test_the_page_says_what_it_said(tmp_path, name):
    study = page_study(tmp_path / "study", title=f"A study: {name}", **STUDIES[name])
    analysis = unhurried(study.analyze())
    page = html_report(analysis, study.provenance(analysis))
    assert len(page.encode()) < 3_000_000
    text, path = words(page), GOLDEN / f"{name}.txt"
    if os.environ.get("DARKCURRENT_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")
