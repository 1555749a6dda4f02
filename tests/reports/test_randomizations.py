"""The randomization tests as a table and as a sentence."""

from __future__ import annotations

import pytest

from darkcurrent.reports.randomizations import randomization_table
from darkcurrent.reports.readings import readings
from darkcurrent.reports.words import limits
from support.pages import KINDS, page_study


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    judges = {
        "moved": "{ utility = 0.9, criteria = { strict = { utility = 0.2 } } }",
        "fenced": KINDS["fenced"],
    }
    folder = tmp_path_factory.mktemp("tests") / "study"
    return page_study(folder, judges, items=40, edge=0, schedule='kind = "crossover"').analyze()


def test_each_test_has_a_row_with_its_numbers_and_a_held_one_its_reason(analysis):
    table = randomization_table(analysis)
    tests = [test for family in analysis.tests for test in family.tests]
    assert len(tests) >= 2
    rows = [row for row in table.rows if row[0] == "moved"]
    assert [int(row[3]) for row in rows] == [test.units for test in tests]
    for row, test in zip(rows, tests, strict=True):
        assert float(row[4]) == pytest.approx(test.statistic, abs=6e-4)
        assert float(row[6]) == pytest.approx(test.p_holm, abs=6e-4)
        assert row[2].startswith(test.contrast)
    assert {row[-1].split(":")[0] for row in table.rows if row[0] == "fenced"} == {"HOLD"}


def test_the_reading_counts_what_rejects_and_says_what_no_p_shows(analysis):
    tests = [test for family in analysis.tests for test in family.tests]
    rejected = [test for test in tests if test.p_holm <= 0.05]
    assert rejected
    said = readings(analysis)["tests"]
    assert said.startswith(f"{len(rejected)} of {len(tests)} contrasts ha")
    assert "moved, criterion: " in said
    shown = limits(analysis)
    assert all(shown.count(test.does_not_identify) == 1 for test in tests)
