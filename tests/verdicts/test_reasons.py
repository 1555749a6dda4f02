"""The vocabulary is closed, its order is the order in which reasons win, and errors are no verdicts."""

from __future__ import annotations

import pytest

from darkcurrent.verdicts import CONTRACTS, REASONS, get_contract, invalid, parse_verdict, read_under_every
from darkcurrent.verdicts.diagnosis import FREE_TEXT_TESTS, JSON_TESTS, TEXT_TESTS
from darkcurrent.verdicts.reasons import rank

CAPTURE_REASONS = [
    "missing",
    "ambiguous",
    "deadline",
    "request-refused",
    "judge-raised",
    "transport",
    "reply-too-large",
    "mismatched-model",
    "recorded-invalid",
]
DEEP = '{"a":' * 70 + "1" + "}" * 70

# For each reason that a text can have: a text of which it and the one below are both true, and the contract.
BOTH_TRUE = [
    ("filtered", "truncated", None, "sole-object"),
    ("truncated", "error-text", '{"error":', "sole-object"),
    ("reasoning-only", "empty", "", "sole-object"),
    ("reasoning-only", "prose-around", '<think>{"winner":"A"}</think>', "sole-object"),
    ("error-text", "too-deep", "ERROR: " + DEEP, "sole-object"),
    ("error-text", "several-verdicts", "ERROR: 500 [[A]] [[B]]", "bracket"),
    ("error-text", "wrong-key", '{"error":1}', "sole-object"),
    ("too-deep", "prose-around", 'It is 5" wide. {"winner":"A"} ' + DEEP, "sole-object"),
    ("too-deep", "byte-order-mark", "\ufeff" + DEEP, "sole-object"),
    ("byte-order-mark", "fenced", '\ufeff```\n{"winner":"A"}\n```', "sole-object"),
    ("reasoning-inside", "fenced", '<think>x</think>```\n{"winner":"A"}\n```', "sole-object"),
    ("fenced", "several-objects", '```\n{"winner":"A"}\n{"winner":"A"}\n```', "sole-object"),
    ("fenced", "prose-around", 'So:\n```json\n{"winner":"A"}\n```', "sole-object"),
    ("fenced", "wrong-value", "```\nTie\n```", "label"),
    ("several-objects", "refusal-like", 'I cannot judge {"a":1} {"a":1}', "sole-object"),
    ("several-verdicts", "prose-around", "A, or B", "label"),
    ("prose-around", "refusal-like", 'I cannot judge. {"winner":"tie"}', "sole-object"),
    ("prose-around", "refusal-like", "I cannot judge. A", "label"),
    ("refusal-like", "not-json", "I cannot judge.", "sole-object"),
    ("refusal-like", "wrong-value", "I cannot judge. [[None]]", "bracket"),
    ("duplicate-keys", "wrong-key", '{"a":1,"a":1}', "sole-object"),
    ("duplicate-keys", "extra-keys", '{"winner":"A","a":1,"a":1}', "sole-object"),
    ("wrong-key", "extra-keys", '{"a":1,"b":1}', "sole-object"),
    ("extra-keys", "wrong-type", '{"winner":1,"a":1}', "sole-object"),
    ("extra-keys", "wrong-value", '{"winner":"C","a":1}', "sole-object"),
    ("wrong-value", "no-verdict", "[[a]]", "bracket"),
]


@pytest.mark.parametrize(("wins", "loses", "text", "contract"), BOTH_TRUE)
def test_of_two_true_reasons_the_one_that_stands_first_wins(
    wins: str, loses: str, text: str | None, contract: str
) -> None:
    finish = "content_filter" if wins == "filtered" else "stop"
    assert parse_verdict(text, contract, finish, reasoning_present=wins == "reasoning-only").reason == wins
    assert rank(wins) < rank(loses)


def test_the_order_is_total_and_the_tests_follow_it() -> None:
    assert [rank(code) for code in REASONS] == list(range(len(REASONS)))
    for tests in (JSON_TESTS, TEXT_TESTS, FREE_TEXT_TESTS):
        assert list(tests) == sorted(tests, key=rank)


def test_every_reason_can_be_had_from_a_reply_or_belongs_to_the_capture_layer() -> None:
    texts = [text for *_, text, _ in BOTH_TRUE] + [" ", "A.", "x", '{"winner":1}', '{"winner":"C"}', "{"]
    had = {
        verdict.reason
        for text in texts
        for finish in ("stop", "content_filter")
        for verdict in read_under_every(text, finish).values()
    }
    assert list(REASONS)[: len(CAPTURE_REASONS)] == CAPTURE_REASONS
    assert had - {None} == REASONS.keys() - set(CAPTURE_REASONS)


def test_a_reason_that_is_not_in_the_vocabulary_cannot_be_given() -> None:
    assert invalid("transport").reason == "transport"
    with pytest.raises(KeyError):
        invalid("transport-error")


RECORDED_ERRORS = [
    "ERROR: ",
    "ERROR: 429",
    "ERROR: 429 Too Many Requests [[A]]",
    "ERROR: Client error '429 Too Many Requests' for url 'https://api.example/v1/messages'\n2",
    "$ERROR$",
    "429 Too Many Requests",
    "\n429: too many requests [[B]]",
    "503 Service Unavailable",
    "502 Bad Gateway [[A]]",
    "500 Internal Server Error",
    "504 Gateway Timeout",
    "Error code: 429 - {'error': {'message': 'Rate limit reached'}} [[A]]",
    "Error: 500",
    "API error: 529 overloaded",
    "HTTP 429",
    "HTTP/1.1 503 Service Unavailable",
    "HTTP error 502",
    "Server error '500 Internal Server Error' for url 'x'",
    "Rate limit exceeded, try again in 2 s [[C]]",
    "openai.RateLimitError: Error code: 429",
    "TimeoutError: [[A]]",
    "ReadTimeoutException('x') [[A]]",
    "Traceback (most recent call last):\n  [[A]]",
    "<html><head><title>502 Bad Gateway</title></head>[[A]]</html>",
    "<!DOCTYPE html>[[A]]",
    '{"error":{"message":"overloaded","code":429}}',
]


@pytest.mark.parametrize("text", RECORDED_ERRORS)
def test_an_error_recorded_as_text_is_never_a_verdict(text: str) -> None:
    first_digit = get_contract(
        "regex", pattern=r"(?s)[^0-9]*([0-9])?.*", labels={"A": ["1"], "B": list("2345"), "tie": ["0"]}
    )
    verdicts = [*read_under_every(text).values(), parse_verdict(text, first_digit)]
    assert {verdict.reason for verdict in verdicts} == {"error-text"}


@pytest.mark.parametrize(
    "text",
    [
        "Error: Assistant A made a mistake in the second step, so [[B]]",
        "Errors are found in both answers, more of them in A. [[B]]",
        "There is an HTTP 429 in the log that answer A explains. [[A]]",
        "500 words were asked for; B has 480. [[B]]",
        "404 is the right status, as B says. [[B]]",
        "Answer A: raise ValueError: bad. [[B]]",
        "Rate limits are explained better by B. [[B]]",
    ],
)
def test_a_judge_that_writes_of_errors_is_read(text: str) -> None:
    assert parse_verdict(text, "bracket").value in ("A", "B")


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that request.",
        "I’m sorry, I can’t help with that.",
        "I cannot evaluate these responses.",
        "As an AI language model, I am unable to judge this.",
        "Unfortunately, I won't be... no. I must decline.",
        "I apologize, but I am not able to compare the two.",
        "I must decline to answer.",
        "I refuse to judge these texts.",
        "Sorry, but I decline to choose.",
    ],
)
def test_prose_that_refuses(text: str) -> None:
    expected = "not-json" if "no. I must" in text else "refusal-like"  # only the start of a text is looked at
    assert parse_verdict(text).reason == expected


@pytest.mark.parametrize(
    "text",
    [
        "I cannot find any difference between the two.",
        "Assistant A says: I'm sorry, I can't help with that.",
        "Both refuse: I cannot assist.",
        "I will not repeat the question; B is better.",
        "Sorry, B is better.",
        "Unfortunately, both are wrong.",
    ],
)
def test_prose_that_judges_is_no_refusal(text: str) -> None:
    assert parse_verdict(text).reason == "not-json"
    assert parse_verdict(text, "bracket").reason == "no-verdict"


def test_sensitivity_reads_under_every_contract_that_has_defaults() -> None:
    read = read_under_every('{"winner":"B","winner":"A"}')
    assert list(read) == [name for name in CONTRACTS if name != "regex"]
    assert {name: verdict.value for name, verdict in read.items() if verdict.value} == {"legacy": "A"}
    assert read["sole-object"].reason == read["json-field"].reason == "duplicate-keys"
    assert {verdict.reason for verdict in read_under_every("[[A]]", "length").values()} == {"truncated"}
    assert {verdict.reason for verdict in read_under_every(None, reasoning_present=True).values()} == {
        "reasoning-only"
    }
