"""Edge controls: clones of nothing, apart from clones of texts."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.batteries.edges import null_stratum_of, with_edge_controls
from darkcurrent.canonical import digest_text
from darkcurrent.errors import BatteryError
from darkcurrent.records import Battery, Comparison, Item


def _battery(names: list[str]) -> Battery:
    key = digest_text("text")
    return Battery(
        items=tuple(
            Item(id=name, stratum="s", cluster=name, prompt=key, texts={"chosen": key}) for name in names
        ),
        comparisons=tuple(
            Comparison(item=name, arm="clone", u="chosen", v="chosen", null_stratum="core") for name in names
        ),
        texts={key: "text"},
    )


@pytest.mark.parametrize(
    ("text", "stratum"),
    [
        ("", "edge-empty"),
        (" ", "edge-whitespace"),
        ("\r\n\t\u2028\u00a0\u3000", "edge-whitespace"),
        ("x", "core"),
        (" . ", "core"),
        ("\ufeff", "core"),
        ("\u200b", "core"),
        ("\x00", "core"),
        ("\ud800", "core"),
    ],
)
def test_the_null_stratum_of_a_clone(text, stratum):
    assert null_stratum_of(text) == stratum


@given(st.sets(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=8), st.data())
def test_so_many_items_get_one_clone_of_each_kind(names, data):
    battery = _battery(sorted(names))
    count = data.draw(st.integers(0, len(names)))
    shown = with_edge_controls(battery, count)
    added = shown.comparisons[len(battery.comparisons) :]
    assert shown.comparisons[: len(battery.comparisons)] == battery.comparisons
    assert Counter(comparison.null_stratum for comparison in added) == Counter(
        {"edge-empty": count, "edge-whitespace": count}
    )
    assert len({comparison.item for comparison in added}) == count
    items = {item.id: item for item in shown.items}
    assert [item.id for item in shown.items] == [item.id for item in battery.items]
    for comparison in added:
        assert (comparison.arm, comparison.u, comparison.target) == ("clone", comparison.v, None)
        text = shown.texts[items[comparison.item].texts[comparison.u]]
        assert null_stratum_of(text) == comparison.null_stratum
    # Which items they are depends on the ids alone, and more controls keep the ones there were.
    chosen = {comparison.item for comparison in added}
    again = with_edge_controls(_battery(sorted(names, reverse=True)), count)
    assert {c.item for c in again.comparisons if c.null_stratum != "core"} == chosen
    if count:
        fewer = with_edge_controls(battery, count - 1)
        assert {c.item for c in fewer.comparisons if c.null_stratum != "core"} < chosen


def test_no_controls_change_nothing():
    battery = _battery(["a"])
    assert with_edge_controls(battery, 0) == battery


def test_more_controls_than_items_are_an_error():
    with pytest.raises(BatteryError, match=r"`battery\.edge_controls` is 3, but the battery has 2 items"):
        with_edge_controls(_battery(["a", "b"]), 3)
