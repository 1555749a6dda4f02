"""JudgeBench's output JSONL: both orders per row, slot labels, gold labels.

Coding: `decision` is `A>B`, `B>A`, `A=B` or null by slot, NOT mapped back: in the second judgment slot A holds
`response_B`. Null, or a judgment that is null itself, is no verdict. `label` is by content: `A>B` says that
`response_A` is better. The judge is `judge_model`, or the `judge_model=` part of the file's name where no judgment
has one; the criterion is `judge_name`. JudgeBench asks its arena-hard judge again where a first reply has no
verdict, and records both replies as one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from darkcurrent.batteries.rows import shown
from darkcurrent.errors import BatteryError
from darkcurrent.importers.observation import (
    Format,
    Intake,
    Label,
    Observation,
    Place,
    Source,
    name_of,
    rows_of,
    text_of,
    value_of,
)
from darkcurrent.verdicts.verdict import Choice

__all__ = ["JUDGEBENCH"]

_ORDERS: tuple[Literal["AB", "BA"], ...] = ("AB", "BA")
_DECISIONS: dict[Any, Choice] = {"A>B": "A", "B>A": "B", "A=B": "tie", "B=A": "tie"}
_GOLD: dict[Any, Place] = {"A>B": "first", "B>A": "second"}
_JUDGE = re.compile(r"judge_model=([^,]+)\.jsonl")


def _read(sources: list[Source], mapping: Path | None) -> Intake:
    intake = Intake()
    for source, where, row in rows_of(sources):
        gold = _GOLD.get(text_of(row, "label", where))
        if gold is None:
            raise BatteryError(
                f"{where}: `label` is {shown(row['label'])}: this format knows only A>B and B>A."
            )
        judgments = value_of(row, "judgments", where)
        if not isinstance(judgments, list) or not 1 <= len(judgments) <= 2:
            raise BatteryError(f"{where}: `judgments` is {shown(judgments)}, not a list of one or two.")
        judge = _judge(source, judgments, where)
        for order, judgment in zip(_ORDERS, judgments, strict=False):
            reply = _reply(judgment, where)
            intake.observations.append(
                Observation(
                    where=where,
                    judge=judge,
                    criterion=name_of(row, "judge_name", where),
                    item=name_of(row, "pair_id", where),
                    stratum=name_of(row, "source", where),
                    order=order,
                    first="response_A",
                    second="response_B",
                    gold=gold,
                    texts=(text_of(row, "response_A", where), text_of(row, "response_B", where)),
                    prompt=text_of(row, "question", where),
                    kept=reply is not None,
                    reply=reply,
                    label=_label(judgment, where),
                )
            )
    return intake


def _judge(source: Source, judgments: list[Any], where: str) -> str:
    for judgment in judgments:
        match judgment:
            case {"judgment": {"judge_model": str(model)}} if model:
                return model
    named = _JUDGE.search(source.path.name)
    if named is None:
        raise BatteryError(
            f"{where} names no `judge_model`, and neither does the file: name it ...,judge_model=<name>.jsonl."
        )
    return named[1]


def _reply(judgment: Any, where: str) -> str | None:
    match judgment:
        case None | {"judgment": {"response": None}}:
            return None
        case {"judgment": {"response": str(reply)}}:
            return reply
        case {"judgment": {**parts}} if "response" not in parts:  # a reward model gives scores and no text
            return None
    raise BatteryError(
        f"{where} has a judgment that is {shown(judgment)} without a reply: is this the right format?"
    )


def _label(judgment: Any, where: str) -> Label:
    decision = None if judgment is None else value_of(judgment, "decision", where)
    if decision is None:
        return Label(None, "null")
    value = _DECISIONS.get(decision) if isinstance(decision, str) else None
    if value is None:
        raise BatteryError(
            f"{where}: `decision` is {shown(decision)}, and this format knows only A>B, B>A, A=B and null."
        )
    return Label(value, decision)


JUDGEBENCH = Format(
    name="judgebench",
    read=_read,
    coding="decision is by slot; in the second judgment slot A holds response_B; A=B is a tie; null is no verdict; "
    "label is by content",
    pattern="*judge_model=*.jsonl",
)
