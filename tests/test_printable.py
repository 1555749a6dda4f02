"""What a text from outside may do to a terminal or a page: nothing."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.printable import printable, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("a\u202eb", "a\\u202eb"),
        ("two\nlines\u2028more", "two\\nlines\\u2028more"),
        ("\U000e0001", "\\U000e0001"),
        ("\ud800", "\\ud800"),
        ("漢字 é\u00a0!", "漢字 é\u00a0!"),
    ],
)
def test_what_would_steer_a_terminal_is_made_visible(text, shown):
    assert printable(text) == shown


@given(st.text(st.characters()))
def test_any_text_becomes_one_line_that_can_be_written(text):
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    shown.encode("utf-8")  # no lone surrogate is left
    assert not [c for c in shown if unicodedata.category(c)[0] == "C"]


def test_a_long_name_keeps_its_head_and_its_tail():
    assert shortened("x" * 60) == "x" * 60
    assert shortened("a" * 100_000 + "-the-end") == "a" * 47 + "…" + "aaaa-the-end"
