"""The gates' forms for CI, with names that want to break out of them."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.printable import printable
from darkcurrent.reports.gates import FORMATS, CellGate, exit_code, with_changes

HOSTILE = "</failure><x y='\"'>&amp;]]>\x00\x1b[31m\r\n::error::x,%0A\ud800\uffff\u2028"


def cell(state="PASS", configuration="c", reason="why."):
    joint = {"PASS": "both gates pass", "MISS": "neither gate"}.get(state, state)
    return CellGate(configuration, "neutral", state, joint, reason)


@pytest.mark.parametrize(
    ("states", "code"),
    [
        ([], 4),
        (["PASS"], 0),
        (["PASS", "MISS"], 3),
        (["MISS", "HOLD"], 4),
        (["PASS", "NOT GRADED"], 4),
        (["PASS", "STALE"], 4),
    ],
)
def test_the_worst_cell_decides(states, code):
    assert exit_code([cell(state) for state in states]) == code


def test_a_changed_judge_makes_even_a_pass_stale_and_no_other_cell():
    one, other = with_changes([cell(), cell("MISS", "d")], {"c": ["`model`", "the source file"]})
    assert (one.state, one.joint, other.state) == ("STALE", "both gates pass", "MISS")
    assert str(one).startswith(
        "c / neutral: STALE. The judge is not the one that was audited: `model`; the source file"
    )


def test_junit_counts_what_it_holds_and_has_the_order_and_attributes_of_the_usual_schemas():
    gates = [cell(), cell("MISS", "d"), cell("HOLD", "e"), cell("STALE", "f"), cell("NOT GRADED", "g")]
    root = ET.fromstring(FORMATS["junit"]("s", gates))
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    assert suite.attrib == {
        "name": "darkcurrent s",
        "tests": "5",
        "failures": "1",
        "errors": "3",
        "time": "0",
    }
    assert [case.attrib for case in suite] == [
        {"classname": name, "name": "neutral", "time": "0"} for name in "cdefg"
    ]
    assert [[child.tag for child in case] for case in suite] == [
        [],
        ["failure"],
        ["error"],
        ["error"],
        ["error"],
    ]
    first = next(child for case in suite for child in case)
    assert (first.get("type"), first.get("message")) == ("MISS", "MISS: neither gate")


@given(st.text() | st.just(HOSTILE), st.text() | st.just(HOSTILE))
def test_no_name_breaks_out_of_its_place(name, reason):
    gates = [cell("MISS", name, reason), cell("PASS", name, reason)]
    assert FORMATS["text"]("s", gates).count("\n") == 2
    assert [one["configuration"] for one in json.loads(FORMATS["json"]("s", gates))["cells"]] == [name, name]
    written = FORMATS["junit"](name, gates).encode("utf-8")
    (suite,) = ET.fromstring(written)
    assert [case.tag for case in suite] == ["testcase", "testcase"]
    assert [child.tag for case in suite for child in case] == ["failure"]
    lines = FORMATS["github"]("s", gates).splitlines()
    assert len(lines) == 2
    for line, kind in zip(lines, ("error", "notice"), strict=True):
        _, head, message = line.split("::", 2)
        command, _, title = head.partition(" title=")
        assert command == kind
        assert not {":", ",", "\r", "\n"} & set(title)
        assert "%" not in message.replace("%25", "")
        assert printable(line) == line


def test_the_github_form_can_be_read_back():
    (line,) = FORMATS["github"]("s", [cell("MISS", "a:b,c%", "50% :: x")]).splitlines()
    assert line == "::error title=darkcurrent MISS%3A a%3Ab%2Cc%25 / neutral::50%25 :: x"
