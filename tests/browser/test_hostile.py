"""Texts that want to be more than texts: nothing in them runs, and nothing of the page breaks."""

from __future__ import annotations

import json
from collections import Counter
from html.parser import HTMLParser

import pytest

from darkcurrent.reports import Provenance, html_report
from darkcurrent.reports.tables import Table
from darkcurrent.results import Analysis

TAGS = "<script>hacked=1</script><img src=x onerror=hacked=1><svg onload=hacked=1>"
HOSTILE = {
    "script": TAGS,
    "end of script": "</script><script>hacked=1</script>",
    "end of style, title, template": "</style></title></textarea></svg></template><script>hacked=1</script>",
    "comment": "<!--<script>--!><script>hacked=1</script>-->",
    "attribute": '"\'><b onclick=hacked=1 autofocus onfocus=hacked=1 x="',
    "braces": "{{ 7*7 }}{% raw %}${hacked=1}#{7*7}",
    "vega": '{"signal": "hacked=1"} datum.label + \'"]; hacked=1//\' {"expr": "hacked=1"}',
    "entities": "&lt;script&gt;hacked=1&#60;/script&#62;&amp;lt;&nbsp",
    "link": "javascript:hacked=1 https://example.org/x.js url(https://example.org/x.png)",
    "right to left": "\u202ederettel\u2066 \u200f\u200b\ufeff \u05d0\u05d1\u05d2",
    "control": "a\x00b\x1b[31m\r\n\x0b\x85\u2028\u2029]]>\ufffe",
    "astral": "👩‍⚖️🏴‍☠️ Z̷̢͖̽a̸l̵g̶o̴ ﷽",
    "long": "W" * 100_000,
    "empty": "",
}


class _Shape(HTMLParser):
    """Counts tags and the names of attributes: the same page of other names has the same."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found[tag] += 1
        self.found.update(f"{tag} {name}" for name, _ in attrs)


def named(analysis: Analysis, text: str) -> Analysis:
    """Return an analysis in which every name from outside holds a text."""

    def name(old: str) -> str:
        return f"{old}{text}"

    cells = [
        cell.model_copy(
            update={
                "configuration": name(cell.configuration),
                "criterion": name(cell.criterion),
                "signal": cell.signal.model_copy(
                    update={"strata": {name(key): value for key, value in cell.signal.strata.items()}}
                ),
            }
        )
        for cell in analysis.cells
    ]
    campaigns = [
        campaign.model_copy(
            update={
                "configuration": name(campaign.configuration),
                "served_models": [name("model")],
                "stopped": name("stopped"),
                "reasons": [name(reason) for reason in campaign.reasons],
                "invalid_by_reason": {name(key): value for key, value in campaign.invalid_by_reason.items()},
            }
        )
        for campaign in analysis.campaigns
    ]
    changes = {
        "title": name("title"),
        "study": name("study"),
        "cells": cells,
        "campaigns": campaigns,
        "risk": analysis.risk.model_copy(
            update={
                "cells": [
                    cell.model_copy(
                        update={"configuration": name(cell.configuration), "criterion": name(cell.criterion)}
                    )
                    for cell in analysis.risk.cells
                ]
            }
        ),
        "battery": {**analysis.battery, "source": name("source")},
    }
    return analysis.model_copy(update=changes)


def page_of(analysis: Analysis, text: str) -> str:
    rows = ((f"what{text}", f"value{text}"),)
    table = Table("digests", "Digests", "Note.", ("what", "SHA-256"), rows)
    return html_report(named(analysis, text), Provenance((table,), f'title = "x{text}"'))


@pytest.fixture(scope="session")
def analysis(rich):
    whole = rich[0].analyze()
    judges = ("weak", "fenced")
    return whole.model_copy(
        update={
            "cells": [cell for cell in whole.cells if cell.configuration in judges],
            "campaigns": [campaign for campaign in whole.campaigns if campaign.configuration in judges],
            "risk": whole.risk.model_copy(
                update={
                    "cells": [cell for cell in whole.risk.cells if cell.configuration in judges],
                    "pairs": [],
                }
            ),
        }
    )


@pytest.fixture(scope="session")
def plain(analysis):
    return page_of(analysis, "plain")


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_name_is_more_than_a_text(opened, analysis, plain, tmp_path, kind):
    text = page_of(analysis, HOSTILE[kind])
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8", newline="\n")
    assert len(text) < 2 * len(plain)
    assert _Shape(text).found == _Shape(plain).found
    with opened(path, width=375) as it:
        it.page.locator("input[data-of=lambda_t]").fill("3")
        assert it.page.locator("#ranking li").count() == 2
        it.page.locator("b, text, td, input, figure").evaluate_all(
            "all => all.slice(0, 300).forEach(e => e.dispatchEvent(new MouseEvent('click', {bubbles: true})))"
        )
        assert it.page.evaluate("typeof hacked") == "undefined"
        assert it.page.evaluate("document.documentElement.scrollWidth") <= 375
        assert it.page.locator("main > section").count() == 12
        assert it.requests == [path.as_uri()]
        shown = it.page.locator("h1").inner_text()
    assert it.complaints == []
    assert shown.startswith("title")
    assert not any(sign in text for sign in "\u202e\u2066\u200b\u2028\x1b\x00")
    if len(HOSTILE[kind]) < 200 and HOSTILE[kind].isascii() and HOSTILE[kind].isprintable():
        assert shown == f"title{HOSTILE[kind]}"


@pytest.mark.parametrize("name", ["<b>x</b>", "<<<>>>===", "MMMM wwww", "CAPITALS ONLY", "plain words"])
def test_no_name_at_an_axis_is_cut(opened, analysis, tmp_path, name):
    path = tmp_path / "report.html"
    path.write_text(page_of(analysis, name), encoding="utf-8", newline="\n")
    with opened(path) as it:
        beyond = it.page.locator("figure text").evaluate_all(
            "all => all.map(e => [e.textContent, e.getBoundingClientRect().left "
            "- e.closest('.scroll').getBoundingClientRect().left]).filter(([, room]) => room < 0)"
        )
    assert beyond == []


def test_the_data_of_the_explorer_ends_no_script(analysis):
    text = page_of(analysis, "</script><!--&\u2028")
    block = text.split('id="explorer">', 1)[1].split("</script>", 1)[0]
    assert not set("<>&\u2028\u2029") & set(block)
    assert json.loads(block)["cells"][0]["name"] == "weak</script><!--&\\u2028 / neutral</script><!--&\\u2028"


def test_hostile_items_and_replies_come_through_a_whole_study(opened, hostile):
    with opened(hostile) as it:
        assert it.page.evaluate("typeof hacked") == "undefined"
        assert it.page.locator(".answers tbody tr").count() == 2
        assert it.requests == [hostile.as_uri()]
    assert it.complaints == []
