"""Studies of one battery with simulated judges, from freezing to analysis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from darkcurrent.results import Analysis, CellResult
from darkcurrent.study import Study

__all__ = ["arm_study", "cells_of", "run_arms"]

_PROTOCOL = """format = 1
[study]
name = "arms"
[battery]
{battery}
{criteria}
{configurations}
[schedule]
seed = 3
[capture]
in_flight = 16
[gates]
{gates}
"""


def arm_study(
    folder: Path,
    battery: str,
    judges: dict[str, str],
    criteria: tuple[str, ...] = ("neutral",),
    gates: str = "clone_threshold = 0.05\nutility_threshold = 0.75",
) -> Study:
    """Return a frozen study: the `[battery]` table as TOML, and by judge its `[configuration.properties]`."""
    folder.mkdir(parents=True)
    configurations = "".join(
        f'[[configuration]]\nname = "{name}"\nbackend = "simulated"\n[configuration.properties]\n{properties}\n'
        for name, properties in judges.items()
    )
    rubrics = "".join(f'[criteria.{name}]\nrubric = "{name}"\n' for name in criteria)
    text = _PROTOCOL.format(battery=battery, criteria=rubrics, configurations=configurations, gates=gates)
    (folder / "protocol.toml").write_text(text, encoding="utf-8")
    study = Study(folder)
    study.freeze()
    return study


def run_arms(folder: Path, battery: str, judges: dict[str, str], **options: Any) -> tuple[Study, Analysis]:
    """Freeze, run and analyse a study; return it and its analysis."""
    study = arm_study(folder, battery, judges, **options)
    for configuration in study.frozen.protocol.configuration:
        study.run(configuration.name)
    return study, study.analyze()


def cells_of(analysis: Analysis) -> dict[tuple[str, str], CellResult]:
    """Return the cells by configuration and criterion."""
    return {(cell.configuration, cell.criterion): cell for cell in analysis.cells}
