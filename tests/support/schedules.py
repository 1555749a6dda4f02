"""Schedules for tests that need some calls."""

from __future__ import annotations

from typing import Any

from darkcurrent.canonical import digest_text
from darkcurrent.protocol.model import ScheduleTable
from darkcurrent.records import Battery, Call, Comparison, Item
from darkcurrent.schedules import Plan, calls_of, plan

__all__ = ["battery_of", "hash_schedule", "scheduled"]

_ROLES = ("chosen", "rejected", "equivalent", "third", "edge-empty", "edge-whitespace")
_ARMS: dict[str, dict[str, Any]] = {
    "clone": {"arm": "clone", "u": "chosen", "v": "chosen", "null_stratum": "core"},
    "signal": {"arm": "signal", "u": "chosen", "v": "rejected", "target": "chosen"},
    "equivalent": {"arm": "equivalent", "u": "chosen", "v": "equivalent"},
    "easy": {"arm": "ladder", "u": "chosen", "v": "rejected", "target": "chosen", "step": "gap-5"},
    "hard": {"arm": "ladder", "u": "chosen", "v": "equivalent", "target": "chosen", "step": "gap-1"},
    "hard-too": {
        "arm": "ladder",
        "u": "equivalent",
        "v": "rejected",
        "target": "equivalent",
        "step": "gap-1",
    },
    "absent": {"arm": "signal", "u": "chosen", "v": "rejected", "target": "chosen", "context": "absent"},
    "present": {
        "arm": "signal",
        "u": "chosen",
        "v": "rejected",
        "target": "chosen",
        "context": "present",
        "third": "third",
    },
    "edge-empty": {"arm": "clone", "u": "edge-empty", "v": "edge-empty", "null_stratum": "edge-empty"},
    "edge-whitespace": {
        "arm": "clone",
        "u": "edge-whitespace",
        "v": "edge-whitespace",
        "null_stratum": "edge-whitespace",
    },
}


def hash_schedule(
    battery: Battery, rubrics: dict[str, str], configuration: str, identity: str, seed: int
) -> tuple[Call, ...]:
    """Return the calls of one configuration in the order of their hashes."""
    made = plan(ScheduleTable(kind="hash", seed=seed), battery, rubrics)
    return calls_of(made, battery, rubrics, configuration, identity)


def battery_of(
    count: int, arms: tuple[str, ...] = ("clone", "signal"), edges: int = 0, strata: int = 6
) -> Battery:
    """Return a battery of so many items in so many strata; the first `edges` items have two edge clones besides."""
    items, comparisons = [], []
    for number in range(count):
        name = f"item-{number:03d}"
        items.append(
            Item(
                id=name,
                stratum=f"s{number % strata}",
                cluster=name,
                prompt=digest_text(name),
                texts={role: digest_text(f"{role} of {name}") for role in _ROLES},
            )
        )
        comparisons += [Comparison(item=name, **_ARMS[arm]) for arm in arms]
        if number < edges:
            comparisons += [Comparison(item=name, **_ARMS[arm]) for arm in ("edge-empty", "edge-whitespace")]
    return Battery(items=tuple(items), comparisons=tuple(comparisons), texts={})


def scheduled(
    kind: Any, battery: Battery, criteria: tuple[str, ...] = ("neutral", "strict"), seed: int = 1
) -> tuple[ScheduleTable, Plan, tuple[Call, ...]]:
    """Return the table, the plan and the calls of one configuration."""
    table = ScheduleTable(kind=kind, seed=seed)
    made = plan(table, battery, criteria)
    rubrics = {criterion: digest_text(criterion) for criterion in criteria}
    return table, made, calls_of(made, battery, rubrics, "judge", "1" * 64)
