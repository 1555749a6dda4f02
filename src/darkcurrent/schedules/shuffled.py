"""Schedule `shuffle`: one random permutation of all calls, drawn from the declared seed and used by every configuration.

It is drawn over everything at once. No assignment with constraints that a test could draw again is stored, so that
it gives no randomization test.
"""

from __future__ import annotations

from collections.abc import Iterable

from darkcurrent.records import Battery
from darkcurrent.schedules.asked import Plan, everything
from darkcurrent.schedules.stream import Stream

__all__ = ["PURPOSE", "shuffled"]

PURPOSE = "shuffle"


def shuffled(battery: Battery, criteria: Iterable[str], seed: int) -> Plan:
    """Return the plan."""
    asked = Stream(seed, PURPOSE).shuffled(everything(battery, criteria))
    return Plan([(0, one) for one in asked])
