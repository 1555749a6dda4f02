"""What is to be asked, whatever the order and whoever answers: each comparison under each criterion, in each order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from darkcurrent.canonical import digest
from darkcurrent.records import Battery, Call, Comparison, Order
from darkcurrent.schedules.assignment import StoredAssignment

__all__ = [
    "Asked",
    "Plan",
    "calls_of",
    "comparison_key",
    "everything",
    "kind_of",
    "orders_of",
    "treatments_of",
]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, before it is known when and whom."""

    comparison: Comparison
    criterion: str
    order: Order


@dataclass(frozen=True, slots=True)
class Plan:
    """The order of the calls, the same for every configuration.

    Attributes
    ----------
    steps : sequence of (int, Asked)
        In dispatch order, each with its temporal block.
    assignment : StoredAssignment or None
        What was drawn at random, where that gives a randomization test.
    """

    steps: Sequence[tuple[int, Asked]]
    assignment: StoredAssignment | None = None


def orders_of(comparison: Comparison) -> tuple[Order, ...]:
    """Return the orders in which a comparison is shown: identical texts have none."""
    return ("IDENTICAL",) if comparison.arm == "clone" else ("AB", "BA")


def treatments_of(comparison: Comparison, criteria: Iterable[str]) -> list[tuple[str, Order]]:
    """Return what a comparison is asked under: every criterion, in every order."""
    return [(criterion, order) for criterion in criteria for order in orders_of(comparison)]


def kind_of(of: Comparison | Call) -> tuple[str, str, str, str]:
    """Return what tells the arms of an item apart: arm, null stratum, step and context."""
    return of.arm, of.null_stratum or "", of.step or "", of.context or ""


def comparison_key(comparison: Comparison) -> tuple[str, ...]:
    """Return what comparisons are sorted by, so that the order of a source says nothing."""
    return (comparison.item, *kind_of(comparison), comparison.u, comparison.v)


def everything(battery: Battery, criteria: Iterable[str]) -> list[Asked]:
    """Return all that is to be asked, sorted."""
    criteria = sorted(criteria)
    return [
        Asked(comparison, criterion, order)
        for comparison in sorted(battery.comparisons, key=comparison_key)
        for criterion, order in treatments_of(comparison, criteria)
    ]


def calls_of(
    plan: Plan, battery: Battery, rubrics: Mapping[str, str], configuration: str, identity: str
) -> tuple[Call, ...]:
    """Return the calls of one configuration in dispatch order.

    Parameters
    ----------
    plan : Plan
        Who is asked what, and when.
    battery : Battery
        Where the texts are.
    rubrics : mapping of str to str
        Criterion name to the digest of its rubric.
    configuration, identity : str
        The configuration's name and its digest.
    """
    items = {item.id: item for item in battery.items}
    calls = []
    for position, (block, asked) in enumerate(plan.steps):
        comparison, item = asked.comparison, items[asked.comparison.item]
        u, v = comparison.u, comparison.v
        slot_a, slot_b = (v, u) if asked.order == "BA" else (u, v)
        fields: dict[str, Any] = {
            **comparison.model_dump(exclude={"u", "v"}),
            "criterion": asked.criterion,
            "order": asked.order,
            "slot_a": slot_a,
            "slot_b": slot_b,
            "rubric": rubrics[asked.criterion],
            "prompt": item.prompt,
            "text_a": item.texts[slot_a],
            "text_b": item.texts[slot_b],
            "text_c": item.texts[comparison.third] if comparison.third else None,
        }
        calls.append(
            Call(
                call_id=digest({"configuration": configuration, "identity": identity, **fields}),
                position=position,
                block=block,
                configuration=configuration,
                stratum=item.stratum,
                cluster=item.cluster,
                **fields,
            )
        )
    return tuple(calls)
