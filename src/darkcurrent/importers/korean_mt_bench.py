"""The JSONL of korean-mt-bench's pairwise judgments: both orders per row, slot labels.

Coding: `winner_ab` and `winner_ba` are the slots `A` and `B`, `tie` or `error`, NOT mapped back: in `winner_ba` the
slot A holds `model_b`. `error` is no verdict. `winner` is what the recorders made of both, and is checked against
them, so that a file whose labels were mapped back is refused. There is no gold label and no candidate text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from darkcurrent.batteries.rows import shown
from darkcurrent.errors import BatteryError
from darkcurrent.importers.observation import (
    Format,
    Intake,
    Label,
    Observation,
    Source,
    name_of,
    rows_of,
    text_of,
)
from darkcurrent.verdicts.verdict import Choice

__all__ = ["KOREAN_MT_BENCH"]

_ORDERS: tuple[tuple[str, Literal["AB", "BA"]], ...] = (("ab", "AB"), ("ba", "BA"))
_SLOTS: dict[str, Choice | None] = {"A": "A", "B": "B", "tie": "tie", "error": None}


def _read(sources: list[Source], mapping: Path | None) -> Intake:
    intake = Intake()
    for _, where, row in rows_of(sources):
        first, second = name_of(row, "model_a", where), name_of(row, "model_b", where)
        question, turn = name_of(row, "question_id", where), name_of(row, "turn", where)
        labels = {order: _label(row, f"winner_{suffix}", where) for suffix, order in _ORDERS}
        _check(row, labels["AB"], labels["BA"], first, second, where)
        for suffix, order in _ORDERS:
            intake.observations.append(
                Observation(
                    where=where,
                    judge=name_of(row, "judge_id", where),
                    item="/".join((question, turn, *sorted((first, second)))),
                    stratum=name_of(row, "category", where),
                    cluster=question,
                    order=order,
                    first=first,
                    second=second,
                    reply=text_of(row, f"judgment_{suffix}", where),
                    label=labels[order],
                )
            )
    return intake


def _label(row: dict[str, Any], key: str, where: str) -> Label:
    written = text_of(row, key, where)
    if written not in _SLOTS:
        raise BatteryError(
            f"{where}: `{key}` is {shown(written)}, and this format knows only `A`, `B`, `tie` and `error`."
        )
    return Label(_SLOTS[written], written)


def _check(row: dict[str, Any], ab: Label, ba: Label, first: str, second: str, where: str) -> None:
    """Compare the row's own summary with its slot labels."""
    summary = {("A", "B"): first, ("B", "A"): second, ("tie", "tie"): "tie"}.get(
        (ab.written, ba.written), "error" if None in (ab.value, ba.value) else "inconsistent"
    )
    recorded = text_of(row, "winner", where)
    if recorded != summary:
        raise BatteryError(
            f"{where}: `winner` is {shown(recorded)}, but the slots {ab.written} and {ba.written} say "
            f"{shown(summary)}: `winner_ab` and `winner_ba` must be slots, not mapped back to the models."
        )


KOREAN_MT_BENCH = Format(
    name="korean-mt-bench",
    read=_read,
    coding="winner_ab and winner_ba are slots; in BA slot A holds model_b; tie is a tie; error is no verdict",
    pattern="*_vs_*.jsonl",
    contract="bracket",
)
