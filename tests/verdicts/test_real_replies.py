"""Files and replies that nobody here wrote; they lie beside the project, and without them this is skipped."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grammar_oracle as oracle
import pytest

from darkcurrent.verdicts import get_contract, parse_verdict, read_under_every
from darkcurrent.verdicts.json_text import TooDeepError, decode

PARSER = Path(__file__).parents[2].parent / "shared" / "data" / "parser"

pytestmark = [
    pytest.mark.realworld,
    pytest.mark.skipif(not PARSER.is_dir(), reason="the real data does not lie beside the project"),
]


def suite() -> Iterator[tuple[str, bytes]]:
    for path in sorted((PARSER / "JSONTestSuite").rglob("*.json")):
        yield path.name, path.read_bytes()


def test_the_json_suite_holds_no_verdict_and_no_file_is_slow() -> None:
    """A reply reaches us as text. What is no UTF-8 becomes U+FFFD, or a surrogate that stands alone."""
    names = set()
    for name, content in suite():
        names.add(name)
        for errors in ("replace", "surrogateescape"):
            text = content.decode("utf-8", errors)
            seconds = []
            for _ in range(3):
                start = time.process_time()
                read = read_under_every(text)
                seconds.append(time.process_time() - start)
            assert {kind for kind, verdict in read.items() if verdict.value} == set(), name
            assert min(seconds) < 0.05, name
    assert len([name for name in names if name.startswith(("y_", "n_", "i_"))]) == 318
    assert len(names) == 340


def test_the_reader_takes_every_y_file_and_no_n_file() -> None:
    for name, content in suite():
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            assert not name.startswith("y_")
            continue
        if name.startswith("y_"):
            decode(text)
        elif name.startswith("n_"):
            with pytest.raises((json.JSONDecodeError, TooDeepError)):
                decode(text)


def test_a_y_file_that_is_wrapped_as_another_field_leaves_the_verdict_readable() -> None:
    contract = get_contract("json-field")
    for name, content in suite():
        if name[:2] in ("y_", "n_"):
            text = '{"winner":"B","why":' + content.decode("utf-8", "replace") + "}"
            expected = oracle.json_field(text, ["winner"], {"A": ["A"], "B": ["B"], "tie": ["tie"]})
            assert parse_verdict(text, contract).value == expected, name
            assert expected == "B" or not name.startswith("y_")


def malformed() -> list[dict[str, Any]]:
    with (PARSER / "real_malformed.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def by_note(row: dict[str, Any]) -> str:
    return str(row["note"]).partition(":")[0]


# What a careful person says of each kind of row under the form that its judge was asked for.
OWN_CONTRACT = {
    "[[A]]/[[B]]/[[C]]": get_contract("bracket"),
    "four-way [[A]]..[[D]]": get_contract("bracket"),
    "Output (a)/Output (b)": get_contract(
        "regex", pattern=r"Output \(([ab])\)", labels={"A": ["a"], "B": ["b"], "tie": []}
    ),
    "JSON object": get_contract("json-field"),
    "JSON object (re-serialised by the source)": get_contract(
        "json-field",
        labels={"A": ["A", "Model A"], "B": ["B", "Model B"], "tie": ["tie", "Tie"]},
    ),
    "1/2": get_contract("regex", pattern=r"(?s)([12])(?:\n.*)?", labels={"A": ["1"], "B": ["2"], "tie": []}),
    "1/2/Tie + reason": get_contract("sole-object"),  # the source kept no reply, only its own record of one
}
EXPECTED = {
    "[[Assistant X]]": "wrong-value",
    "no bracket (truncated/prose)": "no-verdict",
    "empty": "empty",
    "empty / content management policy": "empty",
    '[["X"]]': "wrong-value",
    "several different brackets": "several-verdicts",
    "lower-case [[a]]": "wrong-value",
    "no bracket": "no-verdict",
    "other bracket": "wrong-value",
    "no verdict in prose": "no-verdict",
    "both labels named": "no-verdict",
    "label variant": "no-verdict",
    "finish=length": "truncated",
    "valid winner but extra keys": "A",
    "valid winner but extra keys; Tie capitalised": "tie",
    "winner=None": "wrong-key",
    "winner='Model A'": "A",
    "json error": "truncated",
    "json error, raw lost": "empty",
    "transport error string": "error-text",
    "unparsed": "no-verdict",
    "label + prose": "B",
    "no bracket verdict": "error-text",
    "no [[X]]": "no-verdict",
    'label "garbage" recorded by the source': "wrong-key",
}


def test_every_malformed_reply_is_read_as_a_careful_person_reads_it() -> None:
    rows = malformed()
    assert len(rows) == 56
    seen = set()
    for row in rows:
        finish = "length" if row["note"] == "finish=length" else "stop"
        verdict = parse_verdict(row["raw"], OWN_CONTRACT[row["format"]], finish)
        kind = by_note(row)
        seen.add(kind)
        assert (verdict.value or verdict.reason) == EXPECTED[kind], row["id"]
    assert seen == EXPECTED.keys()


def test_no_malformed_reply_is_accepted_by_the_strict_contracts() -> None:
    for row in malformed():
        read = read_under_every(row["raw"])
        assert {read[name].value for name in ("sole-object", "legacy", "label")} == {None}, row["id"]
