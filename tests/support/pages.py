"""Studies with simulated judges, whose pages tests open."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from darkcurrent.study import Study

__all__ = ["KINDS", "page_study"]

PROTOCOL = """format = 1
[study]
name = "pages"
title = "{title}"
[battery]
source = "pairs"
path = "pairs.jsonl"
edge_controls = {edge}
{criteria}
{configurations}
[schedule]
{schedule}
seed = 3
[capture]
in_flight = 64
[gates]
{gates}
"""
CRITERION = """[criteria.{name}]
rubric = "{name}"
"""
CONFIGURATION = """[[configuration]]
name = "{name}"
backend = "simulated"
properties = {properties}
"""
GATES = "clone_threshold = 0.05\nutility_threshold = 0.75"

KINDS = {
    "solid": "{ utility = 0.96, seed = 1 }",
    "weak": '{ utility = 0.97, weak = { "s2" = 0.25 }, seed = 2 }',
    "first": '{ habit = "first" }',
    "fenced": "{ utility = 0.9, fenced = 0.3, seed = 4 }",
    "dark": "{ utility = 0.85, dark_current = 0.1, seed = 5 }",
}
"""Judges by what is planted in them."""


def page_study(
    folder: Path,
    judges: Mapping[str, str],
    *,
    items: int = 120,
    criteria: Sequence[str] = ("neutral", "strict"),
    strata: Sequence[str] = ("s0", "s1", "s2", "s3"),
    edge: int = 2,
    gates: str = GATES,
    title: str = "Simulated judges",
    schedule: str = "",
    captured: bool = True,
) -> Study:
    """Return a study of simulated judges, captured unless that is refused."""
    folder.mkdir(parents=True)
    rows = [
        {
            "id": f"i{number}",
            "prompt": f"Question {number}?",
            "chosen": f"good {number}",
            "rejected": f"bad {number}",
            "stratum": strata[number % len(strata)],
        }
        for number in range(items)
    ]
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    text = PROTOCOL.format(
        title=title,
        edge=edge,
        schedule=schedule,
        gates=gates,
        criteria="".join(CRITERION.format(name=name) for name in criteria),
        configurations="".join(
            CONFIGURATION.format(name=name, properties=properties) for name, properties in judges.items()
        ),
    )
    (folder / "protocol.toml").write_text(text, encoding="utf-8")
    study = Study(folder)
    study.freeze()
    if captured:
        for name in judges:
            study.run(name)
    return study
