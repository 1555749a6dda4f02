"""What can be declared, what cannot, and what the options do."""

from __future__ import annotations

import builtins
import importlib
import json
import time
from typing import Any

import pytest

from darkcurrent.errors import MissingExtraError, UsageError
from darkcurrent.verdicts import CONTRACTS, Verdict, get_contract, parse_verdict


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("bracket", {"where": "end"}, "bracket, option 'where': 'end'"),
        ("bracket", {"were": "anywhere"}, "no option 'were'"),
        ("sole-object", {"where": "anywhere"}, "no option 'where'"),
        ("json-field", {"path": "winner"}, "option 'path'"),
        ("json-field", {"path": []}, "option 'path'"),
        ("json-field", {"path": ["a", 1]}, "option 'path'"),
        ("json-field", {"_table": {}}, "no option '_table'"),
        ("json-field", {"labels": ["A", "B"]}, "option 'labels': give a table"),
        ("json-field", {"labels": {"A": ["1"]}}, "at least one word that means B"),
        ("json-field", {"labels": {"A": [], "B": ["2"]}}, "at least one word that means A"),
        ("json-field", {"labels": {"A": ["1"], "B": ["2"], "C": ["3"]}}, "'C' is no verdict"),
        ("json-field", {"labels": {"A": "1", "B": ["2"]}}, "A needs a list"),
        ("json-field", {"labels": {"A": [True], "B": ["2"]}}, "True of A must be of type str or int"),
        ("json-field", {"labels": {"A": [1.5], "B": ["2"]}}, "1.5 of A must be of type str or int"),
        ("json-field", {"labels": {"A": ["1"], "B": ["1"]}}, "'1' stands twice"),
        ("score-pair", {"where": "anywhere"}, "option 'where'"),
        ("score-pair", {"tie_width": -0.1}, "option 'tie_width': -0.1 must not be negative"),
        ("score-pair", {"tie_width": float("nan")}, "option 'tie_width'"),
        ("score-pair", {"tie_width": "1"}, "option 'tie_width'"),
        ("score-pair", {"tie_width": True}, "option 'tie_width'"),
        ("score-pair", {"highest": float("inf")}, "option 'highest'"),
        ("score-pair", {"highest": 10**400}, "option 'highest'"),
        ("score-pair", {"lowest": 10}, "option 'lowest': 10 must be below highest"),
        ("regex", {}, "needs the option 'pattern'"),
        ("regex", {"pattern": 1}, "option 'pattern'"),
        ("regex", {"pattern": "(\ud800)"}, "option 'pattern'"),
        ("regex", {"pattern": "A|B|tie"}, "exactly one capturing group and has 0"),
        ("regex", {"pattern": "(A)|(B)"}, "exactly one capturing group and has 2"),
        ("regex", {"pattern": "(?P<v>A)(?P<v>B)"}, "exactly one capturing group and has 2"),
        ("regex", {"pattern": "(A"}, "RE2 does not accept it: missing \\)"),
        ("regex", {"pattern": r"(A|B)\1"}, "RE2 does not accept it"),
        ("regex", {"pattern": r"(?=x)(A)"}, "RE2 does not accept it"),
        ("regex", {"pattern": r"((?:x{1,9}){1,999})"}, "RE2 does not accept it"),
        ("regex", {"pattern": "(A)", "labels": {"A": [1], "B": ["B"]}}, "1 of A must be of type str"),
    ],
)
def test_an_option_that_cannot_be_used_is_named(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        get_contract(name, **options)


def test_every_contract_declares_itself_as_json_and_can_be_made_again_from_that() -> None:
    for name in CONTRACTS:
        contract = get_contract(name, **({"pattern": "(A|B|tie)"} if name == "regex" else {}))
        declared = json.loads(json.dumps(contract.declaration()))
        assert declared.pop("name") == name
        assert get_contract(name, **declared) == contract
    assert get_contract("bracket").declaration() == {"name": "bracket", "where": "anywhere"}
    assert get_contract("bracket") != get_contract("bracket", where="last-line")


def test_regex_without_its_engine_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, *_: object) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(MissingExtraError, match=r"darkcurrent\[regex\]"):
        get_contract("regex", pattern="(A|B)")


def test_reading_needs_no_engine_of_a_contract_that_is_not_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name == "re2":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert parse_verdict("[[A]]", "bracket").value == "A"


@pytest.mark.parametrize(
    ("where", "text", "expected"),
    [
        ("anywhere", "The winner is [[A]].", "A"),
        ("anywhere", "[[C]]", "tie"),
        ("anywhere", "so: [[tie]]\n", "tie"),
        ("anywhere", "[[A]] ... [[B]]", "several-verdicts"),
        ("anywhere", "[[A]] ... [[A]]", "several-verdicts"),
        ("anywhere", "[[C]] ... [[tie]]", "several-verdicts"),
        ("anywhere", "[[a]]", "wrong-value"),
        ("anywhere", "[[Assistant B]]", "wrong-value"),
        ("anywhere", '[["A"]].', "wrong-value"),
        ("anywhere", "[B]", "no-verdict"),
        ("anywhere", "A is better", "no-verdict"),
        ("anywhere", "I'm sorry, I can't compare these.", "refusal-like"),
        ("anywhere", "I'm sorry, I can't compare these, so [[C]]", "tie"),
        ("anywhere", "```\n[[A]]\n```", "A"),
        ("anywhere", "ERROR: 429 after [[A]]", "error-text"),
        ("anywhere", "<think>[[B]]</think>[[A]]", "A"),
        ("anywhere", "<think>[[B]]", "reasoning-only"),
        ("anywhere", "<think>[[B]]</think> \n", "reasoning-only"),
        ("anywhere", "[[B]]</think>[[A]]", "reasoning-inside"),
        ("anywhere", "<think>[[B]]</think>x</think>[[A]]", "reasoning-inside"),
        ("anywhere", "<think>x</think>ERROR: 500 [[A]]", "error-text"),
        ("anywhere", "ERROR: 500 </think> [[A]]", "error-text"),
        ("last-line", "[[A]] or [[B]]?\nFinal: [[B]]\n\n", "B"),
        ("last-line", "[[A]]\nbecause it is right", "no-verdict"),
        ("last-line", "x\n[[A]] [[A]]", "several-verdicts"),
        ("last-line", "[[A]]\r\n[[B]]\r\n", "B"),
        ("last-line", "[[A]]\u2028[[B]]", "several-verdicts"),
    ],
)
def test_bracket(where: str, text: str, expected: str) -> None:
    verdict = parse_verdict(text, get_contract("bracket", where=where))
    assert (verdict.value or verdict.reason) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"out":{"winner":"first"},"why":"x"}', "A"),
        ('{"why":{"out":1},"out":{"score":1e999,"winner":2}}', "B"),
        ('{"out":{"winner":0}}', "tie"),
        ('{"out":{"winner":-0}}', "tie"),
        ('{"out":{"winner":false}}', "wrong-type"),
        ('{"out":{"winner":2.0}}', "wrong-type"),
        ('{"out":{"winner":' + "2" * 5000 + "}}", "wrong-type"),
        ('{"out":{"winner":"2"}}', "wrong-value"),
        ('{"out":{"winner":3}}', "wrong-value"),
        ('{"out":{"winner":null}}', "wrong-type"),
        ('{"out":{"winner":["first"]}}', "wrong-type"),
        ('{"out":"first"}', "wrong-type"),
        ('[{"out":{"winner":"first"}}]', "wrong-type"),
        ('{"winner":"first"}', "wrong-key"),
        ('{"out":{}}', "wrong-key"),
        ('{"out":{"winner":"first","x":1,"x":1}}', "duplicate-keys"),
        ('{"x":1,"x":1,"out":{"winner":"first"}}', "duplicate-keys"),
        ('{"why":{"x":1,"x":1},"out":{"winner":"first"}}', "A"),
        ('{"error":{"code":429}}', "error-text"),
        ('{"out":{"winner":"first"},"score":NaN}', "not-json"),
        ('```json\n{"out":{"winner":"first"}}\n```', "fenced"),
        ('{"out":{"winner":"first"},"why":"```"}', "A"),
        ('{"out":{"winner":"first"},"why":"A used ```json\\n{}```"}', "A"),
        ('{"out":{"winner":"first"},"why":"cut', "truncated"),
    ],
)
def test_json_field(text: str, expected: str) -> None:
    labels = {"A": ["first"], "B": ["second", 2], "tie": [0]}
    verdict = parse_verdict(text, get_contract("json-field", path=["out", "winner"], labels=labels))
    assert (verdict.value or verdict.reason) == expected


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        ({}, "8 7\nA is better.", "A"),
        ({}, "7.5, 8", "B"),
        ({}, "\n8\t8\r\nequal", "tie"),
        ({}, "8 9 7", "prose-around"),
        ({}, "8/10 7/10", "no-verdict"),
        ({}, "Scores: 8 7", "no-verdict"),
        ({}, "8 7 points", "prose-around"),
        ({}, "8\n7", "no-verdict"),
        ({}, "11 7", "wrong-value"),
        ({}, "8 -1", "wrong-value"),
        ({}, "429 Too Many Requests", "error-text"),
        ({}, "I cannot rate these.", "refusal-like"),
        ({}, "\u0668 7", "no-verdict"),
        ({"tie_width": 0.1}, "1.1 1.0", "tie"),  # the difference of the two doubles is above .1
        ({"tie_width": 0.1}, "1.1001 1.0", "A"),
        ({"tie_width": 1}, "7 8", "tie"),
        ({"where": "whole"}, " 8 7 \n", "A"),
        ({"where": "whole"}, "8 7\nA is better.", "prose-around"),
        ({"lowest": -5, "highest": 5}, "-5 5", "B"),
    ],
)
def test_score_pair(options: dict[str, Any], text: str, expected: str) -> None:
    verdict = parse_verdict(text, get_contract("score-pair", **options))
    assert (verdict.value or verdict.reason) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Output (a)", "A"),
        ("So: Output (b).", "B"),
        (
            "Output (a) and then Output (b)",
            "B",
        ),  # the declared pattern takes the last; it is anchored at the end
        ("Output (a) is better", "no-verdict"),
        ("Output (c)", "wrong-value"),
        ("caf\u00e9 \ud800 Output (a)", "A"),
        ("ERROR: 429 Output (a)", "error-text"),
        ("<think>Output (a)", "reasoning-only"),
        ("I can't choose", "refusal-like"),
    ],
)
def test_regex(text: str, expected: str) -> None:
    contract = get_contract(
        "regex", pattern=r"(?s).*Output \(([a-z])\)\.?", labels={"A": ["a"], "B": ["b"], "tie": []}
    )
    verdict = parse_verdict(text, contract)
    assert (verdict.value or verdict.reason) == expected


def test_an_alternative_without_the_group_is_no_verdict() -> None:
    assert parse_verdict("x", get_contract("regex", pattern="(A|B)|x")) == Verdict(None, "no-verdict")


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b",
        r"(?:a|a)*(b)",
        r"(?:a*)*(?:a*)*(?:a*)*(c)",
        r"(?s).*.*.*.*(x)",
        r"((?:a?){200}a{200})b",
        r"(?s)(.*a){12}x",
        r"(?:(?:(?:a+)+)+)+(b)",
    ],
)
def test_no_accepted_pattern_hangs(pattern: str) -> None:
    """Ten times the text may cost some thirty times the time (a cache that overflows), never its square."""
    contract = get_contract("regex", pattern=pattern)
    for length in (2_000, 20_000):
        start = time.process_time()
        assert parse_verdict("a" * length + "!", contract).reason == "no-verdict"
        assert time.process_time() - start < length * 50e-6
