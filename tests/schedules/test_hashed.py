"""Schedule `hash`: each comparison once per criterion and order, in an order that only the seed changes."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.canonical import digest, digest_text
from darkcurrent.records import Battery, Comparison, Item
from support.schedules import hash_schedule

RUBRICS = {"neutral": digest_text("n"), "strict": digest_text("s")}


def _battery(names, arms=("clone", "signal", "equivalent")) -> Battery:
    items, comparisons, texts = [], [], {}
    for name in names:
        roles = {role: f"{role} of {name}" for role in ("chosen", "rejected", "equivalent")}
        texts |= {digest_text(text): text for text in (*roles.values(), name)}
        items.append(
            Item(
                id=name,
                stratum=f"s{len(name)}",
                cluster=name[:1],
                prompt=digest_text(name),
                texts={role: digest_text(text) for role, text in roles.items()},
            )
        )
        kinds = {
            "clone": Comparison(item=name, arm="clone", u="chosen", v="chosen", null_stratum="core"),
            "signal": Comparison(item=name, arm="signal", u="chosen", v="rejected", target="chosen"),
            "equivalent": Comparison(item=name, arm="equivalent", u="chosen", v="equivalent"),
        }
        comparisons += [kinds[arm] for arm in arms]
    return Battery(items=tuple(items), comparisons=tuple(comparisons), texts=texts)


def _schedule(battery, rubrics=RUBRICS, configuration="c", identity="1" * 64, seed=1):
    return hash_schedule(battery, rubrics, configuration, identity, seed)


def _asked(calls) -> list[tuple]:
    return [(c.criterion, c.item, c.arm, c.order, c.slot_a, c.slot_b) for c in calls]


names = st.sets(st.text(st.characters(codec="utf-8"), min_size=1, max_size=4), min_size=1, max_size=5).map(
    sorted
)
arm_sets = st.sets(st.sampled_from(["clone", "signal", "equivalent"]), min_size=1).map(sorted)
rubric_sets = st.sets(st.sampled_from(["a", "b", "c"]), min_size=1).map(
    lambda keys: {key: digest_text(key) for key in sorted(keys)}
)


@given(names, arm_sets, rubric_sets, st.integers(0, 2**53 - 1))
def test_the_calls_are_comparisons_by_criteria_by_orders(names, arms, rubrics, seed):
    battery = _battery(names, arms)
    calls = _schedule(battery, rubrics, seed=seed)
    expected = {
        (criterion, c.item, c.arm, order, c.v if order == "BA" else c.u, c.u if order == "BA" else c.v)
        for c in battery.comparisons
        for criterion in rubrics
        for order in (["IDENTICAL"] if c.arm == "clone" else ["AB", "BA"])
    }
    assert Counter(_asked(calls)) == Counter(dict.fromkeys(expected, 1))
    assert [call.position for call in calls] == list(range(len(calls)))
    assert len({call.call_id for call in calls}) == len(calls)
    items = {item.id: item for item in battery.items}
    for call in calls:
        item = items[call.item]
        assert (call.stratum, call.cluster, call.prompt) == (item.stratum, item.cluster, item.prompt)
        assert (call.text_a, call.text_b) == (item.texts[call.slot_a], item.texts[call.slot_b])
        assert call.rubric == rubrics[call.criterion]
        assert call.target == ("chosen" if call.arm == "signal" else None)
        assert call.null_stratum == ("core" if call.arm == "clone" else None)
        assert call.block == 0


@given(names, st.integers(0, 99))
def test_the_order_is_the_same_for_every_configuration_and_the_calls_are_not(names, seed):
    battery = _battery(names)
    one = _schedule(battery, configuration="one", identity="1" * 64, seed=seed)
    two = _schedule(battery, configuration="two", identity="2" * 64, seed=seed)
    assert _asked(one) == _asked(two)
    assert not {call.call_id for call in one} & {call.call_id for call in two}


def test_a_seed_changes_the_order_and_nothing_else():
    battery = _battery([f"item-{number}" for number in range(20)])
    one, two = _schedule(battery, seed=1), _schedule(battery, seed=2)
    assert _asked(one) != _asked(two)
    strip = {call.call_id: call.model_dump(exclude={"position"}) for call in one}
    assert strip == {call.call_id: call.model_dump(exclude={"position"}) for call in two}


def test_the_order_of_the_source_does_not_matter():
    battery = _battery(["a", "b", "c", "d"])
    turned = battery.model_copy(
        update={"items": battery.items[::-1], "comparisons": battery.comparisons[::-1]}
    )
    assert _schedule(turned) == _schedule(battery)
    assert _schedule(battery, dict(reversed(RUBRICS.items()))) == _schedule(battery)


@pytest.mark.parametrize(
    "change",
    [
        {"identity": "2" * 64},
        {"configuration": "d"},
        {"rubrics": {"neutral": digest_text("n!"), "strict": digest_text("s!")}},
    ],
)
def test_whatever_defines_a_request_changes_every_call_id(change):
    battery = _battery(["a", "b"])
    before, after = _schedule(battery), _schedule(battery, **change)
    assert not {call.call_id for call in before} & {call.call_id for call in after}


def test_another_text_changes_the_call_ids_of_its_item_alone():
    battery = _battery(["a", "b"])
    first, second = battery.items
    other = first.model_copy(update={"texts": {**first.texts, "chosen": digest_text("other")}})
    before = {call.call_id: call.item for call in _schedule(battery)}
    after = _schedule(battery.model_copy(update={"items": (other, second)}))
    assert {call.item for call in after if call.call_id in before} == {"b"}


def test_a_call_id_is_the_digest_of_what_defines_the_request():
    (call, *_) = _schedule(_battery(["a"], ["clone"]))
    fields = call.model_dump(exclude={"call_id", "position", "block", "stratum", "cluster"})
    assert call.call_id == digest({"identity": "1" * 64, **fields})


def test_both_contexts_of_a_pair_are_asked_in_both_orders_and_differ_in_the_third_text_alone():
    battery = _battery(["a", "b"], ["signal"])
    pairs = [
        comparison.model_copy(update={"context": context, "third": third})
        for comparison in battery.comparisons
        for context, third in (("absent", None), ("present", "equivalent"))
    ]
    calls = _schedule(battery.model_copy(update={"comparisons": tuple(pairs)}))
    assert len({call.call_id for call in calls}) == len(calls) == 2 * 2 * 2 * 2
    assert Counter((call.context, call.order, call.item) for call in calls) == {
        (context, order, item): 2
        for context in ("absent", "present")
        for order in ("AB", "BA")
        for item in "ab"
    }
    for call in calls:
        third = digest_text(f"equivalent of {call.item}")
        assert call.text_c == (third if call.context == "present" else None)
        assert call.shown == (
            call.rubric,
            call.prompt,
            call.text_a,
            call.text_b,
            *([third] if call.text_c else []),
        )


def test_another_third_text_changes_the_call_ids_of_the_calls_that_show_it():
    battery = _battery(["a"], ["signal"])
    (pair,) = battery.comparisons
    both = [pair.model_copy(update={"context": "absent"})]
    both += [pair.model_copy(update={"context": "present", "third": "equivalent"})]
    battery = battery.model_copy(update={"comparisons": tuple(both)})
    (item,) = battery.items
    other = item.model_copy(update={"texts": {**item.texts, "equivalent": digest_text("other")}})
    before = {call.call_id: call.context for call in _schedule(battery)}
    after = {call.call_id for call in _schedule(battery.model_copy(update={"items": (other,)}))}
    assert {context for call_id, context in before.items() if call_id in after} == {"absent"}
    assert len(before.keys() - after) == 4


def test_a_third_is_named_where_it_is_present_and_nowhere_else():
    for broken in ({"context": "present"}, {"context": "absent", "third": "x"}, {"third": "x"}):
        with pytest.raises(ValueError, match="exactly where its `context` is `present`"):
            Comparison(item="a", arm="signal", u="x", v="y", target="x", **broken)


def test_arms_criteria_and_orders_are_spread_over_the_campaign():
    calls = _schedule(_battery([f"item-{number:03d}" for number in range(100)]))
    half = len(calls) // 2
    for key in ("arm", "criterion", "order"):
        whole = Counter(getattr(call, key) for call in calls)
        first = Counter(getattr(call, key) for call in calls[:half])
        for value, count in whole.items():
            # The order is fixed, so this is no test of chance: no value may lie mostly in one half.
            assert 0.4 < first[value] / count < 0.6, (key, value)
