"""docs/schedules.md says what the schedules do."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import get_args

from darkcurrent.protocol.model import ScheduleTable
from darkcurrent.schedules import balance_report
from support.schedules import battery_of, scheduled

TEXT = (Path(__file__).parents[2] / "docs" / "schedules.md").read_text(encoding="utf-8")


def test_the_table_has_every_kind_and_the_example_is_a_table():
    kinds = re.findall(r"^\| `([a-z]+)` \|", TEXT, re.MULTILINE)
    assert tuple(kinds) == get_args(ScheduleTable.model_fields["kind"].annotation)
    (example,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    ScheduleTable.model_validate(tomllib.loads(example)["schedule"])


def test_the_kinds_that_store_a_draw_are_those_of_the_table():
    stored = dict(re.findall(r"^\| `([a-z]+)` \|.*\| (yes|none) \|$", TEXT, re.MULTILINE))
    assert stored == {
        kind: "yes" if scheduled(kind, battery_of(3))[1].assignment else "none" for kind in stored
    }


def test_the_numbers_at_102_items_are_measured():
    _, plan, calls = scheduled("crossover", battery_of(102))
    found = balance_report(calls, "crossover")
    assert f"{found.calls} calls in twelve blocks of {found.blocks[0]}" in TEXT
    assert len(found.blocks) == 12
    assert f"{found.arms['clone core'][0]} clone\nand {found.arms['signal'][0]} signal calls" in TEXT
    assert f"{found.distances.least} calls from each exposure" in TEXT
    cohorts = [drawn.cohort for drawn in plan.assignment.arms[0].drawn]
    assert {cohorts.count(cohort) for cohort in cohorts} == {17}
    assert len(set(cohorts)) == 6
    (group,) = balance_report(scheduled("carryover", battery_of(102))[2], "carryover").groups
    assert {*group.period_range, *group.carry_over_range} == {17}


def test_the_limits_of_few_items_are_measured():
    def shape(count):
        _, plan, calls = scheduled("crossover", battery_of(count))
        found = balance_report(calls, "crossover")
        missing = any(0 in counts for counts in found.arms.values())
        return len({drawn.cohort for drawn in plan.assignment.arms[0].drawn}), len(found.blocks), missing

    assert [shape(count) for count in (7, 11)] == [(1, 6, True), (2, 6, True)]
    assert {shape(count) for count in range(12, 24)} == {(3, 6, False)}
    assert {shape(count) for count in range(24, 60)} == {(6, 12, False)}
