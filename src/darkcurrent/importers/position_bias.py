"""The `record_<judge>_<prompt>.tsv` files of Position-Bias-Analyzer: one call per row, replies only.

Coding: there are no labels, only the judge's reply in a last column that has the judge's name. `cmp_index` is
`question;model in slot A;model in slot B`, so that a pair's two orders are two rows: in order AB slot A holds the
model whose name sorts first. `answer1_*` are the texts of slot A over two turns. A folder `Repetition<n>...` above
the file is the repetition. The option number at the end of the file's name is the prompt (criterion). Quoted fields
hold line ends. There is no gold label.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from darkcurrent.batteries.rows import shown
from darkcurrent.errors import BatteryError
from darkcurrent.importers.observation import Format, Intake, Observation, Source, name_of, rows_of, text_of

__all__ = ["POSITION_BIAS"]

_NAME = re.compile(r"record_(?P<judge>.+)_(?P<prompt>[^_]+)\.tsv")
_REPETITION = re.compile(r"Repetition([0-9]{1,9})\b")
_TURNS = (1, 2)


def _read(sources: list[Source], mapping: Path | None) -> Intake:
    intake = Intake()
    for source, where, row in rows_of(sources):
        name = _NAME.fullmatch(source.path.name)
        if name is None:
            raise BatteryError(
                f"{source.path} is not called record_<judge>_<prompt>.tsv, which says who judged: rename it."
            )
        question, model_a, model_b = _index(row, where)
        in_order = model_a <= model_b
        order: Literal["AB", "BA"] = "AB" if in_order else "BA"
        slots = _text(row, "answer1", where), _text(row, "answer2", where)
        first, second = sorted((model_a, model_b))
        intake.observations.append(
            Observation(
                where=where,
                judge=name["judge"],
                criterion=f"prompt-{name['prompt']}",
                item=f"{question}/{first}/{second}",
                stratum=name_of(row, "task", where),
                cluster=question,
                order=order,
                repetition=_repetition(source.path),
                first=first,
                second=second,
                texts=slots if in_order else slots[::-1],
                prompt=_text(row, "question", where),
                reply=text_of(row, name["judge"], where),
            )
        )
    return intake


def _index(row: dict[str, Any], where: str) -> list[str]:
    index = name_of(row, "cmp_index", where)
    parts = index.split(";")
    if len(parts) != 3 or not all(parts):
        raise BatteryError(
            f"{where}: `cmp_index` is {shown(index)}, not a question and two models with `;` between."
        )
    return parts


def _text(row: dict[str, Any], name: str, where: str) -> str:
    """Return the texts of both turns as one."""
    return "\n\n".join(text_of(row, f"{name}_{turn}", where) for turn in _TURNS)


def _repetition(path: Path) -> int:
    for folder in reversed(path.resolve().parts[:-1]):
        found = _REPETITION.match(folder)
        if found:
            return int(found[1])
    return 1


POSITION_BIAS = Format(
    name="position-bias",
    read=_read,
    coding="no labels, replies only; cmp_index is question;model in slot A;model in slot B",
    pattern="record_*.tsv",
    contract="bracket",
)
