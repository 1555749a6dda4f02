"""Bad input: exit 2 (6 for what was changed after freezing) and one clear sentence, whatever it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from aiohttp import web

from darkcurrent.study import Study
from support.server import ChatServer, completion


def pair(number: int, **changes: object) -> dict:
    row = {
        "id": f"i{number}",
        "prompt": f"p{number}",
        "chosen": f"good {number}",
        "rejected": f"bad {number}",
    }
    return row | changes


# ------------------------------------------------------------------ the protocol


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "seed = 1",
            "sede = 1",
            "protocol.toml:14: `schedule.sede` is not a known key: did you mean `seed`?",
        ),
        (
            "seed = 1",
            'seed = "one"',
            'protocol.toml:14: `schedule.seed` is "one": input should be a valid integer.',
        ),
        ("seed = 1", "seed = ", "protocol.toml is not valid TOML: "),
        ("[schedule]\nseed = 1\n", "", "protocol.toml lacks the key `schedule`: add it."),
        (
            'name = "good"',
            'name = "../good"',
            "protocol.toml:10: `configuration[0].name` must begin with a letter",
        ),
        (
            "[study]",
            '"new\\nline\\u001b[31m" = 1\n[study]',
            "protocol.toml:2: `new\\nline\\x1b[31m` is not a known key",
        ),
    ],
)
def test_a_protocol_that_cannot_be_used(program, small, old, new, says):
    small.protocol(old, new)
    for command in ("freeze", "doctor"):
        assert program(command, small.folder).error(2).startswith(f"{small.folder}/{says}")
    assert not (small.folder / "frozen").exists()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('rubric = "neutral"', 'rubric = "netral"', "`criteria.neutral.rubric` is `netral`"),
        ('rubric = "neutral"', 'rubric_file = "absent.txt"', "`criteria.neutral.rubric_file`: "),
        (
            'callable = "judge:good"',
            'callable = "absent:good"',
            "configuration `good`: there is no module `absent`",
        ),
        (
            'callable = "judge:good"',
            'callable = "judge:good"\ncontract = "sole"',
            "There is no contract 'sole'",
        ),
        ('path = "pairs.jsonl"', 'path = "absent.jsonl"', "The file "),
        ('path = "pairs.jsonl"', 'path = "pairs.txt"', "pairs.txt ends with `.txt`"),
        ('path = "pairs.jsonl"', 'path = "pairs.jsonl"\nedge_controls = 81', "`battery.edge_controls` is 81"),
    ],
)
def test_a_protocol_that_names_what_is_not_there(program, small, old, new, says):
    small.protocol(old, new)
    assert says in program("freeze", small.folder).error(2)
    assert not (small.folder / "frozen").exists()


def test_a_folder_without_a_protocol(program, tmp_path):
    for folder in (tmp_path, tmp_path / "absent"):
        assert program("freeze", folder).error(2) == (
            f"There is no {folder}/protocol.toml: write one with `darkcurrent init {folder}`."
        )
        for command in ("run", "status", "analyze", "gate", "report"):
            assert program(command, folder).error(2) == (
                f"There is no study in {folder}: name another folder, or begin one with `darkcurrent init {folder}`."
            )
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_the_folder(program, tmp_path):
    path = tmp_path / "file"
    path.write_text("kept")
    for command in ("init", "freeze", "doctor", "run", "status", "analyze", "gate", "report", "quickstart"):
        assert str(path) in program(command, path).error(2)
    assert path.read_text() == "kept"


def test_a_folder_in_which_nothing_may_be_written(program, small, monkeypatch):
    """Simulated, because the tests may run as a user who may write everywhere."""

    def refuse(self, *args, **kwargs):
        raise PermissionError(13, "Permission denied", str(self))

    real = Path.mkdir
    monkeypatch.setattr(Path, "mkdir", refuse)
    assert "cannot be written (Permission denied)" in program("init", small.folder / "new").error(2)
    assert "frozen cannot be written (Permission denied)" in program("freeze", small.folder).error(2)
    monkeypatch.setattr(Path, "mkdir", real)
    assert program("freeze", small.folder).code == 0
    monkeypatch.setattr(Path, "write_bytes", refuse)
    assert "analysis.json cannot be written (Permission denied)" in program("analyze", small.folder).error(2)


# ------------------------------------------------------------------ the pairs


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "The battery is empty: no item was taken. Check `[battery]`."),
        (["\n\n"], "The battery is empty"),
        ([pair(1), pair(2, rejected="good 2")], "pairs.jsonl:2: chosen and rejected are the same text"),
        ([pair(1), pair(1)], "pairs.jsonl:2 has the id `i1` of "),
        ([pair(1), pair(2, chosen=True)], "pairs.jsonl:2: `chosen` is true, not a text: correct the row."),
        ([pair(1, id="\ud800")], 'pairs.jsonl:1: `id` is "\\ud800", which holds a lone surrogate'),
        ([pair(1), '{"id": 1, "id": 2}\n'], "pairs.jsonl:2 has the key `id` twice: keep one."),
        ([pair(1), "{'id': 1}\n"], "pairs.jsonl:2 is not valid JSON"),
        ([pair(1), "[" * 100_000], "pairs.jsonl:2 is nested too deeply"),
        ([{"id": 1}], "pairs.jsonl:1 has no column `chosen` (its columns are `id`)"),
        ([{"id\n\u001b[31m": 1}], "pairs.jsonl:1 has no column `id` (its columns are `id\\n\\x1b[31m`)"),
        ([pair(1, prompt=[{"role": "user"}])], "pairs.jsonl:1: message 0 of the prompt"),
    ],
)
def test_pairs_that_cannot_be_used(program, small, rows, says):
    small.pairs(*rows)
    assert says in program("freeze", small.folder).error(2)
    assert not (small.folder / "frozen").exists()


def test_pairs_that_look_odd_and_are_fine(program, small):
    """A byte-order mark at the head, CRLF, a real U+FEFF, a line separator and a lone surrogate inside a text."""
    odd = "\ufeffp\u2028\ud800"
    data = "\r\n".join(
        [json.dumps(pair(1, prompt=odd)), json.dumps(pair(2, prompt="\ufeff\u2028"), ensure_ascii=False)]
    )
    (small.folder / "pairs.jsonl").write_bytes(b"\xef\xbb\xbf" + data.encode())
    protocol = small.folder / "protocol.toml"
    protocol.write_bytes(b"\xef\xbb\xbf" + protocol.read_bytes().replace(b"\n", b"\r\n"))
    assert program("freeze", small.folder).code == 0
    assert {odd, "\ufeff\u2028"} <= set(Study(small.folder).frozen.texts.values())
    ran = program("run", small.folder)
    assert ran.code == 0
    assert "note:" not in ran.err
    assert program("status", small.folder, "--json").json()["good"]["state"] == "COMPLETE"
    assert program("analyze", small.folder).code == 0


# ------------------------------------------------------------------ the order of steps


def test_nothing_is_overwritten(program, small):
    before = (small.folder / "protocol.toml").read_bytes()
    assert "protocol.toml exists already and is not overwritten" in program("init", small.folder).error(2)
    assert (small.folder / "protocol.toml").read_bytes() == before
    assert program("freeze", small.folder).code == 0
    manifest = (small.folder / "frozen" / "manifest.json").read_bytes()
    assert "is frozen already and is never overwritten" in program("freeze", small.folder).error(2)
    assert (small.folder / "frozen" / "manifest.json").read_bytes() == manifest


def test_run_before_freeze(program, small):
    assert program("run", small.folder).error(2) == (
        f"{small.folder} is not frozen yet: run `darkcurrent freeze {small.folder}` first."
    )
    assert not (small.folder / "journal").exists()


def test_an_unknown_configuration_is_named_before_anything_is_asked(program, small):
    program("freeze", small.folder)
    sentence = program("run", small.folder, "--only", "good", "--only", "goood").error(2)
    assert sentence == "There is no configuration `goood` in this study: known are `good`."
    assert not (small.folder / "journal").exists()


def test_an_unknown_template(program, tmp_path):
    sentence = program("init", tmp_path / "new", "--study", "pear").error(2)
    assert sentence.startswith("There is no template `pear`: known are context-audit, controlled, ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments", [["run"], ["freeze", "a", "b"], ["fly"], ["run", "--fast", "."], ["--fast"]]
)
def test_a_command_line_that_makes_no_sense(program, arguments):
    outcome = program(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert "Usage: darkcurrent" in outcome.err
    assert "Traceback" not in outcome.err


# ------------------------------------------------------------------ keys

KEYED = """\
name = "served"
backend = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
model = "m"
api_key_env = "DARKCURRENT_TEST_KEY"
"""


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_key_whose_variable_is_not_set(program, small, monkeypatch, value):
    small.protocol('name = "good"\nbackend = "function"\ncallable = "judge:good"\n', KEYED)
    monkeypatch.delenv("DARKCURRENT_TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("DARKCURRENT_TEST_KEY", value)
    assert program("freeze", small.folder).code == 0
    sentence = program("run", small.folder).error(2)
    assert "The environment variable DARKCURRENT_TEST_KEY, which should hold the key, is not set" in sentence
    assert not (small.folder / "journal" / "served.sqlite").exists()
    probed = program("doctor", small.folder)
    assert probed.code == 2
    assert probed.out.count("environment variable DARKCURRENT_TEST_KEY") == 1
    assert program("doctor", small.folder, "--json").json()["served"]["ok"] is False


def test_a_service_that_is_not_there(program, small, monkeypatch):
    small.protocol('name = "good"\nbackend = "function"\ncallable = "judge:good"\n', KEYED)
    monkeypatch.setenv("DARKCURRENT_TEST_KEY", "sk-very-secret")
    assert program("freeze", small.folder).code == 0
    outcome = program("run", small.folder)
    assert "cannot be reached" in outcome.error(5)
    probed = program("doctor", small.folder)
    assert probed.code == 5
    assert "sk-very-secret" not in outcome.err + probed.err + probed.out
    for path in small.folder.rglob("*"):
        assert path.is_dir() or b"sk-very-secret" not in path.read_bytes()


def test_the_name_of_a_model_steers_no_terminal(program, small):
    evil = "\x1b[2J\u202egpt\nok   served"
    with ChatServer(models=(evil,)) as server:
        served = KEYED.replace('api_key_env = "DARKCURRENT_TEST_KEY"\n', "")
        old = 'name = "good"\nbackend = "function"\ncallable = "judge:good"\n'
        base = next(line for line in served.splitlines() if line.startswith("base_url"))
        small.protocol(old, served.replace(base, f'base_url = "{server.url}"'))
        assert program("freeze", small.folder).code == 0
        probed, ran = program("doctor", small.folder), program("run", small.folder)
    assert (probed.code, ran.code) == (5, 5)
    for text in (probed.out, ran.err):
        assert "\\x1b[2J\\u202egpt\\nok   served" in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\nok   served" not in text


def test_a_lone_surrogate_from_a_server_does_not_lose_the_campaign(program, small):
    """Every answer was recorded and perhaps paid for: no name that a server gives may keep it from being analyzed."""

    async def answer(request, body):
        reply = completion('{"winner":"tie"}', model="m", system_fingerprint="\ud800\x1b[2J")
        return web.Response(text=json.dumps(reply), content_type="application/json")

    with ChatServer(answer, models=("m",)) as server:
        old = 'name = "good"\nbackend = "function"\ncallable = "judge:good"\n'
        served = f'name = "s"\nbackend = "openai-chat"\nmodel = "m"\nbase_url = "{server.url}"\n'
        small.protocol(old, served)
        assert program("freeze", small.folder).code == 0
        assert program("run", small.folder).code == 0
    assert program("analyze", small.folder).code == 0
    assert program("analyze", small.folder, "--json").json()["campaigns"][0]["terminal"] == 240
    assert program("report", small.folder).code == 0


# ------------------------------------------------------------------ what was changed after freezing


@pytest.mark.parametrize(
    "name", ["protocol.json", "items.jsonl", "texts.jsonl", "schedule/good.jsonl", "manifest.json"]
)
@pytest.mark.parametrize("command", ["run", "status", "analyze", "gate", "report", "doctor"])
def test_an_edited_frozen_file_is_exit_6(program, small, name, command):
    program("freeze", small.folder)
    path = small.folder / "frozen" / name
    path.write_bytes(path.read_bytes() + b" ")
    if name == "manifest.json":
        path.write_bytes(path.read_bytes().replace(b"bytes", b"bites"))
    assert str(path) in program(command, small.folder).error(6)
    assert not (small.folder / "journal").exists()


def test_a_frozen_folder_replaced_after_capture_is_exit_6(program, small, tmp_path):
    """A file and the manifest were edited together: each file has its digest, but the journal knows the old one."""
    program("freeze", small.folder)
    assert program("run", small.folder).code == 0
    (small.folder / "frozen").rename(tmp_path / "old")
    small.protocol("utility_threshold = 0.75", "utility_threshold = 0.01")
    assert program("freeze", small.folder).code == 0
    for command in ("run", "status", "analyze", "gate", "report"):
        assert "journal/good.sqlite belongs to another study" in program(command, small.folder).error(6)
    assert not (small.folder / "analysis.json").exists()


def test_an_edited_protocol_is_no_error_and_does_not_count(program, small):
    program("freeze", small.folder)
    small.protocol("utility_threshold = 0.75", "utility_threshold = 0.01")
    outcome = program("run", small.folder)
    assert outcome.code == 0
    assert (
        f"note: {small.folder}/protocol.toml was edited after freezing; the frozen protocol counts."
        in outcome.err
    )
    assert program("analyze", small.folder, "--json").json()["gates"]["utility_threshold"] == 0.75


def test_a_report_that_cannot_be_written(program, small):
    program("freeze", small.folder)
    program("run", small.folder)
    (small.folder / "file").write_text("")
    for target in (
        small.folder / "file" / "report.html",
        small.folder,
        small.folder / "absent" / "r.html",
        ".",
    ):
        assert "cannot be written" in program("report", small.folder, "-o", target).error(2)
    assert not [path for path in Path.cwd().iterdir() if path.name.startswith("..")]
