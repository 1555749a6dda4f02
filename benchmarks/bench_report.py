"""How long a report of a long study takes and what it needs: `python benchmarks/bench_report.py [FOLDER]`.

Four simulated judges under two criteria, about 100,000 calls in all, captured once into FOLDER (by default a folder
that is thrown away); then `darkcurrent report` runs in a process of its own. The page of a study of about 10,000
calls is measured too. Prints seconds, seconds of processor, peak memory and the size of the page.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from darkcurrent.study import Study

HEAD = """format = 1
[study]
name = "bench"
[battery]
source = "pairs"
path = "pairs.jsonl"
edge_controls = 4
[criteria.neutral]
rubric = "neutral"
[criteria.strict]
rubric = "strict"
[schedule]
seed = 1
[capture]
in_flight = 256
[gates]
clone_threshold = 0.05
utility_threshold = 0.75
"""
JUDGE = """[[configuration]]
name = "judge-{number}"
backend = "simulated"
properties = {{ utility = 0.{utility}, dark_current = 0.0{number}, weak = {{ s1 = 0.4 }}, seed = {number} }}
"""
TEXT = "The answer has a few sentences, as answers have. " * 8
JUDGES = 4


def captured(folder: Path, calls: int) -> Study:
    """Return a study of about so many calls, captured if it is not yet."""
    study = Study(folder)
    if not folder.exists():
        folder.mkdir(parents=True)
        rows = (
            {
                "id": f"i{n}",
                "prompt": f"Question {n}?",
                "chosen": f"good {n} {TEXT}",
                "rejected": f"bad {n} {TEXT}",
                "stratum": f"s{n % 6}",
            }
            for n in range(calls // (6 * JUDGES))
        )
        (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        judges = "".join(JUDGE.format(number=n, utility=95 - 3 * n) for n in range(JUDGES))
        (folder / "protocol.toml").write_text(HEAD + judges, encoding="utf-8")
        study.freeze()
    for n in range(JUDGES):
        study.run(f"judge-{n}")
    return study


def measure(folder: Path, calls: int) -> None:
    """Write the report in a process of its own and print what it took."""
    study = captured(folder, calls)
    code = "from darkcurrent.cli.main import main; main()"
    begun, before = time.perf_counter(), _cpu()
    subprocess.run([sys.executable, "-c", code, "report", folder], check=True, stderr=subprocess.DEVNULL)
    seconds, cpu = time.perf_counter() - begun, _cpu() - before
    # The largest of all children so far: the smaller study is measured first.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    scheduled = sum(len(study.frozen.schedule(f"judge-{n}")) for n in range(JUDGES))
    size = (folder / "report.html").stat().st_size / 1e6
    took = f"{seconds:.1f} s ({cpu:.1f} s of processor)"
    print(f"{scheduled:>8} calls: report in {took}, peak {peak:.0f} MB, page {size:.2f} MB", flush=True)


def _cpu() -> float:
    """Return the processor time of all children so far: what another load on the machine does not change much."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--calls", type=int, nargs="*", default=[10_000, 100_000])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        for calls in options.calls:
            measure(folder / str(calls), calls)


if __name__ == "__main__":
    main()
