"""The proof, sentence by sentence, that a task's texts are what their levels say, and how long they are."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

from darkcurrent.batteries.ladder.tasks import LEVELS, Task
from darkcurrent.errors import BatteryError
from darkcurrent.records import STEPS, Step

__all__ = ["MOST_RATIO", "certify", "pairs"]

MOST_RATIO = 1.073
"""How many times as many words as the other the longer text of a pair may have (arXiv:2606.15610, appendix A)."""

Text = tuple[int, int]
"""Level and wording of a text."""


def pairs() -> dict[Step, tuple[tuple[Text, Text], ...]]:
    """Return the pairs of every task by step; in a pair of two levels, the higher one comes first."""
    levels = [((higher, 0), (lower, 0)) for lower, higher in combinations(LEVELS, 2)]
    found: dict[Step, tuple[tuple[Text, Text], ...]] = {
        "gap-0": tuple(((level, 0), (level, 1)) for level in LEVELS)
    }
    for gap, step in enumerate(STEPS[1 : len(LEVELS)], start=1):
        found[step] = tuple(pair for pair in levels if pair[0][0] - pair[1][0] == gap)
    return found


def certify(task: Task) -> dict[str, Any]:
    """Check every text of a task against its checklist, and measure every pair.

    Returns
    -------
    dict
        By step: how many `pairs`, and for `words` and `characters` the largest `ratio` of the longer to the shorter
        text, and in how many pairs the first text (the higher level) is `longer`, `shorter` or `equal`.

    Raises
    ------
    BatteryError
        Where a sentence states an element that it should not, or does not state its own; where two sentences that
        stand for each other are the same; where the texts of a pair differ too much in length.
    """
    if len(task.elements) != LEVELS[-1]:
        raise BatteryError(f"{task.name}: a task has five elements, not {len(task.elements)}.")
    for index, element in enumerate(task.elements):
        if len({*element.said, *element.other}) != len(element.said) + len(element.other):
            raise BatteryError(f"{task.name}: element {index + 1} has two sentences that are the same.")
        for sentence, own in [(s, {index}) for s in element.said] + [(s, set()) for s in element.other]:
            stated = {
                number
                for number, other in enumerate(task.elements)
                if re.search(rf"\b{re.escape(other.marker)}\b", sentence, re.IGNORECASE)
            }
            if stated != own:
                raise BatteryError(
                    f"{task.name}: the sentence {sentence!r} states the elements {sorted(n + 1 for n in stated)}, "
                    f"not {sorted(n + 1 for n in own)}: correct it, or the markers."
                )
    return {step: _measure(task, step, kinds) for step, kinds in pairs().items()}


def _measure(task: Task, step: str, kinds: tuple[tuple[Text, Text], ...]) -> dict[str, Any]:
    texts = [(task.text(*first), task.text(*second)) for first, second in kinds]
    words = _lengths([(len(first.split()), len(second.split())) for first, second in texts])
    if words["ratio"] > MOST_RATIO:
        raise BatteryError(
            f"{task.name}: a pair of {step} has {words['ratio']:.3f} times as many words on one side as on the other, "
            f"more than {MOST_RATIO}."
        )
    characters = _lengths([(len(first), len(second)) for first, second in texts])
    return {"pairs": len(kinds), "words": words, "characters": characters}


def _lengths(pairs: list[tuple[int, int]]) -> dict[str, Any]:
    return {
        "ratio": max(max(pair) / min(pair) for pair in pairs),
        "longer": sum(first > second for first, second in pairs),
        "shorter": sum(first < second for first, second in pairs),
        "equal": sum(first == second for first, second in pairs),
    }
