"""Schedules for tests that need some calls."""

from __future__ import annotations

from darkcurrent.protocol.model import ScheduleTable
from darkcurrent.records import Battery, Call
from darkcurrent.schedules import calls_of, plan

__all__ = ["hash_schedule"]


def hash_schedule(
    battery: Battery, rubrics: dict[str, str], configuration: str, identity: str, seed: int
) -> tuple[Call, ...]:
    """Return the calls of one configuration in the order of their hashes."""
    made = plan(ScheduleTable(kind="hash", seed=seed), battery, rubrics)
    return calls_of(made, battery, rubrics, configuration, identity)
