"""report.md: it fits into a comment, and says what it leaves out."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from darkcurrent.reports import markdown, markdown_report
from darkcurrent.reports.markdown import LONGEST
from darkcurrent.reports.marks import FOLD, marked, marked_table
from darkcurrent.reports.risk_tables import break_even_words
from darkcurrent.reports.table import Table
from support.pages import KINDS, page_study


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    return page_study(
        tmp_path_factory.mktemp("md") / "study", {"weak": KINDS["weak"], "dark": KINDS["dark"]}, items=60
    ).analyze()


def grown(analysis, cells, strata=4, name="judge"):
    """The same analysis with more cells of longer names, as far as its tables go."""
    base = analysis.cells[0]
    strata_of = {f"{name}-stratum-{n}": next(iter(base.signal.strata.values())) for n in range(strata)}
    signal = base.signal.model_copy(update={"strata": strata_of})
    names = [f"{name}-{n}" for n in range(cells)]
    campaign, priced = analysis.campaigns[0], analysis.risk.cells[0]
    return analysis.model_copy(
        update={
            "cells": [base.model_copy(update={"configuration": each, "signal": signal}) for each in names],
            "campaigns": [campaign.model_copy(update={"configuration": each}) for each in names],
            "risk": analysis.risk.model_copy(
                update={
                    "cells": [priced.model_copy(update={"configuration": each}) for each in names],
                    "pairs": [],
                }
            ),
        }
    )


def test_the_risk_is_in_it(analysis):
    text = markdown_report(analysis)
    assert "## What does using it cost?" in text
    assert "## Risk over the paper's grid" in text
    said = break_even_words(analysis.risk, leading=3)
    assert len(said) > 3
    assert all(f"\n- {marked(sentence, 3000)}\n" in text for sentence in said)
    assert "left out here" not in text


@pytest.mark.parametrize(
    ("cells", "strata", "name"),
    [(30, 40, "judge"), (300, 3, "judge"), (3, 5000, "judge"), (40, 30, "ü" * 400), (2000, 1, "j")],
)
def test_it_is_never_longer_than_a_comment_and_says_what_it_leaves_out(
    monkeypatch, analysis, cells, strata, name
):
    big = grown(analysis, cells, strata, name)
    text = markdown_report(big)
    assert len(text.encode()) <= LONGEST
    assert "left out here; report.html" in text
    assert "## What this report does not show" in text
    said = re.search(r"(\d+) of (\d+) rows are left out here", text.partition("## Utility by stratum")[2])
    assert int(said[2]) == cells * strata
    shown = text.partition("## Utility by stratum")[2].partition("\n## ")[0].count("\n| ") - 2
    assert max(shown, 0) == int(said[2]) - int(said[1])
    monkeypatch.setattr(markdown, "LONGEST", 10**9)
    assert len(markdown_report(big).encode()) > LONGEST  # nothing is cut that fits


def test_a_long_table_is_folded_and_still_a_table():
    table = Table("t", "T", "N.", ("a", "b"), tuple((f"r{n}", "1") for n in range(FOLD + 1)), left=1)
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render("\n".join(marked_table(table)))
    assert f"<summary>{FOLD + 1} rows</summary>" in page
    assert page.count("<tr>") == FOLD + 2
    short = Table("t", "T", "N.", ("a", "b"), table.rows[:FOLD], left=1)
    assert "<details>" not in "\n".join(marked_table(short))


def test_nobody_is_called_and_nothing_is_linked():
    text = marked("@someone [a](http://b) <i>x</i> #1 ~~y~~ https://c.org www.d.org")
    assert r"https\://c.org www\.d.org" in text
    assert text.startswith(r"\@someone \[a\](http\://b) \<i\>x")
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)
    assert [tag for tag in ("<i>", "<a ", "<s>") if tag in page] == []
