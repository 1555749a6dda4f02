"""Inspect's `.eval` logs, through Inspect's own reader (extra `inspect`).

Coding: as the mapping declares, like a `table` whose rows are the samples. A row has the columns `id`, `epoch`,
`input`, `target`, `completion`, `stop_reason`, `model`, `served_model`, `reasoning`, `error`, `metadata.<key>`, and
for each score `score.<name>` and `answer.<name>`. Of these `id`, `epoch` (the repetition), `completion`,
`stop_reason`, `model`, `served_model`, `reasoning` and `error` need not be declared. A sample that ended with an
error is no verdict. A log that is not complete is read, and the study says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from darkcurrent.errors import BatteryError, MissingExtraError, UsageError
from darkcurrent.importers.mapping import load_mapping
from darkcurrent.importers.observation import Format, Intake, Source
from darkcurrent.importers.table import TableRow, observe

__all__ = ["INSPECT", "rows_of_log"]

_COLUMNS = {
    "item": "id",
    "repetition": "epoch",
    "reply": "completion",
    "finish": "stop_reason",
    "judge": "model",
    "served_model": "served_model",
    "reasoning": "reasoning",
    "error": "error",
}
_FINISHES = {"model_length": "length"}
"""Inspect's own words for a reply that was cut; its others are the contracts' words too."""


def rows_of_log(log: Any, name: str) -> Iterator[TableRow]:
    """Yield the samples of an Inspect log (`inspect_ai.log.EvalLog`) as rows."""
    for sample in log.samples or []:
        choices = sample.output.choices
        message = choices[0].message if choices else None
        stop = choices[0].stop_reason if choices else None
        row: dict[str, Any] = {
            "id": sample.id,
            "epoch": sample.epoch,
            "input": sample.input if isinstance(sample.input, str) else None,
            "target": sample.target,
            "completion": None if message is None else sample.output.completion,
            "stop_reason": _FINISHES.get(str(stop), stop),
            "model": log.eval.model,
            "served_model": sample.output.model or None,
            "reasoning": message is not None and _has_reasoning(message.content),
            "error": None if sample.error is None else sample.error.message,
            **{f"metadata.{key}": value for key, value in (sample.metadata or {}).items()},
        }
        for score_name, score in (sample.scores or {}).items():
            row |= {f"score.{score_name}": score.value, f"answer.{score_name}": score.answer}
        yield TableRow(name, f"{name}: sample {sample.id}, epoch {sample.epoch}", row)


def _has_reasoning(content: Any) -> bool:
    return isinstance(content, list) and any(getattr(part, "type", None) == "reasoning" for part in content)


def _read(sources: list[Source], mapping: Path | None) -> Intake:
    if mapping is None:
        raise UsageError(
            "The format inspect needs --mapping FILE, which says where item, order and label are."
        )
    declared = load_mapping(mapping, _COLUMNS)
    intake = Intake()
    for source in sources:
        log = _log(source)
        if log.status != "success":
            intake.notes.append(
                f"{source.name} is not complete: its status is {log.status}, and it holds {len(log.samples or [])} samples"
            )
        if not log.samples:
            raise BatteryError(
                f"{source.path} holds no samples: give a log that was written with its samples."
            )
        intake.observations += observe(rows_of_log(log, source.name), declared)
    return intake


def _log(source: Source) -> Any:
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise MissingExtraError("The format inspect", "inspect") from error
    try:
        return read_eval_log(str(source.path), resolve_attachments=True)
    except Exception as error:  # a foreign reader may raise anything on a file that is no log
        raise BatteryError(
            f"{source.path} cannot be read as an Inspect log ({type(error).__name__}): give a .eval or .json log."
        ) from error


INSPECT = Format(
    name="inspect",
    read=_read,
    coding="as the mapping file declares; rows are samples, repetitions are epochs",
    pattern="*.eval",
    mapping="a TOML file that declares where item, order and labels are",
)
