from __future__ import annotations

from dataclasses import asdict, replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from darkcurrent.errors import StatsInputError
from darkcurrent.risk import FIRST_LOSSES, PAPER_GRID, Crossing, Losses, Rates, break_even, crossing, risk

SHARE = st.floats(0, 1)
LOSS = st.floats(0, 10)


@st.composite
def rates(draw):
    dc, wrong, efp = draw(SHARE), draw(SHARE), draw(SHARE)
    tie = draw(st.floats(0, 1)) * (1 - wrong)
    return Rates(dc, draw(SHARE) * (1 - dc), wrong, tie, 0.0, efp, draw(SHARE) * (1 - efp))


@st.composite
def losses(draw):
    pi_c = draw(SHARE)
    return Losses(pi_c, draw(LOSS), draw(LOSS), draw(LOSS), draw(LOSS), draw(SHARE) * (1 - pi_c), draw(LOSS))


def test_the_grid_is_the_papers():
    """arXiv:2606.15610, section 9: 3 x 4 x 4 x 2 scenarios with lambda_W = 1."""
    assert len(PAPER_GRID) == len(set(PAPER_GRID)) == 96
    assert {losses.pi_c for losses in PAPER_GRID} == {0, 0.01, 0.05}
    assert {losses.lambda_c for losses in PAPER_GRID} == {0.5, 1, 2, 5}
    assert {losses.lambda_t for losses in PAPER_GRID} == {0.1, 0.25, 0.5, 1}
    assert {losses.lambda_i for losses in PAPER_GRID} == {1, 5}
    assert {(losses.lambda_w, losses.pi_e, losses.lambda_e) for losses in PAPER_GRID} == {(1, 0, 0)}


def test_each_term_counts_once():
    """Powers of ten as losses, so that every term shows in a digit of its own."""
    seen = Rates(0.1, 0.2, 0.3, 0.4, 0.1, 0.5, 0.25)
    declared = Losses(
        pi_c=0.25, lambda_c=1000, lambda_w=100, lambda_t=10, lambda_i=1, pi_e=0.25, lambda_e=10_000
    )
    expected = 0.25 * (1000 * 0.1 + 0.2) + 0.25 * (10_000 * 0.5 + 0.25) + 0.5 * (100 * 0.3 + 10 * 0.4 + 0.1)
    assert risk(seen, declared) == pytest.approx(expected)


@given(rates(), losses())
def test_the_formula_in_fractions_agrees(seen, declared):
    r = {name: Fraction(value) for name, value in asdict(seen).items()}
    x = {name: Fraction(value) for name, value in asdict(declared).items()}
    exact = x["pi_c"] * (x["lambda_c"] * r["false_preference"] + x["lambda_i"] * r["invalid_clone"])
    exact += x["pi_e"] * (
        x["lambda_e"] * r["equivalent_preference"] + x["lambda_i"] * r["invalid_equivalent"]
    )
    signal = x["lambda_w"] * r["wrong"] + x["lambda_t"] * r["tie"] + x["lambda_i"] * r["invalid_signal"]
    exact += (1 - x["pi_c"] - x["pi_e"]) * signal
    assert risk(seen, declared) == pytest.approx(float(exact), abs=1e-12)


@given(rates(), rates(), losses(), st.sampled_from(list(asdict(PAPER_GRID[0]))))
def test_at_the_break_even_two_cells_cost_the_same(first, second, declared, name):
    value = break_even(first, second, declared, name)
    assume(value is not None and value < 1e6)
    at = replace(declared, **{name: min(value, 1.0) if name.startswith("pi") else value})
    scale = 1 + risk(first, at)
    assert risk(first, at) == pytest.approx(risk(second, at), abs=1e-7 * scale)


@given(
    rates(), rates(), losses(), st.sampled_from(["lambda_c", "lambda_w", "lambda_t", "lambda_i", "lambda_e"])
)
def test_without_a_break_even_one_cell_is_never_dearer(first, second, declared, name):
    assume(break_even(first, second, declared, name) is None)
    signs = set()
    for value in (0.0, 0.5, 1.0, 3.0, 100.0):
        difference = risk(first, replace(declared, **{name: value})) - risk(
            second, replace(declared, **{name: value})
        )
        if abs(difference) > 1e-9:
            signs.add(difference > 0)
    assert len(signs) <= 1


def test_ties_against_wrong_choices_of_the_papers_table_6():
    """Qwen2.5: neutral 168 right, 1 tie, 35 wrong; strict 120 right, 67 ties, 16 wrong, 1 invalid of 204 calls."""
    neutral = Rates(0, 0, 35 / 204, 1 / 204, 0)
    strict = Rates(0, 0, 16 / 204, 67 / 204, 1 / 204)
    declared = Losses(pi_c=0, lambda_c=1, lambda_w=1, lambda_t=0.5, lambda_i=1)
    # 35 + t = 16 + 67 t + 1, so that strict is cheaper while a tie costs less than 18/66.
    assert break_even(strict, neutral, declared, "lambda_t") == pytest.approx(18 / 66)
    assert risk(strict, replace(declared, lambda_t=0.2)) < risk(neutral, replace(declared, lambda_t=0.2))
    assert risk(strict, replace(declared, lambda_t=0.3)) > risk(neutral, replace(declared, lambda_t=0.3))


@given(rates(), rates(), losses(), st.sampled_from(list(asdict(PAPER_GRID[0]))))
def test_a_crossing_says_which_cell_costs_less_on_either_side(first, second, declared, name):
    found = crossing(first, second, declared, name)
    prevalence = name.startswith("pi")
    highest = 1 - (declared.pi_e if name == "pi_c" else declared.pi_c) if prevalence else 20.0
    middle = found.value if found.value is not None else highest / 2
    assume(middle < 1e4)
    for value, said in (
        (middle / 2, found.below),
        ((middle + highest) / 2 if prevalence else 2 * middle + 1, found.above),
    ):
        at = replace(declared, **{name: value})
        one, other = risk(first, at), risk(second, at)
        if abs(one - other) > 1e-7 * (1 + one + other):
            assert said == (1 if one < other else 2) or value == middle


def test_a_crossing_at_the_end_of_a_prevalence_has_nothing_above():
    """At pi_c = 1 only the clones count, and both tie them all."""
    found = crossing(Rates(0, 0, 0.1, 0, 0), Rates(0, 0, 0.2, 0, 0), FIRST_LOSSES, "pi_c")
    assert found == Crossing(1.0, 1, 0)


def test_rounding_is_no_difference():
    third = Rates(0, 0, 0.3, 0, 0)
    same = Rates(0, 0, 0.1 + 0.2, 0, 0)
    assert third != same
    assert crossing(third, same, FIRST_LOSSES, "lambda_w") == Crossing(None, 0, 0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Rates("x", 0, 0, 0, 0), "`false_preference` is 'x': give a number"),
        (lambda: Rates(True, 0, 0, 0, 0), "give a number"),
        (lambda: Losses(0, 1, "1", 1, 1), "`lambda_w` is '1': give a number"),
        (lambda: Rates(0, 0, 0.5, 0.4, 0.2), "`wrong` and `tie` and `invalid_signal` .* add up to 1.1"),
        (lambda: Rates(0.7, 0.4, 0, 0, 0), "`false_preference` and `invalid_clone`"),
        (lambda: Rates(0, 0, 0, 0, 0, 0.7, 0.4), "`equivalent_preference` and `invalid_equivalent`"),
        (lambda: Rates(0, 0, 0, 0, 0, 0.7), "given together"),
        (
            lambda: break_even(Rates(0, 0, 0, 0, 0), Rates(0, 0, 0, 0, 0), PAPER_GRID[0], "pi_e"),
            "needs the rates of",
        ),
        (lambda: Rates(1.1, 0, 0, 0, 0), "false_preference"),
        (lambda: Rates(0, 0, float("nan"), 0, 0), "wrong"),
        (lambda: Losses(0, -1, 1, 1, 1), "lambda_c"),
        (lambda: Losses(0, 1, float("inf"), 1, 1), "lambda_w"),
        (lambda: Losses(0.6, 1, 1, 1, 1, 0.6), "sum to 1.2"),
        (lambda: risk(Rates(0, 0, 0, 0, 0), Losses(0, 1, 1, 1, 1, 0.1, 1)), "no certified equivalents"),
        (lambda: break_even(Rates(0, 0, 0, 0, 0), Rates(0, 0, 0, 0, 0), PAPER_GRID[0], "x"), "no loss"),
    ],
)
def test_what_cannot_be_is_an_error_that_names_it(make, words):
    with pytest.raises(StatsInputError, match=words):
        make()
