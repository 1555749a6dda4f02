"""LLMBar's `<subset>/<judge>/<prompt>/result.json`: both orders per row, labels mapped back, gold labels.

Coding: `winner` is `"1"` or `"2"`, mapped back to `output_1` and `output_2` in both orders; null is no verdict; there
are no ties. With `swap = True` slot A (the judge's "Output (a)") holds `output_2`. `label` is the objectively better
output. The subset, the judge and the prompt (criterion) are the names of the three folders above the file; a folder
`evaluators` between subset and judge is skipped. Several entries of `results` are repetitions. Pointwise prompts
(ratings) have no reply per order; their labels are taken as they stand.
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
    rows_of,
    slot_of,
    text_of,
    value_of,
)

__all__ = ["LLMBAR"]

_ORDERS: tuple[tuple[str, Literal["AB", "BA"]], ...] = (("swap = False", "AB"), ("swap = True", "BA"))
_PLACES: dict[Any, Place] = {"1": "first", "2": "second"}


def _read(sources: list[Source], mapping: Path | None) -> Intake:
    intake = Intake()
    numbers: dict[Source, int] = {}
    for source, where, row in rows_of(sources):
        number = numbers[source] = numbers.get(source, -1) + 1
        subset, judge, prompt = _folders(source)
        gold = _PLACES.get(str(value_of(row, "label", where)))
        if gold is None:
            raise BatteryError(f"{where}: `label` is {shown(row['label'])}: this format knows only 1 and 2.")
        texts = text_of(row, "output_1", where), text_of(row, "output_2", where)
        results = value_of(row, "results", where)
        if not isinstance(results, list) or not results:
            raise BatteryError(f"{where}: `results` is {shown(results)}, not a list of results.")
        for repetition, result in enumerate(results, start=1):
            for key, order in _ORDERS:
                call = value_of(result, key, where) if isinstance(result, dict) else result
                if not isinstance(call, dict):
                    raise BatteryError(f"{where}: the result of `{key}` is {shown(call)}, not an object.")
                reply, finish = _completion(call, where)
                intake.observations.append(
                    Observation(
                        where=where,
                        judge=judge,
                        criterion=prompt,
                        item=f"{subset}/{number:04d}",
                        stratum=subset,
                        order=order,
                        repetition=repetition,
                        first="output_1",
                        second="output_2",
                        gold=gold,
                        texts=texts,
                        prompt=text_of(row, "input", where),
                        kept="completion" in call,
                        reply=reply,
                        finish=finish,
                        label=_label(value_of(call, "winner", where), order, where),
                    )
                )
    return intake


def _folders(source: Source) -> tuple[str, str, str]:
    folders = [part for part in source.path.resolve().parts[:-1] if part != "evaluators"]
    if len(folders) < 4:
        raise BatteryError(
            f"{source.path} must lie in folders <subset>/<judge>/<prompt>: give it with these folders."
        )
    subset, judge, prompt = folders[-3:]
    return subset, judge, prompt


def _completion(call: dict[str, Any], where: str) -> tuple[str | None, str | None]:
    match call.get("completion"):
        case None:
            return None, None
        case str(reply):
            return reply, None
        case [str(reply), str() | None as finish]:
            return reply, finish or None
        case other:
            raise BatteryError(f"{where}: `completion` is {shown(other)}, not a reply and its finish reason.")


def _label(winner: Any, order: Literal["AB", "BA"], where: str) -> Label:
    if winner is None:
        return Label(None, "null")
    place = _PLACES.get(winner) if isinstance(winner, str) else None
    if place is None:
        raise BatteryError(
            f'{where}: `winner` is {shown(winner)}, and this format knows only "1", "2" and null.'
        )
    return Label(slot_of(place, order), winner)


LLMBAR = Format(
    name="llmbar",
    read=_read,
    coding='winner is mapped back to output "1" and "2"; null is no verdict; no ties; label is the better output',
    pattern="result.json",
)
