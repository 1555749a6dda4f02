"""Rubrics: the ones that ship, and text files of one's own."""

from __future__ import annotations

import pytest

from darkcurrent.errors import ProtocolError
from darkcurrent.protocol.model import Criterion
from darkcurrent.protocol.rubrics import built_in_rubrics, rubric_text
from darkcurrent.verdicts import parse_verdict


def _own(tmp_path, data: bytes) -> str:
    (tmp_path / "mine.txt").write_bytes(data)
    return rubric_text("mine", Criterion(rubric_file="mine.txt"), tmp_path)


def test_four_rubrics_ship_and_differ(tmp_path):
    assert built_in_rubrics() == ["code-neutral", "code-strict", "neutral", "strict"]
    texts = {rubric_text(name, Criterion(rubric=name), tmp_path) for name in built_in_rubrics()}
    assert len(texts) == 4


@pytest.mark.parametrize("name", ["code-neutral", "code-strict", "neutral", "strict"])
def test_what_a_rubric_asks_for_is_what_the_contract_reads(name, tmp_path):
    lines = rubric_text(name, Criterion(rubric=name), tmp_path).splitlines()
    forms = [line for line in lines if line.startswith("{")]
    assert [parse_verdict(form).value for form in forms] == ["A", "B", "tie"]


def test_an_own_rubric_is_taken_as_it_stands(tmp_path):
    assert _own(tmp_path, b"  Which?\r\n\xe2\x80\xa8\n\n") == "  Which?\r\n\u2028\n\n"
    assert _own(tmp_path, b"\xef\xbb\xbfWhich\xef\xbb\xbf?") == "Which\ufeff?"


def test_an_own_rubric_may_lie_anywhere(tmp_path):
    (tmp_path / "mine.txt").write_text("Which?")
    study = tmp_path / "study"
    study.mkdir()
    assert rubric_text("mine", Criterion(rubric_file="../mine.txt"), study) == "Which?"
    assert rubric_text("mine", Criterion(rubric_file=str(tmp_path / "mine.txt")), study) == "Which?"


@pytest.mark.parametrize("data", [b"", b" \r\n\t", b"\xef\xbb\xbf"])
def test_an_empty_rubric_is_an_error(tmp_path, data):
    with pytest.raises(ProtocolError, match="The rubric of criterion `mine` is empty"):
        _own(tmp_path, data)


def test_a_rubric_that_is_not_utf_8_is_an_error(tmp_path):
    with pytest.raises(ProtocolError, match=r"`criteria\.mine\.rubric_file`: .*mine\.txt is not UTF-8"):
        _own(tmp_path, b"caf\xe9")


@pytest.mark.parametrize("name", ["absent.txt", ".", "mine.txt/x", "a\0b", "x" * 5000])
def test_a_rubric_that_cannot_be_read_is_an_error(tmp_path, name):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(ProtocolError, match=r"`criteria\.mine\.rubric_file`: .* cannot be read"):
        rubric_text("mine", Criterion(rubric_file=name), tmp_path)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("netral", "did you mean `neutral`?"),
        ("zebra", "known are code-neutral"),
        ("../templates/pairs", "known are"),
    ],
)
def test_an_unknown_rubric_is_an_error_with_a_hint(tmp_path, name, hint):
    with pytest.raises(ProtocolError) as caught:
        rubric_text("c", Criterion(rubric=name), tmp_path)
    assert str(caught.value).startswith(f"`criteria.c.rubric` is `{name}`, which does not ship")
    assert hint in str(caught.value)
