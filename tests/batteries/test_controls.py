"""The controls: one call per clone and prompt, each null stratum counted apart."""

from __future__ import annotations

from collections import Counter

import pytest

from darkcurrent.batteries import controls, load_battery
from darkcurrent.batteries.edges import null_stratum_of
from darkcurrent.canonical import digest_text
from darkcurrent.protocol.load import load_protocol
from support.schedules import hash_schedule

PROTOCOL = """format = 1
[study]
name = "s"
[battery]
{battery}
[criteria.neutral]
rubric = "neutral"
[[configuration]]
name = "c"
backend = "simulated"
[schedule]
seed = 1
"""


def _loaded(folder, battery):
    path = folder / "protocol.toml"
    path.write_text(PROTOCOL.format(battery=battery), encoding="utf-8")
    return load_battery(load_protocol(path), folder)


def test_forty_of_each_under_forty_prompts():
    battery = controls.build(40, 40, 40)
    assert Counter(comparison.null_stratum for comparison in battery.comparisons) == {
        "core": 40,
        "edge-empty": 40,
        "edge-whitespace": 40,
    }
    for comparison in battery.comparisons:
        item = next(item for item in battery.items if item.id == comparison.item)
        assert comparison.u == comparison.v
        assert null_stratum_of(battery.texts[item.texts[comparison.u]]) == comparison.null_stratum
    assert (
        len({item.prompt for item in battery.items})
        == len({item.texts["nonblank"] for item in battery.items})
        == 40
    )
    assert all(digest_text(text) == key for key, text in battery.texts.items())


def test_no_call_is_the_same_request_as_another():
    battery = controls.build(40, 40, 40)
    calls = hash_schedule(battery, {"neutral": digest_text("r")}, "c", "1" * 64, 1)
    assert len(calls) == len({call.shown for call in calls}) == 120
    assert {call.order for call in calls} == {"IDENTICAL"}


@pytest.mark.parametrize("counts", [(3, 0, 7), (0, 0, 1), (40, 1, 0)])
def test_counts_are_declared_one_by_one(tmp_path, counts):
    names = ("empty", "whitespace", "nonblank")
    declared = "\n".join(f"{name} = {count}" for name, count in zip(names, counts, strict=True))
    battery = _loaded(tmp_path, f'source = "controls"\n{declared}')
    found = Counter(comparison.u for comparison in battery.comparisons)
    assert tuple(found[name] for name in names) == counts
    assert len(battery.items) == max(counts)


def test_a_ladder_may_have_controls_beside_it(tmp_path):
    alone = _loaded(tmp_path, 'source = "ladder"')
    both = _loaded(tmp_path, 'source = "ladder"\n[battery.controls]\nempty = 2\nwhitespace = 0')
    assert both.comparisons[: len(alone.comparisons)] == alone.comparisons
    assert Counter(c.null_stratum for c in both.comparisons[len(alone.comparisons) :]) == {
        "core": 40,
        "edge-empty": 2,
    }
    assert both.receipts == alone.receipts
