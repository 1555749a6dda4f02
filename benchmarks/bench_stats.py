"""Speed and memory of the statistics: ratios measured in one run.

    python benchmarks/bench_stats.py [--full]

Each time is the best of several calls, after one to warm up. Peak memory is `VmHWM` (Linux) of a fresh
process that makes one call, beside that of one that only imports and has the scores. Without ``--full``,
draws at 100,000 items are timed on a twentieth of the draws and multiplied, which is stated in the row.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import bench_randomization
import numpy as np

from darkcurrent.stats import bootstrap, conservative_lower

DRAWS = 20_000
SIZES = (102, 485, 10_000, 100_000)
SUBSETS = 6


def plant(n: int) -> tuple[np.ndarray, list[str]]:
    """Scores of 0, 1/2 and 1 in six subsets, from a fixed stream."""
    raw = np.random.PCG64(n).random_raw(n)
    scores = np.array([0.0, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0])[(raw % 8).astype(int)]
    return scores, [f"subset-{label}" for label in ((raw >> np.uint64(8)) % SUBSETS).tolist()]


def plain_numpy(scores: np.ndarray, strata: list[str], draws: int) -> float:
    """The loop over strata with numpy's own generator: fast, with a stream that may change."""
    labels = np.array(strata)
    generator = np.random.default_rng(1)
    totals = np.zeros(draws)
    for name in sorted(set(strata)):
        group = scores[labels == name]
        batch = max(1, 1_000_000 // group.size)
        for start in range(0, draws, batch):
            count = min(batch, draws - start)
            picks = generator.integers(0, group.size, (count, group.size))
            totals[start : start + count] += group[picks].sum(axis=1)
    return float(np.quantile(totals / scores.size, 0.05, method="inverted_cdf"))


def scipy_bootstrap(scores: np.ndarray, strata: list[str], draws: int) -> float:
    """SciPy's percentile bootstrap with one sample per stratum and a statistic that weights them by size."""
    import scipy.stats

    labels = np.array(strata)
    groups = [scores[labels == name] for name in sorted(set(strata))]

    def mean(*samples: np.ndarray, axis: int = -1) -> np.ndarray:
        return sum(sample.sum(axis=axis) for sample in samples) / scores.size

    batch = max(1, 2_000_000 // scores.size)
    found = scipy.stats.bootstrap(
        groups, mean, n_resamples=draws, batch=batch, method="percentile", rng=np.random.default_rng(1)
    )
    return float(np.quantile(found.bootstrap_distribution, 0.05, method="inverted_cdf"))


def seconds(call: Callable[[], object], repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats + 1):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def measure(n: int, full: bool) -> None:
    scores, strata = plant(n)
    part = 20 if n >= 100_000 and not full else 1
    draws, repeats = DRAWS // part, 5 if n < 10_000 else 1
    exact = seconds(lambda: bootstrap(scores, strata), 50 if n < 10_000 else 5)
    times = {
        "own stream": seconds(lambda: bootstrap(scores, strata, method="monte-carlo", draws=draws), repeats)
        * part,
        "numpy loop": seconds(lambda: plain_numpy(scores, strata, draws), repeats) * part,
        "scipy.stats.bootstrap": seconds(lambda: scipy_bootstrap(scores, strata, draws), repeats) * part,
    }
    bound = seconds(lambda: conservative_lower(scores, strata), 3)
    say(f"\n{n:,} items: exact {exact * 1e3:.2f} ms, conservative bound {bound * 1e3:.1f} ms")
    for name, taken in times.items():
        how = "" if part == 1 else f" (1/{part} of the draws, times {part})"
        say(f"  {DRAWS:,} draws, {name:22} {taken * 1e3:10.1f} ms  {taken / exact:8.0f} x exact{how}")
    exact_lower, drawn_lower = bootstrap(scores, strata).lower, plain_numpy(scores, strata, draws)
    say(f"  lower bound: exact {exact_lower:.6f}, numpy loop {drawn_lower:.6f}")
    floor = peak_memory(n, "nothing")
    for method in ("exact", "monte-carlo"):
        peak = peak_memory(n, method)
        say(f"  peak memory, {method:12} {peak:6.0f} MB, {peak - floor:6.1f} MB above imports and scores")


def peak_memory(n: int, method: str) -> float:
    """Peak resident memory in MB of a fresh process that bounds ``n`` items once (with 40 draws if any)."""
    done = subprocess.run(  # this file itself, with fixed arguments
        [sys.executable, __file__, "--once", method, str(n)], check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def once(method: str, n: int) -> None:
    scores, strata = plant(n)
    if method != "nothing":
        bootstrap(scores, strata, method=method, draws=40)
    # not ru_maxrss, which a child process takes over from its parent
    status = Path("/proc/self/status").read_text(encoding="ascii")
    say(f"{int(status.split('VmHWM:')[1].split()[0]) / 1024:.1f}")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="all draws at 100,000 items (minutes)")
    parser.add_argument("--once", nargs=2, metavar=("METHOD", "ITEMS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.once:
        once(arguments.once[0], int(arguments.once[1]))
        return
    say(f"numpy {np.__version__}, python {sys.version.split()[0]}, {sys.platform}")
    for n in SIZES:
        measure(n, arguments.full)
    say("\nrandomization_test against a plain loop")
    bench_randomization.main()


if __name__ == "__main__":
    main()
