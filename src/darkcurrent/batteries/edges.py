"""Clones of nothing: two empty or two white-space candidates under a real prompt."""

from __future__ import annotations

from darkcurrent.canonical import digest_text
from darkcurrent.errors import BatteryError
from darkcurrent.records import Battery, Comparison, NullStratum

__all__ = ["EDGES", "null_stratum_of", "with_edge_controls"]

EDGES: tuple[tuple[str, NullStratum, str], ...] = (
    ("empty", "edge-empty", ""),
    ("whitespace", "edge-whitespace", " \n\t\n "),
)
"""Role, null stratum and text of each edge control."""


def null_stratum_of(text: str) -> NullStratum:
    """Return the null stratum of a clone of this text."""
    return "core" if text.strip() else "edge-whitespace" if text else "edge-empty"


def with_edge_controls(battery: Battery, count: int) -> Battery:
    """Add the edge controls to `count` items, chosen by the hash of their ids.

    Raises
    ------
    BatteryError
        Where the battery has fewer items.
    """
    if count > len(battery.items):
        raise BatteryError(
            f"`battery.edge_controls` is {count}, but the battery has {len(battery.items)} items: lower it, or take more items."
        )
    if count == 0:
        return battery
    chosen = {
        item.id
        for item in sorted(battery.items, key=lambda item: digest_text(f"edge controls\n{item.id}"))[:count]
    }
    digests = {role: digest_text(text) for role, _, text in EDGES}
    items = tuple(
        item.model_copy(update={"texts": {**item.texts, **digests}}) if item.id in chosen else item
        for item in battery.items
    )
    added = tuple(
        Comparison(item=item.id, arm="clone", u=role, v=role, null_stratum=stratum)
        for item in items
        if item.id in chosen
        for role, stratum, _ in EDGES
    )
    texts = {**battery.texts, **{digests[role]: text for role, _, text in EDGES}}
    return battery.model_copy(
        update={"items": items, "comparisons": battery.comparisons + added, "texts": texts}
    )
