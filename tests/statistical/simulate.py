"""Error rates and coverage under known truths: prints the tables of `docs/statistics.md`.

    python tests/statistical/simulate.py [REPETITIONS [HOST:PORT]]

on the cores of this machine, or on a Ray cluster.

Every draw comes from raw PCG64 outputs with the seeds below, so that a table is the same on every machine.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from darkcurrent.executors import Executor, LocalExecutor
from darkcurrent.executors.ray import RayExecutor
from darkcurrent.stats import bootstrap, clone_tail, clopper_pearson_upper, conservative_lower, holm

REPETITIONS = 1_000
DRAWS = 4_000  # of the Monte-Carlo bound: a fifth of the default, so that a run takes minutes
ALPHA = THRESHOLD = 0.05


# The clone gate


def passes(adverse: list[int], n: int) -> list[bool]:
    """Which cells of a family pass the clone gate: adjusted p and bound both at the threshold or below."""
    adjusted = holm([clone_tail(k, n, THRESHOLD) for k in adverse])
    return [
        p <= ALPHA and clopper_pearson_upper(k, n) <= THRESHOLD
        for p, k in zip(adjusted, adverse, strict=True)
    ]


def chance_of_at_most(k: int, n: int, rate: float) -> float:
    return sum(math.comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(k + 1))


def most_adverse(n: int, family: int) -> int:
    """The largest count that passes while every other cell of the family does not; -1 if there is none."""
    others = [n] * (family - 1)
    return max((k for k in range(n) if passes([k, *others], n)[0]), default=-1)


def clone_error(n: int, family: int) -> tuple[int, float, float]:
    """Largest passing count, chance of it at the threshold for one cell, and for any of independent cells."""
    most = most_adverse(n, family)
    one = chance_of_at_most(most, n, THRESHOLD)
    return most, one, 1 - (1 - one) ** family


def clone_table() -> Iterator[str]:
    yield "| items | cells in the family | most adverse that pass | one cell passes | any cell passes |"
    yield "| --- | --- | --- | --- | --- |"
    for n in (59, 96, 102, 150, 300, 485, 1_000):
        for family in (1, 2, 4, 6):
            most, one, any_cell = clone_error(n, family)
            yield f"| {n} | {family} | {most if most >= 0 else 'none'} | {one:.4f} | {any_cell:.4f} |"


# The utility bounds


@dataclass(frozen=True, slots=True)
class Population:
    """Per stratum, its items and the chances in thousandths of the scores 0, 1/2 and 1."""

    name: str
    seed: int
    strata: tuple[tuple[int, tuple[int, int, int]], ...]
    weights: str = "size"

    @property
    def mean(self) -> float:
        means = [Fraction(half + 2 * one, 2_000) for _, (_, half, one) in self.strata]
        sizes = [size for size, _ in self.strata]
        if self.weights == "equal":
            return float(sum(means) / len(means))
        return float(sum(map(Fraction.__mul__, means, map(Fraction, sizes))) / sum(sizes))

    @property
    def labels(self) -> list[str]:
        return [f"{place:02d}" for place, (size, _) in enumerate(self.strata) for _ in range(size)]

    def samples(self, repetitions: int) -> Iterator[np.ndarray]:
        stream = np.random.PCG64(self.seed)
        low = np.concatenate([np.full(size, chances[0]) for size, chances in self.strata])
        high = np.concatenate([np.full(size, chances[0] + chances[1]) for size, chances in self.strata])
        for _ in range(repetitions):
            # the high half of 1,000 times an output: thousandths, with a bias below 2**-50
            thousandths = ((stream.random_raw(low.size) >> np.uint64(11)) * np.uint64(1_000)) >> np.uint64(53)
            yield ((thousandths >= low).astype(float) + (thousandths >= high)) / 2


POPULATIONS = (
    Population("six subsets of 17, like the fresh study", 1, ((17, (100, 150, 750)),) * 6),
    Population("the same, one order much weaker", 2, ((17, (180, 440, 380)),) * 6),
    Population("skewed: 95 % succeed", 3, ((17, (40, 20, 940)),) * 6),
    Population("rare failures: 1 in 200", 4, ((17, (5, 0, 995)),) * 6),
    Population(
        "eight families of 12, two of them hard", 5, ((12, (10, 20, 970)),) * 6 + ((12, (300, 200, 500)),) * 2
    ),
    Population(
        "thirty small strata of 3", 6, tuple((3, (40 * h % 400, 100, 900 - 40 * h % 400)) for h in range(30))
    ),
    Population("twelve items", 7, ((12, (150, 100, 750)),)),
    Population(
        "unequal subsets, equal weights",
        8,
        tuple((size, (100 + 3 * size % 200, 100, 800 - 3 * size % 200)) for size in (40, 21, 10, 19, 25, 6)),
        weights="equal",
    ),
)

METHODS = ("exact", "monte-carlo", "conservative")


def lower_bounds(scores: np.ndarray, population: Population, draws: int) -> dict[str, float]:
    labels, weights = population.labels, population.weights
    return {
        "exact": bootstrap(scores, labels, weights=weights).lower,
        "monte-carlo": bootstrap(scores, labels, method="monte-carlo", draws=draws, weights=weights).lower,
        "conservative": conservative_lower(scores, labels, weights=weights).lower,
    }


def coverage(population: Population, repetitions: int, draws: int = DRAWS) -> dict[str, tuple[float, float]]:
    """Per method, the share of samples whose bound is at most the true mean, and the mean of the bounds."""
    found = [lower_bounds(scores, population, draws) for scores in population.samples(repetitions)]
    result = {}
    for method in METHODS:
        bounds = [bounds[method] for bounds in found]
        held = sum(bound <= population.mean + 1e-12 for bound in bounds)
        result[method] = held / repetitions, math.fsum(bounds) / repetitions
    return result


def coverage_table(repetitions: int, executor: Executor) -> Iterator[str]:
    yield "| population | items | true mean | exact | monte-carlo | conservative |"
    yield "| --- | --- | --- | --- | --- | --- |"
    found = executor.map(partial(coverage, repetitions=repetitions), POPULATIONS)
    for population, cells in zip(POPULATIONS, found, strict=True):
        words = [f"{cells[method][0]:.3f} ({cells[method][1]:.3f})" for method in METHODS]
        row = [population.name, str(len(population.labels)), f"{population.mean:.4f}", *words]
        yield f"| {' | '.join(row)} |"


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS
    with RayExecutor(sys.argv[2]) if len(sys.argv) > 2 else nullcontext(LocalExecutor()) as executor:
        for line in itertools.chain(clone_table(), [""], coverage_table(repetitions, executor)):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
