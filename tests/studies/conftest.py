"""The paper's studies, each written by `darkcurrent init` and run to its report, with simulated judges put in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from darkcurrent.archive.pack import pack
from darkcurrent.archive.replay import replay
from darkcurrent.archive.result import canonical_result
from darkcurrent.results import Analysis
from darkcurrent.study import Study
from support.paper import SUBSETS, Ran, cli, put_in
from support.rewardbench2 import rb2_row


@pytest.fixture(scope="session")
def workplace(tmp_path_factory) -> Path:
    """A folder with made-up rows in the columns of RewardBench 2; the studies lie side by side in it."""
    folder = tmp_path_factory.mktemp("studies")
    rows = [
        rb2_row(f"{subset.replace(' ', '-')}-{number}", subset)
        for subset, count in SUBSETS.items()
        for number in range(count)
    ]
    (folder / "rewardbench2.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    return folder


@pytest.fixture(scope="session")
def ran(workplace) -> Callable[[str, str], Ran]:
    """Return a maker: `init`, put judges in, `freeze`, `run`, `analyze`, `report`, all by the program."""

    def make(name: str, judges: str = "") -> Ran:
        folder = workplace / name
        cli("init", folder, "--study", name)
        put_in(folder, judges)
        cli("freeze", folder)
        cli("run", folder)
        tables, _ = cli("analyze", folder, "--paper")
        cli("report", folder)
        assert (folder / "report.html").stat().st_size > 10_000
        assert (folder / "report.md").stat().st_size > 1_000
        analysis = Analysis.model_validate_json((folder / "analysis.json").read_bytes())
        # Every study's archive gives its result again.
        facts = pack(Study(folder), workplace / f"{name}.zip")
        found, again = replay(workplace / f"{name}.zip")
        assert found.result_sha256 == facts["result_sha256"]
        assert canonical_result(again) == canonical_result(analysis)
        return Ran(Study(folder), analysis, tables)

    return make
