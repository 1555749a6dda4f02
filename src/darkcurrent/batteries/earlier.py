"""Source `study`: the items of an earlier study, exactly as they were frozen, for another schedule or other judges."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from darkcurrent.batteries.select import earlier_study
from darkcurrent.canonical import digest_text
from darkcurrent.errors import BatteryError
from darkcurrent.protocol.freeze import Frozen
from darkcurrent.protocol.model import Criterion
from darkcurrent.protocol.outside import StudyBattery
from darkcurrent.protocol.rubrics import rubric_text
from darkcurrent.records import Battery, Call, Comparison, Refusal

__all__ = ["read_earlier"]


def read_earlier(table: StudyBattery, criteria: dict[str, Criterion], folder: Path) -> Battery:
    """Return the items and comparisons of an earlier study.

    What it compared is read from its schedule: no verdict is looked at. Its receipts come along, and its refusals stay
    where they are: `receipts["study"]` names its digest.

    Parameters
    ----------
    criteria : dict of str to Criterion
        Those of this study. One that the earlier study has by the same name must have the same rubric.

    Raises
    ------
    BatteryError
        Where there is no such study, it lacks an arm or a stratum that is asked for, or a criterion differs.
    IntegrityError
        Where a file of it is not what was frozen.
    """
    frozen = earlier_study(folder, table.path, "battery.path")
    calls = frozen.schedule(frozen.protocol.configuration[0].name)
    instruction = frozen.receipt("instruction") or ""
    _same_rubrics(criteria, calls, instruction, folder, table.path)
    comparisons = _comparisons(calls)
    arms = sorted({one.arm for one in comparisons})
    strata = sorted({item.stratum for item in frozen.items})
    if "arms" in table.model_fields_set:
        _known(table.arms, arms, "battery.arms", table.path)
    if table.strata is not None:
        _known(table.strata, strata, "battery.strata", table.path)
    within = {
        item.id: number
        for number, item in enumerate(frozen.items)
        if table.strata is None or item.stratum in table.strata
    }
    taken = [one for one in comparisons if one.arm in table.arms and one.item in within]
    shown = {one.item for one in taken}
    items = tuple(item for item in frozen.items if item.id in shown)
    keys = {key for item in items for key in (item.prompt, *item.texts.values())}
    receipts = {
        name: frozen.receipt(name)
        for name in (file.removeprefix("receipts/").removesuffix(".json") for file in frozen.digests)
        if f"receipts/{name}.json" in frozen.digests and name != "instruction"
    }
    return Battery(
        items=items,
        comparisons=tuple(sorted(taken, key=lambda one: (within[one.item], *_place(one)))),
        texts={key: frozen.texts[key] for key in keys},
        refusals=tuple(
            Refusal(
                where=item.id,
                stratum=item.stratum,
                arm=None,
                reason="`battery` does not ask for its stratum or arms",
            )
            for item in frozen.items
            if item.id not in shown
        ),
        receipts={**receipts, "study": _receipt(frozen, receipts, len(items))},
        instruction=instruction,
    )


def _receipt(frozen: Frozen, receipts: dict[str, Any], items: int) -> dict[str, Any]:
    return {
        "study": frozen.protocol.study.name,
        "study_digest": frozen.study_digest,
        "items": len(frozen.items),
        "taken": items,
        "earlier": receipts.get("study"),
    }


def _comparisons(calls: tuple[Call, ...]) -> list[Comparison]:
    """Return what a schedule compares: its calls without criterion and order."""
    found: dict[tuple[Any, ...], Comparison] = {}
    for call in calls:
        u, v = (call.slot_b, call.slot_a) if call.order == "BA" else (call.slot_a, call.slot_b)
        one = Comparison(
            item=call.item,
            arm=call.arm,
            u=u,
            v=v,
            target=call.target,
            null_stratum=call.null_stratum,
            step=call.step,
            context=call.context,
            third=call.third,
        )
        found[(one.item, *_place(one))] = one
    return list(found.values())


def _place(one: Comparison) -> tuple[str, ...]:
    return (one.arm, one.null_stratum or "", one.step or "", one.u, one.v, one.context or "")


def _known(asked: Sequence[str], known: Sequence[str], key: str, path: str) -> None:
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise BatteryError(
            f"`{key}` names `{unknown[0]}`, and the study {path} has only {', '.join(f'`{name}`' for name in known)}: correct it."
        )


def _same_rubrics(
    criteria: dict[str, Criterion], calls: tuple[Call, ...], instruction: str, folder: Path, path: str
) -> None:
    """Refuse a criterion that has the earlier study's name and other words: the two would be compared as one."""
    earlier = {call.criterion: call.rubric for call in calls}
    for name, criterion in criteria.items():
        if earlier.get(name, "") not in ("", digest_text(rubric_text(name, criterion, folder, instruction))):
            raise BatteryError(
                f"The criterion `{name}` has another rubric than in the study {path}: use the same one, or another name."
            )
