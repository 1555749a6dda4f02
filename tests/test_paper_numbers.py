"""Every number of the paper's tables 2, 3, 4, 5 and 7 that follows from counts it publishes, digit for digit.

The paper is arXiv 2606.15610. Each expectation is written as it is printed there, so that a comparison of
strings is one to the printed digit. What cannot be recomputed is listed in `design/paper-numbers.md`.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from darkcurrent.patterns import classify
from darkcurrent.risk import PAPER_GRID, Rates, risk
from darkcurrent.stats import (
    bootstrap,
    bootstrap_difference,
    clone_tail,
    clone_test,
    clopper_pearson_upper,
    holm,
)

DOCUMENT = Path(__file__).parents[1] / "design" / "paper-numbers.md"
SIX_BY_17 = [
    name for name in ("factuality", "focus", "math", "precise-if", "safety", "ties") for _ in range(17)
]
EXTENSION = {"factuality": 159, "focus": 83, "math": 41, "precise-if": 77, "safety": 100, "ties": 25}

# table 6: correct, tie, wrong, invalid of 204 signal calls on 102 items
TABLE_6 = {
    ("Qwen2.5-32B", "neutral"): (168, 1, 35, 0),
    ("Qwen2.5-32B", "strict"): (120, 67, 16, 1),
    ("Qwen3.6-35B", "neutral"): (178, 3, 23, 0),
    ("Qwen3.6-35B", "strict"): (162, 14, 28, 0),
    ("Qwen3.8", "neutral"): (185, 1, 18, 0),
    ("Qwen3.8", "strict"): (183, 2, 19, 0),
    ("gpt-oss", "neutral"): (182, 12, 10, 0),
    ("gpt-oss", "strict"): (177, 15, 12, 0),
}


def printed(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("0.", ".", 1)


def item_scores(success: int, n: int, split: int) -> list[float]:
    """Scores of n items in two orders with that many successes, of which ``split`` items have one."""
    both = (success - split) // 2
    return [0.5] * split + [1.0] * both + [0.0] * (n - both - split)


# Table 2: 60 pairs of equal quality in both orders


@pytest.mark.parametrize(
    ("stable", "position", "one_sided", "expected"),
    [
        (2, 58, 0, ("1.000", ".033", ".967")),
        (27, 32, 1, (".992", ".450", ".533")),
        (0, 5, 21, (".258", ".000", ".083")),
    ],
    ids=["Llama-3.1-8B", "Qwen2.5-14B-AWQ", "Qwen2.5-32B-AWQ"],
)
def test_table_2_false_preference_is_the_sum_of_its_patterns(stable, position, one_sided, expected) -> None:
    tied = 60 - stable - position - one_sided
    pairs = (
        [("u", "u")] * stable + [("v", "u")] * position + [("tie", "v")] * one_sided + [("tie", "tie")] * tied
    )
    patterns = [classify(*pair) for pair in pairs]
    scs, pfp, osc = (patterns.count(name) / 60 for name in ("stable", "position", "one-sided"))
    by_call = sum(winner != "tie" for pair in pairs for winner in pair) / 120
    assert scs + pfp + osc / 2 == pytest.approx(by_call, abs=1e-15)
    assert (printed(by_call, 3), printed(scs, 3), printed(pfp, 3)) == expected


def test_table_2_pooling_the_edge_strata_hides_the_core() -> None:
    core, edge = clone_test(0, 40), clone_test(80, 80)
    assert printed(core.rate, 3) == ".000"
    assert printed(edge.rate, 3) == "1.000"
    assert printed((core.adverse + edge.adverse) / (core.n + edge.n), 3) == ".667"


# Table 3: 102 fresh items, two configurations by two criteria


def test_table_3_clones() -> None:
    cells = [clone_test(0, 102)] * 4
    assert {printed(cell.upper, 3) for cell in cells} == {".029"}
    assert {printed(p, 3) for p in holm([cell.p for cell in cells])} == {".021"}


@pytest.mark.parametrize(
    ("configuration", "criterion", "mean"),
    [
        ("Qwen2.5-32B", "neutral", ".824"),
        ("Qwen2.5-32B", "strict", ".588"),
        ("Qwen3.6-35B", "neutral", ".873"),
        ("Qwen3.6-35B", "strict", ".794"),
    ],
)
def test_table_3_utility_means_follow_from_table_6(configuration, criterion, mean) -> None:
    correct, *failures = TABLE_6[configuration, criterion]
    assert correct + sum(failures) == 204
    assert printed(bootstrap(item_scores(correct, 102, split=0), SIX_BY_17).mean, 3) == mean


@pytest.mark.parametrize(
    ("configuration", "difference"),
    [("Qwen2.5-32B", "-.235"), ("Qwen3.6-35B", "-.078"), ("gpt-oss", "-.0245"), ("Qwen3.8", "-.0098")],
)
def test_strict_minus_neutral_follows_from_table_6(configuration, difference) -> None:
    strict, neutral = (
        item_scores(TABLE_6[configuration, criterion][0], 102, split=TABLE_6[configuration, criterion][0] % 2)
        for criterion in ("strict", "neutral")
    )
    result = bootstrap_difference(strict, neutral, SIX_BY_17)
    assert printed(result.mean, len(difference) - 2) == difference


def test_the_order_rates_of_qwen_2_5_make_its_means_and_its_interaction() -> None:
    rates = {("neutral", "AB"): 89, ("neutral", "BA"): 79, ("strict", "AB"): 47, ("strict", "BA"): 73}
    assert [printed(count / 102, 3) for count in rates.values()] == [".873", ".775", ".461", ".716"]
    for criterion in ("neutral", "strict"):
        total = rates[criterion, "AB"] + rates[criterion, "BA"]
        assert total == TABLE_6["Qwen2.5-32B", criterion][0]
    gap = {criterion: rates[criterion, "BA"] - rates[criterion, "AB"] for criterion in ("neutral", "strict")}
    assert printed((gap["strict"] - gap["neutral"]) / 102, 3) == ".353"


# Table 4: 96 finite-code items, three configurations by two criteria


def test_table_4_clones() -> None:
    cells = [clone_test(0, 96)] * 6
    assert {printed(cell.upper, 4) for cell in cells} == {".0307"}
    assert {printed(p, 4) for p in holm([cell.p for cell in cells])} == {".0436"}


def test_table_4_the_utility_of_gpt_oss_is_determined() -> None:
    # section 6: all its observed family means are one, under both criteria; eight families of twelve
    families = [family for family in range(8) for _ in range(12)]
    result = bootstrap([1.0] * 96, families)
    assert (result.mean, result.lower, result.interval, result.degenerate) == (1, 1, (1, 1), "all-success")
    assert bootstrap_difference([1.0] * 96, [1.0] * 96, families).mean == 0


# Table 5: the same 102 items under two more configurations


def test_table_5_clones() -> None:
    cells = [clone_test(adverse, 102) for adverse in (0, 0, 2, 0)]
    assert [printed(cell.upper, 4) for cell in cells] == [".0289", ".0289", ".0604", ".0289"]
    adjusted = holm([cell.p for cell in cells])
    assert [printed(p, 4) for p in adjusted] == [".0214", ".0214", ".1103", ".0214"]
    assert printed(cells[2].rate, 4) == ".0196"
    passed = [p <= 0.05 and cell.upper <= 0.05 for p, cell in zip(adjusted, cells, strict=True)]
    assert passed == [True, True, False, True]


# Table 7: 485 further rows, one configuration under two criteria


def test_table_7_clones() -> None:
    assert printed(clopper_pearson_upper(0, 485), 5) == ".00616"
    p = clone_tail(0, 485)
    assert f"{p:.4e}" == "1.5702e-11"
    assert {f"{adjusted:.4e}" for adjusted in holm([p, p])} == {"3.1404e-11"}


@pytest.mark.parametrize(("aligned", "mean"), [(836, ".86186"), (773, ".79691")])
def test_table_7_utility_means(aligned, mean) -> None:
    strata = [name for name, n in EXTENSION.items() for _ in range(n)]
    assert len(strata) == 485
    assert printed(bootstrap(item_scores(aligned, 485, split=aligned % 2), strata).mean, 5) == mean


def test_section_8_strict_precise_if() -> None:
    assert printed(bootstrap(item_scores(58, 77, split=0), None).mean, 3) == ".377"


# Published bounds whose item scores are not published: are they possible?


def attainable(success: int, sizes: list[int], digits: int) -> set[str]:
    """Lower bounds over every number of split items, with scores spread evenly over the strata."""
    n = sum(sizes)
    places = sorted(((place + 0.5) / size, row) for row, size in enumerate(sizes) for place in range(size))
    strata = [row for _, row in places]
    splits = range(success % 2, min(success, 2 * n - success) + 1, 2)
    return {printed(bootstrap(item_scores(success, n, split), strata).lower, digits) for split in splits}


@pytest.mark.parametrize(
    ("success", "sizes", "lower"),
    [
        (168, [17] * 6, ".779"),
        (120, [17] * 6, ".539"),
        (178, [17] * 6, ".833"),
        (162, [17] * 6, ".745"),
        (182, [17] * 6, ".8529"),
        (836, list(EXTENSION.values()), ".84124"),
        (773, list(EXTENSION.values()), ".77423"),
    ],
)
def test_published_lower_bounds_are_possible_for_the_published_counts(success, sizes, lower) -> None:
    assert lower in attainable(success, sizes, len(lower) - 1)


def test_table_9_the_intervals_that_its_counts_determine() -> None:
    # Qwen3.8, strict, equivalents: success 1 without the context, one adverse item of 32, difference -1/32.
    # So that item fell from 1 to 0 and no other moved; families hold four items.
    families = [family for family in range(8) for _ in range(4)]
    result = bootstrap_difference([0.0] + [1.0] * 31, [1.0] * 32, families)
    assert [printed(value, 4) for value in (result.mean, *result.interval)] == ["-.0312", "-.0938", ".0000"]
    # gpt-oss: success 1 in both contexts, in all four of its cells
    unmoved = bootstrap_difference([1.0] * 32, [1.0] * 32, families)
    assert (unmoved.mean, unmoved.interval, unmoved.degenerate) == (0, (0, 0), "constant")


# The risk of table 6 over the grid of section 9

CLONES = {("gpt-oss", "neutral"): 2}  # preferences of 102 clones; none in the seven other cells


def rates_of(cell: tuple[str, str]) -> Rates:
    _, tie, wrong, invalid = TABLE_6[cell]
    return Rates(CLONES.get(cell, 0) / 102, 0, wrong / 204, tie / 204, invalid / 204)


@pytest.mark.parametrize("cell", TABLE_6, ids=" ".join)
def test_the_risk_of_table_6_over_the_grid_follows_from_its_counts(cell) -> None:
    _, tie, wrong, invalid = TABLE_6[cell]
    for losses in PAPER_GRID:
        pi, clone, tied, broken = (
            Fraction(str(value)) for value in (losses.pi_c, losses.lambda_c, losses.lambda_t, losses.lambda_i)
        )
        exact = pi * clone * Fraction(CLONES.get(cell, 0), 102)
        exact += (1 - pi) * (wrong + tied * tie + broken * invalid) / 204
        assert math.isclose(risk(rates_of(cell), losses), float(exact), rel_tol=1e-14)


def test_which_cell_of_table_6_costs_least_depends_on_the_scenario() -> None:
    """Not printed in the paper; recomputed in whole numbers apart from the package, and pinned."""
    cheapest: dict[tuple[str, str], int] = {}
    for losses in PAPER_GRID:
        best = min(TABLE_6, key=lambda cell: risk(rates_of(cell), losses))
        cheapest[best] = cheapest.get(best, 0) + 1
    by_hand: dict[tuple[str, str], int] = {}
    for pi, clone, tied in product((0, 1, 5), (50, 100, 200, 500), (10, 25, 50, 100)):
        costs = {
            cell: 2 * pi * clone * CLONES.get(cell, 0) + (100 - pi) * (100 * wrong + tied * tie)
            for cell, (_, tie, wrong, invalid) in TABLE_6.items()
            if invalid == 0
        }
        best = min(costs, key=costs.__getitem__)
        by_hand[best] = by_hand.get(best, 0) + 2  # lambda_I plays no part without invalid answers
    assert cheapest == by_hand == {("gpt-oss", "neutral"): 72, ("Qwen3.8", "neutral"): 24}


@pytest.mark.parametrize("cell", TABLE_6, ids=" ".join)
def test_the_page_gives_the_least_and_the_largest_risk_of_every_cell(cell) -> None:
    costs = [risk(rates_of(cell), losses) for losses in PAPER_GRID]
    row = rf"\| {re.escape(cell[0])} \| {cell[1]} \| {printed(min(costs), 4)} \| {printed(max(costs), 4)} \|"
    assert re.search(row, DOCUMENT.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("configuration", "cheaper"), [("Qwen2.5-32B", 36), ("Qwen3.6-35B", 0), ("Qwen3.8", 0), ("gpt-oss", 0)]
)
def test_in_how_many_scenarios_the_strict_criterion_costs_less(configuration, cheaper) -> None:
    """Qwen2.5: 16 + 67 t + i < 35 + t, that is t < .27 at i = 1 and t < .21 at i = 5: three of the eight pairs
    (t, i), in each of the twelve pairs (pi, lambda_c). gpt-oss: (1 - pi)(2 + 3 t) < 4 pi lambda_c never holds."""
    strict, neutral = rates_of((configuration, "strict")), rates_of((configuration, "neutral"))
    assert sum(risk(strict, losses) < risk(neutral, losses) for losses in PAPER_GRID) == cheaper
