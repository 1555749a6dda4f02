"""OpenAI's batch output: one reply per line, known only by its `custom_id`.

Coding: there are no labels, only replies. The mapping is a file of rows (JSONL, CSV, ...) that says for each
`custom_id` the `item` and the `order` (`AB` or `BA`), and may say `judge`, `criterion`, `stratum`, `cluster`,
`repetition`, `prompt`, the texts `first` and `second`, and `gold` (`first`, `second` or `tie`). A request that the
mapping names and no file answers is `missing`; one that the server refused is `request-refused`, and one on which it
failed (another status, such as 429 or 500) is `transport`, as in a capture; one that expired or was cancelled was
never run, and is `missing` too. None of them is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from darkcurrent.batteries.rows import read_rows, shown
from darkcurrent.errors import BatteryError, UsageError
from darkcurrent.importers.mapping import Mapping
from darkcurrent.importers.observation import Format, Intake, Source, name_of, rows_of, value_of
from darkcurrent.importers.table import TableRow, observe
from darkcurrent.judges.reading import REFUSED

__all__ = ["OPENAI_BATCH"]

_OPTIONAL = ("judge", "criterion", "stratum", "cluster", "repetition", "prompt", "first", "second")
_REPLY = {"reply": "@reply", "finish": "@finish", "served_model": "@model", "reasoning": "@reasoning"}
_NEVER_RUN = ("batch_expired", "batch_cancelled")


class _Answer(NamedTuple):
    where: str
    values: dict[str, Any]
    failure: str | None


_MISSING = _Answer("", dict.fromkeys(_REPLY.values()), "missing")


def _read(sources: list[Source], mapping: Path | None) -> Intake:
    if mapping is None:
        raise UsageError(
            "The format openai-batch needs --mapping FILE, a file with `custom_id`, `item` and `order` in each row."
        )
    answers = _answers(sources)
    rows = list(read_rows(mapping, "--mapping"))
    if not rows:
        raise BatteryError(f"The mapping {mapping} has no rows: write one for each request.")
    columns = {name: name for name in _OPTIONAL if name in rows[0][1]}
    declared = Mapping.model_validate(
        {
            "judge": "recorded" if "judge" in columns else _model(answers),
            "columns": {"item": "item", **columns, **_REPLY},
            "order": {"by": "column", "column": "order", "AB": ("AB",), "BA": ("BA",)},
            "gold": {"column": "gold", "first": ("first",), "second": ("second",), "tie": ("tie",)}
            if "gold" in rows[0][1]
            else None,
        }
    )
    intake = Intake(list(observe(_joined(rows, answers, mapping), declared)))
    if answers:
        unknown = next(iter(answers.values()))
        raise BatteryError(
            f"{unknown.where} has a `custom_id` that {mapping} does not name: say there what it is."
        )
    return intake


def _joined(
    rows: list[tuple[str, dict[str, Any]]], answers: dict[str, _Answer], mapping: Path
) -> Iterator[TableRow]:
    seen: set[str] = set()
    for path, row in rows:
        where = mapping.name + path.removeprefix(str(mapping))
        key = name_of(row, "custom_id", where)
        if key in seen:
            raise BatteryError(f"{where} names the `custom_id` {shown(key)} a second time: keep one row.")
        seen.add(key)
        answer = answers.pop(key, _MISSING)
        yield TableRow(mapping.name, answer.where or where, {**row, **answer.values}, answer.failure)


def _answers(sources: list[Source]) -> dict[str, _Answer]:
    answers: dict[str, _Answer] = {}
    for _, where, row in rows_of(sources):
        key = name_of(row, "custom_id", where)
        if key in answers:
            raise BatteryError(
                f"{where} answers the `custom_id` {shown(key)} as {answers[key].where} does: give one of them."
            )
        answers[key] = _answer(row, where)
    return answers


def _answer(row: dict[str, Any], where: str) -> _Answer:
    match value_of(row, "response", where), row.get("error"):
        case {"status_code": 200, "body": {"choices": [{"message": {**message}, **choice}], **body}}, _:
            values = (
                message.get("content"),
                choice.get("finish_reason"),
                body.get("model"),
                message.get("reasoning_content") or message.get("reasoning"),
            )
            return _Answer(where, dict(zip(_REPLY.values(), values, strict=True)), None)
        case {"status_code": 200}, _:
            raise BatteryError(
                f"{where} has not exactly one chat completion choice: only such replies are read."
            )
        case None, {"code": code} if code in _NEVER_RUN:
            return _Answer(where, _MISSING.values, "missing")
        case {"status_code": int(status)}, _:
            return _Answer(where, _MISSING.values, "request-refused" if status in REFUSED else "transport")
        case None, {"code": _}:
            return _Answer(where, _MISSING.values, "request-refused")
    raise BatteryError(f"{where} has neither a response nor an error: is it a batch output file?")


def _model(answers: dict[str, _Answer]) -> str:
    models = {str(answer.values["@model"]) for answer in answers.values() if answer.values["@model"]}
    if len(models) > 1:
        raise BatteryError(
            f"Several models answered ({', '.join(sorted(models))}): add a column `judge` to the mapping."
        )
    return models.pop() if models else "recorded"


OPENAI_BATCH = Format(
    name="openai-batch",
    read=_read,
    coding="no labels, replies only; item and order by custom_id, as the mapping file says",
    pattern="*.jsonl",
    mapping="a file of rows with custom_id, item and order",
)
