"""Small studies for tests of capture, and the records that they are made of."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from darkcurrent.canonical import digest
from darkcurrent.records import Call
from darkcurrent.study import Study

__all__ = ["command", "http_study", "make_calls", "program", "study_with"]

PROTOCOL = """format = 1
[study]
name = "capture"
[battery]
source = "pairs"
path = "pairs.jsonl"
[criteria.neutral]
rubric = "neutral"
{configuration}
[schedule]
seed = 11
[capture]
{capture}
[gates]
clone_threshold = 0.05
utility_threshold = 0.75
"""


def study_with(folder: Path, configuration: str, capture: str = "", items: int = 8) -> Study:
    """Return a frozen study of `3 * items` calls with one configuration, called `judge`, given as TOML."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"id": f"i{n}", "prompt": f"Question {n}?", "chosen": f"good {n}", "rejected": f"bad {n}"}
        for n in range(items)
    ]
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    text = PROTOCOL.format(
        configuration=f'[[configuration]]\nname = "judge"\n{configuration}', capture=capture
    )
    (folder / "protocol.toml").write_text(text, encoding="utf-8")
    study = Study(folder)
    study.freeze()
    return study


def http_study(folder: Path, url: str, capture: str = "", items: int = 8, extra: str = "") -> Study:
    """Return a frozen study whose one configuration asks a server."""
    configuration = f'backend = "openai-chat"\nmodel = "planted-1"\nbase_url = "{url}"\n{extra}'
    return study_with(folder, configuration, capture, items)


def make_calls(count: int, blocks: int = 1) -> tuple[tuple[Call, ...], dict[str, str]]:
    """Return calls in dispatch order, with their texts; each call has a prompt of its own."""
    texts = {digest(name): name for name in ("rubric", "text", *(f"prompt {n}" for n in range(count)))}
    calls = tuple(
        Call(
            call_id=digest({"call": n}),
            position=n,
            block=n * blocks // count,
            configuration="judge",
            criterion="neutral",
            item=f"i{n}",
            stratum="s",
            cluster=f"i{n}",
            arm="clone",
            null_stratum="core",
            order="IDENTICAL",
            slot_a="chosen",
            slot_b="chosen",
            target=None,
            rubric=digest("rubric"),
            prompt=digest(f"prompt {n}"),
            text_a=digest("text"),
            text_b=digest("text"),
        )
        for n in range(count)
    )
    return calls, texts


def command(*arguments: object) -> list[str]:
    """Return the command line of the program."""
    return [sys.executable, "-c", "from darkcurrent.cli.main import main; main()", *map(str, arguments)]


def program(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the program to its end."""
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=60, check=False, **options
    )
