"""The three forms of a report, from studies whose names and texts are hostile."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from html.parser import HTMLParser

import pytest
from rich.cells import cell_len
from rich.console import Console

from darkcurrent.printable import printable
from darkcurrent.reports import html_report, markdown_report, terminal_report
from darkcurrent.reports.paper_tables import paper_tables
from darkcurrent.reports.table import Table
from darkcurrent.reports.tables import all_tables, verdict_table
from darkcurrent.reports.terminal import print_table
from darkcurrent.reports.words import number

HOSTILE = "<script>alert(1)</script>|*x*`\u202e\x1b[31m{{7*7}}</table>\"'\n&amp;"

JUDGES = """
def good(prompt, a, b):
    return "tie" if a == b else "A" if a.startswith("good") else "B"

def first(prompt, a, b):
    return "A"

def fenced(prompt, a, b):
    return "```A```"
"""


@pytest.fixture
def analysis(planted):
    study = planted(JUDGES, ["good", "first", "fenced"], edge=2, strata=("plain", HOSTILE))
    for name in ("good", "first", "fenced"):
        study.run(name)
    return study.analyze()


class _Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.attributes = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.words.append(data)


def test_the_page_shows_hostile_names_as_text_and_runs_nothing(analysis):
    text = html_report(analysis)
    page = _Page(text)
    assert not {"iframe", "img", "object", "link", "use", "image", "foreignobject"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "src"]
    assert all(value.startswith("#") for name, value in page.attributes if name.endswith("href"))
    # The script that may run is ours, by its digest; the other block is data.
    data, script = re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL)
    assert page.tags.count("script") == 2
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = (value for name, value in page.attributes if name == "content" and "default-src" in value)
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert len(json.loads(data)["cells"]) == 2
    shown = "".join(page.words)
    assert "<script>alert(1)</script>" in shown
    assert "{{7*7}}" in shown
    assert "\\u202e" in shown
    assert "\\x1b" in shown
    assert "80 items in 2 strata (pairs), 3 cells" in shown
    assert page.tags.count("table") == len(all_tables(analysis)) + 1


def test_the_page_holds_every_number_of_every_table(analysis):
    shown = "".join(_Page(html_report(analysis)).words)
    for table in all_tables(analysis):
        assert table.title in shown
        for row in table.rows:
            for cell in row:
                assert printable(cell) in shown


def test_the_markdown_keeps_its_tables_whole(analysis):
    text = markdown_report(analysis)
    tables = [block for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) == len(all_tables(analysis)) + len(paper_tables(analysis))
    for block in tables:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1
    assert "<script>" not in text
    assert "\x1b" not in text


def test_the_terminal_gets_no_escape_sequence_from_data(analysis):
    for full in (False, True):
        stream = io.StringIO()
        terminal_report(analysis, Console(file=stream, width=120, color_system=None), full=full)
        shown = stream.getvalue()
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert ("Utility by stratum" in shown) is full


@pytest.mark.parametrize("width", [24, 44, 80, 120, 200])
def test_no_number_is_cut_off_however_narrow_the_terminal(analysis, width):
    stream = io.StringIO()
    terminal_report(analysis, Console(file=stream, width=width, color_system=None))
    lines = stream.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= width
    words = " ".join(" ".join(lines).split())
    for table in all_tables(analysis):
        for row in table.rows:
            values = zip(table.columns[table.left :], row[table.left :], strict=True)
            aligned = " ".join(row[table.left :])
            written = ", ".join(f"{name} {value}" for name, value in values)
            assert aligned in words or written in words


@pytest.mark.parametrize("width", [80, 120])
def test_the_verdict_of_a_cell_stands_in_one_line(analysis, width):
    stream = io.StringIO()
    terminal_report(analysis, Console(file=stream, width=width, color_system=None), full=False)
    lines = [" ".join(line.split()) for line in stream.getvalue().splitlines()]
    table = verdict_table(analysis)
    for row in (table.columns, *table.rows):
        assert [line for line in lines if line.endswith(" ".join(row[2:]))]


def test_a_terminal_is_not_flooded_by_strata_and_is_told_what_is_left_out(analysis):
    table = Table("k", "Many", "Read it so.", ("name", "n"), tuple((f"s{n}", str(n)) for n in range(100)), 1)
    stream = io.StringIO()
    print_table(table, Console(file=stream, width=80, color_system=None), 40)
    shown = stream.getvalue()
    assert "s39" in shown
    assert "s40" not in shown
    assert "... and 60 more rows" in shown


def test_a_stratum_with_an_endless_name_leaves_the_tables_readable(planted):
    study = planted(JUDGES, ["good"], items=4, strata=("S" * 100_000 + "-a", "S" * 100_000 + "-b"))
    study.run("good")
    analysis = study.analyze()
    assert len(markdown_report(analysis)) < 10_000
    names = [row[2] for table in all_tables(analysis) if table.key == "strata" for row in table.rows]
    assert [name[-2:] for name in names] == ["-a", "-b"]
    assert sorted(analysis.cells[0].signal.strata) == ["S" * 100_000 + "-a", "S" * 100_000 + "-b"]


def test_the_verdict_table_has_a_row_for_each_cell_and_no_number_for_a_held_one(analysis):
    rows = verdict_table(analysis).rows
    assert [row[0] for row in rows] == ["good", "first", "fenced"]
    assert [row[-1] for row in rows] == ["both gates pass", "neither gate", "HOLD"]
    assert rows[2][2] == "HOLD 0/244"
    assert rows[2][3:6] == ("–", "–", "–")
    # 0/80 in a family of three: 3 * .95**80 = .0495, and the bound .037 is below .05
    assert rows[0][3] == "0/80 [.037]"


def test_the_sentences_say_what_a_person_would_say(analysis):
    text = markdown_report(analysis)
    assert "Preferred one of two identical texts 80 of 80 times, always the first" in text
    assert "Tied on all 80 pairs of identical texts" in text
    assert "80/80 where it stood first, 0/80 where second" in text
    assert "Chose the right text in 80 of 160 calls, the wrong one in 80" in text
    assert "Not evaluated: 244 of 244 scheduled calls gave no valid verdict" in text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0.0, "0.000"),
        (1.0, "1.000"),
        (0.0307, ".031"),
        (0.9999, "1.000"),
        (0.00042, "4.2e-4"),
        (-0.235, "-.235"),
        (3.1404e-11, "3.1e-11"),
    ],
)
def test_numbers_are_shown_as_the_field_writes_them(value, shown):
    assert number(value) == shown


def test_the_report_command_writes_both_files(planted):
    study = planted(JUDGES, ["good"])
    study.run("good")
    html, markdown = study.report(study.analyze())
    assert html.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert markdown.read_text(encoding="utf-8").startswith("# planted")
    assert json.loads((study.folder / "analysis.json").read_text(encoding="utf-8"))["study"] == "planted"
