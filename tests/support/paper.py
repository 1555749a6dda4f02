"""The paper's studies by the program itself: how judges are put into a template, and what comes of a run."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from darkcurrent.cli.main import main
from darkcurrent.results import Analysis
from darkcurrent.study import Study

__all__ = ["SUBSETS", "Ran", "cli", "put_in", "simulated"]

SUBSETS = {"Factuality": 62, "Focus": 60, "Math": 59, "Precise IF": 64, "Safety": 61, "Ties": 59}
"""Rows of each made-up subset: two draws of 17 leave 25 or more."""
PLACE = "# ==== End of your configurations ===="


class Ran(NamedTuple):
    """A study that went from its template to its report, and what `analyze --paper` printed."""

    study: Study
    analysis: Analysis
    tables: str


def cli(*arguments: object, code: int = 0) -> tuple[str, str]:
    """Run the program in this process; return what it says on stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    ended: object = 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["darkcurrent", *map(str, arguments)])
        try:
            main()
        except SystemExit as stop:
            ended = stop.code or 0
    assert ended == code, err.getvalue()
    return out.getvalue(), err.getvalue()


def put_in(folder: Path, judges: str) -> None:
    """Put configurations in their place; ask more than one call at a time, which simulated judges do not mind."""
    path = folder / "protocol.toml"
    text = path.read_text(encoding="utf-8").replace("in_flight = 1 ", "in_flight = 16 ")
    assert text.count(PLACE) == 1
    text = text.replace("in_flight = 1\n", "in_flight = 16\n").replace(PLACE, f"{judges}\n{PLACE}")
    text = text.replace("rewardbench2.parquet", "rewardbench2.jsonl")
    path.write_text(text, encoding="utf-8")


def simulated(**judges: str) -> str:
    """Return configurations by name (with `-` for `_`), each with its planted properties as TOML."""
    return "".join(
        f'[[configuration]]\nname = "{name.replace("_", "-")}"\nbackend = "simulated"\n[configuration.properties]\n{planted}\n'
        for name, planted in judges.items()
    )
