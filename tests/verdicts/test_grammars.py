"""Every contract accepts exactly what its grammar derives: derived texts, their mutations, token soup."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import grammar_oracle as oracle
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from darkcurrent.verdicts import Contract, get_contract, parse_verdict

WORDS: dict[str, list[Any]] = {"A": ["A", 1, "first"], "B": ["B", 2], "tie": ["tie", "Tie", 0]}
TEXT_WORDS = {"A": ["a"], "B": ["b", "B"], "tie": ["neither"]}
PATTERN = r"(?s:.*)Output \(([A-Za-z]+)\)\.?\n*"

READERS: dict[str, tuple[Contract, Callable[[str], str | None]]] = {
    "sole-object": (get_contract("sole-object"), oracle.sole_object),
    "legacy": (get_contract("legacy"), oracle.legacy),
    "label": (get_contract("label"), oracle.label),
    "bracket": (get_contract("bracket"), oracle.bracket),
    "bracket, last line": (
        get_contract("bracket", where="last-line"),
        lambda text: oracle.bracket(text, "last-line"),
    ),
    "json-field": (
        get_contract("json-field", path=["result", "winner"], labels=WORDS),
        lambda text: oracle.json_field(text, ["result", "winner"], WORDS),
    ),
    "score-pair": (
        get_contract("score-pair", tie_width=0.1, lowest=-1, highest=10),
        lambda text: oracle.score_pair(text, "first-line", "0.1", "-1", "10"),
    ),
    "score-pair, whole": (
        get_contract("score-pair", where="whole"),
        lambda text: oracle.score_pair(text, "whole", "0", "0", "10"),
    ),
    "regex": (
        get_contract("regex", pattern=PATTERN, labels=TEXT_WORDS),
        lambda text: oracle.pattern(text, PATTERN, TEXT_WORDS),
    ),
}
LABELS = st.sampled_from(["A", "B", "tie"])
WS = st.text(" \t\n\r", max_size=3)
FREE = st.text(st.characters(codec="utf-8", exclude_characters="[]<>{"), max_size=30)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def json_strings(draw: st.DrawFn, content: str) -> str:
    """One of the many ways in which JSON writes a string."""
    forms = []
    for sign in content:
        code = f"{ord(sign):04x}"
        forms.append(draw(st.sampled_from([sign, f"\\u{code}", f"\\u{code.upper()}"])))
    return '"' + "".join(forms) + '"'


@st.composite
def objects(draw: st.DrawFn, members: list[tuple[str, str]]) -> str:
    """An object of (key, text of the value), with white space where the grammar has it."""
    parts = []
    for key, value in members:
        parts.append(f"{draw(WS)}{draw(json_strings(key))}{draw(WS)}:{draw(WS)}{value}{draw(WS)}")
    return draw(WS) + "{" + ",".join(parts) + "}" + draw(WS)


@st.composite
def sole_objects(draw: st.DrawFn) -> tuple[str, str]:
    label = draw(LABELS)
    return draw(objects([("winner", draw(json_strings(label)))])), label


@st.composite
def legacy_objects(draw: st.DrawFn) -> tuple[str, str]:
    label = draw(LABELS)
    earlier = [("winner", json.dumps(value)) for value in draw(st.lists(JSON, max_size=3))]
    return draw(objects([*earlier, ("winner", draw(json_strings(label)))])), label


@st.composite
def field_objects(draw: st.DrawFn) -> tuple[str, str]:
    label = draw(LABELS)
    word = draw(st.sampled_from(WORDS[label]))
    text = draw(json_strings(word)) if isinstance(word, str) else str(word)
    for key in ("winner", "result"):
        others = draw(st.dictionaries(st.text("abc", max_size=3), JSON.map(json.dumps), max_size=3))
        members = draw(st.permutations([*others.items(), (key, text)]))
        text = draw(objects(members))
    return text, label


@st.composite
def bare_labels(draw: st.DrawFn) -> tuple[str, str]:
    label = draw(LABELS)
    return draw(WS) + label + draw(WS), label


THOUGHT = st.just("") | st.tuples(WS, FREE).map(lambda parts: f"{parts[0]}<think>{parts[1]}[[A]] 9 1</think>")


@st.composite
def brackets(draw: st.DrawFn, *, last_line: bool) -> tuple[str, str]:
    sign = draw(st.sampled_from(["A", "B", "C", "tie"]))
    before, after = draw(FREE), draw(FREE)
    if last_line:
        before = draw(st.sampled_from(["", "[[B]]\n", "x [[A]] [[tie]]\n\n"])) + before.replace("\n", " ")
        after = after.replace("\n", " ") + draw(WS)
    return draw(THOUGHT) + before + f"[[{sign}]]" + after, "tie" if sign == "C" else sign


@st.composite
def score_pairs(draw: st.DrawFn, *, whole: bool) -> tuple[str, str]:
    tenths = st.integers(0, 100)
    a, b = draw(tenths), draw(tenths)
    width = 0 if whole else 1
    between = draw(st.sampled_from([" ", "\t", ", ", " ,\t", ","]))
    text = f"{draw(WS)}{a // 10}.{a % 10}{between}{b // 10}.{b % 10}"
    text += (
        draw(WS)
        if whole
        else draw(st.sampled_from(["", " ", "\r"])) + draw(st.just("") | FREE.map("\n{}".format))
    )
    return draw(THOUGHT) + text, "tie" if abs(a - b) <= width else "A" if a > b else "B"


@st.composite
def pattern_texts(draw: st.DrawFn) -> tuple[str, str]:
    label = draw(LABELS)
    word = draw(st.sampled_from(TEXT_WORDS[label]))
    end = draw(st.sampled_from(["", ".", "\n", ".\n\n"]))
    return draw(THOUGHT) + draw(FREE) + f"Output ({word}){end}", label


DERIVED: dict[str, st.SearchStrategy[tuple[str, str]]] = {
    "sole-object": sole_objects(),
    "legacy": legacy_objects(),
    "label": bare_labels(),
    "bracket": brackets(last_line=False),
    "bracket, last line": brackets(last_line=True),
    "json-field": field_objects(),
    "score-pair": score_pairs(whole=False),
    "score-pair, whole": score_pairs(whole=True),
    "regex": pattern_texts(),
}
TOKENS = st.sampled_from(
    [
        '{', '}', '[', ']', '[[', ']]', '[[A]]', '[[B]]', '[[C]]', '[[tie]]', ':', ',', '"', '\\',
        '"winner"', '"result"', '"A"', '"tie"', 'A', 'B', 'tie', 'Tie', '1', '2', '0', '-0', '9', '10',
        '8.5', '-1', '1e2', 'true', 'null', 'NaN', '<think>', '</think>', '```', '```json', 'Output(', '(',
        ')', '.', '-', '\\u0041', '\\ud800', 'ERROR:', '429', ' ', '\n', '\t', '\r', '\xa0', '\ufeff',
        '\ud800', '\x00', '\x1f', 'Output (a)', '{"winner":"A"}'
    ]
)  # fmt: skip
NAMES = pytest.mark.parametrize("name", READERS)


def agree(name: str, text: str) -> None:
    """The package and the oracle read the same; only an error message may be refused beyond the grammar."""
    contract, derives = READERS[name]
    verdict = parse_verdict(text, contract)
    assert (verdict.value is None) != (verdict.reason is None)
    if verdict.reason == "error-text":
        assert text.lstrip().startswith(("ERROR", "429", '{"error"', "<think>")) or "Error" in text
    else:
        assert verdict.value == derives(text)


@NAMES
@given(data=st.data())
@settings(max_examples=150)
def test_what_the_grammar_derives_is_accepted_with_its_value(name: str, data: st.DataObject) -> None:
    text, label = data.draw(DERIVED[name])
    contract, derives = READERS[name]
    assert derives(text) == label
    assert parse_verdict(text, contract).value == label


@NAMES
@given(data=st.data())
@settings(max_examples=150)
def test_a_mutated_text_is_read_as_the_grammar_says(name: str, data: st.DataObject) -> None:
    text, _ = data.draw(DERIVED[name])
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 4)))
        text = text[:start] + data.draw(st.just("") | TOKENS | st.just(text[start:end] * 2)) + text[end:]
    agree(name, text)


@NAMES
@given(text=st.lists(TOKENS, max_size=12).map("".join))
@settings(max_examples=200)
@example(text="<think>[[A]]</think>[[B]]")
@example(text="<think>[[A]] then [[B]]")
@example(text="[[A]]</think>[[B]]")
@example(text="[[A]] and again [[A]]")
@example(text='{"result":{"winner":true}}')
@example(text='{"result":{"winner":1.0}}')
@example(text='{"result":{"winner":-0}}')
@example(text='{"result":{"winner":"A","x":1,"x":2}}')
@example(text='{"result":{"winner":"A"},"result":{"winner":"A"}}')
@example(text='{"result":{"winner":"A","deep":' + "[" * 62 + "]" * 62 + "}}")
@example(text='{"result":{"winner":"A","deep":' + "[" * 63 + "]" * 63 + "}}")
@example(text="10 9.9")
@example(text="10 9.8999")
@example(text="10.1 3")
@example(text="-1 10")
@example(text="3\u00a04")
@example(text="\u0663 \u0664")
def test_any_text_is_read_as_the_grammar_says(name: str, text: str) -> None:
    agree(name, text)


@given(
    text=st.none() | st.text(st.characters(), max_size=200),
    finish=st.none() | st.text(max_size=10),
    reasoning=st.booleans(),
)
@settings(max_examples=300)
def test_nothing_makes_a_contract_raise(text: str | None, finish: str | None, reasoning: bool) -> None:
    for contract, _ in READERS.values():
        verdict = parse_verdict(text, contract, finish, reasoning_present=reasoning)
        assert (verdict.value is None) != (verdict.reason is None)
