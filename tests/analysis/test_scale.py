"""A large ledger is analysed in less memory and time, and says the same."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import polars as pl
import pytest

from darkcurrent.analysis import Declared, analyze, frames
from darkcurrent.ledger import SCHEMA, compact, compact_schema
from darkcurrent.protocol.model import AnalysisTable, GatesTable

BENCH = Path(__file__).parents[2] / "benchmarks" / "bench_scale.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_scale", BENCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def declared(bench):
    return Declared(
        study="scale",
        title="",
        study_digest="0" * 64,
        configurations=bench.CONFIGURATIONS,
        criteria=bench.CRITERIA,
        gates=GatesTable(clone_threshold=0.05, utility_threshold=0.75),
        method=AnalysisTable(draws=1000),
        battery={},
        contracts=dict.fromkeys(bench.CONFIGURATIONS, "sole-object"),
        certified="simulated",
    )


def test_the_made_ledger_is_a_ledger(bench):
    ledger = bench.made(8_000)
    assert ledger.schema == compact_schema()
    assert list(ledger.schema) == list(SCHEMA)
    assert ledger.height == 8_000
    calls = ["configuration", "criterion", "item", "arm", "order"]
    assert ledger.select(calls).is_unique().all()
    # The winner is the text in the chosen slot, as the ledger of a captured campaign has it.
    plain = ledger.cast(SCHEMA)
    slot = pl.when(pl.col("value") == "A").then("slot_a").when(pl.col("value") == "B").then("slot_b")
    winner = pl.when(pl.col("value") == "tie").then(pl.lit("tie")).when(pl.col("arm") != "clone").then(slot)
    assert plain.select(winner.eq_missing(pl.col("winner")).all()).item()
    assert plain.select((pl.col("reason").is_null() == pl.col("value").is_not_null()).all()).item()


def test_a_compact_ledger_gives_the_same_analysis(bench):
    plain = bench.made(4_000).cast(SCHEMA)
    # Rows that a judge does not give: a call that was never sent, one whose end is unknown, and a second repetition.
    at = pl.int_range(pl.len())
    ending = pl.when(at % 97 == 0).then(pl.lit("missing")).when(at % 89 == 0).then(pl.lit("ambiguous"))
    plain = plain.with_columns(ending=ending.otherwise("ending")).with_columns(
        pl.when(pl.col("ending") == "terminal").then(name).alias(name)
        for name in ("value", "winner", "status", "served_model")
    )
    plain = pl.concat([plain, plain.head(700).with_columns(repetition=pl.lit(2, dtype=pl.Int64))])
    summaries = dict.fromkeys(bench.CONFIGURATIONS)
    for ungraded in (None, "recorded by others"):
        study = declared(bench)
        object.__setattr__(study, "ungraded", ungraded)
        expected = analyze(study, plain, summaries)
        assert analyze(study, compact(plain), summaries) == expected
    assert expected.cells[0].retest is not None


def test_beyond_a_number_of_draws_the_exact_bound_stands_alone(bench, monkeypatch):
    ledger = bench.made(4_000)
    summaries = dict.fromkeys(bench.CONFIGURATIONS)
    both = analyze(declared(bench), ledger, summaries).cells[0].signal
    assert both.bounds["monte-carlo"] is not None
    items = both.items
    monkeypatch.setattr(frames, "_MOST_DRAWN", items * 1000 - 1)
    one = analyze(declared(bench), ledger, summaries).cells[0].signal
    assert one.bounds == {**both.bounds, "monte-carlo": None}
    assert (one.lower, one.gate, one.method) == (both.lower, both.gate, "exact")
    assert (
        one.remark
        == f"Not drawn as well: 1,000 draws of {items} items would be more than {items * 1000 - 1:,}."
    )
    monkeypatch.setattr(frames, "_MOST_DRAWN", items * 1000)
    assert analyze(declared(bench), ledger, summaries).cells[0].signal == both
