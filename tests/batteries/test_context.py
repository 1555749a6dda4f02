"""The context battery: each pair alone and beside a third program that cannot win."""

from __future__ import annotations

from collections import Counter

import pytest

from darkcurrent.batteries import context
from darkcurrent.batteries.finite_code import judge
from darkcurrent.canonical import digest_text
from darkcurrent.errors import BatteryError
from support.schedules import hash_schedule


@pytest.fixture(scope="module")
def battery():
    return context.build(("equivalent", "signal"), (0, 3, 6, 9))


def test_thirty_two_items_of_eight_families_in_both_contexts(battery):
    assert len(battery.items) == 32
    assert list(Counter(item.stratum for item in battery.items).values()) == [4] * 8
    counted = Counter((c.arm, c.context, c.u, c.v, c.target, c.third) for c in battery.comparisons)
    assert counted == {
        ("equivalent", "absent", "reference", "equivalent", None, None): 32,
        ("equivalent", "present", "reference", "equivalent", None, "faulty"): 32,
        ("signal", "absent", "reference", "faulty", "reference", None): 32,
        ("signal", "present", "reference", "faulty", "reference", "equivalent"): 32,
    }


def test_what_the_third_program_is_was_proved_by_running_it(battery):
    for item in battery.items:
        prompt, texts = (
            battery.texts[item.prompt],
            {role: battery.texts[key] for role, key in item.texts.items()},
        )
        assert judge(prompt, texts["reference"], texts["faulty"]) == "A", item.id
        assert judge(prompt, texts["equivalent"], texts["faulty"]) == "A", item.id
        assert judge(prompt, texts["reference"], texts["equivalent"], texts["faulty"]) == "tie", item.id


def test_512_calls_that_differ_between_contexts_in_the_third_text_alone(battery):
    rubrics = {name: digest_text(name) for name in ("neutral", "strict")}
    calls = hash_schedule(battery, rubrics, "c", "1" * 64, 1)
    assert len(calls) == len({call.shown for call in calls}) == 512
    by_pair = {}
    for call in calls:
        by_pair.setdefault((call.criterion, call.item, call.arm, call.order), {})[call.context] = call.shown
    assert len(by_pair) == 256
    assert all(both["present"][:-1] == both["absent"] for both in by_pair.values())


def test_a_setting_that_does_not_exist_is_refused():
    with pytest.raises(BatteryError, match="settings"):
        context.build(("signal",), (0, 12))
