"""The battery `ladder`: contrasts of known size, from none to five required elements."""

from __future__ import annotations

from typing import Any

from darkcurrent.batteries.ladder.certify import certify, pairs
from darkcurrent.batteries.ladder.tasks import LEVELS, Task, load_tasks
from darkcurrent.canonical import digest_text
from darkcurrent.records import Battery, Comparison, Item

__all__ = ["build"]


def build() -> Battery:
    """Build the battery, and prove it while doing so.

    Returns
    -------
    Battery
        Ten items, each with 6 pairs of gap 0 (one level in two wordings, no target) and 15 pairs of two levels, whose
        target is the higher one: 5 of gap 1, 4 of gap 2, and so on. `receipts["ladder"]` has the lengths of each
        task's pairs by step, and their totals.

    Raises
    ------
    BatteryError
        Where a text is not what its level says, or a pair differs too much in length.
    """
    tasks = load_tasks()
    receipts = {task.name: certify(task) for task in tasks}
    return Battery(
        items=tuple(map(_item, tasks)),
        comparisons=tuple(comparison for task in tasks for comparison in _comparisons(task)),
        texts={
            digest_text(text): text
            for task in tasks
            for text in (task.prompt, *(task.text(level, wording) for level in LEVELS for wording in (0, 1)))
        },
        receipts={"ladder": {"tasks": receipts, "totals": _totals(receipts)}},
    )


def _item(task: Task) -> Item:
    return Item(
        id=f"ladder/{task.name}",
        stratum="ladder",
        cluster=f"ladder/{task.name}",
        prompt=digest_text(task.prompt),
        texts={
            _role(level, wording): digest_text(task.text(level, wording))
            for level in LEVELS
            for wording in (0, 1)
        },
    )


def _role(level: int, wording: int) -> str:
    return f"level-{level}" if wording == 0 else f"level-{level}-reworded"


def _comparisons(task: Task) -> list[Comparison]:
    return [
        Comparison(
            item=f"ladder/{task.name}",
            arm="ladder",
            u=_role(*first),
            v=_role(*second),
            target=None if step == "gap-0" else _role(*first),
            step=step,
        )
        for step, kinds in pairs().items()
        for first, second in kinds
    ]


def _totals(receipts: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Put the tasks' measures together: sums of counts, largest ratios."""
    return {
        step: {
            "pairs": sum(receipt[step]["pairs"] for receipt in receipts.values()),
            **{
                unit: {
                    name: (max if name == "ratio" else sum)(
                        receipt[step][unit][name] for receipt in receipts.values()
                    )
                    for name in ("ratio", "longer", "shorter", "equal")
                }
                for unit in ("words", "characters")
            },
        }
        for step in pairs()
    }
