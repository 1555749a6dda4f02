"""Rows in the columns of RewardBench 2, made by the tests, and protocols that select from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from darkcurrent.study import Study

__all__ = ["rb2_row", "rb2_rows", "select_study"]


def rb2_row(row_id: str, subset: str = "Math", **changes: Any) -> dict[str, Any]:
    """Return a row with an eligible rejected answer that is one word shorter, and one that is far too long."""
    chosen = " ".join(f"{row_id}w{n}" for n in range(10))
    return {
        "id": row_id,
        "prompt": f"Question {row_id}",
        "chosen": [chosen],
        "rejected": [" ".join([f"{row_id}x"] * 40), " ".join([f"{row_id}y"] * 9)],
        "num_correct": 1,
        "num_incorrect": 2,
        "total_completions": 3,
        "models": ["m1", "m2", "m3"],
        "subset": subset,
        "additional_metadata": {"category": None, "index": 1.0},
    } | changes


def rb2_rows(count: int, subsets: tuple[str, ...] = ("Focus", "Math", "Ties")) -> list[dict[str, Any]]:
    """Return `count` rows of each subset."""
    return [rb2_row(f"{subset[0]}{n}", subset) for n in range(count) for subset in subsets]


PROTOCOL = """format = 1
[study]
name = "{name}"
[battery]
{battery}
[criteria.neutral]
rubric = "neutral"
[[configuration]]
name = "judge"
backend = "function"
callable = "judge:judge"
[schedule]
seed = 3
"""


def select_study(
    folder: Path, battery: str, rows: list[dict[str, Any]] | None = None, name: str = "fresh"
) -> Study:
    """Write a study whose `[battery]` table is given as TOML; nothing is frozen yet."""
    folder.mkdir(parents=True, exist_ok=True)
    if rows is not None:
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "judge.py").write_text('def judge(prompt, a, b):\n    return "tie"\n', encoding="utf-8")
    (folder / "protocol.toml").write_text(PROTOCOL.format(name=name, battery=battery), encoding="utf-8")
    return Study(folder)
