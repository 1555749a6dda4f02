"""What a simulated judge says in a study, counted by plain loops: without capture, contract, ledger or analysis."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import pytest

from darkcurrent.judges.simulated import Key, SimulatedJudge
from darkcurrent.protocol.configurations import SimulatedConfiguration
from darkcurrent.records import Call
from darkcurrent.study import Study

__all__ = ["Counted", "count", "near", "said"]


def near(share: float, draws: int) -> Any:
    """Return what a share of so many independent draws may be: within 3.5 standard deviations of what was planted."""
    return pytest.approx(share, abs=3.5 * math.sqrt(share * (1 - share) / draws))


@dataclass
class Counted:
    """Counts of one cell.

    Attributes
    ----------
    core : tuple of int
        Clones with text, and those of them that are not tied.
    verdicts : tuple of int
        Signal calls: correct, tie, wrong, invalid.
    orders : dict
        Order to signal calls that chose the target.
    scores : dict
        Stratum to the mean success of each of its items.
    """

    core: tuple[int, int] = (0, 0)
    verdicts: tuple[int, int, int, int] = (0, 0, 0, 0)
    orders: dict[str, int] = field(default_factory=dict)
    scores: dict[str, list[float]] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """The mean over all items."""
        scores = [score for own in self.scores.values() for score in own]
        return sum(scores) / len(scores)


def said(study: Study, name: str) -> list[tuple[Call, str | None]]:
    """Return each call with the slot that the judge names, `tie`, or None where its answer is not the bare object."""
    configuration, texts = study.configuration(name), study.frozen.texts
    assert isinstance(configuration, SimulatedConfiguration)
    judge = SimulatedJudge(configuration.properties, Key.of(study.frozen))
    found: list[tuple[Call, str | None]] = []
    for call in study.frozen.schedule(name):
        shown = [texts[key] for key in (call.rubric, call.prompt, call.text_a, call.text_b)]
        answer = judge.answer(*shown, *([texts[call.text_c]] if call.text_c else []))
        found.append((call, json.loads(answer)["winner"] if answer.startswith("{") else None))
    return found


def count(study: Study, name: str, criterion: str) -> Counted:
    """Return the counts of one cell."""
    counted = Counted()
    core, verdicts, orders = [0, 0], [0, 0, 0, 0], {"AB": 0, "BA": 0}
    items: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for call, slot in said(study, name):
        if call.criterion != criterion:
            continue
        if call.null_stratum == "core":
            core[0] += 1
            core[1] += slot != "tie"
        elif call.arm == "signal":
            right = slot in ("A", "B") and {"A": call.slot_a, "B": call.slot_b}[slot] == call.target
            verdicts[3 if slot is None else 1 if slot == "tie" else 0 if right else 2] += 1
            orders[call.order] += right
            items[call.stratum, call.item].append(right)
    counted.core, counted.orders = (core[0], core[1]), orders
    counted.verdicts = (verdicts[0], verdicts[1], verdicts[2], verdicts[3])
    for (stratum, _), successes in items.items():
        counted.scores.setdefault(stratum, []).append(sum(successes) / len(successes))
    return counted
