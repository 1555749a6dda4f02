"""What other contracts would have read in a captured campaign, and how stable a judge is."""

from __future__ import annotations

import json
from itertools import product

import polars as pl
import pytest

from darkcurrent.descriptive import retest, sensitivity
from darkcurrent.ledger import READINGS, SCHEMA, other_readings
from darkcurrent.reports import html_report, markdown_report
from darkcurrent.verdicts import PLAIN_CONTRACTS, read_under_every

JUDGES = """
def number(prompt):
    return int(prompt.split()[-1])

def good(prompt, a, b):
    return "tie" if a == b else "A" if a.startswith("good") else "B"

def objects(prompt, a, b):
    return '{"winner": "%s"}' % good(prompt, a, b)

def mixed(prompt, a, b):
    return objects(prompt, a, b) if number(prompt) % 4 else good(prompt, a, b)

def both_ways(prompt, a, b):
    return "Not [[A]]." if number(prompt) % 2 else good(prompt, a, b)
"""


@pytest.fixture
def result(planted):
    study = planted(JUDGES, ["good", "objects", "mixed", "both_ways"], items=40)
    for name in ("good", "objects", "mixed", "both_ways"):
        study.run(name)
    return study.analyze()


def _readings(result, index):
    return {one.contract: one for one in result.campaigns[index].sensitivity}


def test_a_held_campaign_says_under_which_contract_it_would_have_been_evaluable(result):
    """The judges are read under `label`, the default of the function backend."""
    readings = _readings(result, 1)
    assert result.campaigns[1].state == "HOLD"
    assert set(readings) == PLAIN_CONTRACTS.keys() - {"label"}
    for contract in ("sole-object", "legacy", "json-field"):
        one = readings[contract]
        assert (one.replies, one.accepted, one.changed, one.gained, one.lost, one.flipped) == (
            120,
            120,
            120,
            120,
            0,
            0,
        )
        assert one.evaluable is True
        assert one.sentence == f"under contract {contract} this campaign would have been evaluable"
    assert (readings["bracket"].accepted, readings["bracket"].evaluable, readings["bracket"].sentence) == (
        0,
        False,
        None,
    )
    # It stays HOLD, and no number of it is graded.
    assert result.cells[1].joint == "HOLD"
    assert result.cells[1].signal.mean is None


def test_a_campaign_that_no_contract_reads_whole_has_no_such_sentence(result):
    readings = _readings(result, 2)
    assert (
        readings["sole-object"].accepted,
        readings["sole-object"].gained,
        readings["sole-object"].lost,
    ) == (90, 90, 30)
    assert not any(one.sentence for one in readings.values())
    assert not any(one.evaluable for one in readings.values())


def test_an_evaluable_campaign_has_no_sentence_and_loses_everything_elsewhere(result):
    readings = _readings(result, 0)
    assert result.campaigns[0].state == "COMPLETE"
    assert {one.lost for one in readings.values()} == {120}
    assert not any(one.evaluable or one.sentence for one in readings.values())


def test_new_verdicts_and_lost_ones_are_counted_apart(result):
    bracket = _readings(result, 3)["bracket"]
    assert (bracket.accepted, bracket.gained, bracket.lost, bracket.flipped, bracket.changed) == (
        60,
        60,
        60,
        0,
        120,
    )


def test_the_sentence_and_the_counts_are_in_every_report(result):
    sentence = "under contract sole-object this campaign would have been evaluable"
    for text in (html_report(result), markdown_report(result).replace("\\", "")):
        assert sentence in text
        assert "Under other contracts" in text
        assert "90/120" in text
    data = json.loads(result.model_dump_json(by_alias=True))
    assert data["campaigns"][1]["sensitivity"][0]["sentence"] == sentence


def _ledger(*calls):
    """Return a ledger of calls: the value that counts, what `bracket` reads, and whether a reply is kept."""
    rows = [
        dict.fromkeys(SCHEMA) | {"ending": "terminal", "value": value, "as:bracket": read, "kept": kept}
        for value, read, kept in calls
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def test_another_label_is_neither_gained_nor_lost():
    calls = [("A", "A"), ("A", "B"), ("tie", "B"), (None, "A"), ("B", None), (None, None)]
    ledger = _ledger(*[(*call, True) for call in calls], (None, None, False))
    one = next(one for one in sensitivity(ledger, "label", None) if one.contract == "bracket")
    assert (one.replies, one.accepted, one.gained, one.lost, one.flipped, one.changed) == (6, 4, 1, 1, 2, 4)
    assert one.evaluable is None


@pytest.mark.parametrize(("ceiling", "held"), [(0, True), (1, True), (2, False)])
def test_the_sentence_is_said_of_a_held_campaign_only(ceiling, held):
    """Two answers are invalid as declared, and under `bracket` as many as the ceiling allows or one less."""
    ledger = _ledger((None, "A", True), (None, "A" if ceiling < 1 else None, True), ("A", "A", True))
    one = next(
        one
        for one in sensitivity(ledger, None, lambda invalid: ["too many"] if invalid > ceiling else [])
        if one.contract == "bracket"
    )
    assert one.evaluable is True
    assert (one.sentence is not None) is held


def test_each_distinct_reply_is_read_once(monkeypatch):
    import darkcurrent.ledger as module

    asked = []

    def counting(text, finish, *, reasoning_present):
        asked.append(text)
        return read_under_every(text, finish, reasoning_present=reasoning_present)

    monkeypatch.setattr(module, "read_under_every", counting)
    read = other_readings()
    for text, finish in [("A", "stop"), ("A", "stop"), ("B", "stop"), ("A", "length"), ("A", "stop")]:
        found = read(text, finish, False, True)
        assert set(found) == set(READINGS.values())
        assert found["as:label"] == (None if finish == "length" else text)
    assert asked == ["A", "B", "A"]
    assert set(read("A", "stop", False, False).values()) == {None}


def _calls(*said, item="i", order="AB", arm="signal"):
    return [
        dict.fromkeys(SCHEMA)
        | {"item": item, "order": order, "arm": arm, "ending": "terminal", "repetition": n, "value": value}
        for n, value in enumerate(said, start=1)
    ]


@pytest.mark.parametrize("said", list(product(("A", "B", "tie", None), repeat=3)))
def test_every_unit_has_one_class(said):
    found = retest(pl.DataFrame(_calls(*said), schema=SCHEMA))
    expected = (
        "invalid"
        if None in said
        else "same"
        if len(set(said)) == 1
        else "reversed"
        if {"A", "B"} <= set(said)
        else "tie_flip"
    )
    classes = {name: getattr(found, name) for name in ("same", "tie_flip", "reversed", "invalid")}
    assert classes == dict.fromkeys(classes, 0) | {expected: 1}
    assert (found.units, found.repetitions) == (1, 3)
    assert found.orders["AB"].success == (expected == "same")


def test_clones_single_calls_and_missing_ones_are_no_units():
    rows = [*_calls("A", "B", arm="clone"), *_calls("A", item="j"), *_calls("A", "B", item="k")]
    rows[-1]["ending"] = "missing"
    assert retest(pl.DataFrame(rows, schema=SCHEMA)) is None
