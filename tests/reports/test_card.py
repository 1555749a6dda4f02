"""Judge cards, read by a YAML reader, a JSON schema validator and a Markdown renderer that are not ours."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from darkcurrent.printable import printable
from darkcurrent.reports import judge_card
from darkcurrent.reports.card_schema import schema_text
from darkcurrent.reports.yaml_head import yaml_lines
from support.arms import run_arms
from support.pages import KINDS, page_study

SCHEMA = json.loads(
    files("darkcurrent.reports").joinpath("judge-card.schema.json").read_text(encoding="utf-8")
)
HOSTILE = (
    "---\n# x: [y]\n<script>alert(1)</script>|*b*`c`\u202e\x1b[31m{{7*7}}\"'&amp; ![i](http://x) @someone"
)


def parts(card):
    """Return the head, as a YAML reader gives it, and the Markdown below it."""
    assert card.startswith("---\n")
    head, _, body = card[4:].partition("\n---\n")
    assert yaml.safe_load(head) == yaml.load(head, Loader=yaml.CSafeLoader)
    return yaml.safe_load(head), body


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    judges = {name: KINDS[name] for name in ("weak", "first", "fenced")}
    return page_study(tmp_path_factory.mktemp("card") / "study", judges, items=60)


@pytest.fixture(scope="module")
def analysis(study):
    return study.analyze()


def test_the_schema_is_what_the_head_gives():
    assert (
        files("darkcurrent.reports").joinpath("judge-card.schema.json").read_text(encoding="utf-8")
        == schema_text()
    )
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", ["weak", "first", "fenced"])
def test_a_head_validates_and_holds_the_numbers_of_the_analysis(study, analysis, name):
    head, _ = parts(study.card(analysis, name))
    jsonschema.validate(head, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert head["judge"]["digest"] == study.frozen.configurations[name]["digest"]
    assert head["study"]["digest"] == analysis.study_digest
    cells = [cell for cell in analysis.cells if cell.configuration == name]
    assert [each["criterion"] for each in head["results"]] == ["neutral", "strict"]
    for each, cell in zip(head["results"], cells, strict=True):
        assert each["joint"] == cell.joint
        assert each["clone"]["upper"] == cell.clone["core"].upper
        assert each["utility"]["lower"] == cell.signal.lower
        assert (each["risk"]["risk"] is None) == (cell.state == "HOLD")


def test_a_head_with_another_key_or_a_missing_one_does_not_validate(study, analysis):
    head, _ = parts(study.card(analysis, "weak"))
    for spoilt in ({**head, "more": 1}, {key: value for key, value in head.items() if key != "results"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(spoilt, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_a_card_names_each_axis_with_its_test_and_its_loss_and_each_subgroup(study, analysis):
    _, body = parts(study.card(analysis, "weak"))
    for heading in ("Intended use", "Configuration", "Axes", "Subgroups", "Limits"):
        assert f"\n## {heading}\n" in body
    axes = body.partition("## Axes")[2].partition("\n## ")[0]
    rows = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in axes.splitlines()
        if line.startswith("|")
    ]
    named = {row[1]: row for row in rows[2:] if row[0] == "neutral"}
    assert list(named) == ["eligible verdicts", "invented preferences", "target chosen", "place"]
    assert named["invented preferences"][3] == r"λ\_c, at a prevalence of π\_c"
    assert named["target chosen"][3] == r"λ\_W for a wrong choice, λ\_T for a tie"
    assert "| neutral | s2 | 15 |" in body  # planted: below the threshold there
    assert re.search(r"\| neutral \| s2 \| 15 \| \.\d+ \| below the threshold \|", body)
    assert "declared by whoever uses it" in body


def test_a_held_configuration_shows_no_number_but_its_coverage(study, analysis):
    head, body = parts(study.card(analysis, "fenced"))
    assert head["calls"]["state"] == "HOLD"
    assert head["calls"]["reasons"]
    axes = body.partition("## Axes")[2].partition("\n## ")[0]
    rows = [
        line.split("|")[5].strip() for line in axes.splitlines() if line.startswith(("| neutral", "| strict"))
    ]
    assert set(rows[1:4]) == {"–"}
    assert "Subgroups" not in body


def test_the_axes_of_every_arm(tmp_path):
    study, analysis = run_arms(
        tmp_path / "s",
        'source = "finite-code"\nsettings = [0]\narms = ["clone", "signal", "equivalent", "ladder"]',
        {"j": ""},
    )
    body = study.card(analysis, "j")
    assert "| equal texts |" in body
    assert "| size of a difference |" in body
    assert r"λ\_e, at a prevalence of π\_e" in body


class _Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name in ("href", "src") or name.startswith("on")]


@pytest.mark.parametrize(
    "bad", [HOSTILE, "x" * 100_000, "null", "", "-", "a: b", "\ud83d\ude00 ü", "2024-01-01"]
)
def test_hostile_names_break_neither_the_head_nor_the_markdown(analysis, bad):
    cells = [
        cell.model_copy(
            update={
                "configuration": bad,
                "criterion": bad,
                "signal": cell.signal.model_copy(
                    update={"strata": {f"{bad}{n}": own for n, own in enumerate(cell.signal.strata.values())}}
                ),
            }
        )
        for cell in analysis.cells[:1]
    ]
    campaign = analysis.campaigns[0].model_copy(
        update={"configuration": bad, "served_models": [bad], "reasons": [bad], "stopped": bad}
    )
    priced = analysis.risk.cells[0].model_copy(update={"configuration": bad, "criterion": bad})
    spoilt = analysis.model_copy(
        update={
            "study": bad,
            "title": bad,
            "battery": {**analysis.battery, "source": bad},
            "campaigns": [campaign],
            "cells": cells,
            "risk": analysis.risk.model_copy(update={"cells": [priced], "pairs": []}),
        }
    )
    card = judge_card(spoilt, bad, {"backend": bad, "model": bad, "contract": bad, bad: {bad: bad}}, None)
    head, body = parts(card)
    jsonschema.validate(head, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert head["judge"]["name"] == head["study"]["name"]
    if len(bad) < 300:
        assert head["judge"]["name"] == printable(bad)
    assert len(card) < 40_000
    page = _Tags(MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(body))
    assert page.tags <= {
        "h1",
        "h2",
        "p",
        "ul",
        "li",
        "strong",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
    }
    assert page.links == []
    assert "\x1b" not in card
    assert "\u202e" not in card


TEXT = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([2e-05, 1e22, -0.0])
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["a", "null", "on", "No", "_x", "é", "1", ""]), JSON, min_size=1))
def test_yaml_gives_back_what_was_written(value):
    assert json.dumps(yaml.safe_load("\n".join(yaml_lines(value)))) == json.dumps(value)
