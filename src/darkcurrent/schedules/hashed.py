"""Schedule `hash`: the order of calls is the order of their hashes under a declared seed.

The order is the same for every configuration of a study, spreads arms, orders and criteria over the campaign
without a pattern, and needs no random generator. It is no random assignment: it gives no randomization test.
"""

from __future__ import annotations

from collections.abc import Iterable

from darkcurrent.canonical import digest
from darkcurrent.records import Battery, Call
from darkcurrent.schedules.asked import Asked, Plan, everything

__all__ = ["hashed", "place_of_call"]

_KEYS = ("criterion", "item", "arm", "order", "slot_a", "slot_b", "context")


def hashed(battery: Battery, criteria: Iterable[str], seed: int) -> Plan:
    """Return the plan; the seed changes the order and nothing else."""
    asked = sorted(everything(battery, criteria), key=lambda one: _place(one, seed))
    return Plan([(0, one) for one in asked])


def place_of_call(call: Call, seed: int) -> str:
    """Return the digest that a call has its place by."""
    fields = call.model_dump(include=set(_KEYS), exclude_none=True)
    return digest({"seed": seed, **fields})


def _place(asked: Asked, seed: int) -> str:
    comparison = asked.comparison
    slots = (comparison.v, comparison.u) if asked.order == "BA" else (comparison.u, comparison.v)
    values = (asked.criterion, comparison.item, comparison.arm, asked.order, *slots, comparison.context)
    fields = {key: value for key, value in zip(_KEYS, values, strict=True) if value is not None}
    return digest({"seed": seed, **fields})
