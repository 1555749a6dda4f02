"""docs/importers.md says what the code does, and its mappings are mappings."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from darkcurrent.importers import FORMATS, mapping, observation
from darkcurrent.importers.inspect_logs import INSPECT
from darkcurrent.importers.mapping import load_mapping

TEXT = (Path(__file__).parents[2] / "docs" / "importers.md").read_text(encoding="utf-8")
MAPPINGS = re.findall(r"^```toml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_the_table_has_every_format_with_its_contract():
    table = TEXT.partition("## The coding")[2].partition("## `table`")[0]
    rows = re.findall(r"^\| `([a-z-]+)` \|.*\| ([^|]+) \|$", table, re.MULTILINE)
    contracts = {name: f"`{one.contract}`" for name, one in FORMATS.items() if one.contract}
    assert dict(rows).keys() == FORMATS.keys()
    assert {name: cell for name, cell in rows if cell.startswith("`")} == contracts


def test_every_format_states_its_coding_in_its_module_and_in_what_it_writes():
    for name, one in FORMATS.items():
        module = __import__(one.read.__module__, fromlist=["x"])
        assert re.search(r"^Coding: ", module.__doc__, re.MULTILINE), name
        assert one.coding


@pytest.mark.parametrize("number", range(len(MAPPINGS)))
def test_the_mappings_of_the_page_can_be_used(tmp_path, number):
    path = tmp_path / "mapping.toml"
    path.write_text(MAPPINGS[number], encoding="utf-8")
    assert load_mapping(path).order.by == ["column", "columns", "file", "column"][number]


def test_the_page_shows_four_mappings_and_the_columns_of_an_inspect_log():
    assert len(MAPPINGS) == 4
    section = TEXT.partition("## `inspect`")[2].partition("## `openai-batch`")[0]
    documented = __import__(INSPECT.read.__module__, fromlist=["x"]).__doc__
    for column in re.findall(r"`([a-z_]+(?:\.<[a-z]+>)?)`", documented.partition("columns")[2]):
        assert f"`{column}`" in section, column


@pytest.mark.parametrize("module", [mapping, observation])
def test_the_examples_of_the_docstrings_run(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
