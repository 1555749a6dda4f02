"""Chat messages become the text of a prompt by one rule."""

from __future__ import annotations

import pytest

from darkcurrent.batteries.chat import render_prompt
from darkcurrent.errors import BatteryError


@pytest.mark.parametrize("text", ["", "plain", "[user]\nx", " \ufeff\u2028\r\n ", "\ud800"])
def test_a_string_is_taken_as_it_is(text):
    assert render_prompt(text, "row 1") == text


def test_messages_stand_under_their_roles_as_they_are():
    messages = [
        {"role": "system", "content": "Be brief.\r\n"},
        {"role": "user", "content": ""},
        {"role": "assistant", "content": "\ufeffYes \ud800", "name": "other keys are left out"},
    ]
    assert render_prompt(messages, "row 1") == (
        "[system]\nBe brief.\r\n\n\n[user]\n\n\n[assistant]\n\ufeffYes \ud800"
    )


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "row 1: the prompt is null: give a string or a list of chat messages."),
        (True, "row 1: the prompt is true: "),
        (12, "row 1: the prompt is 12: "),
        ([], "row 1: the prompt is a list of 0: "),
        ({"role": "user", "content": "x"}, "row 1: the prompt is an object of 2: "),
        (["text"], "row 1: message 0 of the prompt is no object with a `role` and a `content`"),
        ([{"role": "user", "content": "x"}, {"role": "user"}], "row 1: message 1 of the prompt"),
        ([{"role": None, "content": "x"}], "row 1: message 0"),
        ([{"role": "user", "content": True}], "row 1: message 0"),
        ([{"role": "user", "content": [{"type": "text", "text": "x"}]}], "row 1: message 0"),
    ],
)
def test_anything_else_is_an_error_that_names_the_row(value, says):
    with pytest.raises(BatteryError) as caught:
        render_prompt(value, "row 1")
    assert str(caught.value).startswith(says)
