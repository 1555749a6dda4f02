"""`darkcurrent report`: what is written, and where."""

from __future__ import annotations

import json
import struct
from xml.etree import ElementTree

import pytest

from darkcurrent.reports.charts import LIGHT, figures
from support.pages import KINDS, page_study

NAMES = ("weak", "first")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    study = page_study(
        tmp_path_factory.mktemp("report") / "study",
        {name: KINDS[name] for name in NAMES},
        items=40,
        criteria=["neutral"],
    )
    return study.folder


def test_without_a_format_the_page_and_markdown(folder, program):
    done = program("report", folder, "--json")
    assert done.json() == {"html": str(folder / "report.html"), "markdown": str(folder / "report.md")}
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("form", "start"), [("html", "<!doctype html>"), ("md", "# "), ("card", "---\nschema: "), ("json", "{")]
)
def test_each_format_on_stdout(folder, program, form, start):
    only = ["--configuration", "weak"] if form == "card" else []
    done = program("report", folder, "--format", form, "-o", "-", *only)
    assert done.code == 0
    assert done.out.startswith(start)
    assert done.err == ""


def test_each_format_in_a_file(folder, program, tmp_path):
    for form in ("html", "md", "json"):
        path = tmp_path / f"out.{form}"
        assert program("report", folder, "--format", form, "-o", path, "--json").json() == {form: str(path)}
        assert path.read_text(encoding="utf-8") == program("report", folder, "--format", form, "-o", "-").out


def test_the_analysis_as_json_is_analysis_json(folder, program):
    for options in ([], ["--json"], ["-o", "-", "--json"]):
        done = program("report", folder, "--format", "json", *options)
        assert done.json() == json.loads((folder / "analysis.json").read_text(encoding="utf-8"))


def test_a_card_for_each_configuration(folder, program):
    written = program("report", folder, "--format", "card", "--json").json()
    assert written == {f"card {name}": str(folder / f"judge-card-{name}.md") for name in NAMES}
    for name in NAMES:
        assert f"\n# Judge card: {name}\n" in (folder / f"judge-card-{name}.md").read_text(encoding="utf-8")
    one = program("report", folder, "--format", "card", "--configuration", "first", "--json").json()
    assert list(one) == ["card first"]


def test_the_files_of_cards_have_safe_names_that_differ():
    from darkcurrent.cli.report import _card_places

    assert _card_places(["only/../one"]) == {"only/../one": "judge-card.md"}
    names = ["a", "A", "../../x", "..", "\u202e", "a b", "a-b", "y" * 500]
    places = list(_card_places(names).values())
    assert len({place.casefold() for place in places}) == len(names)
    assert all("/" not in place and place.isascii() and len(place) < 90 for place in places)
    assert places[0] == "judge-card-a.md"


def test_every_chart_as_svg_and_png(folder, program, tmp_path):
    from darkcurrent.study import Study

    place = tmp_path / "figures"
    done = program("report", folder, "--figures", place, "--format", "md", "--json")
    names = {figure.name for own in figures(Study(folder).analyze(), LIGHT).values() for figure in own}
    assert len(names) >= 6
    assert {path.name for path in place.iterdir()} == {
        f"{name}.{kind}" for name in names for kind in ("svg", "png")
    }
    assert sorted(done.json()["figures"]) == sorted(str(path) for path in place.iterdir())
    for path in place.iterdir():
        data = path.read_bytes()
        if path.suffix == ".svg":
            drawn = ElementTree.fromstring(data)
            size = [float(drawn.attrib[name]) for name in ("width", "height")]
        else:
            assert data.startswith(b"\x89PNG\r\n")
            pixels = struct.unpack(">II", data[16:24])
            svg = ElementTree.fromstring(path.with_suffix(".svg").read_bytes())
            size = [3 * float(svg.attrib[name]) for name in ("width", "height")]
            assert pixels == pytest.approx(size, abs=3)
        assert min(size) > 50


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-o", "-", "--json"], "both want stdout"),
        (["--format", "md", "-o", "-", "--json"], "both want stdout"),
        (["--format", "card", "-o", "x.md"], "2 judge cards and -o names one place"),
        (
            ["--format", "card", "--configuration", "nobody"],
            "no configuration `nobody` in this study: known are `weak`, `first`",
        ),
        (["--configuration", "weak"], "give it with --format card"),
        (["--format", "html", "-o", "/nonexistent/x.html"], "cannot be written"),
        (["--figures", "/dev/null/x"], "cannot be a folder"),
    ],
)
def test_bad_input_is_one_sentence(folder, program, options, words):
    assert words in program("report", folder, *options).error(2)


def test_an_unknown_format_is_a_usage_error(folder, program):
    assert program("report", folder, "--format", "pdf").code == 2
