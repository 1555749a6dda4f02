"""Recorded verdicts on known pairs, as an imported study."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from darkcurrent.auditing.rows import as_rows, plain, write_rows
from darkcurrent.auditing.study import Inputs
from darkcurrent.batteries.pairs import read_pairs
from darkcurrent.errors import BatteryError
from darkcurrent.importers import import_verdicts
from darkcurrent.protocol.batteries import PairsBattery
from darkcurrent.records import Battery, Item
from darkcurrent.study import Study

__all__ = ["import_recorded"]

_OPTIONAL = ("judge", "criterion", "repetition")
_WRITTEN = ("item", "order", "verdict", "first", "second", "gold", "stratum", "cluster", *_OPTIONAL)


def import_recorded(recorded: Any, pairs: Any, columns: Mapping[str, Any], name: str, folder: Path) -> Study:
    """Write an imported study of verdicts that were recorded on pairs.

    Parameters
    ----------
    recorded : path, list of dict, or DataFrame
        One row per call: `id` of the pair, `order` (`AB`: the chosen text stood in slot A; `BA`; `IDENTICAL`: it
        stood in both), `verdict` (`A`, `B`, `tie`, or `invalid` or null); `judge`, `criterion` and `repetition`
        where there are several.
    pairs, columns
        As in `audit`.
    name : str
        What the judge is called where no column says it.
    folder : Path
        The new study's folder.

    Raises
    ------
    BatteryError
        Where a row cannot be used.
    """
    rows = as_rows(recorded, "verdicts")
    if not rows:
        raise BatteryError("There is no recorded verdict: give one row or more.")
    present = {key for key in _OPTIONAL if key in rows[0]}
    battery = _battery(pairs, columns)
    items = {item.id: item for item in battery.items}
    with tempfile.TemporaryDirectory() as temporary:
        table, mapping = Path(temporary, "verdicts.jsonl"), Path(temporary, "mapping.toml")
        called = [_row(row, f"verdicts[{number}]", items, battery) for number, row in enumerate(rows)]
        write_rows(called, set(_WRITTEN), table, "verdicts")
        mapping.write_text(tomli_w.dumps(_mapping(name, present)), encoding="utf-8")
        import_verdicts("table", [table], folder, mapping=mapping)
    return Study(folder)


def _battery(pairs: Any, columns: Mapping[str, Any]) -> Battery:
    with tempfile.TemporaryDirectory() as temporary:
        written = Inputs({"name": "recorded"}, pairs, "neutral", columns, {}).write_pairs(Path(temporary))
        return read_pairs(PairsBattery.model_validate({"source": "pairs", **written}), Path(temporary))


def _row(row: Mapping[str, Any], where: str, items: Mapping[str, Item], battery: Battery) -> dict[str, Any]:
    for key in ("id", "order", "verdict"):
        if key not in row:
            raise BatteryError(f"{where} has no `{key}`: a recorded verdict has `id`, `order` and `verdict`.")
    item = items.get(str(row["id"]))
    if item is None:
        raise BatteryError(f"{where}: there is no pair with the id `{str(row['id'])[:60]}`.")
    order = row["order"]
    if order not in ("AB", "BA", "IDENTICAL"):
        raise BatteryError(f"{where}: `order` is {str(order)[:60]!r}: it is AB, BA or IDENTICAL.")
    verdict = "invalid" if plain(row["verdict"]) is None else row["verdict"]
    if verdict not in ("A", "B", "tie", "invalid"):
        raise BatteryError(
            f"{where}: `verdict` is {str(verdict)[:60]!r}: it is A, B, tie, or null for invalid."
        )
    clone = order == "IDENTICAL"
    other = item.texts.get("chosen" if clone else "rejected")
    if other is None:
        raise BatteryError(f"{where}: the pair `{item.id}` has no rejected text.")
    return {
        **{key: row[key] for key in _OPTIONAL if key in row},
        # Shown twice, a text is an item of its own: it has no better side.
        "item": f"{item.id}/clone" if clone else item.id,
        "order": "AB" if clone else order,
        "verdict": verdict,
        "first": battery.texts[item.texts["chosen"]],
        "second": battery.texts[other],
        "gold": "tie" if clone else "first",
        "stratum": item.stratum,
        "cluster": item.cluster,
    }


def _mapping(name: str, present: set[str]) -> dict[str, Any]:
    columns = {"item": "item", "label": "verdict", "first": "first", "second": "second"}
    return {
        "judge": name,
        "columns": {
            **columns,
            "stratum": "stratum",
            "cluster": "cluster",
            **{key: key for key in sorted(present)},
        },
        "order": {"by": "column", "column": "order", "AB": ["AB"], "BA": ["BA"]},
        "labels": {"A": ["A"], "B": ["B"], "tie": ["tie"], "invalid": ["invalid"]},
        "gold": {"column": "gold", "first": ["first"], "second": ["second"], "tie": ["tie"]},
    }
