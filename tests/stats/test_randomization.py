from __future__ import annotations

import doctest
import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkcurrent.errors import StatsInputError
from darkcurrent.stats import _contrast, holm
from darkcurrent.stats import _rerandomization as kernel
from darkcurrent.stats import randomization as module
from darkcurrent.stats.bootstrap import DEFAULT_SEED
from darkcurrent.stats.randomization import Assignment, randomization_family, randomization_test

SIGNAL = [("strict", "AB"), ("strict", "BA"), ("neutral", "AB"), ("neutral", "BA")]
CLONE = [("strict", "IDENTICAL"), ("neutral", "IDENTICAL")]
THREE = [("strict", "IDENTICAL"), ("neutral", "IDENTICAL"), ("lenient", "IDENTICAL")]
WILLIAMS = [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]
BOTH = ("strict", "neutral")
CONTRASTS = [(BOTH, None), (None, ("AB", "BA")), (BOTH, ("BA", "AB"))]
SCORES = [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(7, 10), Fraction(1)]


def definition(outcomes, treatments, sequences, drawn, criteria, orders):
    """The contrast by its words: means of each treatment, then differences, then the mean over items."""
    total = Fraction(0)
    for row, sequence in zip(outcomes, drawn, strict=True):
        at = {treatment: [] for treatment in treatments}
        for place, label in enumerate(sequences[sequence]):
            at[treatments[label]].append(row[place])
        mean = {treatment: sum(values) / len(values) for treatment, values in at.items()}

        def average(keep, mean=mean):
            values = [value for treatment, value in mean.items() if keep(treatment)]
            return sum(values) / len(values)

        if criteria and orders:
            (first, second), (one, two) = criteria, orders
            total += mean[first, one] - mean[first, two] - mean[second, one] + mean[second, two]
        elif criteria:
            total += average(lambda t: t[0] == criteria[0]) - average(lambda t: t[0] == criteria[1])
        else:
            total += average(lambda t: t[1] == orders[0]) - average(lambda t: t[1] == orders[1])
    return total / len(drawn)


def possible(assignment):
    """Every assignment that could have been drawn, with its probability, by brute force."""
    sequences, drawn = range(len(assignment.sequences)), assignment.drawn
    every = itertools.product(sequences, repeat=len(drawn))
    if assignment.probabilities is not None:
        for draw in every:
            chance = Fraction(1)
            for sequence in draw:
                chance *= Fraction(assignment.probabilities[sequence])
            yield draw, chance
        return
    cohorts = assignment.cohorts or ["one"] * len(drawn)
    wanted = sorted(zip(cohorts, drawn, strict=True))
    draws = [draw for draw in every if sorted(zip(cohorts, draw, strict=True)) == wanted]
    yield from ((draw, Fraction(1, len(draws))) for draw in draws)


def oracle(outcomes, assignment, criteria, orders):
    def statistic(draw):
        return definition(outcomes, assignment.treatments, assignment.sequences, draw, criteria, orders)

    observed = statistic(assignment.drawn)
    p = sum(chance for draw, chance in possible(assignment) if abs(statistic(draw)) >= abs(observed))
    return observed, p


def as_floats(outcomes):
    return [[float(value) for value in row] for row in outcomes]


@st.composite
def designs(draw):
    treatments, contrasts = draw(
        st.sampled_from([(SIGNAL, CONTRASTS), (CLONE, CONTRASTS[:1]), (THREE, CONTRASTS[:1])])
    )
    repeats = draw(st.integers(1, 2)) if treatments is CLONE else 1
    base = list(range(len(treatments))) * repeats
    sequences = draw(st.lists(st.permutations(base), min_size=1, max_size=3))
    items = draw(st.integers(1, 5))
    drawn = draw(st.lists(st.integers(0, len(sequences) - 1), min_size=items, max_size=items))
    outcomes = [
        draw(st.lists(st.sampled_from(SCORES), min_size=len(base), max_size=len(base))) for _ in range(items)
    ]
    scheme = draw(st.sampled_from(["cohorts", "one cohort", "independent"]))
    cohorts = [draw(st.sampled_from("xy")) for _ in range(items)] if scheme == "cohorts" else None
    shares = {1: [1.0], 2: [0.25, 0.75], 3: [0.5, 0.125, 0.375]}[len(sequences)]
    assignment = Assignment(
        treatments, sequences, drawn, cohorts, shares if scheme == "independent" else None
    )
    return outcomes, assignment, draw(st.sampled_from(contrasts))


@given(designs(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_both_exact_methods_agree_with_full_enumeration_in_rationals(design, convolve: bool) -> None:
    outcomes, assignment, (criteria, orders) = design
    observed, p = oracle(outcomes, assignment, criteria, orders)
    with pytest.MonkeyPatch.context() as patch:
        if convolve:
            patch.setattr(module, "_ENUMERABLE", 0)
        result = randomization_test(as_floats(outcomes), assignment, criteria, orders)
    assert result.method == ("exact-convolution" if convolve else "exact-enumeration")
    assert result.statistic == float(observed)
    assert result.p == pytest.approx(float(p), rel=1e-13)
    assert (result.draws, result.seed, result.gate, result.n) == (None, None, None, len(outcomes))


def test_a_design_by_hand() -> None:
    # two of four clones see strict first; only one of the C(4, 2) = 6 draws and its mirror image reach |-1|
    clones = Assignment(CLONE, [[0, 1], [1, 0]], [0, 0, 1, 1])
    result = randomization_test([[0, 1], [0, 1], [1, 0], [1, 0]], clones, BOTH)
    assert (result.statistic, result.p) == (-1.0, 2 / 6)
    # the draw was made within pairs: 2 * 2 = 4 draws
    paired = Assignment(CLONE, [[0, 1], [1, 0]], [0, 0, 1, 1], cohorts=["a", "b", "a", "b"])
    assert randomization_test([[0, 1], [0, 1], [1, 0], [1, 0]], paired, BOTH).p == 2 / 4
    # every item drew on its own: 16 draws
    free = Assignment(CLONE, [[0, 1], [1, 0]], [0, 0, 1, 1], probabilities=[0.5, 0.5])
    assert randomization_test([[0, 1], [0, 1], [1, 0], [1, 0]], free, BOTH).p == 2 / 16


def large(n=102, cohorts=12, seed=3, sequences=WILLIAMS, treatments=SIGNAL, chance=0.8):
    """Outcomes by place and an assignment that was drawn as the schedule says."""
    rng = np.random.default_rng(seed)
    names = np.arange(n) % cohorts
    drawn = np.empty(n, dtype=int)
    for cohort in range(cohorts):
        rows = np.flatnonzero(names == cohort)
        drawn[rows] = rng.permutation(np.arange(rows.size) % len(sequences))
    outcomes = (rng.random((n, len(treatments))) < chance).astype(float)
    return outcomes, Assignment(treatments, sequences, drawn.tolist(), names.tolist())


def independent(n=102, seed=4):
    rng = np.random.default_rng(seed)
    drawn = rng.choice(4, size=n, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    assignment = Assignment(SIGNAL, WILLIAMS, drawn, probabilities=[0.4, 0.3, 0.2, 0.1])
    return rng.integers(0, 3, (n, 4)) / 2, assignment


@pytest.mark.parametrize("design", [large(), independent()], ids=["cohorts", "independent"])
@pytest.mark.parametrize(("criteria", "orders"), CONTRASTS)
def test_the_draws_agree_with_the_exact_p_within_their_error(design, criteria, orders) -> None:
    outcomes, assignment = design
    exact = randomization_test(outcomes, assignment, criteria, orders)
    drawn = randomization_test(outcomes, assignment, criteria, orders, method="monte-carlo", draws=20_000)
    assert (exact.method, drawn.method) == ("exact-convolution", "monte-carlo")
    assert (drawn.draws, drawn.seed, drawn.statistic) == (20_000, DEFAULT_SEED, exact.statistic)
    assert drawn.p == pytest.approx(exact.p, abs=4 * (exact.p * (1 - exact.p) / 20_000) ** 0.5 + 1e-4)


def slow_draws(worth, counts, shares, draws, seed):
    """The documented stream, one draw and one item at a time."""
    stream = np.random.PCG64(seed)
    bits = (len(worth) - 1).bit_length()
    for _ in range(draws):
        outputs = [int(stream.random_raw()) for _ in worth]
        if counts is None:
            ends = list(itertools.accumulate(shares))
            uniform = [(output >> 11) / 2**53 for output in outputs]
            patterns = [
                next(k for k, end in enumerate(ends) if u < end or k == len(ends) - 1) for u in uniform
            ]
        else:
            keys = [(output >> bits << bits) + item for item, output in enumerate(outputs)]
            ranked = sorted(range(len(worth)), key=keys.__getitem__)
            given_patterns = [k for k, count in enumerate(counts) for _ in range(count)]
            patterns = [pattern for _, pattern in sorted(zip(ranked, given_patterns, strict=True))]
        yield sum(int(row[pattern]) for row, pattern in zip(worth, patterns, strict=True))


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("batch", [1, 70, 1 << 20])
def test_the_stream_is_the_documented_one_whatever_the_batches(fixed, batch, monkeypatch) -> None:
    monkeypatch.setattr(kernel, "_BATCH", batch)
    worth = np.array([[0, 3, -1], [1, 2, 5], [-4, 0, 0], [2, 2, 7], [1, 0, -9], [0, 6, 1]])
    counts, shares = np.array([3, 1, 2]), np.array([0.5, 1 / 6, 1 / 3])
    group = kernel.Group(worth, shares, counts if fixed else None)
    sums = kernel.sample_sums([group], 50, seed=11)
    assert sums.tolist() == list(slow_draws(worth, counts if fixed else None, shares, 50, 11))


@pytest.mark.parametrize("method", ["exact", "monte-carlo"])
def test_the_order_of_rows_and_the_names_say_nothing(method) -> None:
    outcomes, assignment = large(n=40, cohorts=3, seed=5)
    before = randomization_test(outcomes, assignment, BOTH, method=method, draws=500)
    assert 0.1 < before.p < 0.9
    rows = np.random.default_rng(1).permutation(40)
    # the sequences in another order, one of them listed twice
    table = [WILLIAMS[2], WILLIAMS[0], WILLIAMS[3], WILLIAMS[1], WILLIAMS[0]]
    place = {0: [1, 4], 1: [3, 3], 2: [0, 0], 3: [2, 2]}
    shuffled = Assignment(
        SIGNAL,
        table,
        [place[assignment.drawn[row]][int(row) % 2] for row in rows],
        [f"cohort {assignment.cohorts[row]}" for row in rows],
    )
    after = randomization_test(outcomes[rows], shuffled, BOTH, method=method, draws=500)
    assert (after.statistic, after.p) == (before.statistic, before.p)


@pytest.mark.parametrize(("criteria", "orders"), CONTRASTS)
def test_mirror_images_have_the_same_p(criteria, orders) -> None:
    outcomes, assignment = large(n=30, cohorts=4)
    base = randomization_test(outcomes, assignment, criteria, orders)
    mirrored = randomization_test(1 - outcomes, assignment, criteria, orders)
    swapped = randomization_test(
        outcomes, assignment, criteria and criteria[::-1], orders if criteria else orders[::-1]
    )
    assert base.statistic == -mirrored.statistic == -swapped.statistic != 0
    assert base.p == pytest.approx(mirrored.p, rel=1e-12)
    assert base.p == pytest.approx(swapped.p, rel=1e-12)


def planted(effects, n=102, cohorts=12, seed=8):
    """Outcomes whose chance of success depends on the treatment."""
    _, assignment = large(n, cohorts, seed)
    labels = np.array(WILLIAMS)[assignment.drawn]
    chance = np.array([effects[treatment] for treatment in SIGNAL])[labels]
    return (np.random.default_rng(seed + 1).random((n, 4)) < chance).astype(float), assignment


def test_a_planted_effect_is_found_by_its_own_test() -> None:
    criterion = {
        ("strict", "AB"): 0.55,
        ("strict", "BA"): 0.55,
        ("neutral", "AB"): 0.85,
        ("neutral", "BA"): 0.85,
    }
    order = {("strict", "AB"): 0.9, ("strict", "BA"): 0.6, ("neutral", "AB"): 0.9, ("neutral", "BA"): 0.6}
    crossed = {
        ("strict", "AB"): 0.45,
        ("strict", "BA"): 0.75,
        ("neutral", "AB"): 0.9,
        ("neutral", "BA"): 0.75,
    }
    for effects, (criteria, orders), sign in zip(
        [criterion, order, crossed], CONTRASTS, [-1, 1, 1], strict=True
    ):
        result = randomization_test(*planted(effects), criteria, orders)
        assert result.p < 0.01
        assert sign * result.statistic > 0.1


def test_p_is_never_zero() -> None:
    n = 1_200
    drawn = [item % 2 for item in range(n)]
    outcomes = np.array([[1.0, 0.0] if sequence == 0 else [0.0, 1.0] for sequence in drawn])
    fixed = Assignment(CLONE, [[0, 1], [1, 0]], drawn, cohorts=[item // 200 for item in range(n)])
    free = Assignment(CLONE, [[0, 1], [1, 0]], drawn, probabilities=[0.5, 0.5])
    for assignment in (fixed, free):
        exact = randomization_test(outcomes, assignment, BOTH)
        assert exact.method == "exact-convolution"
        assert exact.statistic == 1.0
        assert exact.p == np.finfo(float).tiny  # the true one is below 2 ** -1100
        assert randomization_test(outcomes, assignment, BOTH, method="monte-carlo", draws=99).p == 1 / 100


def test_small_probabilities_keep_their_digits() -> None:
    n = 400
    drawn = [item % 2 for item in range(n)]
    outcomes = [[1.0, 0.0] if sequence == 0 else [0.0, 1.0] for sequence in drawn]
    free = Assignment(CLONE, [[0, 1], [1, 0]], drawn, probabilities=[0.5, 0.5])
    assert randomization_test(outcomes, free, BOTH).p == pytest.approx(2.0**-399, rel=1e-12)


def test_every_level_is_kept_exactly_over_all_draws_of_a_design() -> None:
    # the sharp null by the letter: outcomes stay, each possible draw is the observed one in turn
    outcomes = [[1, 0, 0, 1], [1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 1, 1], [0, 1, 1, 0]]
    assignment = Assignment(SIGNAL, WILLIAMS, [0, 1, 2, 3, 0], ["x", "x", "x", "y", "y"])
    for criteria, orders in CONTRASTS:
        found = [
            randomization_test(
                outcomes, Assignment(SIGNAL, WILLIAMS, list(draw), assignment.cohorts), criteria, orders
            ).p
            for draw, _ in possible(assignment)
        ]
        assert len(found) == 12
        assert all(sum(p <= level for p in found) <= level * len(found) + 1e-9 for level in found)
        assert min(found) < 0.5


@pytest.mark.parametrize("scores", [[0.1, 0.2, 0.3, 0.7], [1 / 3, 2 / 3, 1.0, 1 / 7]])
def test_ties_are_not_decided_by_rounding(scores) -> None:
    # every permutation of the items over the draw gives a sum of the same numbers in another order
    outcomes = [[value, 0.0] for value in scores for _ in range(2)]
    assignment = Assignment(CLONE, [[0, 1], [1, 0]], [0, 1] * 4)
    exact = [[Fraction(value).limit_denominator(100), Fraction(0)] for value, _ in outcomes]
    assert (
        randomization_test(outcomes, assignment, BOTH).p
        == float(oracle(exact, assignment, BOTH, None)[1])
        == 1.0
    )


def test_outcomes_on_no_lattice_are_enumerated_too() -> None:
    outcomes = (np.random.PCG64(2).random_raw(16) >> np.uint64(11)).reshape(8, 2) * 2.0**-53
    assignment = Assignment(CLONE, [[0, 1], [1, 0]], [0, 1, 1, 0, 1, 0, 1, 0])
    observed, p = oracle([[Fraction(v) for v in row] for row in outcomes.tolist()], assignment, BOTH, None)
    result = randomization_test(outcomes, assignment, BOTH)
    assert result.method == "exact-enumeration"
    assert result.p == float(p)
    assert result.statistic == pytest.approx(float(observed), abs=1e-11)


def test_a_law_that_is_too_large_is_drawn_and_the_result_says_so(monkeypatch) -> None:
    outcomes, assignment = large(n=40, cohorts=2)
    exact = randomization_test(outcomes, assignment, BOTH)
    for limit in ("_MOST_ADDITIONS", "_LARGEST_TABLE"):
        with monkeypatch.context() as patch:
            patch.setattr(module, limit, 100)
            result = randomization_test(outcomes, assignment, BOTH, draws=999, seed=5)
        assert (result.method, result.draws, result.seed) == ("monte-carlo", 999, 5)
        assert "too large" in result.reason
        assert result.p == pytest.approx(exact.p, abs=0.06)


def test_without_a_stored_assignment_nothing_is_graded() -> None:
    result = randomization_test([[1, 0, 1, 1]] * 3, None, BOTH, ("BA", "AB"))
    assert (result.gate, result.p, result.statistic, result.method) == ("NOT GRADED", None, None, None)
    assert (result.contrast, result.n) == ("criterion x order", 3)
    assert "stored no random assignment" in result.reason


def test_no_items_are_not_graded() -> None:
    result = randomization_test([], Assignment(CLONE, [[0, 1]], []), BOTH)
    assert (result.n, result.p, result.gate, result.degenerate) == (0, None, "NOT GRADED", "empty")


@pytest.mark.parametrize("method", ["exact", "monte-carlo"])
@pytest.mark.parametrize(
    ("outcomes", "assignment", "word"),
    [
        ([[1, 0], [0, 1]], Assignment(CLONE, [[0, 1], [1, 0]], [0, 0]), "single-assignment"),
        ([[1, 0], [0, 1]], Assignment(CLONE, [[0, 1]], [0, 0], probabilities=[1.0]), "single-assignment"),
        # the same sequences for the contrast: nothing but the order differs
        ([[1, 0]] * 2, Assignment(SIGNAL[::2], [[0, 1], [0, 1]], [0, 1]), "single-assignment"),
        ([[0, 0]] * 4, Assignment(CLONE, [[0, 1], [1, 0]], [0, 1, 0, 1]), "constant"),
        ([[1, 0]] * 4, Assignment(CLONE, [[0, 1], [1, 0]], [0, 1, 0, 0]), "constant"),
        (
            [[0.4, 0.4], [1, 1]],
            Assignment(CLONE, [[0, 1], [1, 0]], [0, 1], probabilities=[0.5, 0.5]),
            "constant",
        ),
        ([[1, 0]] * 4, Assignment(CLONE, [[0, 1], [1, 0]], [0, 1, 0, 0], probabilities=[0.5, 0.5]), None),
    ],
)
def test_a_test_that_cannot_reject_has_a_name(outcomes, assignment, word, method) -> None:
    result = randomization_test(outcomes, assignment, BOTH, method=method, draws=99)
    assert result.degenerate == word
    if word:
        assert result.p == 1.0
        assert result.reason


def test_the_result_says_what_it_does_not_identify() -> None:
    outcomes, assignment = large(n=20, cohorts=2)
    texts = {randomization_test(outcomes, assignment, *contrast).does_not_identify for contrast in CONTRASTS}
    assert len(texts) == 3
    assert all("not for one cause" in text and "carry-over" in text for text in texts)
    assert "under every assignment" in randomization_test(outcomes, assignment, BOTH).null


def signal_counts(strict_ab, strict_ba, neutral_ab, neutral_ba, n=102):
    """Outcomes with these successes by treatment, over a Williams assignment."""
    _, assignment = large(n)
    outcomes = np.zeros((n, 4))
    for label, successes in enumerate([strict_ab, strict_ba, neutral_ab, neutral_ba]):
        for item in range(successes):
            outcomes[item, WILLIAMS[assignment.drawn[item]].index(label)] = 1
    return outcomes, assignment


def test_the_published_statistics_follow_from_the_published_rates() -> None:
    # arXiv 2606.15610, section 5: .461/.716 and .873/.775 of 102; table 6 has 168 = 89 + 79 and 120 = 47 + 73
    counts = [round(rate * 102) for rate in (0.461, 0.716, 0.873, 0.775)]
    assert counts == [47, 73, 89, 79]
    outcomes, assignment = signal_counts(*counts)
    criterion = randomization_test(outcomes, assignment, *CONTRASTS[0])
    interaction = randomization_test(outcomes, assignment, *CONTRASTS[2])
    assert f"{criterion.statistic:.3f} {interaction.statistic:.3f}" == "-0.235 0.353"
    # Qwen3.6: 162 against 178 of 204 successes; no split by order is published that would give the -.059
    outcomes, assignment = signal_counts(81, 81, 89, 89)
    assert f"{randomization_test(outcomes, assignment, BOTH).statistic:.3f}" == "-0.078"
    assert f"{-6 / 102:.3f}" == "-0.059"


def test_a_family_is_adjusted_by_name() -> None:
    results = {
        "a, order": randomization_test(*large(), None, ("AB", "BA")),
        "a, criterion x order": randomization_test(*large(seed=9), *CONTRASTS[2]),
        "b, order": randomization_test([[1, 0]], None, None, ("AB", "BA")),
    }
    adjusted = randomization_family(results)
    assert list(adjusted) == list(results)
    assert list(adjusted.values()) == holm([result.p for result in results.values()])
    assert adjusted["b, order"] is None
    # as published: the smallest p of 99,999 draws is 1e-5, in a family of two 2e-5 and in one of four 4e-5
    effects = dict(zip(SIGNAL, (0.05, 0.6, 0.95, 0.2), strict=True))
    extreme = randomization_test(*planted(effects), *CONTRASTS[2], method="monte-carlo")
    assert (extreme.draws, extreme.p) == (99_999, 1e-5)
    for size in (2, 4):
        others = {str(place): results["a, order"] for place in range(size - 1)}
        assert randomization_family({"x": extreme, **others})["x"] == pytest.approx(size * 1e-5)


GOOD = Assignment(CLONE, [[0, 1], [1, 0]], [0, 1])


@pytest.mark.parametrize(
    ("outcomes", "assignment", "options", "part"),
    [
        ([[1, None], [1, 1]], GOOD, {}, r"outcomes\[0, 1\] is nan"),
        ([[1, 0], [1, 1.5]], GOOD, {}, r"outcomes\[1, 1\] is 1.5, outside"),
        ([[1, 0], [1]], GOOD, {}, "of one length"),
        ([1, 0], GOOD, {}, "two dimensions"),
        ([[1, 0]], GOOD, {}, "outcomes are 1 x 2, and the assignment has 2 items with 2 places"),
        ([[1, 0, 1], [1, 0, 1]], GOOD, {}, "outcomes are 2 x 3"),
        ([], GOOD, {}, "outcomes are 0 x 0"),
        ([[1, 0], [1, 1]], GOOD, {"criteria": None}, "name the two criteria"),
        ([[1, 0], [1, 1]], None, {"criteria": None}, "name the two criteria"),
        (
            [[1, 0], [1, 1]],
            GOOD,
            {"criteria": ("strict", "loose")},
            "no treatment .* 'loose'; there are: neutral, strict",
        ),
        ([[1, 0], [1, 1]], GOOD, {"criteria": ("strict", "strict")}, "two different levels"),
        ([[1, 0], [1, 1]], GOOD, {"orders": ("AB", "BA")}, "has 'AB'; there are: IDENTICAL"),
        ([[1, 0], [1, 1]], GOOD, {"method": "exhaustive"}, "method must be one of exact, monte-carlo"),
        ([[1, 0], [1, 1]], GOOD, {"draws": 0}, "draws must be 1 or more"),
        ([[1, 0], [1, 1]], GOOD, {"seed": -1}, "seed must be 0 or more"),
        (
            [[1, 0], [1, 1]],
            Assignment(CLONE, [[0, 1], [1, 0]], [0, 2]),
            {},
            "drawn must hold indices from 0 to 1",
        ),
        ([[1, 0], [1, 1]], Assignment(CLONE, [[0, 1], [1, 0]], [0, -1]), {}, "drawn must hold indices"),
        (
            [[1, 0], [1, 1]],
            Assignment(CLONE, [[0, 1], [1, 0]], [0.0, 1.0]),
            {},
            "drawn must hold whole numbers",
        ),
        ([[1, 0], [1, 1]], Assignment(CLONE, [[0, 1], [1, 0]], [[0, 1]]), {}, "drawn must have 1 dim"),
        (
            [[1, 0], [1, 1]],
            Assignment(CLONE, [[0, 1], [1]], [0, 1]),
            {},
            "sequences must have rows of one length",
        ),
        ([[1, 0], [1, 1]], Assignment(CLONE, [[0, 0], [1, 0]], [0, 1]), {}, "every treatment equally often"),
        ([[1, 0, 0]] * 2, Assignment(CLONE, [[0, 0, 1]] * 2, [0, 1]), {}, "every treatment equally often"),
        ([[1, 0], [1, 1]], Assignment(CLONE, [[], []], [0, 1]), {}, "every treatment equally often"),
        ([[1, 0], [1, 1]], Assignment(THREE, [[0, 1], [1, 0]], [0, 1]), {}, "every treatment equally often"),
        ([[1, 0], [1, 1]], Assignment([], [[], []], [0, 1]), {}, "every treatment equally often"),
        ([[1, 0], [1, 1]], Assignment(CLONE[:1] * 2, [[0, 1], [1, 0]], [0, 1]), {}, "each .* once"),
        ([[1, 0], [1, 1]], Assignment(CLONE, [[0, 1], [1, 0]], [0, 1], ["a"]), {}, "1 labels"),
        (
            [[1, 0], [1, 1]],
            Assignment(CLONE, [[0, 1], [1, 0]], [0, 1], ["a", "b"], [0.5, 0.5]),
            {},
            "not both",
        ),
        ([[1, 0], [1, 1]], Assignment(CLONE, [[0, 1], [1, 0]], [0, 1], None, [0.5, 0.6]), {}, "add up to 1"),
        ([[1, 0], [1, 1]], Assignment(CLONE, [[0, 1], [1, 0]], [0, 1], None, [-0.5, 1.5]), {}, "0 or more"),
        (
            [[1, 0], [1, 1]],
            Assignment(CLONE, [[0, 1], [1, 0]], [0, 1], None, [1.0]),
            {},
            "each of the 2 sequences",
        ),
        (
            [[1, 0], [1, 1]],
            Assignment(CLONE, [[0, 1], [1, 0]], [0, 1], None, ["x", 1]),
            {},
            "list of numbers",
        ),
        ([[1, 0], [1, 1]], Assignment(CLONE, [[0, 1], [1, 0]], [0, 1], None, [1.0, 0.0]), {}, r"drawn\[1\]"),
    ],
)
def test_what_cannot_be_used_is_refused(outcomes, assignment, options, part) -> None:
    with pytest.raises(StatsInputError, match=part):
        randomization_test(outcomes, assignment, **{"criteria": BOTH, **options})


@pytest.mark.parametrize(
    ("treatments", "contrast"),
    [
        ([("strict", "AB"), ("strict", "BA"), ("neutral", "IDENTICAL")], CONTRASTS[0]),
        ([("strict", "AB"), ("neutral", "BA")], CONTRASTS[0]),
        ([("strict", "AB"), ("neutral", "BA")], CONTRASTS[1]),
        ([("strict", "AB"), ("neutral", "AB"), ("lenient", "BA")], CONTRASTS[2]),
        ([("strict", "AB"), ("neutral", "BA")], CONTRASTS[2]),
        ([*CLONE, ("lenient", "AB"), ("lenient", "BA")], CONTRASTS[2]),
    ],
)
def test_levels_that_are_not_crossed_are_refused(treatments, contrast) -> None:
    places = list(range(len(treatments)))
    assignment = Assignment(treatments, [places, places[::-1]], [0, 1])
    with pytest.raises(StatsInputError, match="same levels of the other factor"):
        randomization_test([[0] * len(places)] * 2, assignment, *contrast)


def test_other_levels_take_part_in_the_draw_only() -> None:
    treatments = [*CLONE, ("lenient", "AB"), ("lenient", "BA")]
    assignment = Assignment(treatments, WILLIAMS, [0, 1, 2, 3])
    outcomes = [[1, 0, 0, 1], [0, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 0]]
    for contrast in CONTRASTS[:2]:
        observed, p = oracle(outcomes, assignment, *contrast)
        result = randomization_test(outcomes, assignment, *contrast)
        assert (result.statistic, result.p) == (float(observed), pytest.approx(float(p)))


def test_a_sequence_that_is_never_drawn_changes_nothing() -> None:
    outcomes = [[1, 0], [0, 1], [1, 1]]
    two = Assignment(CLONE, [[0, 1], [1, 0]], [0, 1, 0], probabilities=[0.25, 0.75])
    three = Assignment(CLONE, [[0, 1], [1, 0], [0, 1]], [0, 1, 0], probabilities=[0.25, 0.75, 0.0])
    assert randomization_test(outcomes, two, BOTH) == randomization_test(outcomes, three, BOTH)


def test_an_output_at_a_cut_belongs_to_the_next_pattern() -> None:
    group = kernel.Group(np.array([[10, 20]]), np.array([0.5, 0.5]), None)
    outputs = np.array([[0], [2**63 - 1], [2**63], [2**64 - 1]], dtype=np.uint64)
    assert kernel._drawn_worth(group, outputs).tolist() == [10, 10, 20, 20]


def test_what_the_kernels_need_is_counted() -> None:
    def group(items, counts):
        worth = np.tile(np.arange(len(counts)) * 6, (items, 1))
        return kernel.Group(worth, np.array(counts) / items, np.array(counts))

    pair, four = group(2, [1, 1]), group(4, [2, 1, 1])
    assert kernel.count_assignments([pair, four]) == 2 * 12
    assert kernel.count_assignments([group(20, [10, 10])]) == 184_756
    assert kernel.count_assignments([group(1_000_000, [999_999, 1])]) == 1_000_000
    assert kernel.count_assignments([group(2_000_000, [1_000_000, 1_000_000])]) > 1 << 20
    free = kernel.Group(np.zeros((5, 3), dtype=int), np.full(3, 1 / 3), None)
    assert kernel.count_assignments([free]) == 3**5
    # in steps of 6 the pair reaches 0..2 and the four 0..8; a table for each count but the largest
    assert kernel.convolution_cost([pair]) == (2 * 3 * 4, 6)
    assert kernel.convolution_cost([pair, four]) == (2 * 3 * 4 + 2 * 2 * 9 * 12 + 3 * 9, 36)
    assert kernel.convolution_cost([pair] * 9)[1] == 9 * 2 + 1
    assert kernel.convolve_groups([pair]).sums.tolist() == [0, 6, 12]


def test_a_sum_that_would_not_fit_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(_contrast, "_SUM_LIMIT", 1 << 41)
    with pytest.raises(StatsInputError, match="too many to add up exactly"):
        randomization_test([[0.5**0.5, 1 / np.pi], [np.e / 3, 0.1]], GOOD, BOTH)


def test_the_page_on_randomization_runs_as_it_stands() -> None:
    page = Path(__file__).parents[2] / "docs" / "randomization.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert (failed, tried) == (0, 6)
