"""How the analysis grows with the ledger, from 10,000 to 10,000,000 calls: `python benchmarks/bench_scale.py`.

The ledgers are simulated: made column by column, by no campaign and no judge. Four configurations under two
criteria see clones, a signal arm in both orders, certified equivalents and a few edge clones; preferences, ties, wrong and
invalid answers are planted at a few per cent by a hash of the row's number. Each size is analysed in a process of its
own, whose time and peak of resident memory are printed: with the ledger that it was given, and above it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
CONFIGURATIONS = ("small", "medium", "large", "other")
CRITERIA = ("neutral", "strict")
STRATA = ("chat", "code", "facts", "maths", "safety", "style")

# What each item is shown as: arm, null stratum, order, slots, target.
SHOWN = (
    ("clone", "core", "IDENTICAL", "chosen", "chosen", None),
    ("signal", None, "AB", "chosen", "rejected", "chosen"),
    ("signal", None, "BA", "rejected", "chosen", "chosen"),
    ("equivalent", None, "AB", "chosen", "equivalent", None),
    ("equivalent", None, "BA", "equivalent", "chosen", None),
)


def made(calls: int):
    """Return a ledger of so many simulated calls, rounded up to whole items."""
    import numpy as np
    import polars as pl

    from darkcurrent.ledger import READINGS, SCHEMA, compact_schema

    per_item = len(CONFIGURATIONS) * len(CRITERIA) * len(SHOWN)
    items = -(-calls // per_item)
    rows = items * per_item
    number = np.arange(rows, dtype=np.uint32)
    # Configurations one below the other, as in a study; within one, an item's calls are far from each other.
    place = number % np.uint32(items)
    rest = number // np.uint32(items)
    shown, rest = rest % len(SHOWN), rest // len(SHOWN)
    criterion, configuration = rest % len(CRITERIA), rest // len(CRITERIA)
    # A multiplicative hash: a number in thousandths for each row.
    luck = ((number.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(44)) % np.uint64(1000)
    del number, rest

    arm = np.array([row[0] for row in SHOWN])[shown]
    favoured = np.where(shown == 1, 0, np.where(shown == 2, 1, 2))  # A, B, tie
    # 30 in 1000 prefer a slot where none is better (or the other one), 60 more tie, 5 are invalid.
    value = np.where(luck < 30, (shown + place) % 2, np.where((luck < 90) | (favoured == 2), 2, favoured))
    value = np.where(luck >= 995, 3, value).astype(np.uint32)
    del arm, favoured

    types = compact_schema()

    def words(codes, names):
        dtype = types_now
        return pl.Series(list(names), dtype=pl.String).cast(dtype).gather(pl.Series(codes, dtype=pl.UInt32))

    columns = {}
    slots = [[row[3] for row in SHOWN], [row[4] for row in SHOWN]]
    winners = [
        [{0: a, 1: b, 2: "tie", 3: None}[v] if row[0] != "clone" or v >= 2 else None for v in range(4)]
        for row, a, b in zip(SHOWN, *slots, strict=True)
    ]
    winner = (shown.astype(np.uint32) * 4 + value).astype(np.uint32)
    ids = [f"item-{n:07d}" for n in range(items)]
    given = {
        "configuration": (configuration, CONFIGURATIONS),
        "criterion": (criterion, CRITERIA),
        "item": (place, ids),
        "stratum": (place % len(STRATA), STRATA),
        "cluster": (place, ids),
        **{
            name: (shown, [row[at] for row in SHOWN])
            for at, name in enumerate(("arm", "null_stratum", "order", "slot_a", "slot_b", "target"))
        },
        "value": (value, ["A", "B", "tie", None]),
        "winner": (winner, [each for row in winners for each in row]),
        "reason": (value, [None, None, None, "not-json"]),
    }
    given |= {column: (value, ["A", "B", "tie", None]) for column in READINGS.values()}
    constant = {
        "repetition": 1, "ending": "terminal", "status": "answered", "finish": "stop", "served_model": "simulated",
        "reasoning": False, "prompt_tokens": 300, "completion_tokens": 8, "kept": True, "block": 0,
    }  # fmt: skip
    for name in SCHEMA:
        types_now = types[name]
        if name in given:
            columns[name] = words(*given[name])
        elif name == "position":
            columns[name] = pl.arange(0, rows, eager=True)
        elif name == "latency_ms":
            columns[name] = pl.Series(luck, dtype=pl.Float64) + 100.0
        elif name == "call_id":
            columns[name] = pl.arange(0, rows, eager=True).cast(pl.String)
        else:
            columns[name] = pl.repeat(constant.get(name), rows, dtype=types_now, eager=True)
    return pl.DataFrame(columns)


def analysed(calls: int) -> dict[str, float]:
    """Make and analyse a ledger in this process; return what it took."""
    from darkcurrent.analysis import Declared, analyze
    from darkcurrent.protocol.model import AnalysisTable, GatesTable

    ledger = made(calls)
    megabytes = ledger.estimated_size("mb")
    declared = Declared(
        study="scale",
        title="",
        study_digest="0" * 64,
        configurations=CONFIGURATIONS,
        criteria=CRITERIA,
        gates=GatesTable(clone_threshold=0.05, utility_threshold=0.75),
        method=AnalysisTable(),
        battery={},
        contracts=dict.fromkeys(CONFIGURATIONS, "sole-object"),
        certified="simulated",
        ungraded=None,
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    begun = time.perf_counter()
    result = analyze(declared, ledger, dict.fromkeys(CONFIGURATIONS))
    seconds = time.perf_counter() - begun
    assert len(result.cells) == len(CONFIGURATIONS) * len(CRITERIA)
    assert all(cell.state == "EVALUATED" for cell in result.cells), result.campaigns[0].reasons
    return {
        "calls": ledger.height,
        "items": result.cells[0].signal.items,
        "ledger_mb": round(megabytes),
        "made_mb": round(before),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(time.process_time(), 1),
        "lower": result.cells[0].signal.lower,
        "upper": result.cells[0].clone["core"].upper,
    }


def main() -> None:
    """Print a row for each size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, nargs="*", default=SIZES)
    parser.add_argument("--in-this-process", action="store_true", help="one size, as JSON")
    options = parser.parse_args()
    if options.in_this_process:
        print(json.dumps(analysed(options.calls[0])))
        return
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}; all calls are simulated")
    print(f"{'calls':>11} {'items':>8} {'ledger':>8} {'peak':>8} {'seconds':>8} {'µs/call':>8}")
    for calls in options.calls:
        command = [sys.executable, __file__, "--in-this-process", "--calls", str(calls)]
        row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        print(
            f"{row['calls']:>11,} {row['items']:>8,} {row['ledger_mb']:>5} MB {row['peak_mb']:>5} MB {row['seconds']:>8.2f} "
            f"{row['seconds'] / row['calls'] * 1e6:>8.2f}"
        )


if __name__ == "__main__":
    main()
