"""Ratios of `randomization_test` to a plain loop that draws one assignment at a time, measured in one run.

Run with ``python benchmarks/bench_randomization.py``. Times differ between machines; the ratios are the point.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from darkcurrent.stats.randomization import Assignment, randomization_test

SIGNAL = [("strict", "AB"), ("strict", "BA"), ("neutral", "AB"), ("neutral", "BA")]
WILLIAMS = [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]
DRAWS = 99_999
LOOPED = 2_000


def make(items: int, cohorts: int) -> tuple[npt.NDArray[np.float64], Assignment]:
    rng = np.random.default_rng(items)
    names = np.arange(items) % cohorts
    drawn = np.empty(items, dtype=int)
    for cohort in range(cohorts):
        rows = np.flatnonzero(names == cohort)
        drawn[rows] = rng.permutation(np.arange(rows.size) % 4)
    outcomes = (rng.random((items, 4)) < 0.8).astype(float)
    return outcomes, Assignment(SIGNAL, WILLIAMS, drawn, names.tolist())


def plain_loop(outcomes: npt.NDArray[np.float64], assignment: Assignment, draws: int) -> float:
    """The test as one would first write it: permute within cohorts, look the treatments up, take two means."""
    rng = np.random.default_rng(0)
    strict = np.array([criterion == "strict" for criterion, _ in SIGNAL])[np.array(WILLIAMS)]
    cohorts = np.asarray(assignment.cohorts)
    members = [np.flatnonzero(cohorts == cohort) for cohort in np.unique(cohorts)]

    def statistic(drawn: npt.NDArray[np.int64]) -> float:
        shown = strict[drawn]
        return float(outcomes[shown].mean() - outcomes[~shown].mean())

    observed = statistic(assignment.drawn)
    drawn = np.array(assignment.drawn)
    hits = 0
    for _ in range(draws):
        for rows in members:
            drawn[rows] = rng.permutation(drawn[rows])
        hits += abs(statistic(drawn)) >= abs(observed) - 1e-12
    return (1 + hits) / (1 + draws)


def timed(call: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    best, value = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        value = call()
        best = min(best, time.perf_counter() - start)
    return best, value


def main() -> None:
    print(
        f"{'items':>6} {'cohorts':>7} {'loop s':>9} {'draws s':>9} {'exact s':>9} {'loop/draws':>11} {'loop/exact':>11}   p"
    )
    for items, cohorts in ((102, 12), (485, 12), (485, 48)):
        outcomes, assignment = make(items, cohorts)

        def test(method: str, outcomes: Any = outcomes, assignment: Assignment = assignment) -> Any:
            return randomization_test(outcomes, assignment, ("strict", "neutral"), method=method, draws=DRAWS)

        # the loop is measured on fewer draws and scaled: it takes the same time for each
        part, looped = timed(lambda o=outcomes, a=assignment: plain_loop(o, a, LOOPED), repeats=1)
        loop = part * DRAWS / LOOPED
        drawing, drawn = timed(lambda run=test: run("monte-carlo"))
        computing, exact = timed(lambda run=test: run("exact"))
        print(
            f"{items:6} {cohorts:7} {loop:9.2f} {drawing:9.3f} {computing:9.4f} {loop / drawing:11.0f} {loop / computing:11.0f}"
            f"   loop {looped:.4f}, draws {drawn.p:.4f}, {exact.method} {exact.p:.4f}"
        )


if __name__ == "__main__":
    main()
