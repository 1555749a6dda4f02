"""The three answers of a cell, what to change, and what the sections say."""

from __future__ import annotations

import pytest

from darkcurrent.reports.answers import answers, hidden_strata, summary
from darkcurrent.reports.labels import cell_labels, labels
from darkcurrent.reports.prices import priced_cells, ranking
from darkcurrent.reports.readings import readings, trades
from darkcurrent.results import Timeline
from darkcurrent.risk import first_losses
from support.pages import KINDS, page_study

JUDGES = ("solid", "weak", "first", "fenced")


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    judges = {name: KINDS[name] for name in JUDGES}
    return page_study(
        tmp_path_factory.mktemp("answers") / "study", judges, items=120, criteria=["neutral"]
    ).analyze()


@pytest.fixture(scope="module")
def rows(analysis):
    return {row.cell.configuration: row for row in answers(analysis)}


def test_each_cell_has_three_answers_that_are_its_gates(rows):
    gates = {name: (row.valid.gate, row.null.gate, row.utility.gate) for name, row in rows.items()}
    assert gates == {
        "solid": ("PASS", "PASS", "PASS"),
        "weak": ("PASS", "PASS", "PASS"),
        "first": ("PASS", "MISS", "MISS"),
        "fenced": ("HOLD", "HOLD", "HOLD"),
    }


def test_a_held_cell_shows_no_number_but_that_of_its_calls(rows):
    held = rows["fenced"]
    assert (held.null.count, held.utility.count) == ("–", "–")
    assert held.valid.count.endswith("/364 valid")
    assert "gave no valid verdict (fenced " in held.valid.sentence


def test_the_sentences_say_it_plainly(rows):
    assert rows["first"].null.sentence.startswith(
        "Preferred one of two identical texts 120 of 120 times, always the first"
    )
    assert "The pass hides “s2”: its mean is ." in rows["weak"].utility.sentence
    assert "hides" not in rows["solid"].utility.sentence
    assert rows["solid"].valid.sentence == "All 364 calls gave a valid verdict."


def test_what_to_change_fits_what_is_wrong(rows):
    assert rows["solid"].advice == ""
    assert rows["weak"].advice == "Do not use it on “s2” alone, nor where such items are frequent."
    assert "ask in both orders" in rows["first"].advice
    assert rows["fenced"].advice.startswith("Make the judge keep to the declared form")


def test_too_few_identical_pairs_are_said_to_be_that(tmp_path):
    analysis = page_study(tmp_path / "study", {"solid": KINDS["solid"]}, items=20).analyze()
    # 0 of n passes a family of two where 2 * .95**n <= .05
    assert all("at least 72 in each cell" in row.advice for row in answers(analysis))


def test_nothing_captured_and_half_captured_say_what_to_do(tmp_path):
    study = page_study(tmp_path / "study", {"solid": KINDS["solid"]}, items=4, captured=False)
    analysis = study.analyze()
    assert summary(analysis) == "Nothing is captured yet: 2 cells declared, none evaluated."
    assert {row.advice for row in answers(analysis)} == {"Capture it with “darkcurrent run”."}


def test_the_summary_counts(analysis):
    assert summary(analysis) == "2 of 4 cells pass both gates; 1 on HOLD, not evaluated."
    one = analysis.model_copy(update={"cells": analysis.cells[:1]})
    assert summary(one) == "1 of 1 cell passes both gates."


def test_strata_are_hidden_by_a_pass_only(analysis):
    hidden = {cell.configuration: hidden_strata(cell, analysis) for cell in analysis.cells}
    assert hidden == {"solid": [], "weak": ["s2"], "first": [], "fenced": []}


def test_the_readings_name_who_stands_out(analysis):
    said = readings(analysis)
    assert "2 of 3 cells graded can exclude a rate of .05 (dashed line); not first." in said["null"]
    assert "weak: the pass of the whole hides" in said["utility"]
    assert "most often first, 120/120 pairs" in said["patterns"]
    assert said["invalid"].startswith("fenced: ")
    assert "ladder" not in said
    assert said["risk"].startswith("At the losses set at first, solid / neutral costs .0")


def test_what_a_criterion_trades_is_counted_in_calls(tmp_path):
    analysis = page_study(tmp_path / "study", {"dark": KINDS["dark"]}, items=40).analyze()
    neutral, strict = (cell.signal.verdicts for cell in analysis.cells)
    (said,) = trades(analysis)
    assert said.startswith("dark, “strict” instead of “neutral”: ")
    for kind in ("correct", "tie", "wrong"):
        change = getattr(strict, kind) - getattr(neutral, kind)
        assert (f"{change:+d} {kind}" in said) is (change != 0)


def test_drift_is_the_change_of_the_share_of_ties(analysis):
    half = {"a": [10, 10, 0, 0], "tie": [0, 0, 10, 5]}
    nothing = [0] * 4
    timeline = Timeline(
        calls=[10] * 4,
        b=[0, 0, 0, 5],
        invalid=nothing,
        unended=nothing,
        refused=nothing,
        latency_ms=[None] * 4,
        **half,
    )
    campaigns = [
        campaign.model_copy(update={"timeline": timeline}) if campaign.configuration == "first" else campaign
        for campaign in analysis.campaigns
    ]
    said = readings(analysis.model_copy(update={"campaigns": campaigns}))["time"]
    assert said.endswith("moves most for first: by .750.")


def test_only_cells_with_rates_are_priced_and_the_worst_is_last(analysis):
    cells = priced_cells(analysis)
    assert [name for name, _ in cells] == ["solid / neutral", "weak / neutral", "first / neutral"]
    rates = cells[2][1]
    assert (rates.false_preference, rates.wrong, rates.tie, rates.equivalent_preference) == (1, 0.5, 0, None)
    assert [number for number, _, _ in ranking(cells, first_losses([rates]))][-1] == 3


def test_labels_are_short_printable_and_no_two_alike(analysis):
    long = "x" * 1000
    found = labels([long + "-a", long + "-a", "a\u202eb", "plain"])
    assert len(set(found)) == 4
    assert found[2:] == ["a\\u202eb", "plain"]
    assert max(map(len, found)) < 30
    assert cell_labels(analysis.cells) == list(JUDGES)
