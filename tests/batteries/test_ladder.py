"""The ladder: each text states what its level says and no more, and length tells nothing."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

from darkcurrent.batteries.ladder import build
from darkcurrent.batteries.ladder.certify import MOST_RATIO, certify
from darkcurrent.batteries.ladder.tasks import LEVELS, load_tasks
from darkcurrent.canonical import digest, digest_text
from darkcurrent.errors import BatteryError

# The whole battery. It may change only on purpose, and then every study frozen before it is about another one.
GOLDEN = "94bc889e770d464c796027747cb8984f2d5371c98ee371432ea9064d6ef57f87"
TASKS = load_tasks()


@pytest.fixture(scope="module")
def battery():
    return build()


def test_the_battery_does_not_drift(battery):
    assert digest(battery.model_dump(mode="json", exclude={"shortfalls"})) == GOLDEN


def test_ten_tasks_of_sixty_pairs_without_and_a_hundred_and_fifty_with_a_gap(battery):
    assert len(battery.items) == 10
    assert Counter(comparison.step for comparison in battery.comparisons) == {
        "gap-0": 60,
        "gap-1": 50,
        "gap-2": 40,
        "gap-3": 30,
        "gap-4": 20,
        "gap-5": 10,
    }


def test_a_target_is_the_higher_level_by_its_gap(battery):
    for comparison in battery.comparisons:
        first, second = (int(role.split("-")[1]) for role in (comparison.u, comparison.v))
        assert comparison.step == f"gap-{first - second}"
        assert comparison.target == (comparison.u if first > second else None)
        assert comparison.u != comparison.v


def test_a_level_is_a_prefix_of_the_checklist(battery):
    """Read the texts as they are shown, by the markers alone."""
    for item, task in zip(battery.items, TASKS, strict=True):
        for role, key in item.texts.items():
            text, level = battery.texts[key], int(role.split("-")[1])
            stated = [bool(re.search(rf"\b{element.marker}\b", text, re.I)) for element in task.elements]
            assert stated == [True] * level + [False] * (5 - level), (item.id, role)
        assert all(element.requirement in battery.texts[item.prompt] for element in task.elements)


def test_the_two_wordings_of_a_level_share_no_sentence(battery):
    for task in TASKS:
        for level in LEVELS:
            assert not set(task.sentences(level, 0)) & set(task.sentences(level, 1))
    assert all(digest_text(text) == key for key, text in battery.texts.items())


def test_lengths_are_counted_and_tell_nothing(battery):
    for comparison in battery.comparisons:
        item = next(item for item in battery.items if item.id == comparison.item)
        words = sorted(len(battery.texts[item.texts[role]].split()) for role in (comparison.u, comparison.v))
        assert words[1] / words[0] <= MOST_RATIO == 1.073
    for step, measured in battery.receipts["ladder"]["totals"].items():
        assert measured["words"] == {"ratio": 1.0, "longer": 0, "shorter": 0, "equal": measured["pairs"]}
        assert (
            sum(measured["characters"][name] for name in ("longer", "shorter", "equal")) == measured["pairs"]
        ), step


def _changed(task, number, **sentences):
    elements = list(task.elements)
    elements[number] = replace(elements[number], **sentences)
    return replace(task, elements=tuple(elements))


def test_what_is_not_as_it_should_be_is_refused():
    task = TASKS[0]
    said, other = task.elements[2].said, task.elements[2].other
    broken = {
        "states the elements \\[3\\], not \\[\\]": {"other": (other[0], "The cat is a good cat.")},
        "states the elements \\[\\], not \\[3\\]": {"said": (said[0], "It eats a tin each morning.")},
        "states the elements \\[1, 3\\], not \\[3\\]": {"said": ("The key is with the cat.", said[1])},
        "two sentences that are the same": {"said": (said[0], said[0])},
        "times as many words on one side": {"other": (f"{other[0]} {other[0]}", other[1])},
    }
    for message, change in broken.items():
        with pytest.raises(BatteryError, match=message):
            certify(_changed(task, 2, **change))
    with pytest.raises(BatteryError, match="five elements, not 4"):
        certify(replace(task, elements=task.elements[:4]))
