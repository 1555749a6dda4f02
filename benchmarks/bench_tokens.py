"""UTF-8 bytes for each token, by real tokenizers on the prompts of real batteries: where the rule of `plan` comes from.

    python benchmarks/bench_tokens.py [PAIRS.jsonl ...]

The tokenizer is that of Gemma 3 (extra `local`), asked as a served one is. With `--texts FILE` the texts are written
to a file instead, one JSON string per line with its source, for another tokenizer to count.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
from collections.abc import Iterator
from pathlib import Path

from darkcurrent.batteries import load_battery
from darkcurrent.batteries.pairs import read_pairs
from darkcurrent.judges.llama_cpp import BUNDLED_MODEL, LlamaCppBase, model_file
from darkcurrent.judges.llama_process import LlamaProcess
from darkcurrent.judges.render import render_messages
from darkcurrent.protocol import parse_protocol
from darkcurrent.protocol.batteries import PairsBattery
from darkcurrent.protocol.model import Criterion
from darkcurrent.protocol.rubrics import built_in_rubrics, rubric_text
from darkcurrent.protocol.templates import template_text
from darkcurrent.records import Battery

MOST = 200


def texts_of(battery: Battery, rubric: str) -> Iterator[str]:
    items = {item.id: item for item in battery.items}
    for comparison in battery.comparisons[:: max(1, len(battery.comparisons) // MOST)]:
        item = items[comparison.item]
        shown = (
            battery.texts[item.prompt],
            battery.texts[item.texts[comparison.u]],
            battery.texts[item.texts[comparison.v]],
        )
        yield "".join(message["content"] for message in render_messages(rubric, *shown))


def sources(files: list[Path]) -> Iterator[tuple[str, list[str]]]:
    protocol = parse_protocol(template_text("quickstart"))
    code = rubric_text("code", Criterion(rubric="code-neutral"), Path())
    plain = rubric_text("neutral", Criterion(rubric="neutral"), Path())
    assert "code-neutral" in built_in_rubrics()
    yield "finite-code", list(texts_of(load_battery(protocol, Path()), code))
    for file in files:
        keys = json.loads(file.read_text(encoding="utf-8").splitlines()[0]).keys()
        columns = {} if "id" in keys else {"id": "@row"}
        table = PairsBattery.model_validate(
            {"source": "pairs", "path": str(file), "columns": columns, "identical": "clone"}
        )
        yield file.stem, list(texts_of(read_pairs(table, Path()), plain))


async def count(found: list[tuple[str, list[str]]]) -> None:
    from darkcurrent.judges.transport import Transport

    path = model_file(LlamaCppBase(name="x", model=BUNDLED_MODEL), Path())
    settings = {"path": str(path), "model": BUNDLED_MODEL, "context": 8192, "slots": 1, "threads": 1}
    server = await LlamaProcess.start("x", settings)
    transport = Transport(server.address, None, 1, 50_000_000)
    await transport.open()
    try:
        for name, texts in found:
            ratios = []
            for text in texts:
                asked = json.dumps({"content": text}).encode()
                reply = await transport.post("/tokenize", asked, 60)
                ratios.append(
                    len(text.encode("utf-8", "surrogatepass")) / len(json.loads(reply.body)["tokens"])
                )
            show(name, ratios)
    finally:
        await transport.close()
        await server.stop()


def show(name: str, ratios: list[float]) -> None:
    low, middle, high = (sorted(ratios)[int(q * (len(ratios) - 1))] for q in (0.05, 0.5, 0.95))
    found = f"5 % {low:.2f}  median {middle:.2f}  95 % {high:.2f}  mean {statistics.mean(ratios):.2f}"
    print(f"{name:28} n={len(ratios):4} bytes per token: {found}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="*", type=Path)
    parser.add_argument("--texts", type=Path)
    given = parser.parse_args()
    found = list(sources(given.pairs))
    if given.texts:
        lines = [json.dumps([name, text]) for name, texts in found for text in texts]
        given.texts.write_text("\n".join(lines), encoding="utf-8")
        return
    asyncio.run(count(found))


if __name__ == "__main__":
    main()
