"""FastChat's `*_pair.jsonl`: two games per row, labels mapped back to the models.

Coding: `g1_winner` and `g2_winner` are `model_1`, `model_2`, `tie` or `error`, mapped back already: in game 2
`model_1` stands in slot B. `error` is no verdict. The judge is the first part of `judge`, the criterion the second,
which names the prompt. There is no gold label, and no candidate text apart from the prompt; where the prompts of
both games are the same bytes, both candidates are one text.
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
    Place,
    Source,
    name_of,
    rows_of,
    slot_of,
    text_of,
    value_of,
)

__all__ = ["FASTCHAT"]

_GAMES: tuple[tuple[str, Literal["AB", "BA"]], ...] = (("g1", "AB"), ("g2", "BA"))
_WINNERS: dict[str, Place | None] = {
    "model_1": "first",
    "model_2": "second",
    "tie": "tie",
    "error": None,
}


def _read(sources: list[Source], mapping: Path | None) -> Intake:
    intake = Intake()
    for _, where, row in rows_of(sources):
        judge, criterion = _judge(value_of(row, "judge", where), where)
        first, second = name_of(row, "model_1", where), name_of(row, "model_2", where)
        question, turn = name_of(row, "question_id", where), name_of(row, "turn", where)
        prompts = [text_of(row, f"{game}_user_prompt", where) for game, _ in _GAMES]
        for (game, order), prompt in zip(_GAMES, prompts, strict=True):
            intake.observations.append(
                Observation(
                    where=where,
                    judge=judge,
                    criterion=criterion,
                    item="/".join((question, turn, *sorted((first, second)))),
                    stratum=f"turn-{turn}",
                    cluster=question,
                    order=order,
                    first=first,
                    second=second,
                    identical=prompts[0] == prompts[1],
                    prompt=prompt,
                    reply=text_of(row, f"{game}_judgment", where),
                    label=_label(row, f"{game}_winner", order, where),
                )
            )
    return intake


def _judge(value: Any, where: str) -> tuple[str, str]:
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) and part for part in value):
        return value[0], value[1]
    raise BatteryError(
        f"{where}: `judge` is {shown(value)}, not a list of the judge's and the prompt's name."
    )


def _label(row: dict[str, Any], key: str, order: Literal["AB", "BA"], where: str) -> Label:
    written = text_of(row, key, where)
    if written not in _WINNERS:
        known = ", ".join(f"`{name}`" for name in _WINNERS)
        raise BatteryError(f"{where}: `{key}` is {shown(written)}, and this format knows only {known}.")
    winner = _WINNERS[written]
    return Label(slot_of(winner, order) if winner else None, written)


FASTCHAT = Format(
    name="fastchat-pair",
    read=_read,
    coding="g1_winner and g2_winner are mapped back to model_1 and model_2; tie is a tie; error is no verdict",
    pattern="*_pair.jsonl",
    contract="bracket",
)
