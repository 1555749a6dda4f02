"""Verdicts that nobody here recorded, against tallies that were made without this project; skipped where absent."""

from __future__ import annotations

import json
import time
from pathlib import Path

import polars as pl
import pytest

from darkcurrent.patterns import pair_patterns
from support.imports import Imported

DATA = Path(__file__).parents[2].parent / "shared" / "data"

pytestmark = [
    pytest.mark.realworld,
    pytest.mark.skipif(not DATA.is_dir(), reason="the real data does not lie beside the project"),
]


def _expected(name):
    return json.loads((DATA / "expected_verdicts.json").read_text(encoding="utf-8"))[name]


def test_korean_mt_bench_has_the_expected_tallies(tmp_path):
    start = time.process_time()
    found = Imported(tmp_path / "s", "korean-mt-bench", DATA / "verdicts" / "korean-mt-bench" / "en")
    assert time.process_time() - start < 5  # import and analysis of all 45 files
    expected = _expected("korean-mt-bench")
    names = {"position": "position_conflict", "one-sided": "one_sided"}
    cells = {f"en/{cell.configuration}": cell.patterns["unlabelled"] for cell in found.analysis.cells}
    assert cells.keys() == expected.keys()
    for judge, patterns in cells.items():
        assert sum(patterns.values()) == expected[judge]["pairs"] == 1200
        tallies = {names.get(pattern, pattern): count for pattern, count in patterns.items() if count}
        assert tallies == {name: count for name, count in expected[judge].items() if name != "pairs"}
    # Recorded by taking the first of several verdicts: the contract of the judges' own format reads none.
    assert found.manifest["comparison"]["compared"] == 7200
    assert {(one["read"], one["reason"]) for one in found.disagreements} == {(None, "several-verdicts")}
    assert len(found.disagreements) == 11
    assert found.manifest["notes"] == []


def test_llmbar_has_the_expected_tallies(tmp_path):
    found = Imported(tmp_path / "s", "llmbar", DATA / "verdicts" / "llmbar")
    outcome = (
        pl.when(pl.col("winner").is_null())
        .then(pl.lit("invalid"))
        .when(pl.col("winner") == pl.col("target"))
        .then(pl.lit("correct"))
        .otherwise(pl.lit("wrong"))
    )
    keys = ["stratum", "configuration", "criterion"]
    calls = found.ledger.with_columns(outcome=pl.col("order") + "_" + outcome)
    expected = _expected("llmbar")
    assert calls.select(keys).n_unique() == len(expected) == 20
    for (subset, judge, prompt), own in calls.group_by(keys):
        name = f"{subset if subset == 'Natural' else f'Adversarial/{subset}'} | {judge} | {prompt}"
        tallies = dict(own["outcome"].value_counts().iter_rows())
        pairs = pair_patterns(own)["pattern"]
        assert (
            tallies | {"pairs": pairs.len(), "both_orders_agree": (pairs == "stable").sum()} == expected[name]
        )


def test_fastchat_errors_are_invalid_and_every_label_agrees(tmp_path):
    found = Imported(tmp_path / "s", "fastchat-pair", DATA / "verdicts" / "fastchat" / "gpt-4_pair.jsonl")
    assert found.analysis.campaigns[0].invalid_by_reason == {"error-text": 3}
    assert found.manifest["comparison"]["compared"] == 150
    assert found.disagreements == []
    total = {
        name: sum(cell.patterns["unlabelled"][name] for cell in found.analysis.cells)
        for name in ("stable", "tie")
    }
    assert total == {"stable": 38, "tie": 8}  # model_1 twice 18, model_2 twice 20, tie twice 8


def test_position_bias_has_whole_rows_and_three_repetitions(tmp_path):
    found = Imported(tmp_path / "s", "position-bias", DATA / "verdicts" / "position-bias")
    assert found.ledger.height == 6 * 192
    for cell in found.analysis.cells:
        patterns = cell.patterns["unlabelled"]
        assert (sum(patterns.values()), patterns["incomplete"]) == (3 * 96, 0)
        assert (cell.retest.units, cell.retest.repetitions) == (192, 3)
        assert cell.retest.same + cell.retest.tie_flip + cell.retest.reversed + cell.retest.invalid == 192
    # Texts with line ends in quotes are whole: the same two texts in either order and repetition.
    assert (
        found.ledger.group_by("item").agg(pl.col("text_first").n_unique())["text_first"].to_list() == [1] * 96
    )


def test_a_recorded_429_is_contradicted(tmp_path):
    lines = (DATA / "parser" / "real_malformed.jsonl").read_text(encoding="utf-8").splitlines()
    (row,) = [row for row in map(json.loads, lines) if row["raw"].startswith("ERROR: Client error '429")]
    assert row["recorded_label"] == "2"
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(
        '[columns]\nitem = "id"\njudge = "judge"\nreply = "raw"\nlabel = "recorded_label"\n'
        '[order]\nby = "column"\ncolumn = "swap"\nAB = [false]\nBA = [true]\n[labels]\nA = ["1"]\nB = ["2"]\n',
        encoding="utf-8",
    )
    found = Imported(tmp_path / "s", "table", path, mapping=mapping)
    assert found.calls == [("BA", None, None, "error-text")]
    assert [one["recorded"] for one in found.disagreements] == ["B"]
