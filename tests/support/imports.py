"""Small files of recorded verdicts, and what comes of importing them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from darkcurrent.importers import import_verdicts
from darkcurrent.results import Analysis
from darkcurrent.study import Study

__all__ = ["Imported", "jsonl"]


def jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as JSON lines; make the folders above."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


class Imported:
    """An import, and what the study says of it."""

    def __init__(self, folder: Path, format_name: str, *paths: Path, **options: Any) -> None:
        self.manifest = import_verdicts(format_name, paths, folder, **options).manifest
        self.study = Study(folder)
        self.ledger: pl.DataFrame = self.study.ledger()
        self.analysis: Analysis = self.study.analyze()
        self.folder = folder

    @property
    def calls(self) -> list[tuple[Any, ...]]:
        """Order, counted value, winner and reason of each call, in the order of the files."""
        return self.ledger.select("order", "value", "winner", "reason").rows()

    @property
    def disagreements(self) -> list[dict[str, Any]]:
        """What the file of disagreements lists."""
        text = (self.folder / "imported" / "disagreements.jsonl").read_text(encoding="ascii")
        return [json.loads(line) for line in text.splitlines()]

    def patterns(self, arm: str = "unlabelled", cell: int = 0) -> dict[str, int]:
        """Return the patterns of one cell that were found at all."""
        return {name: n for name, n in self.analysis.cells[cell].patterns[arm].items() if n}
