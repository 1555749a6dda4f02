from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.batteries.finite_code import catalogue, judge
from darkcurrent.batteries.finite_code.family import RUNGS
from darkcurrent.errors import BatteryError

CASES = catalogue.cases()
CASE = CASES[50]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_it_chooses_the_program_that_is_right_more_often(case: catalogue.Case) -> None:
    for role in ("faulty", *RUNGS):
        assert judge(case.prompt, case.reference, case.faults[role].source) == "A"
        assert judge(case.prompt, case.faults[role].source, case.equivalent) == "B"
    assert judge(case.prompt, case.faults["faulty-10"].source, case.faults["faulty-50"].source) == "A"
    assert judge(case.prompt, case.faults["faulty-1"].source, case.faults["faulty-single"].source) == "B"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_it_ties_on_clones_and_equivalents(case: catalogue.Case) -> None:
    for source in case.sources.values():
        assert judge(case.prompt, source, source) == "tie"
    assert judge(case.prompt, case.reference, case.equivalent) == "tie"
    assert judge(case.prompt, case.equivalent, case.reference) == "tie"


@pytest.mark.parametrize("blank", ["", " ", "\n\t \u2003"])
def test_a_blank_text_is_right_on_no_input(blank: str) -> None:
    assert judge(CASE.prompt, blank, CASE.reference) == "B"
    assert judge(CASE.prompt, CASE.faults["faulty"].source, blank) == "A"
    assert judge(CASE.prompt, blank, "") == "tie"


def test_it_never_runs_a_foreign_text(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    hostile = f"open({str(trace)!r}, 'w').close()\n{CASE.reference}"
    for a, b in ((hostile, CASE.reference), (CASE.reference, hostile), (hostile, hostile)):
        with pytest.raises(BatteryError, match="is not a bundled program of capped-counter/02"):
            judge(CASE.prompt, a, b)
    assert not trace.exists()


@given(st.text().filter(str.strip))
def test_it_refuses_any_other_text(text: str) -> None:
    with pytest.raises(BatteryError, match="slot B is not a bundled program"):
        judge(CASE.prompt, CASE.reference, text)


def test_a_program_of_another_item_is_foreign() -> None:
    with pytest.raises(BatteryError, match="slot A is not a bundled program of capped-counter/02"):
        judge(CASE.prompt, CASES[0].reference, CASE.reference)
    with pytest.raises(BatteryError, match="slot B"):
        judge(CASE.prompt, CASE.reference, CASE.reference + "\n")


def test_an_unknown_prompt_is_refused() -> None:
    with pytest.raises(BatteryError, match="does not know this prompt"):
        judge(CASE.prompt + " ", CASE.reference, CASE.reference)
