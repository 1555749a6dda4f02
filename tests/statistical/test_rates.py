"""Error rates and coverage: a fast seeded layer, and a long one that checks the documented tables."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import simulate

from darkcurrent.executors import LocalExecutor

DOCUMENT = Path(__file__).parents[2] / "docs" / "statistics.md"


@pytest.mark.parametrize("n", [1, 58, 59, 93, 94, 96, 102, 300])
@pytest.mark.parametrize("family", [1, 2, 4, 6])
def test_the_clone_gate_errs_at_most_at_its_level(n: int, family: int) -> None:
    _, one, any_cell = simulate.clone_error(n, family)
    assert one <= 0.05 / family + 1e-12
    assert any_cell <= 0.05 + 1e-12


def test_the_clone_gate_can_be_passed_from_59_items_alone_and_from_94_in_a_family_of_six() -> None:
    smallest = {
        family: next(n for n in range(1, 200) if simulate.most_adverse(n, family) >= 0) for family in (1, 6)
    }
    assert smallest == {1: 59, 6: 94}


@pytest.mark.parametrize("shared", [False, True], ids=["independent cells", "cells that share their items"])
def test_simulated_families_pass_as_often_as_computed(shared: bool) -> None:
    n, family, repetitions = 102, 4, 4_000
    stream = np.random.PCG64(102)
    raw = stream.random_raw(repetitions * family * n).reshape(repetitions, family, n)
    adverse = (raw < np.uint64(2**64 // 20)).sum(axis=2)
    if shared:
        adverse[:] = adverse[:, :1]
    cache = {tuple(counts): any(simulate.passes(list(counts), n)) for counts in adverse.tolist()}
    rate = sum(cache[tuple(counts)] for counts in adverse.tolist()) / repetitions
    _, one, any_cell = simulate.clone_error(n, family)
    # cells that are all alike pass as one, and then each may use the whole level
    expected = one if shared else any_cell
    assert rate == pytest.approx(expected, abs=4 * math.sqrt(0.02 / repetitions))
    assert rate <= 0.05


@pytest.mark.parametrize("population", simulate.POPULATIONS, ids=lambda population: population.name)
def test_samples_have_the_mean_that_is_taken_for_true(population: simulate.Population) -> None:
    total = sum(population.samples(400)) / 400
    labels = np.array(population.labels)
    by_stratum = [total[labels == name].mean() for name in dict.fromkeys(population.labels)]
    mean = np.mean(by_stratum) if population.weights == "equal" else total.mean()
    error = math.sqrt(0.25 / len(population.labels) / 400)
    assert mean == pytest.approx(population.mean, abs=5 * error)


@pytest.mark.parametrize("population", simulate.POPULATIONS, ids=lambda population: population.name)
def test_the_conservative_bound_covers_and_the_two_percentiles_agree(population: simulate.Population) -> None:
    repetitions = 60
    cells = simulate.coverage(population, repetitions, draws=2_000)
    assert cells["conservative"][0] >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / repetitions)
    assert cells["conservative"][1] < cells["exact"][1]
    # one standard error of a fifth percentile of 2,000 draws is 3 % of its distance from the mean
    distance = population.mean - cells["exact"][1]
    assert cells["monte-carlo"][1] == pytest.approx(cells["exact"][1], abs=0.12 * distance)


def test_a_percentile_does_not_cover_where_failures_are_rare() -> None:
    """Six in ten of such samples show no failure at all, and resampling cannot make one up."""
    population = next(population for population in simulate.POPULATIONS if "rare" in population.name)
    cells = simulate.coverage(population, 60, draws=400)
    assert cells["exact"][0] < 0.7
    assert cells["conservative"][0] > 0.9


@pytest.mark.slow
def test_the_documented_tables_are_what_the_simulation_gives() -> None:
    documented = DOCUMENT.read_text(encoding="utf-8").splitlines()
    for line in (*simulate.clone_table(), *simulate.coverage_table(simulate.REPETITIONS, LocalExecutor())):
        assert line in documented
