"""An archive gives the study's result again, byte for byte, whatever the state of its campaigns."""

from __future__ import annotations

import io
import json
import re
from importlib.resources import files as resources
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent import results
from darkcurrent.archive import pack as pack_module
from darkcurrent.archive.closed_forms import close, holm_adjusted, is_upper_bound, lower_tail
from darkcurrent.archive.layout import ANALYSIS
from darkcurrent.archive.pack import Declaration, pack, pack_files
from darkcurrent.archive.regrade import REPLAY_ONLY
from darkcurrent.archive.replay import replay
from darkcurrent.archive.result import canonical_result, first_difference, rounded
from darkcurrent.archive.verify import verify, verify_files
from darkcurrent.capture import journal_path
from darkcurrent.capture.journal import Journal
from darkcurrent.capture.run import header_of
from darkcurrent.errors import IntegrityError, UsageError
from darkcurrent.records import Event, Intent, RequestRefusal, Retry, Terminal
from darkcurrent.stats import clone_tail, clopper_pearson_upper, holm
from darkcurrent.study import Study
from support.archives import captured, edited, files_of

GOLDEN = Path(__file__).parents[1] / "golden"
TEMPLATES = ("pairs", "quickstart")
"""The studies of the paper are archived and replayed in tests/studies."""
SIMULATED = """
[[configuration]]
name = "{name}"
backend = "simulated"
properties = {{ {properties} }}
"""


def simulated(template: str) -> str:
    """Return a template's protocol with its judges replaced by simulated ones."""
    text = (
        resources("darkcurrent.protocol").joinpath(f"templates/{template}.toml").read_text(encoding="utf-8")
    )
    text = re.sub(
        r"^\[\[configuration\]\].*?(?=^\[(?!\[?configuration))", "", text, flags=re.MULTILINE | re.DOTALL
    )
    if "in_flight" not in text:
        text = text.replace("[capture]", "[capture]\nin_flight = 32")
    for name, properties in (
        ("fair", "utility = 0.85, dark_current = 0.02, seed = 1"),
        ("first", 'habit = "first"'),
        ("fenced", "utility = 0.9, fenced = 0.2, seed = 2"),
    ):
        text += SIMULATED.format(name=name, properties=properties)
    return text


def written(folder: Path, template: str) -> Study:
    """Write a template's study, with judges that are simulated and items that the test makes; nothing is frozen yet."""
    folder.mkdir()
    pairs = [
        {"id": f"i{n}", "prompt": f"Question {n}?", "chosen": f"good {n}", "rejected": f"bad {n}"}
        for n in range(40)
    ]
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, pairs)), encoding="utf-8")
    (folder / "protocol.toml").write_text(simulated(template), encoding="utf-8")
    return Study(folder)


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_template_replays(tmp_path, template):
    study = written(tmp_path / "study", template)
    study.freeze()
    for configuration in study.frozen.protocol.configuration:
        study.run(configuration.name)
    facts = pack(study, tmp_path / "bag.zip")
    found, analysis = replay(tmp_path / "bag.zip")
    assert found.result_sha256 == facts["result_sha256"]
    assert canonical_result(study.analyze()) == canonical_result(analysis) == found.files[ANALYSIS]
    assert {campaign.state for campaign in analysis.campaigns} == {"COMPLETE", "HOLD"}
    assert analysis.cells
    assert verify(tmp_path / "bag.zip", study).checks["requests built again"] >= found.calls["terminal"]


@pytest.mark.parametrize("bag", sorted(GOLDEN.glob("*.zip")), ids=lambda path: path.stem)
def test_a_golden_archive_replays(bag):
    """It was written once (`make golden`) and must give the same result in every later version."""
    found, _ = replay(bag)
    assert found.calls["scheduled"] > 0


def test_there_is_a_golden_archive():
    assert len(list(GOLDEN.glob("*.zip"))) >= 1


# -- campaigns that did not end well --


def spoilt(folder: Path, write) -> Study:
    """Return a study of one simulated judge whose journal has rows of our own."""
    study = captured(folder)
    fresh = Study(folder)
    configuration = fresh.configuration("fair")
    path = journal_path(folder, "fair")
    for file in path.parent.glob("fair.sqlite*"):
        file.unlink()
    journal = Journal.open(path, header_of(fresh.frozen, configuration))
    try:
        write(journal, fresh.frozen.schedule("fair"))
    finally:
        journal.close()
    del study
    return fresh


AT = "2026-12-01T10:00:00.000+00:00"


def intent(call, ms=1):
    return Intent(call_id=call.call_id, at=AT, elapsed_ms=ms, request_sha256="d" * 64)


def terminal(call, **changes):
    fields = {
        "status": "answered",
        "text": '{"winner":"tie"}',
        "finish": "stop",
        "served_model": "simulated",
        "body": b"{}",
    }
    return Terminal(call_id=call.call_id, at=AT, elapsed_ms=2, **{**fields, **changes})


def refusal(call):
    fields = {"reason": "rate-limit", "detail": "CANARY", "wait_ms": 1}
    return RequestRefusal(call_id=call.call_id, number=1, at=AT, elapsed_ms=3, **fields)


def partly(journal, calls):
    for host in ("CANARY-one", "CANARY-two", "CANARY-one"):
        opened = {
            "basis": "verified digest",
            "host": host,
            "python": "3.11.7",
            "darkcurrent": "0.1.0",
            "pid": 1,
        }
        opened["identity"] = {"served": ["CANARY-served"], "path": "/CANARY/path"}
        journal.commit([Event(at=AT, elapsed_ms=0, kind="opened", detail=opened)])
    journal.commit([intent(calls[0])])
    journal.commit([terminal(calls[0])])
    journal.commit([intent(calls[1])])
    journal.commit([refusal(calls[1])])
    journal.commit([intent(calls[2])])
    journal.commit([refusal(calls[2])])
    journal.commit([Retry(call_id=calls[2].call_id, number=1, at=AT, elapsed_ms=4)])
    journal.commit([intent(calls[3])])
    stopped = {"state": "PARTIAL_HOLD_MODEL", "why": "CANARY: the model at http://canary changed"}
    journal.commit([Event(at=AT, elapsed_ms=5, kind="stopped", detail=stopped)])


def test_what_is_missing_or_ambiguous_is_said_and_replays(tmp_path, program):
    study = spoilt(tmp_path / "study", partly)
    pack(study, tmp_path / "bag")
    found, analysis = replay(tmp_path / "bag")
    scheduled = len(study.frozen.schedule("fair"))
    other = len(study.frozen.schedule("fenced"))
    # Sent and refused: never observed. Sent again, and sent for the first time, without an end: ambiguous.
    assert found.calls == {
        "scheduled": scheduled + other, "terminal": 1 + other, "ambiguous": 2, "missing": scheduled - 3,
    }  # fmt: skip
    assert analysis.campaigns[0].capture == "PARTIAL_HOLD_MODEL"
    text = json.dumps(json.loads(found.files[ANALYSIS]))
    assert "CANARY" not in text
    assert "the journal says why" in text
    assert analysis.campaigns[0].deviations[:2] == ["captured in 3 runs", "`host` changed between runs: 1, 2"]
    assert json.loads(text)["campaigns"][0]["deviations"] == [
        "captured in 3 runs",
        "`host` changed between runs",
        "2 requests of 2 calls refused without an observation, 1 sent again",
        "ended for good: the journal says why; an archive does not repeat it",
    ]
    done = program("verify", tmp_path / "bag")
    assert done.returncode == 0
    assert "2 ambiguous" in done.stderr
    shown = json.loads(program("replay", tmp_path / "bag", "--json").stdout)
    assert shown["calls"]["ambiguous"] == 2


def test_a_study_without_a_call_replays(tmp_path):
    folder = tmp_path / "study"
    study = captured(folder)
    for file in (folder / "journal").iterdir():
        file.unlink()
    study = Study(folder)
    pack(study, tmp_path / "bag")
    found, analysis = replay(tmp_path / "bag")
    assert found.calls["terminal"] == found.calls["ambiguous"] == 0
    assert analysis.state == "HOLD"


# -- what replay alone can see --


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("cells", 0, "signal", "lower"), lambda lower: lower - 0.001, r"cells\[0\]\.signal\.(bounds|lower)"),
        (("cells", 0, "signal", "interval", 1), lambda high: high + 0.001, r"cells\[0\]\.signal\.interval\[1\] is \S+ there"),
        (("campaigns", 0, "latency_ms_median"), 99.5, r"campaigns\[0\]\.latency_ms_median is 99\.5 there"),
        (("campaigns", 0, "basis"), "verified digest", r"campaigns\[0\]\.basis"),
        (("tests", 0, "reason"), "because", r"tests\[0\]\.reason is \"because\" there"),
        (("risk",), {"cells": []}, r"risk\.cells has 0 entries there and \d+ here"),
        (("risk", "cells", 0, "risk"), 0.5, r"risk\.cells\[0\]\.risk is 0\.5 there"),
        (("campaigns", 0, "extra"), "a text", r"data/analysis\.json lacks a field or has one of another kind"),
    ],
)  # fmt: skip
def test_an_edited_field_is_named(tmp_path, path, value, place):
    def change(data):
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = value(data[path[-1]]) if callable(value) else value

    from darkcurrent.archive.containers import write_files

    write_files(tmp_path / "bag", edited(files_of(), ANALYSIS, change))
    with pytest.raises(IntegrityError, match=place):
        replay(tmp_path / "bag")


def test_every_field_of_a_result_is_computed_twice_or_named_as_not():
    """A new field of a result has to be put into one of the two; the first test that meets it is this one."""
    counted = {
        "CampaignResult": {
            *(
                "configuration",
                "state",
                "scheduled",
                "terminal",
                "invalid",
                "ambiguous",
                "missing",
                "invalid_by_reason",
            ),
            *("served_models", "prompt_tokens", "completion_tokens", "usage_unknown", "sensitivity"),
        },
        "ContractReading": {"contract", "replies", "accepted", "changed", "gained", "lost", "flipped"},
        "CellResult": {
            *("configuration", "criterion", "state", "clone", "signal", "patterns", "joint"),
            *("calls", "equivalent", "ladder", "context"),
        },
        "NullPairsResult": {"items", "pairs", "calls", "adverse", "invalid", "valid_pairs"},
        "StepResult": {"items", "pairs", "calls", "success", "tie", "wrong", "invalid"},
        "LadderResult": {"gap_0", "steps"},
        "ContextResult": {"items", "calls", "adverse", "changed"},
        "CloneResult": {"n", "adverse", "a", "b", "invalid", "upper", "p", "p_holm", "gate"},
        "SignalResult": {
            *(
                "items",
                "mean",
                "lower",
                "interval",
                "bounds",
                "method",
                "gate",
                "orders",
                "places",
                "verdicts",
                "strata",
            ),
        },
        "Analysis": {"study", "study_digest", "state", "battery", "gates", "method", "campaigns", "cells"},
    }
    no_result = {
        "Analysis": {"schema_name", "title", "commitment", "software"},
        "CampaignResult": {"identity"},
    }
    assert counted.keys() == REPLAY_ONLY.keys()
    for name, fields in counted.items():
        model = getattr(results, name)
        assert fields | REPLAY_ONLY[name] | no_result.get(name, set()) == model.model_fields.keys(), name


# -- what was drawn at random --


def test_a_stored_assignment_is_the_frozen_one():
    from darkcurrent.archive.containers import read_files
    from darkcurrent.archive.layout import ASSIGNMENT
    from support.archives import sealed

    files = read_files(GOLDEN / "crossover.zip")
    assert verify_files(files).calls["missing"] == 0
    assert any(family["tests"] for family in json.loads(files[ANALYSIS])["tests"])
    drawn = files[ASSIGNMENT].replace(b'"sequence":0', b'"sequence":1', 1)
    assert drawn != files[ASSIGNMENT]
    with pytest.raises(IntegrityError, match=r"data/frozen/assignment\.json is not the file that was frozen"):
        verify_files(sealed({**files, ASSIGNMENT: drawn}))
    del files[ASSIGNMENT]
    with pytest.raises(IntegrityError, match=r"data/frozen/assignment\.json is missing"):
        verify_files(sealed(files))
    with pytest.raises(IntegrityError, match="though nothing of the kind was frozen"):
        verify_files(sealed({**files_of(), ASSIGNMENT: b"{}"}))


# -- against the study --


def test_against_another_study_is_refused(tmp_path, program):
    from support.archives import PROTOCOL

    study = captured(tmp_path / "one")
    other = captured(tmp_path / "two", PROTOCOL.replace("seed = 5", "seed = 6"))
    pack(study, tmp_path / "bag")
    with pytest.raises(IntegrityError, match="the archive is of another study"):
        verify(tmp_path / "bag", other)
    done = program("verify", tmp_path / "bag", "--against", tmp_path / "two")
    assert (done.returncode, "another study" in done.stderr) == (6, True)


def test_a_consistent_forgery_is_seen_against_the_study(tmp_path):
    """A verdict, its readings and the whole analysis made anew: only the journal knows."""
    from darkcurrent.archive.containers import write_files
    from darkcurrent.archive.restore import analyze_files
    from support.archives import sealed

    study = captured(tmp_path / "study")
    files = pack_files(study, Declaration())

    def change(frame):
        row = next(i for i, value in enumerate(frame["as:sole-object"]) if value == "B")
        place = pl.int_range(pl.len()) == row
        return frame.with_columns(
            pl.when(place & pl.col(name).is_not_null()).then(pl.lit("A")).otherwise(pl.col(name)).alias(name)
            for name in frame.columns
            if name == "value" or name.startswith("as:")
        )

    forged = edited(files, "terminals", change)
    forged = sealed({**forged, ANALYSIS: canonical_result(analyze_files(forged))})
    verify_files(forged)
    write_files(tmp_path / "bag", forged)
    replay(tmp_path / "bag")
    with pytest.raises(
        IntegrityError,
        match=r"terminals\.parquet, row \d+, column `value`: 'A' is there, and the study gives 'B'",
    ):
        verify(tmp_path / "bag", Study(tmp_path / "study"))


def test_a_request_that_was_not_built_of_the_frozen_texts_is_seen(tmp_path):
    study = spoilt(tmp_path / "study", partly)
    pack(study, tmp_path / "bag")
    with pytest.raises(IntegrityError, match="was not built of the frozen texts"):
        verify(tmp_path / "bag", Study(tmp_path / "study"))


def test_an_archive_whose_tables_give_another_result_is_not_written(tmp_path, monkeypatch):
    study = captured(tmp_path / "study")
    real = pack_module.analyze_files

    def lossy(files):
        analysis = real(files)
        return analysis.model_copy(update={"study": "another"})

    monkeypatch.setattr(pack_module, "analyze_files", lossy)
    with pytest.raises(IntegrityError, match='study is "small" there and "another" here'):
        pack(study, tmp_path / "bag")
    assert not (tmp_path / "bag").exists()


def test_an_imported_study_has_no_archive(tmp_path):
    (tmp_path / "study" / "imported").mkdir(parents=True)
    with pytest.raises(UsageError, match="holds imported verdicts"):
        pack(Study(tmp_path / "study"), tmp_path / "bag")


# -- the commands --


def test_a_refused_archive_ends_with_6_and_its_place(tmp_path, program):
    from darkcurrent.archive.containers import write_files

    files = files_of()
    write_files(tmp_path / "bag", {**files, "data/report.md": b"# Other\n"})
    for name in ("verify", "replay"):
        done = program(name, tmp_path / "bag", "--json")
        assert done.returncode == 6
        found = json.loads(done.stdout)
        assert found["ok"] is False
        assert "data/report.md does not have the SHA-256" in found["reason"]
        assert found["reason"] in done.stderr


def test_an_archive_of_a_later_version_says_which_program_reads_it(tmp_path):
    from darkcurrent.archive.layout import ARCHIVE

    files = edited(files_of(), ARCHIVE, lambda facts: facts.__setitem__("format", "darkcurrent/archive/2"))
    with pytest.raises(UsageError, match="has the form darkcurrent/archive/2"):
        verify_files(files)


# -- the second implementation --


@given(st.integers(0, 400), st.integers(1, 400), st.floats(1e-3, 0.999))
def test_tails_and_bounds_of_both_implementations_agree(k, n, p):
    k = min(k, n)
    assert close(lower_tail(k, n, p), clone_tail(k, n, p))
    upper = clopper_pearson_upper(k, n)
    assert is_upper_bound(rounded(upper), k, n)
    if k < n:
        assert not is_upper_bound(upper * (1 - 1e-5), k, n)
        assert upper * (1 + 1e-5) > 1 or not is_upper_bound(upper * (1 + 1e-5), k, n)


@pytest.mark.parametrize(("k", "n"), [(0, 333_333), (16_000, 333_333), (16_667, 333_333), (333_332, 333_333)])
def test_they_agree_on_large_counts(k, n):
    assert close(lower_tail(k, n, 0.05), clone_tail(k, n, 0.05))
    assert is_upper_bound(clopper_pearson_upper(k, n), k, n)


@given(st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=12))
def test_holm_of_both_implementations_agrees(pvalues):
    assert all(close(one, other) for one, other in zip(holm_adjusted(pvalues), holm(pvalues), strict=True))


# -- rounding --


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_rounding_is_stable_and_forgets_the_last_digits(value):
    once = rounded(value)
    assert rounded(once) == once
    assert abs(once - value) <= 5e-7 * abs(value) or abs(value) < 1e-300
    assert str(rounded(-0.0)) == "0.0"


def test_the_first_difference_is_the_first():
    assert (
        first_difference({"a": 1, "b": [1, {"c": 2}]}, {"a": 1, "b": [1, {"c": 3}]})
        == "b[1].c is 2 there and 3 here"
    )
    assert first_difference({"a": True}, {"a": 1}) == "a is true there and 1 here"
    assert first_difference([1], [1, 2], "x") == "x has 1 entries there and 2 here"
    assert first_difference({"a": 1}, {}) == "a is only there"
    assert first_difference({"a": [1.5, None]}, {"a": [1.5, None]}) is None


def test_the_tables_hold_what_the_schemas_say():
    """Another validator's opinion: plain reading of the JSON schemas."""
    files = files_of()
    for name in ("items", "candidates", "schedule", "intents", "terminals", "events"):
        schema = json.loads(files[f"data/schemas/{name}.json"])
        frame = pl.read_parquet(io.BytesIO(files[f"data/tables/{name}.parquet"]))
        assert list(schema["properties"]) == frame.columns == schema["required"]
        for row in frame.iter_rows(named=True):
            for column, value in row.items():
                _fits(schema["properties"][column], value)


def _fits(rule, value):
    kinds = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
    if value is None:
        assert "null" in kinds
        return
    kind = {str: "string", int: "integer", float: "number", bool: "boolean"}[type(value)]
    assert kind in kinds
    if "enum" in rule:
        assert value in rule["enum"]
    if "pattern" in rule:
        assert re.search(rule["pattern"], value)
        assert len(value) <= rule["maxLength"]
    if "minimum" in rule:
        assert value >= rule["minimum"]
