"""How long archives take to pack, verify and replay: `python benchmarks/bench_archive.py CALLS [--replay] [--pack]`.

The ledger is synthetic: no server and no journal. Items, schedule, intents and terminals are made column by column,
so that a million calls can be had at all; the analysis in the archive is the real one of these tables. `verify` and
`replay` run as a person runs them, each in a process of its own, with its peak memory.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl

from darkcurrent.archive.columns import FORMAT, TABLES
from darkcurrent.archive.containers import write_files
from darkcurrent.archive.layout import ANALYSIS, ARCHIVE, MANIFEST, PUBLIC, schema_file, table_file, tags_of
from darkcurrent.archive.pack import bag_info
from darkcurrent.archive.restore import analyze_files
from darkcurrent.archive.result import canonical_result
from darkcurrent.archive.schema import shipped_schema
from darkcurrent.canonical import canonical_json, digest, digest_bytes
from darkcurrent.ledger import READINGS
from darkcurrent.protocol import parse_protocol
from darkcurrent.protocol.public import public_view
from darkcurrent.records import Item

PROTOCOL = """format = 1
[study]
name = "large"
[battery]
source = "pairs"
path = "pairs.jsonl"
[criteria.neutral]
rubric = "neutral"
[[configuration]]
name = "one"
backend = "simulated"
[[configuration]]
name = "two"
backend = "simulated"
[schedule]
seed = 1
[gates]
clone_threshold = 0.05
utility_threshold = 0.75
"""
AT = "2026-12-01T10:00:00.000+00:00"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Rows:
    """Rows of a table, packed every now and then: as Python objects, a million of them would fill the memory."""

    def __init__(self, table: str) -> None:
        kinds = {"string": pl.String, "integer": pl.Int64, "number": pl.Float64, "boolean": pl.Boolean}
        self._schema = {column: kinds[facts.kind] for column, facts in TABLES[table].items()}
        self._rows: list[tuple[Any, ...]] = []
        self._frames: list[pl.DataFrame] = []

    def add(self, row: tuple[Any, ...]) -> None:
        self._rows.append(row)
        if len(self._rows) == 50_000:
            self._pack()

    def _pack(self) -> None:
        self._frames.append(pl.DataFrame(self._rows, schema=self._schema, orient="row"))
        self._rows = []

    def frame(self) -> pl.DataFrame:
        self._pack()
        return pl.concat(self._frames, rechunk=True)


def made(calls: int) -> dict[str, bytes]:
    """Return the files of an archive with about so many calls: two configurations, three calls an item."""
    items = calls // 6
    protocol = parse_protocol(PROTOCOL)
    identities = {
        c.name: {"digest": sha(c.name), "artifacts": {}, "rendering": "tagged/1"}
        for c in protocol.configuration
    }
    battery = [
        Item(
            id=f"item-{n:07d}",
            stratum=f"s{n % 25}",
            cluster=f"item-{n:07d}",
            prompt=sha(f"p{n}"),
            texts={"chosen": sha(f"c{n}"), "rejected": sha(f"r{n}")},
        )
        for n in range(items)
    ]
    rows = {table: Rows(table) for table in TABLES}
    journals, digests = {}, {}
    for number, item in enumerate(battery):
        rows["items"].add((number, item.id, item.stratum, item.cluster, item.prompt, 90, 90, "", ""))
        for role, key in item.texts.items():
            rows["candidates"].add((item.id, role, key, 300, 300))
    for name, identity in identities.items():
        lines = hashlib.sha256()
        position = seq = 0
        seq += 1
        event = {"configuration": name, "seq": seq, "at": AT, "elapsed_ms": 0, "kind": "opened"}
        rows["events"].add(tuple(event.get(column) for column in TABLES["events"]))
        for item in battery:
            for order, a, b in (
                ("IDENTICAL", "chosen", "chosen"),
                ("AB", "chosen", "rejected"),
                ("BA", "rejected", "chosen"),
            ):
                clone = order == "IDENTICAL"
                call: dict[str, Any] = {
                    "configuration": name,
                    "criterion": "neutral",
                    "item": item.id,
                    "arm": "clone" if clone else "signal",
                    "null_stratum": "core" if clone else None,
                    "order": order,
                    "slot_a": a,
                    "slot_b": b,
                    "target": None if clone else "chosen",
                    "rubric": sha("rubric"),
                    "prompt": item.prompt,
                    "text_a": item.texts[a],
                    "text_b": item.texts[b],
                    "step": None,
                    "context": None,
                    "third": None,
                    "text_c": None,
                }
                text = json.dumps(
                    {"identity": identity["digest"], **call}, sort_keys=True, separators=(",", ":")
                )
                call |= {
                    "call_id": sha(text),
                    "position": position,
                    "block": 0,
                    "stratum": item.stratum,
                    "cluster": item.cluster,
                }
                rows["schedule"].add(tuple(call[column] for column in TABLES["schedule"]))
                lines.update(json.dumps(call, sort_keys=True, separators=(",", ":")).encode() + b"\n")
                rows["intents"].add(
                    (call["call_id"], name, seq + 1, AT, position, sha(f"q{call['call_id']}"), 0, 0)
                )
                chosen = "A" if a == "chosen" else "B"
                wrong = "B" if chosen == "A" else "A"
                draw = int(call["call_id"][:4], 16) / 65536
                value = ("tie" if draw > 0.02 else "A") if clone else chosen if draw > 0.15 else wrong
                read = {
                    f"as:{contract}": value if contract in ("sole-object", "legacy") else None
                    for contract in (column.removeprefix("as:") for column in READINGS.values())
                }
                ended = {
                    "call_id": call["call_id"], "configuration": name, "seq": seq + 2, "at": AT, "elapsed_ms": position,
                    "status": "answered", "http_status": 200, "finish": "stop", "served_model": "simulated",
                    "fingerprint": None, "reasoning": False, "prompt_tokens": 400, "completion_tokens": 8,
                    "latency_ms": 10.0 + draw, "response_sha256": sha(f"b{call['call_id']}"), "text_sha256": sha(value),
                    "kept": True, "value": value, "reason": None, **read,
                }  # fmt: skip
                rows["terminals"].add(tuple(ended[column] for column in TABLES["terminals"]))
                seq += 2
                position += 1
        digests[name] = lines.hexdigest()
        journals[name] = {"rows": seq, "chain": sha(name)}
    public = canonical_json(public_view(protocol, identities, battery, 0))
    table = {f"schedule/{name}.jsonl": {"bytes": 0, "sha256": value} for name, value in digests.items()}
    table["public.json"] = {"bytes": len(public), "sha256": digest_bytes(public)}
    frozen = {"format": "darkcurrent/frozen/1", "files": table}
    files = {
        PUBLIC: public,
        MANIFEST: canonical_json({**frozen, "study_digest": digest(frozen)}),
        **{schema_file(each): shipped_schema(each) for each in TABLES},
        **dict.fromkeys(("data/README.md", "data/datasheet.md", "data/report.md", "data/report.html"), b""),
    }
    heights = {}
    for each in TABLES:
        frame = rows.pop(each).frame()
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        files[table_file(each)] = buffer.getvalue()
        heights[each] = frame.height
    files[ANALYSIS] = canonical_result(analyze_files(files))
    facts = {
        "format": FORMAT, "study": "large", "study_digest": digest(frozen), "result_sha256": digest_bytes(files[ANALYSIS]),
        "rows": heights, "journals": journals, "software": {},
        "declared": {"licence": "", "sources": [], "texts": {}, "title": ""},
    }  # fmt: skip
    files[ARCHIVE] = canonical_json(facts)
    return {**files, **tags_of(files, bag_info(facts, files))}


def run(*arguments: str) -> tuple[float, float, float, str]:
    """Run the program; return seconds, seconds of processor time, peak memory in MB, and what it said."""
    command = [sys.executable, "-c", "from darkcurrent.cli.main import main; main()", *arguments]
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child:
        said = child.stdout.read() if child.stdout else ""
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    if child.returncode:
        sys.exit(said)
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, said.strip().splitlines()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("calls", type=int, nargs="?", default=3000)
    parser.add_argument("--replay", action="store_true", help="replay too")
    parser.add_argument("--make", metavar="DIR", type=Path, help="only write the archive")
    options = parser.parse_args()
    if options.make:
        write_files(options.make, made(options.calls))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bag"
        # In a process of its own: a child's peak would begin with that of the process that starts it.
        subprocess.run([sys.executable, __file__, str(options.calls), "--make", str(path)], check=True)
        rows = json.loads((path / ARCHIVE).read_bytes())["rows"]["schedule"]
        size = sum(file.stat().st_size for file in path.rglob("*")) / 1e6
        print(f"{rows} calls, {size:.1f} MB")
        for name in ("verify", *(["replay"] if options.replay else [])):
            seconds, busy, memory, said = run(name, str(path))
            print(
                f"  {name}: {seconds:.2f} s ({busy:.2f} s of processor), {memory:.0f} MB at its peak: {said}"
            )


if __name__ == "__main__":
    main()
