"""Studies that tests run from end to end, with judges whose properties are planted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import settings

from darkcurrent.study import Study

# A slow machine is no fault of the code: an example may take as long as it takes.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

PROTOCOL = """format = 1
[study]
name = "planted"
[battery]
source = "pairs"
path = "pairs.jsonl"
edge_controls = {edge}
[criteria.neutral]
rubric = "neutral"
{configurations}
[schedule]
seed = 7
[capture]
{capture}
[gates]
{gates}
"""

CONFIGURATION = """[[configuration]]
name = "{name}"
backend = "function"
callable = "judge:{name}"
"""

THRESHOLDS = "clone_threshold = 0.05\nutility_threshold = 0.75"


@pytest.fixture
def planted(tmp_path):
    """Return a maker of frozen studies: simulated judges as source code, pairs by stratum."""

    def make(
        judges: str,
        names: list[str],
        *,
        items=80,
        edge=0,
        gates=THRESHOLDS,
        capture="in_flight = 16",
        strata=("s",),
    ) -> Study:
        folder: Path = tmp_path / "study"
        folder.mkdir()
        rows = [
            {
                "id": f"item-{number:03d}",
                "prompt": f"Question {number}",
                "chosen": f"good {number}",
                "rejected": f"bad {number}",
                "stratum": strata[number % len(strata)],
            }
            for number in range(items)
        ]
        (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        (folder / "judge.py").write_text(judges, encoding="utf-8")
        configurations = "".join(CONFIGURATION.format(name=name) for name in names)
        text = PROTOCOL.format(edge=edge, configurations=configurations, gates=gates, capture=capture)
        (folder / "protocol.toml").write_text(text, encoding="utf-8")
        study = Study(folder)
        study.freeze()
        return study

    return make
