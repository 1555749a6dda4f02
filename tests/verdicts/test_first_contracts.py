"""The three contracts without options, one row per rule."""

from __future__ import annotations

import json

import pytest

from darkcurrent.errors import UsageError
from darkcurrent.verdicts import REASONS, Verdict, get_contract, parse_verdict

VALID_SOLE = [
    ('{"winner":"A"}', "A"),
    ('{"winner":"B"}', "B"),
    ('{"winner":"tie"}', "tie"),
    (' \t\r\n{ "winner"\n:\t"tie" } \r\n', "tie"),
    (r'{"w\u0069nner":"A"}', "A"),
    (r'{"winner":"\u0074\u0069e"}', "tie"),
]

INVALID_SOLE = [
    (None, "empty"),
    ("", "empty"),
    (" \n\t ", "whitespace"),
    ("\u00a0\u2003", "whitespace"),
    ('```json\n{"winner":"A"}\n```', "fenced"),
    ('```\n{"winner":"Tie"}\n```', "fenced"),
    ('The verdict is:\n```json\n{"winner":"A"}\n```\nThanks.', "fenced"),
    ('~~~\n{"winner":"A"}\n~~~', "fenced"),
    ('Verdict: {"winner":"A"}', "prose-around"),
    ('{"winner":"A"} because A is right.', "prose-around"),
    ('{"winner":"A"}}', "prose-around"),
    ('{"winner":"A"},', "prose-around"),
    ('{"winner":"A"}\u00a0', "prose-around"),
    ('{"winner":"A"}\x00', "prose-around"),
    ('{"winner":"A"}{"winner":"A"}', "several-objects"),
    ('{"winner":"A"}\n{"confidence":1}', "several-objects"),
    ('\ufeff{"winner":"A"}', "byte-order-mark"),
    ('{"winner":"A","winner":"A"}', "duplicate-keys"),
    ('{"winner":"A","winner":"B"}', "duplicate-keys"),
    ('{"x":1,"x":2}', "duplicate-keys"),
    ('{"winner":"A","reason":"x"}', "extra-keys"),
    ("{}", "wrong-key"),
    ('{"Winner":"A"}', "wrong-key"),
    ('{"choice":"A","reason":"x"}', "wrong-key"),
    ('{"winner":"Tie"}', "wrong-value"),
    ('{"winner":"a"}', "wrong-value"),
    ('{"winner":"A "}', "wrong-value"),
    ('{"winner":null}', "wrong-type"),
    ('{"winner":["A"]}', "wrong-type"),
    ('{"winner":{"A":1}}', "wrong-type"),
    ('{"winner":true}', "wrong-type"),
    ('{"winner":1}', "wrong-type"),
    ('{"winner":1.5e300}', "wrong-type"),
    ('{"winner":' + "9" * 5000 + "}", "wrong-type"),
    ('["A"]', "wrong-type"),
    ('[{"winner":"A"}]', "wrong-type"),
    ("42", "wrong-type"),
    ("null", "wrong-type"),
    ('"A"', "wrong-type"),
    ("A", "not-json"),
    ("{'winner':'A'}", "not-json"),
    ("{\u201cwinner\u201d:\u201cA\u201d}", "not-json"),
    ('{"winner":"A",}', "not-json"),
    ('{"winner":NaN}', "not-json"),
    ('{"winner":-Infinity}', "not-json"),
    ('{"a":{"winner":"A"},"b":NaN}', "not-json"),
    ('{"a":{"winner":"A"},"b":tru}', "not-json"),
    ('{ or so. {"winner":"A"}', "prose-around"),
    ('f() {} then {"winner":"A"}', "prose-around"),
    ("{x}" * 31 + '{"winner":"A"}', "prose-around"),
    ("{x}" * 32 + '{"winner":"A"}', "not-json"),
    ('{"winner":"A\n"}', "not-json"),
    ("\ud800", "not-json"),
    ('{"winner":"A"', "truncated"),
    ('{"winner":"A', "truncated"),
    ('{"winner":"A\\', "truncated"),
    ('{"winner"', "truncated"),
    ('{"reasoning":"both are \\"good\\" and', "truncated"),
    ('{"winner":"A", "notes":"```\n{', "not-json"),  # a raw newline in a string: broken, not cut
    ("[" * 100_000, "too-deep"),
    ('{"a":' * 100_000, "too-deep"),
    ('{"winner":' * 65 + '"A"' + "}" * 65, "too-deep"),
    ("See " + '{"a":' * 70 + "1" + "}" * 70, "too-deep"),
    ("<think>A is better", "reasoning-only"),
    ("<think>A is better</think>\n", "reasoning-only"),
    ('<think>A</think>{"winner":"A"}', "reasoning-inside"),
    ('A is better</think>{"winner":"A"}', "reasoning-inside"),
    ("ERROR: 429 Too Many Requests", "error-text"),
    ("429 Too Many Requests", "error-text"),
    ("$ERROR$", "error-text"),
    ('{"error":{"message":"overloaded"}}', "error-text"),
    ("openai.RateLimitError: Error code: 429", "error-text"),
    ("I'm sorry, but I can't help with that.", "refusal-like"),
    ("Both answers are good.", "not-json"),
]


@pytest.mark.parametrize(("text", "value"), VALID_SOLE)
@pytest.mark.parametrize("contract", ["sole-object", "legacy"])
def test_an_object_with_the_sole_key_is_a_verdict(text: str, value: str, contract: str) -> None:
    assert parse_verdict(text, contract) == Verdict(value, None)


@pytest.mark.parametrize(("text", "reason"), INVALID_SOLE)
def test_sole_object_gives_the_most_specific_reason(text: str | None, reason: str) -> None:
    assert parse_verdict(text) == Verdict(None, reason)


def test_legacy_differs_from_sole_object_in_duplicate_keys_only() -> None:
    differing = {
        text for text, reason in INVALID_SOLE if parse_verdict(text, "legacy") != Verdict(None, reason)
    }
    assert differing == {'{"winner":"A","winner":"A"}', '{"winner":"A","winner":"B"}', '{"x":1,"x":2}'}
    assert parse_verdict('{"winner":"A","winner":"B"}', "legacy").value == "B"
    assert parse_verdict('{"winner":"B","winner":null}', "legacy").reason == "wrong-type"
    assert parse_verdict('{"x":1,"x":2}', "legacy").reason == "wrong-key"


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("A", "A", None),
        (" \r\n\tB\n", "B", None),
        ("tie", "tie", None),
        ("A\u00a0", None, "prose-around"),
        ("Tie", None, "wrong-value"),
        ("a", None, "wrong-value"),
        ("C", None, "wrong-value"),
        ("A.", None, "prose-around"),
        ("**A**", None, "prose-around"),
        ("A\n\nbecause it is right", None, "prose-around"),
        ("The better one is B", None, "prose-around"),
        ("A tie", None, "several-verdicts"),
        ("A or B", None, "several-verdicts"),
        ("AB", None, "wrong-value"),
        ("Assistant A was better here", None, "no-verdict"),
        ("```\nA\n```", None, "fenced"),
        ("\ufeffA", None, "byte-order-mark"),
        ("<think>B</think>A", None, "reasoning-inside"),
        ("<think>B", None, "reasoning-only"),
        ("ERROR: A", None, "error-text"),
        ("I cannot compare these.", None, "refusal-like"),
        ("", None, "empty"),
    ],
)
def test_label_is_bare(text: str, value: str | None, reason: str | None) -> None:
    assert parse_verdict(text, "label") == Verdict(value, reason)


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("length", "truncated"),
        ("max_tokens", "truncated"),
        ("content_filter", "filtered"),
        ("refusal", "filtered"),
    ],
)
@pytest.mark.parametrize("text", ['{"winner":"A"}', "", None, "ERROR: 429"])
def test_what_the_server_says_of_its_reply_wins_over_the_text(finish: str, expected: str, text: str) -> None:
    assert parse_verdict(text, finish_reason=finish, reasoning_present=True).reason == expected


@pytest.mark.parametrize("finish", ["stop", None, "eos", "end_turn", "tool_calls", ""])
def test_any_other_finish_reason_leaves_the_decision_to_the_text(finish: str | None) -> None:
    assert parse_verdict('{"winner":"A"}', finish_reason=finish).value == "A"
    assert parse_verdict("", finish_reason=finish).reason == "empty"


def test_reasoning_without_content_is_told_apart_from_nothing() -> None:
    assert parse_verdict(None, reasoning_present=True).reason == "reasoning-only"
    assert parse_verdict(" \n", reasoning_present=True).reason == "reasoning-only"
    assert parse_verdict('{"winner":"A"}', reasoning_present=True).value == "A"


@pytest.mark.parametrize("content", [42, ["A"], b'{"winner":"A"}', {"winner": "A"}, 0, []])
def test_content_that_is_no_text_is_an_observation_too(content: object) -> None:
    assert parse_verdict(content).reason == "wrong-type"  # type: ignore[arg-type]


def test_an_unknown_contract_or_option_is_named() -> None:
    with pytest.raises(UsageError, match=r"no contract 'sole_object'.*sole-object, legacy, label"):
        parse_verdict("x", "sole_object")
    with pytest.raises(UsageError, match="label has no option 'case'"):
        get_contract("label", case=True)


def test_verdicts_are_plain_immutable_data() -> None:
    verdict = parse_verdict("A", "label")
    with pytest.raises(AttributeError):
        verdict.value = "B"  # type: ignore[misc]
    assert json.dumps(verdict._asdict()) == '{"value": "A", "reason": null}'
    assert hash(verdict) == hash(Verdict("A", None))


def test_every_description_is_one_sentence() -> None:
    assert all(text.endswith(".") and text.count(". ") == 0 for text in REASONS.values())
