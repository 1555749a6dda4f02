"""The program as a person runs it, and a small study for it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from darkcurrent.cli.main import main

PROTOCOL = """\
format = 1
[study]
name = "small"
[battery]
source = "pairs"
path = "pairs.jsonl"
[criteria.neutral]
rubric = "neutral"
[[configuration]]
name = "good"
backend = "function"
callable = "judge:good"
[schedule]
seed = 1
[gates]
clone_threshold = 0.05
utility_threshold = 0.75
[capture]
in_flight = 8
"""

JUDGE = """
def good(prompt, a, b):
    return "tie" if a == b else "A" if a.startswith("good") else "B"

def lazy(prompt, a, b):
    return "tie"

def rude(prompt, a, b):
    return "I would rather not say."

def broken(prompt, a, b):
    raise RuntimeError("no power\\nat all")
"""


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    def error(self, code: int) -> str:
        """Return the one sentence of an error; there is no other line that begins like one, and no traceback."""
        assert self.code == code, self.err
        assert "Traceback" not in self.out + self.err
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1
        assert lines[0].rstrip().endswith((".", "?"))
        return lines[0].removeprefix("error: ")

    def json(self) -> dict:
        """Return the one JSON object on stdout."""

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is no JSON")

        value = json.loads(self.out, parse_constant=refuse)
        assert isinstance(value, dict)
        return value


@pytest.fixture
def program(monkeypatch, capfd) -> Callable[..., Outcome]:
    """Run the program in this process, from its arguments to its exit code."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["darkcurrent", *map(str, arguments)])
        capfd.readouterr()
        code: object = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        captured = capfd.readouterr()
        return Outcome(int(code or 0), captured.out, captured.err)

    return run


@dataclass(frozen=True)
class Small:
    """A study folder to be spoilt."""

    folder: Path

    def protocol(self, old: str = "", new: str = "") -> None:
        assert old in PROTOCOL
        (self.folder / "protocol.toml").write_text(PROTOCOL.replace(old, new, 1), encoding="utf-8")

    def pairs(self, *rows: object) -> None:
        text = "".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows)
        (self.folder / "pairs.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture
def small(tmp_path) -> Small:
    study = Small(tmp_path / "study")
    study.folder.mkdir()
    study.protocol()
    study.pairs(
        *(
            {"id": f"i{n}", "prompt": f"p{n}", "chosen": f"good {n}", "rejected": f"bad {n}"}
            for n in range(80)
        )
    )
    (study.folder / "judge.py").write_text(JUDGE)
    return study
