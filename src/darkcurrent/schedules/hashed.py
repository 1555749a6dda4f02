"""Schedule `hash`: the order of calls is the order of their hashes under a declared seed.

The order is the same for every configuration of a study, spreads arms, orders and criteria over the campaign
without a pattern, and needs no random generator. It is no random assignment: it gives no randomization test.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from darkcurrent.canonical import digest
from darkcurrent.records import Battery, Call, Comparison, Order

__all__ = ["hash_schedule"]


def hash_schedule(
    battery: Battery, rubrics: Mapping[str, str], configuration: str, identity: str, seed: int
) -> tuple[Call, ...]:
    """Return the calls of one configuration in dispatch order.

    Parameters
    ----------
    battery : Battery
        What is compared.
    rubrics : mapping of str to str
        Criterion name to the digest of its rubric.
    configuration, identity : str
        The configuration's name and its digest.
    seed : int
        Changes the order and nothing else.
    """
    items = {item.id: item for item in battery.items}
    drafts: list[tuple[str, dict[str, Any]]] = []
    for comparison in battery.comparisons:
        item = items[comparison.item]
        for criterion, rubric in rubrics.items():
            for order in _orders(comparison):
                slot_a, slot_b = (
                    (comparison.v, comparison.u) if order == "BA" else (comparison.u, comparison.v)
                )
                fields = {
                    "criterion": criterion,
                    "item": item.id,
                    "arm": comparison.arm,
                    "null_stratum": comparison.null_stratum,
                    "order": order,
                    "slot_a": slot_a,
                    "slot_b": slot_b,
                    "target": comparison.target,
                    "rubric": rubric,
                    "prompt": item.prompt,
                    "text_a": item.texts[slot_a],
                    "text_b": item.texts[slot_b],
                    "step": comparison.step,
                    "context": comparison.context,
                    "third": comparison.third,
                    "text_c": item.texts[comparison.third] if comparison.third else None,
                }
                place = digest(
                    {
                        "seed": seed,
                        **{
                            key: fields[key]
                            for key in ("criterion", "item", "arm", "order", "slot_a", "slot_b", "context")
                            if fields[key] is not None
                        },
                    }
                )
                drafts.append((place, fields))
    drafts.sort(key=lambda draft: draft[0])
    return tuple(
        Call(
            call_id=digest({"configuration": configuration, "identity": identity, **fields}),
            position=position,
            block=0,
            configuration=configuration,
            stratum=items[fields["item"]].stratum,
            cluster=items[fields["item"]].cluster,
            **fields,
        )
        for position, (_, fields) in enumerate(drafts)
    )


def _orders(comparison: Comparison) -> tuple[Order, ...]:
    return ("IDENTICAL",) if comparison.arm == "clone" else ("AB", "BA")
