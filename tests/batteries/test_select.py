"""Outcome-blind selection: the same draw everywhere, one row per prompt, none that an earlier study used."""

from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.batteries.select import NOT_DRAWN, Candidate, Excluded, cluster_of, draw
from darkcurrent.canonical import digest


def _candidates(count: int, strata: tuple[str, ...] = ("a", "b")) -> list[Candidate]:
    return [Candidate(f"{s}{n}", s, f"prompt {s}{n}") for s in strata for n in range(count)]


def test_the_first_by_hash_are_drawn_and_the_rest_are_refused():
    candidates = _candidates(9)
    found = draw(candidates, 5, 4, Excluded())
    for stratum in "ab":
        ranked = sorted(
            (one.id for one in candidates if one.stratum == stratum),
            key=lambda name: digest({"draw": 5, "row": name}),
        )
        drawn = [name for name in found.places if name[0] == stratum]
        assert drawn == ranked[:4]
        assert [found.places[name] for name in drawn] == [1, 2, 3, 4]
        assert [one.where for one in found.refusals if one.stratum == stratum] == ranked[4:]
    assert {one.reason for one in found.refusals} == {NOT_DRAWN}
    assert found.eligible == {"a": 9, "b": 9}
    assert len(draw(candidates, 5, None, Excluded()).places) == 18


@given(st.integers(0, 2**53 - 1), st.integers(1, 12), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing_and_smaller_draws_are_nested(seed, limit, order):
    candidates = _candidates(10)
    shuffled = candidates.copy()
    order.shuffle(shuffled)
    found = draw(candidates, seed, limit, Excluded())
    assert draw(shuffled, seed, limit, Excluded()) == found
    assert list(draw(shuffled, seed, limit, Excluded()).places) == list(found.places)
    assert found.places.items() <= draw(candidates, seed, limit + 3, Excluded()).places.items()
    assert set(found.places) | {one.where for one in found.refusals} == {one.id for one in candidates}


def test_another_seed_draws_other_rows():
    candidates = _candidates(40, ("a",))
    assert set(draw(candidates, 1, 10, Excluded()).places) != set(draw(candidates, 2, 10, Excluded()).places)


def test_of_rows_with_one_normalised_prompt_the_first_in_hash_order_stays():
    candidates = [Candidate(f"r{n}", "ab"[n % 2], ["Same  prompt", "same prompt "][n % 2]) for n in range(8)]
    found = draw(candidates, 3, None, Excluded())
    first = min((one.id for one in candidates), key=lambda name: digest({"draw": 3, "row": name}))
    assert list(found.places) == [first]
    assert {one.reason for one in found.refusals} == {"a row that comes before it has its normalised prompt"}
    assert len(found.refusals) == 7


def test_a_row_outside_the_draw_takes_no_place_and_ousts_no_row():
    candidates = [
        *_candidates(5, ("a",)),
        *(Candidate(f"c{n}", "a", f"clone {n}", matched=False) for n in range(3)),
    ]
    candidates += [Candidate(f"d{n}", "a", f"Prompt a{n}", matched=False) for n in range(5)]
    found = draw(candidates, 11, 4, Excluded())
    assert sorted(found.places.values()) == [0, 0, 0, 1, 2, 3, 4]
    assert found.eligible == {"a": 5}
    assert sorted(one.where for one in found.refusals if one.where[0] == "d") == [
        "d0",
        "d1",
        "d2",
        "d3",
        "d4",
    ]


def test_rows_and_prompts_of_earlier_studies_are_refused_by_name():
    candidates = _candidates(4, ("a",))
    excluded = Excluded({"a1": "first"}, {cluster_of("PROMPT\n a2"): "second"})
    found = draw(candidates, 1, None, excluded)
    assert sorted(found.places) == ["a0", "a3"]
    assert {one.where: one.reason for one in found.refusals} == {
        "a1": "the study `first` has an item of this id",
        "a2": "the study `second` has its normalised prompt",
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Was  ist\tdas?\n", "was ist das?"),
        ("\ufeffHow?", "how?"),  # a real row begins so
        ("ﬁne Straße", "FINE STRASSE"),
        ("ｆｕｌｌ\u3000width", "full width"),
        ("e\u0301a", "éa"),
        ("no\u200bgap", "nogap"),
        ("non\u00a0breaking", "non breaking"),
    ],
)
def test_how_a_prompt_is_written_does_not_matter(one, other):
    assert cluster_of(one) == cluster_of(other)


@pytest.mark.parametrize(
    ("one", "other"), [("a b", "ab"), ("a?", "a"), ("x²", "x^2"), ("\ud800a", "a"), ("", "a")]
)
def test_other_prompts_stay_apart(one, other):
    assert cluster_of(one) != cluster_of(other)


@given(st.text())
def test_a_normal_form_is_stable_under_what_it_takes_away(text):
    assert cluster_of(f" \n{text}\u3000") == cluster_of(text)


def test_the_normal_form_does_not_depend_on_the_unicode_of_this_python():
    """A letter that Unicode 3.2 does not know is not folded, in no version of Python, and splits no letter that it knows."""
    late = "\u1c90\u10d0"  # Georgian capital an, of Unicode 11, and its small letter, of Unicode 1.1
    assert unicodedata.category(late[0]) == "Lu"
    assert late[0].casefold() == late[1]
    assert cluster_of(late) != cluster_of(late[1] * 2)
    assert cluster_of(f"ABC{late[0]}ABC") == cluster_of(f"abc{late[0]}abc")


def test_what_splits_words_is_what_the_page_says():
    """`str.split` reads the Unicode of this Python; were its white space to change, word counts would change."""
    spaces = "".join(chr(code) for code in range(0x110000) if chr(code).isspace())
    assert spaces == (
        "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
        "\u200a\u2028\u2029\u202f\u205f\u3000"
    )


def test_a_draw_does_not_drift():
    """The same on every machine and in every version: a change here changes studies that were announced."""
    rows = [Candidate(f"row {n}", "äzA"[n % 3], f"Prompt {n // 2}") for n in range(60)]
    random.Random(1).shuffle(rows)
    found = draw(rows, 20_260_615, 5, Excluded())
    assert digest(
        {"places": list(found.places.items()), "refused": [one.model_dump() for one in found.refusals]}
    ) == ("788a6e9df01f10d1b50a96bf3e06a453ff11bbaac91027cfc488b1517c478cc6")
