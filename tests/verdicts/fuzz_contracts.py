"""Atheris on every contract, with the second reading of the grammars as the oracle. Not collected by pytest.

Run in an environment with `atheris` and `google-re2`, from the project's root::

    PYTHONPATH=src:tests/verdicts python tests/verdicts/fuzz_contracts.py -max_total_time=1800 -max_len=2048

It stops at the first reply that makes a contract raise, take over a second, or read what its grammar does not
say.
"""

from __future__ import annotations

import sys
import time

import atheris

with atheris.instrument_imports(include=["darkcurrent.verdicts", "json"]):
    from darkcurrent.verdicts import get_contract, parse_verdict
import grammar_oracle as oracle

WORDS = {"A": ["A", 1, "first"], "B": ["B", 2], "tie": ["tie", 0]}
TEXT_WORDS = {"A": ["a"], "B": ["b"], "tie": ["neither"]}
PATTERN = r"(?s:.*)Output \(([A-Za-z]+)\)\.?\n*"
READERS = [
    (get_contract("sole-object"), oracle.sole_object),
    (get_contract("legacy"), oracle.legacy),
    (get_contract("label"), oracle.label),
    (get_contract("bracket"), oracle.bracket),
    (get_contract("bracket", where="last-line"), lambda text: oracle.bracket(text, "last-line")),
    (
        get_contract("json-field", path=["r", "winner"], labels=WORDS),
        lambda text: oracle.json_field(text, ["r", "winner"], WORDS),
    ),
    (
        get_contract("score-pair", tie_width=0.1, lowest=-1),
        lambda text: oracle.score_pair(text, "first-line", "0.1", "-1", "10"),
    ),
    (
        get_contract("score-pair", where="whole"),
        lambda text: oracle.score_pair(text, "whole", "0", "0", "10"),
    ),
    (
        get_contract("regex", pattern=PATTERN, labels=TEXT_WORDS),
        lambda text: oracle.pattern(text, PATTERN, TEXT_WORDS),
    ),
]
ROUNDS = {"replies": 0, "valid": 0}


def one_reply(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape" if data[:1] < b"\x80" else "replace")
    ROUNDS["replies"] += 1
    for contract, derives in READERS:
        start = time.monotonic()
        verdict = parse_verdict(text, contract)
        if time.monotonic() - start > 1:
            raise AssertionError(f"{contract.name} is slow")
        if (verdict.value is None) == (verdict.reason is None):
            raise AssertionError(f"{contract.name} says {verdict}")
        if verdict.reason != "error-text" and verdict.value != derives(text):
            raise AssertionError(f"{contract.name} says {verdict}, its grammar says {derives(text)}")
        ROUNDS["valid"] += verdict.value is not None
    if ROUNDS["replies"] % 100_000 == 0:
        sys.stderr.write(f"{ROUNDS}\n")


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_reply)
    atheris.Fuzz()
