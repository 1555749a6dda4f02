"""`darkcurrent risk` as a person runs it."""

from __future__ import annotations

import io
import json

import pytest

from darkcurrent.analysis import known_rates
from darkcurrent.results import RiskResult
from darkcurrent.risk import PAPER_GRID, Losses, risk

LOSSES = "pi_c = 0.1\nlambda_c = 2\nlambda_w = 1\nlambda_t = 0.25\nlambda_i = 5\n"


@pytest.fixture
def two(small, program):
    """A good judge, and one that always ties."""
    small.protocol(
        "[schedule]",
        '[[configuration]]\nname = "lazy"\nbackend = "function"\ncallable = "judge:lazy"\n[schedule]',
    )
    assert program("freeze", small.folder).code == 0
    assert program("run", small.folder).code == 0
    return small


def test_the_risks_and_the_break_evens_are_said(two, program):
    done = program("risk", two.folder)
    assert done.code == 0
    assert "nobody declared these" in done.out
    rows = [line.split() for line in done.out.splitlines() if line.startswith(("good ", "lazy "))]
    # good errs nowhere; lazy ties all 160 signal calls: .95 x .5
    assert [row[:3] for row in rows] == [["good", "neutral", "0.000"], ["lazy", "neutral", ".475"]]
    assert (
        "good / neutral against lazy / neutral: good / neutral costs less whatever π_c, λ_c, λ_W, λ_T, λ_I alone may be"
        in done.out
    )


def test_declared_losses_the_grid_and_the_best_cell_as_json(two, program, tmp_path):
    path = tmp_path / "loss.toml"
    path.write_text(LOSSES, encoding="utf-8")
    value = program("risk", two.folder, "--loss", path, "--grid", "paper", "--optimal", "--json").json()
    assert value["declared"] is True
    losses = Losses(0.1, 2, 1, 0.25, 5)
    result = RiskResult.model_validate_json(
        json.dumps({name: value[name] for name in ("losses", "cells", "pairs")})
    )
    rates = [known_rates(cell) for cell in result.cells]
    assert [cell.risk for cell in result.cells] == [risk(own, losses) for own in rates] == [0, 0.225]
    assert [Losses(**each["losses"]) for each in value["grid"]] == list(PAPER_GRID)
    for each, scenario in zip(value["grid"], PAPER_GRID, strict=True):
        assert [own["risk"] for own in each["risks"]] == [risk(own, scenario) for own in rates]
    best = value["optimal"]
    assert (best["configuration"], best["criterion"], best["risk"], best["stays"]) == (
        "good",
        "neutral",
        0.0,
        1.0,
    )
    other = best["others"][0]
    assert (other["configuration"], other["difference"]) == ("lazy", 0.225)
    assert other["interval"] == pytest.approx([0.225, 0.225])
    assert "no certainty" in other["remark"]


def test_the_best_cell_in_words(two, program):
    done = program("risk", two.folder, "--optimal", "--grid", "paper")
    assert "- good / neutral costs least: 0.000 in each call." in done.out
    assert "lazy / neutral costs .475 more, 95 % interval [.475, .475] (every resample" in done.out
    assert "of 20000 resamples of 80 items in 1 stratum (seed 20260615)" in done.out
    assert "chosen by the same data" in done.out
    assert "Risk over the paper's grid" in done.out


def test_a_study_on_hold_says_so(small, program):
    small.protocol("judge:good", "judge:rude")
    program("freeze", small.folder)
    program("run", small.folder)
    done = program("risk", small.folder, "--optimal", "--grid", "paper")
    assert done.code == 0
    assert "the campaign is HOLD" in done.out
    assert "No cell can be chosen: no cell has a risk: the campaign is HOLD." in done.out
    assert "No cell has a risk: the table says why." in done.err
    value = program("risk", small.folder, "--optimal", "--json").json()
    assert value["cells"][0]["risk"] is None
    assert value["cells"][0]["reason"] == "the campaign is HOLD"
    assert value["optimal"]["configuration"] is None


@pytest.mark.parametrize(
    ("text", "words"),
    [("lambda_q = 1", "loss.toml:1: `lambda_q`"), ("pi_c = 2", "0 to 1"), ("pi_c = [", "not valid TOML")],
)
def test_losses_that_cannot_be_used_are_one_sentence(two, program, tmp_path, text, words):
    path = tmp_path / "loss.toml"
    path.write_text(text, encoding="utf-8")
    assert words in program("risk", two.folder, "--loss", path).error(2)


def test_a_folder_without_a_study_and_a_missing_file(small, program, tmp_path):
    assert program("risk", tmp_path / "nowhere").error(2)
    assert "cannot be read" in program("risk", small.folder, "--loss", tmp_path / "no.toml").error(2)
    assert program("risk", small.folder, "--grid", "mine").code == 2


def test_losses_from_stdin(two, program, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LOSSES.encode())))
    value = program("risk", two.folder, "--loss", "-", "--json").json()
    assert value["losses"]["lambda_t"] == 0.25


def test_what_is_wrong_with_stdin_is_said_of_stdin(two, program, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"pi_c = 0.5\n")))
    assert program("risk", two.folder, "--loss", "-").error(2).startswith("stdin lacks `lambda_c`")
