"""How fast calls are captured durably, beside the ceiling and two peers: `python benchmarks/bench_capture.py`.

Everything asks the same simulated server without latency, in a process of its own, in one run on the same cores:

- `bare`: aiohttp alone, which keeps nothing; the ceiling.
- `darkcurrent`: each intent on disk before its request leaves, each reply on disk after it.
- with `--peers`, inspect-ai and mistrial from PyPI, each in a virtual environment that is thrown away. They keep
  their own kind of log, and no call of theirs is on disk before it is sent.

With `--long`, also the memory over a campaign of 100,000 calls, and how long `status` takes on its journal.
`--folder` says on which disk the journals are; by default the system's folder for temporary files.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp

from darkcurrent.judges.render import render_messages
from darkcurrent.study import Study

PROTOCOL = """format = 1
[study]
name = "bench"
[battery]
source = "pairs"
path = "pairs.jsonl"
[criteria.neutral]
rubric = "neutral"
[[configuration]]
name = "judge"
backend = "openai-chat"
model = "simulated"
base_url = "{url}"
[schedule]
seed = 1
[capture]
in_flight = {in_flight}
"""
TEXT = "The answer has a few sentences, as answers have. " * 8

INSPECT = """
import json, sys, time
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.solver import generate
url, calls, flight, prompt = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
model = get_model("openai-api/bench/simulated", base_url=url, api_key="none")
task = Task(dataset=[Sample(input=f"{n} {prompt}") for n in range(calls)], solver=generate())
begun = time.perf_counter()
(log,) = eval(task, model=model, max_connections=flight, max_samples=flight, display="none", log_dir=sys.argv[5])
assert log.status == "success" and len(log.samples) == calls, log.status
print(calls / (time.perf_counter() - begun))
"""

MISTRIAL = """
import asyncio, sys, time
from pathlib import Path
from mistrial.cache import Cache
from mistrial.cases import Case
from mistrial.judges import LLMJudge
from mistrial.runner import run
url, calls, flight, prompt = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
cases = [Case(id=str(n), inputs=f"{n} {prompt}", outputs="x", reference_outputs="x", label=None) for n in range(calls)]
judge = LLMJudge.from_spec("custom:simulated")
begun = time.perf_counter()
result = asyncio.run(run(cases, [judge], runs=1, concurrency=flight, cache=Cache(Path(sys.argv[5]) / "cache")))
seconds = time.perf_counter() - begun
# The simulated judge knows no prompt of this form; that each error quotes its reply shows that there was one.
assert len(result.verdicts) == calls and all("two answers" in v.error for v in result.verdicts), result.verdicts[0]
print(calls / seconds)
"""


@contextmanager
def serving(*options: str) -> Iterator[str]:
    """Run the simulated server in a process of its own; yield its base address."""
    code = "from darkcurrent.cli.main import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "simulate", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def bare(url: str, calls: int, in_flight: int) -> float:
    """Return the calls per second of aiohttp alone, with requests like those of a study."""
    messages = render_messages("rubric", "Question 1?", TEXT, TEXT)
    body = json.dumps(
        {"model": "simulated", "messages": messages, "temperature": 0, "max_tokens": 256}
    ).encode()

    async def ask() -> float:
        left = iter(range(calls))
        connector = aiohttp.TCPConnector(limit=in_flight)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def worker() -> None:
                for _ in left:
                    headers = {"Content-Type": "application/json"}
                    async with session.post(f"{url}/chat/completions", data=body, headers=headers) as reply:
                        json.loads(await reply.read())

            begun = time.perf_counter()
            await asyncio.gather(*(worker() for _ in range(in_flight)))
            return calls / (time.perf_counter() - begun)

    return asyncio.run(ask())


def frozen(folder: Path, url: str, calls: int, in_flight: int) -> Study:
    """Return a frozen study of so many calls, rounded up to whole items."""
    folder.mkdir(parents=True)
    rows = [
        {"id": f"i{n}", "prompt": f"Question {n}?", "chosen": f"{TEXT}{n}", "rejected": f"Not so. {TEXT}{n}"}
        for n in range(-(-calls // 3))
    ]
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (folder / "protocol.toml").write_text(PROTOCOL.format(url=url, in_flight=in_flight), encoding="utf-8")
    study = Study(folder)
    study.freeze()
    return study


def captured(folder: Path, url: str, calls: int, in_flight: int) -> float:
    """Return the calls per second of a whole `run`, from reading the schedule to closing the journal."""
    study = frozen(folder, url, calls, in_flight)
    begun = time.perf_counter()
    assert study.run("judge") == "COMPLETE"
    return len(study.frozen.schedule("judge")) / (time.perf_counter() - begun)


def sync_ms(folder: Path) -> float:
    """Return how long the disk takes to have a page."""
    descriptor = os.open(folder / "page", os.O_CREAT | os.O_WRONLY)
    begun = time.perf_counter()
    for number in range(100):
        os.pwrite(descriptor, bytes(4096), number * 4096)
        os.fdatasync(descriptor)
    os.close(descriptor)
    return (time.perf_counter() - begun) * 10


def peer(folder: Path, package: str, code: str, url: str, calls: int, in_flight: int) -> float:
    """Return the calls per second of a peer, installed into an environment of its own."""
    place = folder / package
    if not place.exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        packages = [package, "openai"] if package == "inspect-ai" else [package]
        subprocess.run(
            [place / "bin" / "pip", "install", "--quiet", *packages], check=True, stderr=subprocess.DEVNULL
        )
    logs = Path(tempfile.mkdtemp(dir=folder))
    environment = {**os.environ, "MISTRIAL_BASE_URL": url, "MISTRIAL_API_KEY": "none", "PYTHONPATH": ""}
    arguments = [place / "bin" / "python", "-c", code, url, str(calls), str(in_flight), TEXT * 2, logs]
    done = subprocess.run(arguments, capture_output=True, text=True, env=environment, cwd=logs, check=False)
    if done.returncode != 0:
        sys.exit(f"{package} failed:\n{done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])


LONG = textwrap.dedent("""
    import sys
    from pathlib import Path
    from darkcurrent.study import Study
    shown = set()
    def show(progress):
        for at in (1_000, 10_000, 100_000):
            if progress.done >= at and at not in shown:
                shown.add(at)
                pages = int(Path("/proc/self/statm").read_text().split()[1])
                print(at, pages * 4096 // 2**20, flush=True)
    assert Study(Path(sys.argv[1])).run("judge", show) == "COMPLETE"
""")


def long_campaign(folder: Path, url: str, calls: int) -> None:
    """Print the memory over a long campaign, and how long `status` takes on it."""
    frozen(folder, url, calls, 32)
    begun = time.perf_counter()
    told = subprocess.run(
        [sys.executable, "-c", LONG, folder], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    seconds = time.perf_counter() - begun
    print(f"{calls} calls in one campaign, 32 in flight: {calls / seconds:.0f} calls/s from start to end")
    for line in told.splitlines():
        done, megabytes = line.split()
        print(f"  resident at {int(done):>7} calls: {megabytes} MB")
    code = "from darkcurrent.cli.main import main; main()"
    for _ in range(3):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", code, "status", folder], stdout=subprocess.DEVNULL, check=True)
        print(f"  status: {time.perf_counter() - begun:.2f} s")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=3, help="the median of so many is taken")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="bench-capture-") as outer:
        folder = Path(outer)
        print(
            f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; a page is on disk in {sync_ms(folder):.2f} ms"
        )
        with serving() as url:
            for in_flight in (1, 32):
                ceilings, ours = [], []
                for number in range(options.rounds):  # in turn, so that both meet the same neighbours
                    ceilings.append(bare(url, options.calls, in_flight))
                    ours.append(captured(folder / f"{in_flight}-{number}", url, options.calls, in_flight))
                ceiling, own = sorted(ceilings)[len(ceilings) // 2], sorted(ours)[len(ours) // 2]
                print(
                    f"{in_flight:>3} in flight: bare {ceiling:6.0f} calls/s, darkcurrent {own:6.0f}, "
                    f"ratio {own / ceiling:.2f}"
                )
                if options.peers:
                    for package, code in (("inspect-ai", INSPECT), ("mistrial", MISTRIAL)):
                        found = peer(folder, package, code, url, options.calls // 10, in_flight)
                        print(
                            f"     {package:>10}: {found:6.0f} calls/s, darkcurrent is {own / found:.1f} times as fast"
                        )
            if options.long:
                long_campaign(folder / "long", url, 100_000)
        with serving("--latency", "0.3") as url:
            calls, in_flight = 3840, 64
            rate = captured(folder / "latency", url, calls, in_flight)
            print(
                f"{in_flight} in flight at 300 ms: {rate:.1f} calls/s, {rate / (in_flight / 0.3):.1%} of what the latency allows"
            )


if __name__ == "__main__":
    main()
