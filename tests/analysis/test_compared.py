"""Two ledgers of the same calls, against a comparison in plain dictionaries."""

from __future__ import annotations

from collections import Counter

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.analysis import SHOWN, ComparedCell, compare_cells
from darkcurrent.ledger import SCHEMA, winner_of_slot
from darkcurrent.patterns import classify
from darkcurrent.results import CellName

VALUES = st.sampled_from(["A", "B", "tie", None])


def cell(number, calls, prompts="item", digest="c", criterion="c", state="EVALUATED", **overrides):
    """A cell of calls (item, arm, order, value); `u` stands first in AB and is the target of a signal pair."""
    rows = []
    for item, arm, order, value in calls:
        slots = ("u", "u") if arm == "clone" else ("v", "u") if order == "BA" else ("u", "v")
        rows.append(
            {
                "configuration": "j",
                "criterion": criterion,
                "item": item,
                "stratum": "s",
                "arm": arm,
                "null_stratum": "core" if arm == "clone" else None,
                "order": order,
                "repetition": 1,
                "slot_a": slots[0],
                "slot_b": slots[1],
                "target": "u" if arm == "signal" else None,
                "ending": "terminal",
                "value": value,
                "rubric": "r",
                "prompt": f"p-{item}",
                "text_a": f"{item}-{slots[0]}",
                "text_b": f"{item}-{slots[1]}",
                "text_c": None,
                **overrides,
            }
        )
    schema = {**SCHEMA, **dict.fromkeys(SHOWN, pl.String)}
    frame = pl.DataFrame(rows, schema=schema).with_columns(winner=winner_of_slot())
    return ComparedCell(
        CellName(number=number, configuration="j", criterion=criterion, state=state), frame, prompts, digest
    )


ORDERS = {"clone": ("IDENTICAL",), "signal": ("AB", "BA"), "equivalent": ("AB", "BA")}


def said(arm, order, value):
    if value in ("tie", None):
        return value or "invalid"
    if arm == "clone":
        return {"A": "first", "B": "second"}[value]
    letter = "u" if (value == "A") == (order == "AB") else "v"
    return letter if arm == "equivalent" else {"u": "target", "v": "other"}[letter]


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abcde"), st.sampled_from(sorted(ORDERS))),
        st.tuples(VALUES, VALUES, VALUES, VALUES),
        max_size=9,
    )
)
def test_transitions_and_patterns_are_what_a_person_counts(asked):
    calls = [
        (item, arm, order, four[place], four[2 + place])
        for (item, arm), four in asked.items()
        for place, order in enumerate(ORDERS[arm])
    ]
    found = compare_cells(
        cell(1, [(*call[:3], call[3]) for call in calls]), cell(2, [(*call[:3], call[4]) for call in calls])
    )
    wanted = {arm: Counter() for arm in ORDERS}
    for _, arm, order, before, after in calls:
        wanted[arm][said(arm, order, before), said(arm, order, after)] += 1
    assert found.shared == len(calls)
    assert found.reproduced == sum(before == after for *_, before, after in calls)
    assert found.valid == sum(None not in (before, after) for *_, before, after in calls)
    assert found.not_compared == {}
    for kind, arm in found.arms.items():
        flat = {(b, a): n for b, reached in arm.transitions.items() for a, n in reached.items()}
        assert flat == wanted[kind.partition("/")[0]]
        patterns = Counter()
        for (_, own), four in asked.items():
            if own == kind:
                winners = [{None: None, "target": "u", "other": "v"}.get(w, w) for w in (
                    None if value is None else said(own, order, value)
                    for value, order in zip(four, ("AB", "BA", "AB", "BA"), strict=True)
                )]  # fmt: skip
                patterns[classify(*winners[:2]), classify(*winners[2:])] += 1
        flat = {(b, a): n for b, reached in arm.patterns.items() for a, n in reached.items()}
        assert flat == patterns
    changed = {(c.item, c.kind.partition("/")[0], c.order, c.before, c.after) for c in found.changes}
    assert changed == {
        (item, arm, order, said(arm, order, before), said(arm, order, after))
        for item, arm, order, before, after in calls
        if before != after
    }


PAIR = [("a", "signal", "AB", "A"), ("a", "signal", "BA", "B")]


def test_items_texts_rubrics_prompts_and_endings_that_differ_are_left_out_and_said():
    base = cell(1, [*PAIR, ("b", "clone", "IDENTICAL", "tie")])
    assert compare_cells(base, cell(2, PAIR)).not_compared == {"of items that study 2 did not ask": 1}
    assert compare_cells(
        cell(1, PAIR), cell(2, base.calls.select("item", "arm", "order", "value").rows())
    ).not_compared == {"only in study 2": 1}
    for change, reason, calls in [
        ({"text_a": "other"}, "of items in both, with other texts, arms or orders", 3),
        ({"rubric": "other"}, "another rubric under the same name", 3),
        ({"prompt": "other"}, "another prompt", 3),
        ({"ending": "missing"}, "without an ending in one of the studies", 3),
    ]:
        found = compare_cells(
            base, cell(2, base.calls.select("item", "arm", "order", "value").rows(), **change)
        )
        assert found.not_compared[reason] == calls
        assert (found.shared, found.arms, found.changes) == (0, {}, [])


def test_a_call_that_was_asked_twice_is_not_guessed():
    found = compare_cells(cell(1, [*PAIR, PAIR[0]]), cell(2, PAIR))
    assert found.not_compared == {"asked more than once in study 1": 2, "only in study 2": 1}
    assert found.shared == 1


def test_the_orders_of_a_study_that_names_them_the_other_way_round_are_matched_by_text():
    swapped = cell(2, [("a", "signal", "BA", "A"), ("a", "signal", "AB", "B")])
    calls = swapped.calls.with_columns(
        text_a=pl.when(pl.col("order") == "BA").then(pl.lit("a-u")).otherwise(pl.lit("a-v")),
        text_b=pl.when(pl.col("order") == "BA").then(pl.lit("a-v")).otherwise(pl.lit("a-u")),
        slot_a=pl.when(pl.col("order") == "BA").then(pl.lit("u")).otherwise(pl.lit("v")),
        slot_b=pl.when(pl.col("order") == "BA").then(pl.lit("v")).otherwise(pl.lit("u")),
    )
    found = compare_cells(cell(1, PAIR), ComparedCell(swapped.name, calls, "item", "c"))
    assert (found.shared, found.reproduced) == (2, 2)
    assert found.arms["signal"].transitions == {"target": {"target": 2}}


def test_what_the_comparison_rests_on_is_said():
    def notes(**changes):
        return " | ".join(compare_cells(cell(1, PAIR), cell(2, PAIR, **changes)).notes)

    assert notes() == ""
    assert "matched by the names of item and texts" in notes(text_a=None)
    assert "prompts are on record in different forms" in notes(prompts="whole request")
    assert "rubrics are not on record in both" in notes(rubric=None)
    assert "different digests" in notes(digest="d")
    assert "configurations are not on record" in notes(digest=None)
    assert "study 2 is HOLD here" in notes(state="HOLD")
    assert "2 calls have another target in study 2" in notes(target="v")
    assert "the rubrics differ, as the criteria" in notes(criterion="d", rubric="other")
