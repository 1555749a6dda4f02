"""Charts as data: what they draw is what the analysis says."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
import vl_convert

from darkcurrent.reports.charts import DARK, LIGHT, PAGE, figures
from darkcurrent.reports.charts.riskgrid import winners
from darkcurrent.reports.svg import page_svg
from darkcurrent.risk import PAPER_GRID, Rates, risk
from support.arms import run_arms
from support.pages import KINDS, page_study


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    judges = {name: KINDS[name] for name in ("weak", "first", "fenced")}
    return page_study(tmp_path_factory.mktemp("charts") / "study", judges, items=80).analyze()


@pytest.fixture(scope="module")
def drawn(analysis):
    return figures(analysis, LIGHT)


def rows_of(spec):
    """Return all rows of data of a chart, with the first field that only they have."""
    found = list(spec.get("datasets", {}).values())

    def walk(part):
        if isinstance(part, dict):
            if isinstance(part.get("data"), dict) and "values" in part["data"]:
                found.append(part["data"]["values"])
            for value in part.values():
                walk(value)
        elif isinstance(part, list):
            for value in part:
                walk(value)

    walk(spec)
    return [row for rows in found for row in rows]


def test_each_section_has_its_charts(drawn):
    assert {key: len(found) for key, found in drawn.items()} == {
        "null": 3,
        "utility": 1 + 4,
        "patterns": 1,
        "verdicts": 1,
        "equivalent": 0,
        "ladder": 0,
        "context": 0,
        "invalid": 1,
        "time": 3,
        "risk": 1,
    }
    names = [figure.name for found in drawn.values() for figure in found]
    assert len(names) == len(set(names))
    assert all(name.replace("-", "").isalnum() for name in names)


def test_the_null_is_drawn_by_stratum_and_not_for_a_held_campaign(analysis, drawn):
    core, empty, _ = drawn["null"]
    expected = {
        f"{cell.configuration} / {cell.criterion}": (
            cell.clone["core"].adverse / 80,
            cell.clone["core"].upper,
        )
        for cell in analysis.cells
        if cell.state != "HOLD"
    }
    rows = {row["label"]: (row["rate"], row["upper"]) for row in rows_of(core.spec) if "label" in row}
    assert rows == expected
    assert [row["threshold"] for row in rows_of(core.spec) if "threshold" in row] == [0.05]
    assert {row["upper"] for row in rows_of(empty.spec)} == {None}
    assert not [row for row in rows_of(empty.spec) if "threshold" in row]


def test_utility_is_drawn_with_its_bounds_and_orders(analysis, drawn):
    rows = {row["label"]: row for row in rows_of(drawn["utility"][0].spec) if "label" in row}
    for cell in analysis.cells:
        if cell.state != "HOLD":
            row, signal = rows.pop(f"{cell.configuration} / {cell.criterion}"), cell.signal
            assert (row["mean"], row["lower"]) == (signal.mean, signal.lower)
            assert row["conservative"] == signal.bounds["conservative"]
            for order in ("AB", "BA"):
                assert row[order] == signal.orders[order].success / signal.orders[order].n
    assert rows == {}


def test_every_stratum_that_a_pass_hides_is_marked_and_no_other(analysis, drawn):
    by_title = {figure.title: rows_of(figure.spec) for figure in drawn["utility"][1:]}
    weak = next(cell for cell in analysis.cells if cell.configuration == "weak")
    assert weak.signal.gate == "PASS"
    for cell in analysis.cells:
        if cell.state == "HOLD":
            continue
        rows = [
            row for row in by_title[f"{cell.configuration} / {cell.criterion}: by stratum"] if "label" in row
        ]
        assert {row["label"]: row["mean"] for row in rows} == {
            name: stratum.mean for name, stratum in cell.signal.strata.items()
        }
        assert [row["mean"] for row in rows] == sorted(row["mean"] for row in rows)
        hidden = {row["label"] for row in rows if row["kind"] == "hidden"}
        assert hidden == ({"s2"} if cell.configuration == "weak" else set())
        assert all(("hidden" in row["mark"]) == (row["kind"] == "hidden") for row in rows)


@pytest.mark.parametrize(("section", "unit"), [("patterns", 80), ("verdicts", 160)])
def test_shares_add_up_to_one_and_are_counts(analysis, drawn, section, unit):
    rows = rows_of(drawn[section][0].spec)
    for cell in analysis.cells:
        own = [row for row in rows if row["label"] == f"{cell.configuration} / {cell.criterion}"]
        if cell.state == "HOLD":
            assert own == []
            continue
        assert sum(row["share"] for row in own) == pytest.approx(1)
        counts = (
            cell.patterns["signal"].values()
            if section == "patterns"
            else cell.signal.verdicts.model_dump().values()
        )
        assert sorted(round(row["share"] * unit) for row in own) == sorted(count for count in counts if count)


def test_reasons_of_invalid_calls_are_drawn_for_campaigns_that_have_some(analysis, drawn):
    rows = rows_of(drawn["invalid"][0].spec)
    fenced = next(campaign for campaign in analysis.campaigns if campaign.configuration == "fenced")
    assert {row["kind"]: round(row["share"] * fenced.terminal) for row in rows} == {
        "fenced": fenced.invalid,
        "valid": fenced.terminal - fenced.invalid,
    }


def test_time_draws_every_call_once(analysis, drawn):
    for figure, campaign in zip(drawn["time"], analysis.campaigns, strict=True):
        rows = [row for row in rows_of(figure.spec) if "low" in row]
        calls = sum((row["high"] - row["low"]) * (row["end"] - row["start"]) for row in rows)
        assert calls == pytest.approx(campaign.scheduled)
        assert max(row["end"] for row in rows) == campaign.scheduled
        assert len({row["start"] for row in rows}) <= 60


def test_the_grid_names_the_cell_of_least_risk(drawn):
    rows = [row for row in rows_of(drawn["risk"][0].spec) if "mark" in row]
    assert len(rows) == 96
    assert {row["mark"] for row in rows} <= {"1", "2", "3", "4", "="}


def test_winners_are_found_by_the_risk_and_equals_share_a_scenario():
    careful, bold = (
        Rates(0, 0, wrong=0.1, tie=0.3, invalid_signal=0),
        Rates(0, 0, wrong=0.2, tie=0, invalid_signal=0),
    )
    won = winners([careful, bold, careful])
    assert [each == [0, 2] for each in won] == [losses.lambda_t < 1 / 3 for losses in PAPER_GRID]
    assert all(each in ([0, 2], [1]) for each in won)
    assert [risk(careful, losses) < risk(bold, losses) for losses in PAPER_GRID] == [
        0 in each for each in won
    ]


def test_the_arms_are_drawn_where_they_were_shown(tmp_path):
    battery = 'source = "finite-code"\nsettings = [0, 6]\narms = ["clone", "signal", "equivalent", "ladder"]'
    judges = {"rungs": 'steps = { "faulty-1" = 0.0 }', "sided": 'patterns = { "one-sided" = 1.0 }'}
    _, analysis = run_arms(tmp_path / "code", battery, judges)
    drawn = figures(analysis, LIGHT)
    rates = {row["label"]: row["rate"] for row in rows_of(drawn["equivalent"][0].spec)}
    assert rates == {cell.configuration: cell.equivalent.rate for cell in analysis.cells}
    for figure, cell in zip(drawn["ladder"], analysis.cells, strict=True):
        rows = [row for row in rows_of(figure.spec) if "step" in row]
        assert {row["step"]: row["seen"] for row in rows} == {
            name: step.sensitivity for name, step in cell.ladder.steps.items()
        }
    _, analysis = run_arms(
        tmp_path / "context", 'source = "context"', {"minds": "present = { utility = 0.5 }"}
    )
    drawn = figures(analysis, LIGHT)
    assert [figure.name for figure in drawn["context"]] == ["context-equivalent", "context-signal"]
    for figure, one in zip(drawn["context"], analysis.cells[0].context.values(), strict=True):
        (row,) = (row for row in rows_of(figure.spec) if "label" in row)
        assert (row["difference"], row["low"], row["high"]) == (one.difference, *one.interval)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_charts_can_be_drawn_for_print(analysis, palette):
    for found in figures(analysis, palette).values():
        for figure in found:
            svg = vl_convert.vegalite_to_svg(figure.spec)
            assert "var(" not in svg
            assert ElementTree.fromstring(svg).tag.endswith("svg")


def test_what_stands_in_the_page_follows_its_theme_and_only_draws(analysis):
    allowed = {"svg", "g", "path", "line", "rect", "circle", "text", "tspan", "title"}
    for found in figures(analysis, PAGE).values():
        for figure in found:
            svg = page_svg(figure.spec, figure.title)
            tree = ElementTree.fromstring(svg)
            assert {element.tag for element in tree.iter()} <= allowed
            assert tree.get("aria-label") == figure.title
            for element in tree.iter():
                assert not [name for name in element.attrib if name.startswith("on") or "href" in name]
                for name in ("fill", "stroke"):
                    value = element.get(name, "none")
                    assert value in ("none", "transparent") or value.startswith("var(--"), (
                        figure.name,
                        value,
                    )


def test_a_text_from_outside_is_a_value_or_a_domain_and_nothing_that_is_evaluated(tmp_path):
    judges = {"MARKER-1": KINDS["weak"], "MARKER-2": KINDS["fenced"]}
    study = page_study(tmp_path / "study", judges, items=40, strata=["MARKER-s", "MARKER-t"])
    places = []

    def walk(part, path):
        if isinstance(part, dict):
            for key, value in part.items():
                assert "MARKER" not in key
                walk(value, (*path, key))
        elif isinstance(part, list):
            for value in part:
                walk(value, path)
        elif isinstance(part, str) and "MARKER" in part:
            places.append(path)

    for found in figures(study.analyze(), PAGE).values():
        for figure in found:
            assert "MARKER" not in figure.name
            walk(figure.spec, ())
    assert places
    assert {
        ("datasets" in path or "values" in path or path[-2:] == ("scale", "domain")) for path in places
    } == {True}


def test_of_a_drawing_only_what_draws_is_kept(monkeypatch):
    drawn = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="10" height="5"
        onload="x()">
    <script>x()</script><style>*{}</style><image href="https://example.org/x.png"/><foreignObject><b>x</b></foreignObject>
    <a xlink:href="javascript:x()"><text>in a link</text></a><use href="#y"/>
    <g><path d="M1.23456,2" aria-label="&lt;b&gt; said" onclick="x()" style="background:url(x)"/></g>
    <text opacity="0">unseen</text></svg>"""
    monkeypatch.setattr(vl_convert, "vegalite_to_svg", lambda *_, **__: drawn)
    assert page_svg({}, "A <title>") == (
        '<svg role="img" aria-label="A &lt;title&gt;" style="max-width:11px" viewBox="0 0 10 5">\n    '
        '<path d="M1.23,2"><title>&lt;b&gt; said</title></path></svg>'
    )
