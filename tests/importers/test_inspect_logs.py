"""Inspect logs. `inspect_log.json` was written by Inspect 0.3.285 itself (its own mock model and JSON log format, three
items in both orders, two epochs) and cut to the fields that are read; Inspect's reader still takes it. Inspect is too heavy
for the tests: a stand-in for its reader gives the same attributes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from darkcurrent.errors import BatteryError, MissingExtraError, UsageError
from darkcurrent.verdicts import get_contract
from support.imports import Imported

LOG = Path(__file__).with_name("inspect_log.json")
MAPPING = """
[columns]
item = "metadata.item"
label = "answer.verdict"
[order]
by = "column"
column = "metadata.order"
AB = ["AB"]
BA = ["BA"]
[labels]
A = ["A"]
B = ["B"]
tie = ["C"]
invalid = ["null"]
[gold]
column = "metadata.gold"
first = ["first"]
second = ["second"]
"""
OPTIONAL = {"error": None, "scores": None, "metadata": None}


def _object(fields):
    if "epoch" in fields:
        fields = OPTIONAL | fields
    return SimpleNamespace(**fields)


def _log(data):
    """Return a log as Inspect's reader would: attributes, but plain dicts for metadata and scores."""
    log = json.loads(json.dumps(data), object_hook=_object)
    for sample in log.samples:
        for name in ("metadata", "scores"):
            if getattr(sample, name) is not None:
                setattr(sample, name, vars(getattr(sample, name)))
        for score in (sample.scores or {}).values():
            score.answer = getattr(score, "answer", None)
    return log


@pytest.fixture
def read_log(tmp_path, monkeypatch):
    def read(change=lambda data: None, mapping=MAPPING, **options):
        data = json.loads(LOG.read_text(encoding="utf-8"))
        change(data)
        module = ModuleType("inspect_ai.log")
        module.read_eval_log = lambda path, resolve_attachments: _log(data)
        monkeypatch.setitem(sys.modules, "inspect_ai", ModuleType("inspect_ai"))
        monkeypatch.setitem(sys.modules, "inspect_ai.log", module)
        (tmp_path / "mapping.toml").write_text(mapping, encoding="utf-8")
        (tmp_path / "x.eval").write_bytes(b"read by the stand-in")
        return Imported(
            tmp_path / "s", "inspect", tmp_path / "x.eval", mapping=tmp_path / "mapping.toml", **options
        )

    return read


def test_samples_are_calls_and_epochs_are_repetitions(read_log):
    found = read_log(contract=get_contract("bracket"))
    assert found.patterns("signal") == {"stable": 3, "position": 1, "one-sided": 1, "invalid": 1}
    cell = found.analysis.cells[0]
    assert (cell.configuration, cell.signal.items, cell.signal.verdicts.invalid) == ("mockllm/judge", 3, 1)
    assert (cell.retest.units, cell.retest.repetitions, cell.retest.same) == (6, 2, 4)
    assert found.analysis.campaigns[0].invalid_by_reason == {"truncated": 1}
    assert found.disagreements == []
    assert found.ledger["where"][0] == "x.eval: sample one-AB, epoch 1"
    assert found.manifest["notes"] == []


def test_a_sample_that_failed_is_no_verdict_and_an_incomplete_log_says_so(read_log):
    def fail(data):
        data["status"] = "error"
        sample = data["samples"][0]
        sample["error"] = {"message": "ConnectionError"}
        sample["output"] = {"model": "", "choices": [], "completion": ""}
        del sample["scores"]
        del data["samples"][6:]

    found = read_log(fail)
    assert found.calls[0] == ("AB", None, None, "transport")
    assert found.manifest["notes"] == ["x.eval is not complete: its status is error, and it holds 6 samples"]
    assert found.patterns("signal")["invalid"] == 2


def test_a_context_overflow_is_truncated_and_reasoning_alone_is_no_answer(read_log):
    def change(data):
        first, second = data["samples"][:2]
        first["output"]["choices"][0]["stop_reason"] = "model_length"
        second["output"]["choices"][0]["message"]["content"] = [{"type": "reasoning", "reasoning": "hm"}]
        second["output"]["completion"] = ""

    found = read_log(change)
    assert [reason for *_, reason in found.calls[:2]] == ["truncated", "reasoning-only"]
    assert [one["recorded"] for one in found.disagreements] == ["A", "B"]


def test_scores_and_values_can_be_the_label(read_log):
    mapping = (
        MAPPING.replace("answer.verdict", "score.verdict")
        .replace('A = ["A"]', 'first = ["C"]')
        .replace('B = ["B"]', 'second = ["I"]')
        .replace('tie = ["C"]\n', "")
    )
    found = read_log(mapping=mapping)
    assert set(found.ledger["recorded_as"]) == {"C", "I"}


def test_a_log_without_samples_and_a_file_that_is_no_log_are_named(read_log, monkeypatch):
    with pytest.raises(BatteryError, match="holds no samples"):
        read_log(lambda data: data["samples"].clear())

    def broken(data):
        raise ValueError("no log")

    monkeypatch.setattr(sys.modules[__name__], "_log", broken)
    with pytest.raises(BatteryError, match=r"x\.eval cannot be read as an Inspect log \(ValueError\)"):
        read_log()


def test_without_inspect_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    (tmp_path / "mapping.toml").write_text(MAPPING, encoding="utf-8")
    (tmp_path / "x.eval").write_bytes(b"")
    with pytest.raises(MissingExtraError, match=r"pip install 'darkcurrent\[inspect\]'"):
        Imported(tmp_path / "s", "inspect", tmp_path / "x.eval", mapping=tmp_path / "mapping.toml")
    with pytest.raises(UsageError, match="inspect needs --mapping"):
        Imported(tmp_path / "s", "inspect", tmp_path / "x.eval")
