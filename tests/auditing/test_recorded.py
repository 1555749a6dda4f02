"""Recorded verdicts on known pairs."""

from __future__ import annotations

import json

import pandas
import polars as pl
import pytest

import darkcurrent
from darkcurrent.errors import BatteryError, UsageError

PAIRS = [
    {"id": str(n), "prompt": f"q{n}", "chosen": f"good {n}", "rejected": f"bad {n}", "stratum": "ab"[n % 2]}
    for n in range(6)
]


def rows(**changes):
    """Return verdicts of a judge that always says A, and ties its clones."""
    recorded = [{"id": str(n), "order": order, "verdict": "A"} for n in range(6) for order in ("AB", "BA")]
    recorded += [{"id": str(n), "order": "IDENTICAL", "verdict": "tie"} for n in range(6)]
    recorded[0].update(changes)
    return recorded


def test_recorded_verdicts_are_counted_described_and_never_graded():
    audit = darkcurrent.audit(rows(), PAIRS, name="old")
    (cell,) = audit.analysis.cells
    assert (cell.configuration, cell.joint, audit.passed) == ("old", "NOT GRADED", False)
    assert cell.patterns["signal"]["position"] == 6
    assert (cell.signal.verdicts.correct, cell.signal.verdicts.wrong) == (6, 6)
    assert (cell.clone["natural"].n, cell.clone["natural"].adverse) == (6, 0)
    assert {name: one.items for name, one in cell.signal.strata.items()} == {"a": 3, "b": 3}
    assert audit.folder is None


def test_an_unknown_verdict_is_an_error_and_null_is_invalid():
    audit = darkcurrent.audit(rows(verdict=None), PAIRS)
    assert audit.analysis.campaigns[0].invalid_by_reason == {"recorded-invalid": 1}
    with pytest.raises(BatteryError, match=r"verdicts\[0\]: `verdict` is 'tied': it is A, B, tie, or null"):
        darkcurrent.audit(rows(verdict="tied"), PAIRS)


def test_a_missing_value_of_pandas_is_an_invalid_answer():
    audit = darkcurrent.audit(pandas.DataFrame(rows()).assign(verdict=[float("nan")] * len(rows())), PAIRS)
    assert audit.outcomes["winner"].null_count() == len(rows())


def test_a_table_or_a_file_and_several_judges(tmp_path):
    recorded = [{**row, "judge": judge} for judge in ("x", "y") for row in rows()]
    path = tmp_path / "verdicts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in recorded))
    audits = [
        darkcurrent.audit(given, pl.DataFrame(PAIRS), journal=tmp_path / f"kept-{number}")
        for number, given in enumerate((recorded, pl.DataFrame(recorded), path, str(path)))
    ]
    for audit in audits:
        assert audit.cells["configuration"].to_list() == ["x", "y"]
        assert audit.outcomes.drop("call_id", "where").equals(audits[0].outcomes.drop("call_id", "where"))
    with pytest.raises(UsageError, match="holds a study already"):
        darkcurrent.audit(recorded, PAIRS, journal=tmp_path / "kept-0")


@pytest.mark.parametrize(
    ("recorded", "said"),
    [
        ([], "There is no recorded verdict"),
        ([{"id": "1"}], r"verdicts\[0\] has no `order`"),
        (rows(id="99"), r"verdicts\[0\]: there is no pair with the id `99`"),
        (rows(order="forward"), r"verdicts\[0\]: `order` is 'forward'"),
        ("absent.csv", "absent.csv cannot be read"),
    ],
)
def test_what_cannot_be_used_is_one_clear_sentence(recorded, said):
    with pytest.raises(BatteryError, match=said):
        darkcurrent.audit(recorded, PAIRS)
