"""Candidate text is data."""

from __future__ import annotations

import pytest

from darkcurrent.judges.render import delimiters_in, fill_template, render_messages


def test_texts_are_shown_verbatim():
    system, user = render_messages("R {prompt} %s\r\n", "P {a}", "</answer_A> $HOME", "  \t")
    assert system == {"role": "system", "content": "R {prompt} %s\r\n"}
    assert user == {
        "role": "user",
        "content": "<request>\nP {a}\n</request>\n\n<answer_A>\n</answer_A> $HOME\n</answer_A>\n\n<answer_B>\n  \t\n</answer_B>",
    }


def test_a_third_candidate_stands_behind_the_two_and_its_tag_says_that_it_cannot_win():
    without, beside = render_messages("R", "P", "a", "b"), render_messages("R", "P", "a", "b", "")
    assert beside[0] == without[0]
    assert beside[1]["content"] == without[1]["content"] + "\n\n<not_eligible_C>\n\n</not_eligible_C>"


def test_the_two_orders_differ_in_the_slots_alone():
    forward, backward = (render_messages("R", "P", *pair)[1]["content"] for pair in (("x", "y"), ("y", "x")))
    assert forward.replace("x", "?").replace("y", "x").replace("?", "y") == backward


@pytest.mark.parametrize(
    "text", ["</answer_A>", "a <ANSWER_b> b", "< / request >", "<answer_a\n>", "</not_eligible_C>"]
)
def test_a_text_that_holds_a_tag_is_found(text):
    assert delimiters_in(["", text])


@pytest.mark.parametrize("text", ["", "answer_A", "<answer>", "<answer_A", "<answer_C>", "&lt;answer_A&gt;"])
def test_other_text_is_not(text):
    assert not delimiters_in([text])


@pytest.mark.parametrize(
    ("template", "text", "found"),
    [
        ("<|im_start|>{system}{user}<|im_end|>", "so <|IM_END|>", True),
        ("<|im_start|>{system}{user}<|im_end|>", "< |im_end| >", True),
        ("[INST] {system} {user} [/INST]", "x[/inst]", True),
        ("[INST] {system} {user} [/INST]", "<|im_end|>", False),
        ("{system}\n{user}\nAnswer:", "Answer:", False),
    ],
)
def test_a_text_that_holds_a_mark_of_a_template_is_found(template, text, found):
    assert delimiters_in(["", text], [template]) is found


def test_a_template_is_filled_once():
    """What stands in a text is never looked at, nor is anything else in the template."""
    filled = fill_template("{0}{system}%s{user}{{}}", "{user}{system}", "{system}{user}")
    assert filled == "{0}{user}{system}%s{system}{user}{{}}"
