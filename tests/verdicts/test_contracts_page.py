"""docs/contracts.md says what the code does, and every example in it and in the docstrings runs."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from darkcurrent.verdicts import CONTRACTS, REASONS, reading, sensitivity

PAGE = Path(__file__).parents[2] / "docs" / "contracts.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_page_has_a_section_for_every_contract_with_all_its_options() -> None:
    sections = dict(re.findall(r"^### `([a-z-]+)`\n(.*?)(?=^##)", TEXT, re.MULTILINE | re.DOTALL))
    assert sections.keys() == CONTRACTS.keys()
    for name, contract in CONTRACTS.items():
        rows = re.findall(r"^\| (`.*?) \|", sections[name], re.MULTILINE)
        documented = [option for row in rows for option in re.findall("`([a-z_]+)`", row)]
        assert documented == [option.name for option in contract.options()]


def test_the_grammar_of_a_docstring_is_the_grammar_of_the_page() -> None:
    for name, contract in CONTRACTS.items():
        notes = str(contract.__doc__).partition("::\n")[2]
        lines = [line.strip() for line in notes.splitlines() if re.match(r" {8}\S", line)]
        assert lines, name
        assert all(line in TEXT for line in lines if not line.startswith("ws ")), name


def test_the_page_has_every_reason_in_the_order_of_precedence() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", TEXT.partition("## Reasons")[2], re.MULTILINE)
    assert rows == list(REASONS.items())


def test_the_examples_of_the_page_run() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted >= 6
    assert result.failed == 0


@pytest.mark.parametrize("module", [reading, sensitivity])
def test_the_examples_of_the_docstrings_run(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0
