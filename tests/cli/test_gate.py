"""`darkcurrent gate`: its forms, and a judge that is no longer the one that was audited."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest

from support.server import MODEL, ChatServer

JUDGE = """
def good(p, a, b):
    return 'tie' if a == b else 'A' if a.startswith('good') else 'B'
def f():
    import helper
"""


@pytest.fixture
def passed(program, small):
    """Return a study whose judge passes."""
    (small.folder / "helper.py").write_text("X = 1\n")
    (small.folder / "judge.py").write_text(JUDGE)
    (small.folder / "rubric.txt").write_text("Choose.")
    small.protocol('rubric = "neutral"', 'rubric_file = "rubric.txt"')
    assert program("freeze", small.folder).code == 0
    assert program("run", small.folder).code == 0
    assert program("gate", small.folder).code == 0
    return small


def edit(small, name, old, new):
    path = small.folder / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("judge.py", "'tie'", "'A'", "the source file"),
        ("helper.py", "1", "2", "the source helper.py file"),
        ("rubric.txt", "Choose.", "Choose well.", "rubric of criterion `neutral`"),
        ("protocol.toml", "judge:good", "judge:lazy", "`callable` of the configuration"),
        ("protocol.toml", "utility_threshold = 0.75", "utility_threshold = 0.5", "`gates` in "),
        ("protocol.toml", 'name = "good"', 'name = "better"', "declares it no more"),
        ("protocol.toml", "format = 1", "format = 2", "`format` is 2"),
        (
            "protocol.toml",
            "[schedule]",
            '[[configuration]]\nname = "new"\nbackend = "simulated"\n[schedule]',
            "`new` is declared in",
        ),
    ],
)
def test_a_changed_judge_is_stale(program, passed, name, old, new, said):
    edit(passed, name, old, new)
    outcome = program("gate", passed.folder)
    assert outcome.code == 4
    assert outcome.out.startswith("good / neutral: STALE. The judge is not the one that was audited: ")
    assert said in outcome.out
    assert "What was found: Tied on all 80" in outcome.out
    (one,) = program("gate", passed.folder, "--json").json()["cells"]
    assert (one["state"], one["joint"]) == ("STALE", "both gates pass")


def test_a_missing_source_is_stale(program, passed):
    (passed.folder / "judge.py").unlink()
    assert "there is no module `judge`" in program("gate", passed.folder).out


def test_what_changes_no_number_makes_nothing_stale(program, passed):
    edit(passed, "protocol.toml", "format = 1", "# a comment\nformat = 1")
    edit(passed, "protocol.toml", "in_flight = 8", "in_flight = 2")
    assert program("gate", passed.folder).code == 0
    (passed.folder / "protocol.toml").unlink()  # only what is frozen was kept
    assert program("gate", passed.folder).code == 0


def test_only_the_changed_configuration_is_stale(program, small):
    more = '[[configuration]]\nname = "other"\nbackend = "simulated"\n[schedule]'
    small.protocol("[schedule]", more)
    program("freeze", small.folder)
    program("run", small.folder)
    edit(small, "protocol.toml", 'backend = "simulated"', 'backend = "simulated"\nproperties = { seed = 5 }')
    states = [cell["state"] for cell in program("gate", small.folder, "--json").json()["cells"]]
    assert states == ["PASS", "STALE"]


def test_who_answers_at_an_address_is_said_not_to_be_compared(program, small):
    with ChatServer() as server:
        configuration = f'backend = "openai-chat"\nbase_url = "{server.url}"\nmodel = "{MODEL}"'
        small.protocol('backend = "function"\ncallable = "judge:good"', configuration)
        program("freeze", small.folder)
        ran = program("run", small.folder)
        assert ran.code == 0, ran.err
    outcome = program("gate", small.folder)  # the server is gone: nothing was asked
    assert outcome.code == 3
    assert f"good: who answers at {server.url} was not compared: `darkcurrent doctor` asks." in outcome.err


def test_every_form_and_a_file(program, passed, tmp_path):
    junit = program("gate", passed.folder, "--format", "junit")
    assert ET.fromstring(junit.out).find("testsuite").get("tests") == "1"
    assert program("gate", passed.folder, "--format", "github").out.startswith(
        "::notice title=darkcurrent PASS%3A good / neutral::Tied on all 80"
    )
    assert json.loads(program("gate", passed.folder, "--format", "json").out)["exit"] == 0
    written = program("gate", passed.folder, "--format", "junit", "-o", tmp_path / "junit.xml")
    assert (written.code, written.out) == (0, "")
    assert (tmp_path / "junit.xml").read_text() == junit.out
    assert "cannot be written" in program("gate", passed.folder, "-o", tmp_path / "no" / "x").error(2)
    assert "exclude each other" in program("gate", passed.folder, "--json", "--format", "text").error(2)
