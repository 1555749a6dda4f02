from __future__ import annotations

from itertools import product

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.ledger import SCHEMA
from darkcurrent.patterns import PATTERNS, classify, pair_patterns

WINNERS = ("u", "v", "tie", None)


@pytest.mark.parametrize(
    ("forward", "reverse", "pattern"),
    [
        ("tie", "tie", "tie"),
        ("u", "u", "stable"),
        ("v", "v", "stable"),
        ("u", "v", "position"),
        ("v", "u", "position"),
        ("tie", "u", "one-sided"),
        ("v", "tie", "one-sided"),
        (None, "u", "invalid"),
        ("tie", None, "invalid"),
        (None, None, "invalid"),
    ],
)
def test_each_pair_of_winners_has_its_pattern(forward, reverse, pattern):
    assert classify(forward, reverse) == pattern


@pytest.mark.parametrize("word", ["A", "chosen", "", "TIE", 1])
def test_a_winner_that_is_no_canonical_word_is_an_error(word):
    with pytest.raises(ValueError, match="canonical winner"):
        classify(word, "u")


@given(
    st.lists(st.tuples(st.sampled_from(("u", "v", "tie")), st.sampled_from(("u", "v", "tie"))), min_size=1)
)
def test_call_level_preference_is_stable_plus_position_plus_half_of_one_sided(pairs):
    calls = [winner for pair in pairs for winner in pair]
    preferring = sum(winner != "tie" for winner in calls)
    found = [classify(*pair) for pair in pairs]
    # In whole calls, so that the identity is exact: 2 per stable and position pair, 1 per one-sided pair.
    assert preferring == 2 * found.count("stable") + 2 * found.count("position") + found.count("one-sided")


@pytest.mark.parametrize(
    ("stable", "position", "one_sided", "rate"), [(2, 58, 0, 1.0), (27, 32, 1, 0.992), (0, 5, 21, 0.258)]
)
def test_the_decompositions_of_the_papers_table_2(stable, position, one_sided, rate):
    """Counts of 60 pairs per judge from arXiv:2606.15610, section 4; rates from its table 2."""
    pairs = [("u", "u")] * stable + [("u", "v")] * position + [("tie", "v")] * one_sided
    pairs += [("tie", "tie")] * (60 - len(pairs))
    preferring = sum(winner != "tie" for pair in pairs for winner in pair) / 120
    patterns = [classify(*pair) for pair in pairs]
    assert (
        preferring
        == (patterns.count("stable") + patterns.count("position") + patterns.count("one-sided") / 2) / 60
    )
    assert round(preferring, 3) == rate


def _call(order, value, *, item="i", arm="signal", ending="terminal", swapped=True):
    first, second = ("rejected", "chosen") if order == "BA" and swapped else ("chosen", "rejected")
    winner = {"A": first, "B": second, "tie": "tie", None: None}[value]
    row = dict.fromkeys(SCHEMA)
    row |= {"configuration": "c", "criterion": "n", "item": item, "stratum": "s", "arm": arm, "order": order}
    row |= {"slot_a": first, "slot_b": second, "ending": ending, "value": value, "winner": winner}
    return row


def _patterns(*calls):
    return pair_patterns(pl.DataFrame(list(calls), schema=SCHEMA))["pattern"].to_list()


@pytest.mark.parametrize(("ab", "ba"), list(product(("A", "B", "tie", None), repeat=2)))
def test_the_table_says_what_classify_says(ab, ba):
    to_winner = {
        "AB": {"A": "u", "B": "v", "tie": "tie", None: None},
        "BA": {"A": "v", "B": "u", "tie": "tie", None: None},
    }
    expected = classify(to_winner["AB"][ab], to_winner["BA"][ba])
    assert _patterns(_call("AB", ab), _call("BA", ba)) == [expected]
    assert _patterns(_call("BA", ba), _call("AB", ab)) == [expected]


def test_a_missing_a_doubled_an_ambiguous_and_an_unswapped_call_make_a_pair_incomplete():
    assert _patterns(_call("AB", "A")) == ["incomplete"]
    assert _patterns(_call("AB", "A"), _call("AB", "A"), _call("BA", "B")) == ["incomplete"]
    assert _patterns(_call("AB", "A"), _call("BA", "B"), _call("BA", "B")) == ["incomplete"]
    assert _patterns(_call("AB", "A"), _call("BA", None, ending="ambiguous")) == ["incomplete"]
    # Both calls show the same slots, so that the "reverse" is none: two half pairs and no whole one.
    assert set(_patterns(_call("AB", "A"), _call("BA", "A", swapped=False))) == {"incomplete"}


def test_each_context_has_a_pair_of_its_own():
    calls = [
        _call(order, value) | {"context": context}
        for context, order, value in (
            ("absent", "AB", "A"),
            ("present", "AB", "A"),
            ("absent", "BA", "B"),
            ("present", "BA", "A"),
        )
    ]
    assert _patterns(*calls) == ["stable", "position"]
    assert _patterns(*calls[:3]) == ["stable", "incomplete"]


def test_clones_are_no_pairs_and_every_pattern_has_its_place():
    assert _patterns(_call("IDENTICAL", "A", arm="clone")) == []
    assert set(PATTERNS) == {"tie", "stable", "position", "one-sided", "invalid", "incomplete"}
