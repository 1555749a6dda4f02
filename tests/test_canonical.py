"""Canonical bytes and digests."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.canonical import canonical_json, digest, digest_text, dump_lines
from darkcurrent.errors import UsageError

_any_text = st.text(st.characters(exclude_categories=[]), max_size=8)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def test_the_canonical_form_is_that_of_rfc_8785():
    # Section 3.2.2 and 3.2.3 of the RFC: shortest numbers, keys in the order of their UTF-16 code units.
    assert canonical_json([333333333.33333329, 1e30, 4.50, 2e-3, 1e-27]) == (
        b"[333333333.3333333,1e+30,4.5,0.002,1e-27]"
    )
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    order = json.loads(canonical_json(dict.fromkeys(keys, 0)))
    assert list(order) == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


@given(_json)
def test_the_canonical_form_says_the_same_and_does_not_depend_on_the_order_of_keys(value):
    assert json.loads(canonical_json(value)) == value
    if isinstance(value, dict):
        assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, "\ud800", {"\udfff": 1}])
def test_what_has_no_canonical_form_is_an_error_of_ours(value):
    with pytest.raises(UsageError, match="has no canonical JSON form"):
        canonical_json([value])


def test_digests_are_sha_256_in_lower_case():
    assert digest({"b": 1, "a": [True]}) == hashlib.sha256(b'{"a":[true],"b":1}').hexdigest()
    assert digest_text("é") == hashlib.sha256(b"\xc3\xa9").hexdigest()
    assert digest_text("\ud800") == hashlib.sha256(b"\xed\xa0\x80").hexdigest()
    assert digest_text("\ufeffa") != digest_text("a")


@given(st.lists(st.dictionaries(st.sampled_from("abc"), _any_text), max_size=3))
def test_lines_bring_back_every_text(rows):
    # A high surrogate directly before a low one is one character to JSON; nothing that we read holds them apart.
    rows = [
        {
            key: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
            for key, text in row.items()
        }
        for row in rows
    ]
    data = dump_lines(rows)
    assert data.isascii()
    assert data.count(b"\n") == len(rows)
    assert [json.loads(line) for line in data.split(b"\n")[:-1]] == rows


def test_lines_refuse_what_json_does_not_know():
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump_lines([{"a": float("nan")}])
