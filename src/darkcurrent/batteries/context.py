"""The battery `context`: does a third program that cannot win change what is said of the other two?

Each pair of programs is compared twice: alone (`absent`), and with a third program behind it (`present`). Beside
two correct programs the third is a faulty one, and beside a correct and a faulty one it is the other correct one;
what each of the three is was proved by running it. What is asked is the same in both contexts, word for word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from darkcurrent.batteries import finite_code
from darkcurrent.records import Battery, Comparison, Context

__all__ = ["INSTRUCTION", "build"]

INSTRUCTION = (
    "The comparison is between A and B alone, and only they can win. Where a text C stands behind them, it is not "
    "eligible: it takes no part in the comparison and must not change the verdict."
)
"""What every system message says besides, in both contexts: the prompts of a pair differ in the third text alone."""

_PAIRS: dict[str, tuple[str, str | None, str]] = {
    "equivalent": ("equivalent", None, "faulty"),
    "signal": ("faulty", "reference", "equivalent"),
}
"""Arm to what the reference is compared with, the target, and the third program."""

_CONTEXTS: tuple[Context, ...] = ("absent", "present")


def build(arms: Sequence[Literal["equivalent", "signal"]], settings: Sequence[int]) -> Battery:
    """Build the battery, and prove it while doing so.

    Parameters
    ----------
    arms : sequence of str
        `equivalent`: the reference and the other correct program. `signal`: the reference and the faulty one.
    settings : sequence of int
        Which of the settings 0 to 11 of each of the eight families to take.

    Raises
    ------
    BatteryError
        Where a setting is unknown or stands twice, or where the oracle refutes a program.
    """
    proved = finite_code.build(arms=(), settings=settings)
    comparisons = tuple(
        _comparison(item.id, arm, context) for item in proved.items for arm in arms for context in _CONTEXTS
    )
    return proved.model_copy(update={"comparisons": comparisons, "instruction": INSTRUCTION})


def _comparison(item: str, arm: Literal["equivalent", "signal"], context: Context) -> Comparison:
    other, target, third = _PAIRS[arm]
    return Comparison(
        item=item,
        arm=arm,
        u="reference",
        v=other,
        target=target,
        context=context,
        third=third if context == "present" else None,
    )
