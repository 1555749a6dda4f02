"""`darkcurrent.audit` as a person calls it: judges, pairs and places of every kind."""

from __future__ import annotations

import _thread
import asyncio
import contextlib
import json
import sys
import threading
import types
from pathlib import Path

import pandas
import polars as pl
import pytest

import darkcurrent
from darkcurrent.errors import BatteryError, IntegrityError, ProtocolError, UsageError
from darkcurrent.study import Study

PAIRS = [
    {"id": f"i{n}", "prompt": f"Question {n}", "chosen": f"good {n}", "rejected": f"bad {n}"}
    for n in range(80)
]


def fair(prompt, a, b):
    return "tie" if a == b else "A" if a.startswith("good") else "B"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def counted(function):
    asked = []

    def judge(prompt, a, b):
        asked.append((prompt, a, b))
        return function(prompt, a, b)

    return judge, asked


def test_a_callable_is_audited_and_shown():
    audit = darkcurrent.audit(fair, PAIRS, journal=None)
    assert audit.passed
    assert [one.state for one in audit.gate()] == ["PASS"]
    assert "fair           neutral    240/240  0/80 [.037]    .017  1.000 [1.000]  both gates pass" in repr(
        audit
    )
    assert audit.outcomes.height == 240
    assert audit.patterns["pattern"].to_list() == ["stable"] * 80
    assert audit.cells.select("configuration", "clones", "clone_adverse", "mean").rows() == [
        ("fair", 80, 0, 1.0)
    ]
    assert audit.folder is None
    assert list(Path().iterdir()) == []


def test_an_asynchronous_one_inside_a_running_loop_gives_the_same():
    async def fair_later(prompt, a, b):
        await asyncio.sleep(0)
        return fair(prompt, a, b)

    async def notebook():
        return darkcurrent.audit(fair_later, PAIRS, journal=None, name="fair", in_flight=4)

    there = asyncio.run(notebook())
    here = darkcurrent.audit(fair, PAIRS, journal=None, name="fair")
    assert there.passed
    columns = ["criterion", "item", "order", "value", "winner"]
    assert there.outcomes.select(columns).sort(columns).equals(here.outcomes.select(columns).sort(columns))


def test_an_exception_is_an_invalid_answer_with_a_reason_and_no_tie():
    def fragile(prompt, a, b):
        if prompt == "Question 3":
            raise ValueError("no\x1b[31m power")
        return fair(prompt, a, b)

    audit = darkcurrent.audit(fragile, PAIRS, journal=None, protocol={"gates": {"invalid_ceiling": 0.1}})
    lost = audit.outcomes.filter(pl.col("item") == "i3")
    assert lost.select("value", "reason").unique().rows() == [(None, "judge-raised")]
    assert audit.analysis.campaigns[0].invalid_by_reason == {"judge-raised": 3}
    assert audit.cells["clone_adverse"].to_list() == [1]
    assert audit.analysis.cells[0].signal.verdicts.tie == 0


def test_too_many_exceptions_end_it_early_as_hold_and_it_says_why():
    judge, asked = counted(lambda prompt, a, b: 1 / 0)
    audit = darkcurrent.audit(judge, PAIRS, journal=None)
    assert len(asked) == 3
    assert not audit.passed
    assert audit.gate()[0].state == "HOLD"
    assert "ZeroDivisionError: division by zero" in repr(audit)


@pytest.mark.parametrize(
    "judge",
    [
        {"backend": "simulated", "properties": {"habit": "tie"}},
        {
            "name": "judge",
            "backend": "simulated",
            "properties": {"habit": "tie", "seed": 0},
            "contract_options": {},
        },
    ],
)
def test_a_configuration_is_audited(judge):
    assert darkcurrent.audit(judge, PAIRS, journal=None).gate()[0].joint == "clone gate only"


def test_a_configurations_model_is_audited():
    from darkcurrent.protocol.configurations import SimulatedConfiguration

    model = SimulatedConfiguration(name="always-first", backend="simulated", properties={"habit": "first"})
    audit = darkcurrent.audit(model, PAIRS, journal=None)
    assert audit.cells["configuration"].to_list() == ["always-first"]
    assert audit.gate()[0].joint == "neither gate"


def test_every_kind_of_pairs_is_the_same_study():
    rows = [{**row, "rating": None if n % 2 else 0.5} for n, row in enumerate(PAIRS)]
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    kinds = (
        rows,
        tuple(rows),
        pl.DataFrame(rows),
        pandas.DataFrame(rows),
        "pairs.jsonl",
        Path("pairs.jsonl"),
    )
    digests = {
        darkcurrent.audit({"backend": "simulated"}, kind, journal=None).analysis.study_digest
        for kind in kinds
    }
    assert len(digests) == 1


def test_rows_without_an_id_are_numbered_and_missing_values_of_pandas_are_null():
    frame = pandas.DataFrame(
        [{key: row[key] for key in ("prompt", "chosen", "rejected")} for row in PAIRS[:3]]
    )
    frame["stratum"] = [float("nan"), "s", None]
    audit = darkcurrent.audit(fair, frame, journal=None)
    assert audit.outcomes["item"].unique().sort().to_list() == ["row-00000", "row-00001", "row-00002"]
    assert audit.outcomes["stratum"].unique().sort().to_list() == ["all", "s"]


def test_columns_and_criteria_and_further_keys_are_declared():
    rows = [
        {"q": row["prompt"], "first": row["chosen"], "second": row["rejected"], "label": 1} for row in PAIRS
    ]
    columns = {
        "prompt": "q",
        "first": "first",
        "second": "second",
        "label": "label",
        "labels": {"1": "first"},
    }
    audit = darkcurrent.audit(
        fair,
        rows,
        columns=columns,
        criteria={"neutral": "neutral", "mine": "Choose the better\nanswer."},
        clone_threshold=None,
        protocol={"battery": {"edge_controls": 2}, "study": {"title": "Mine"}},
        journal="kept",
    )
    assert audit.analysis.title == "Mine"
    assert audit.cells.select("criterion", "clone_gate").rows() == [
        ("neutral", "NOT GRADED"),
        ("mine", "NOT GRADED"),
    ]
    assert audit.outcomes["null_stratum"].drop_nulls().unique().sort().to_list() == [
        "core",
        "edge-empty",
        "edge-whitespace",
    ]
    assert Path("kept/rubrics/1.txt").read_text() == "Choose the better\nanswer."


def test_the_same_call_finds_what_is_there_and_asks_nothing():
    judge, asked = counted(fair)
    first = darkcurrent.audit(judge, PAIRS, journal="kept")
    again = darkcurrent.audit(judge, PAIRS, journal="kept")
    assert len(asked) == 240
    assert again.analysis == first.analysis
    assert again.outcomes.equals(first.outcomes)
    assert again.folder == Path("kept")
    assert Study(Path("kept")).analyze() == first.analysis


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"judge": lambda prompt, a, b: "tie"}, "the judge"),
        ({"pairs": PAIRS[:-1]}, "what it is shown"),
        ({"criteria": "strict"}, "what it is shown"),
        ({"utility_threshold": 0.6}, "a setting"),
    ],
)
def test_a_journal_of_something_else_is_never_touched(change, said):
    given = {"judge": fair, "pairs": PAIRS, "journal": "kept", "name": "one"}
    darkcurrent.audit(**given)
    before = {path: path.read_bytes() for path in Path("kept").rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match=rf"kept holds the audit of something else \({said} differs\)"):
        darkcurrent.audit(**{**given, **change})
    assert before == {path: path.read_bytes() for path in Path("kept").rglob("*") if path.is_file()}
    assert [path.name for path in Path().iterdir()] == ["kept"]


def test_a_folder_with_other_things_is_refused():
    Path("full").mkdir()
    Path("full/thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"^full cannot take the journal"):
        darkcurrent.audit(fair, PAIRS, journal="full")
    assert [path.name for path in Path("full").iterdir()] == ["thesis.txt"]


def _as_a_kernel_does(main):
    """Run without the handler of `asyncio.run`: Ctrl-C is raised where the program stands."""
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        loop.run_until_complete(main)


@pytest.mark.parametrize("run", [asyncio.run, _as_a_kernel_does])
def test_ctrl_c_in_a_notebook_keeps_what_came_and_the_same_call_goes_on(run):
    judge, asked = counted(fair)

    def interrupting(prompt, a, b):
        if len(asked) == 20:
            _thread.interrupt_main()
            threading.Event().wait(0.3)  # until the waiting thread has heard it
        return judge(prompt, a, b)

    async def notebook():
        return darkcurrent.audit(interrupting, PAIRS, journal="kept", name="one")

    with pytest.raises(KeyboardInterrupt):
        run(notebook())
    state, summary, _ = Study(Path("kept")).state("one")
    assert state == "INTERRUPTED"
    assert not summary.ambiguous
    assert 20 < len(asked) < 240
    assert asyncio.run(notebook()).passed
    assert len(asked) == 240
    assert len(set(asked)) == 240


def test_without_a_place_it_is_kept_in_a_named_one_and_asked_anew(capfd):
    judge, asked = counted(fair)
    folders = [darkcurrent.audit(judge, PAIRS, name="one").folder for _ in range(2)]
    assert len(asked) == 480
    assert [folder.parent for folder in folders] == [Path("darkcurrent-audits")] * 2
    assert folders[1].name == f"{folders[0].name}-2"
    told = capfd.readouterr()
    assert all(f"kept in {folder}; journal={str(folder)!r} goes on there" in told.err for folder in folders)
    assert told.out == ""


MODULE = """
import _thread
asked = []
def fair(prompt, a, b):
    asked.append((a, b))
    if len(asked) == 20:
        raise SystemExit
    return "tie" if a == b else "A" if a.startswith("good") else "B"
"""


def test_an_importable_function_is_known_by_its_bytes_and_an_interrupted_audit_of_it_goes_on(
    tmp_path, monkeypatch
):
    Path("my_judge.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    import my_judge

    from darkcurrent.auditing.study import AUDITS

    given = {"protocol": {"gates": {"invalid_ceiling": 0.5}}}
    first = darkcurrent.audit(my_judge.fair, PAIRS, **given)
    assert first.analysis.campaigns[0].basis == "verified digest"
    assert first.analysis.campaigns[0].invalid == 1
    # Another process was killed before its first call: it left what is frozen and nothing else.
    for path in (first.folder / "journal").iterdir():
        path.unlink()
    assert darkcurrent.audit(my_judge.fair, PAIRS, **given).folder == first.folder
    assert darkcurrent.audit(my_judge.fair, PAIRS, **given).folder == Path(AUDITS, f"{first.folder.name}-2")
    assert len(my_judge.asked) == 720
    sys.modules.pop("my_judge")


def test_a_damaged_journal_is_an_integrity_failure():
    darkcurrent.audit(fair, PAIRS, journal="kept")
    with Path("kept/frozen/items.jsonl").open("a") as file:
        file.write("{}\n")
    with pytest.raises(IntegrityError):
        darkcurrent.audit(fair, PAIRS, journal="kept")


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        (
            {"judge": "my-model"},
            UsageError,
            "`judge` is the text 'my-model', and a text is the path of recorded",
        ),
        (
            {"pairs": [{"prompt": "p", "chosen": "c", "rejected": "c"}]},
            BatteryError,
            'or set `identical = "clone"` in `protocol={"battery": ...}`',
        ),
        ({"judge": 7}, UsageError, "`judge` is a int: give a callable"),
        ({"judge": {"backend": "openai"}}, ProtocolError, "`configuration[0].backend` is 'openai'"),
        ({"judge": {"backend": "simulated"}, "name": "../x"}, ProtocolError, "must begin with a letter"),
        ({"pairs": 7}, BatteryError, "`pairs` is a int"),
        ({"pairs": []}, BatteryError, "`pairs` is empty"),
        ({"pairs": [7]}, BatteryError, "pairs[0] is a int"),
        ({"pairs": "absent.csv"}, BatteryError, "check `pairs`, which is relative to the current folder"),
        (
            {"pairs": [{"prompt": "p", "chosen": object(), "rejected": "r"}]},
            BatteryError,
            "pairs[0] holds what is no text",
        ),
        (
            {"pairs": [{"prompt": "p", "chosen": 7, "rejected": "r"}]},
            BatteryError,
            "pairs:1: `chosen` is 7, not a text",
        ),
        ({"pairs": [{"prompt": "p", "chosen": "c"}]}, BatteryError, "pairs:1 has no column `rejected`"),
        (
            {"pairs": [{"question": "p", "good": "c", "bad": "r"}]},
            BatteryError,
            "pairs:1 has no column `prompt` (its columns are `question`, `good`, `bad`): "
            "name the right one as `prompt` in `columns`.",
        ),
        ({"criteria": "nuetral"}, ProtocolError, "did you mean `neutral`?"),
        ({"columns": {"chosn": "x"}}, ProtocolError, "`battery.columns.chosn` is not a known key"),
        ({"protocol": {"captur": {}}}, ProtocolError, "did you mean `capture`?"),
        ({"protocol": {"criteria": {}}}, UsageError, "`protocol` may not hold `criteria`"),
        ({"clone_threshold": 2.0}, ProtocolError, "`gates.clone_threshold` is 2.0"),
        ({"in_flight": 0}, ProtocolError, "`capture.in_flight` is 0"),
    ],
)
@pytest.mark.parametrize("journal", [None, "kept"])
def test_what_cannot_be_used_is_one_clear_sentence_and_leaves_nothing(given, kind, said, journal):
    with pytest.raises(kind) as caught:
        darkcurrent.audit(**{"judge": fair, "pairs": PAIRS[:2], "journal": journal, **given})
    assert said in str(caught.value)
    assert "/tmp" not in str(caught.value)
    assert list(Path().iterdir()) == []


def test_the_report_is_a_page_or_markdown():
    audit = darkcurrent.audit(fair, PAIRS, journal=None)
    assert audit.report("page.html").read_text().startswith("<!doctype html>")
    assert "| fair | neutral |" in audit.report(Path("page.md")).read_text()
    with pytest.raises(UsageError, match=r"ends with `\.pdf`"):
        audit.report("page.pdf")
    with pytest.raises(UsageError, match="cannot be written"):
        audit.report("absent/page.md")


def test_names_from_outside_are_data_in_a_notebook():
    hostile = "</td><script>alert(1)</script>"
    audit = darkcurrent.audit(fair, PAIRS, journal=None)
    cell = audit.analysis.cells[0].model_copy(update={"configuration": hostile})
    campaign = audit.analysis.campaigns[0].model_copy(update={"configuration": hostile})
    shown = darkcurrent.Audit(
        audit.analysis.model_copy(update={"cells": [cell], "campaigns": [campaign]}),
        audit.outcomes,
        Path(hostile),
    )._repr_html_()
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") == 3


def test_nothing_is_told_where_nobody_looks(capfd):
    darkcurrent.audit(fair, PAIRS, journal=None)
    assert capfd.readouterr() == ("", "")


def test_in_a_notebook_the_text_is_still_returned_and_the_last_state_is_shown(monkeypatch, capfd):
    """What a kernel looks like to us: `IPython.get_ipython` gives a shell with a kernel, and `display` a handle."""
    shown = []
    handle = types.SimpleNamespace(update=lambda data, raw: shown.append(data))
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.display = lambda data, raw, display_id: handle
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)

    async def notebook():
        return darkcurrent.audit(fair, PAIRS, journal=None)

    audit = asyncio.run(notebook())
    assert repr(audit).startswith("May this judge be used?\nconfiguration  criterion")
    assert shown[-1]["text/plain"] == "fair: 240 of 240 calls, 0 invalid"
    assert '<progress value="240" max="240">' in shown[-1]["text/html"]
    assert capfd.readouterr() == ("", "")
