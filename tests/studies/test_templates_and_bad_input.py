"""What a person meets who starts a study of the paper: the list, the table, and what is missing, in one sentence each."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from darkcurrent.protocol.templates import template_names
from support.paper import cli, put_in

PAPER = [name for name in template_names() if name not in ("pairs", "quickstart")]
TABLE = Path(__file__).parents[2] / "studies" / "README.md"


def failure(*arguments: object) -> str:
    """Return the one sentence of a usage error."""
    out, err = cli(*arguments, code=2)
    assert out == ""
    (line,) = err.splitlines()
    return line.removeprefix("error: ")


def test_the_table_of_studies_has_every_study_and_no_other():
    rows = re.findall(r"^\| `([a-z-]+)` \|.*\|$", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == PAPER


def test_the_list_says_each_in_a_line_and_as_json_and_writes_nothing(tmp_path):
    out, err = cli("init", "--list")
    assert err == ""
    assert [line.split()[0] for line in out.splitlines()] == template_names()
    assert list(json.loads(cli("init", tmp_path / "x", "--list", "--json")[0])) == template_names()
    assert not (tmp_path / "x").exists()


def test_a_folder_is_asked_for_and_an_unknown_study_lists_all(tmp_path):
    assert failure("init") == "Name the folder to write to, e.g. `darkcurrent init my-study`."
    sentence = failure("init", tmp_path / "x", "--study", "fresh")
    assert sentence.startswith("There is no template `fresh`: known are ")
    assert all(name in sentence for name in template_names())


@pytest.mark.parametrize("name", ["reused-items", "fresh-items", "extension"])
def test_without_rows_the_file_and_the_other_way_are_named(tmp_path, name):
    cli("init", tmp_path / name, "--study", name)
    for command in (("battery", "check"), ("freeze",)):
        sentence = failure(*command, tmp_path / name)
        assert "rewardbench2.parquet: correct `battery.path`" in sentence
        assert "as `battery.revision`" in sentence
    assert not (tmp_path / name / "frozen").exists()


@pytest.mark.parametrize(
    ("name", "earlier"),
    [("replication", "reused-items"), ("re-evaluation", "fresh-items"), ("output-contract", "fresh-items")],
)
def test_without_the_earlier_study_its_folder_is_named(tmp_path, name, earlier):
    cli("init", tmp_path / name, "--study", name)
    sentence = failure("freeze", tmp_path / name)
    assert f"../{earlier}, which is no frozen study" in sentence
    cli("init", tmp_path / earlier, "--study", earlier)
    assert failure("freeze", tmp_path / name) == sentence, "written and not frozen is not enough"
    assert "freeze that study first" in sentence


@pytest.mark.parametrize("name", ["fresh-items", "extension"])
def test_an_exclusion_that_is_not_there_is_no_empty_exclusion(workplace, tmp_path, name):
    shutil.copy(workplace / "rewardbench2.jsonl", tmp_path)
    cli("init", tmp_path / name, "--study", name)
    put_in(tmp_path / name, "")
    assert "battery.exclude" in failure("freeze", tmp_path / name)


def test_a_placeholder_is_no_commit_and_a_half_filled_place_is_an_error(tmp_path):
    path = tmp_path / "fresh-items" / "protocol.toml"
    cli("init", path.parent, "--study", "fresh-items")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('path = "../rewardbench2.parquet"', 'revision = "main"'), encoding="utf-8")
    assert "battery.revision" in failure("freeze", path.parent)
    both = text.replace("# revision", "revision")
    path.write_text(both, encoding="utf-8")
    assert "either `revision`" in failure("freeze", path.parent)


def test_too_few_rows_of_a_stratum_say_how_many_and_what_to_change(workplace, tmp_path):
    rows = [
        json.loads(line)
        for line in (workplace / "rewardbench2.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    few = [row for row in rows if row["subset"] != "Ties"] + [row for row in rows if row["subset"] == "Ties"][
        :9
    ]
    (tmp_path / "rewardbench2.jsonl").write_text("\n".join(map(json.dumps, few)), encoding="utf-8")
    cli("init", tmp_path / "reused-items", "--study", "reused-items")
    put_in(tmp_path / "reused-items", "")
    sentence = failure("freeze", tmp_path / "reused-items")
    assert "`Ties` 9" in sentence
    assert "Lower it to at most 9" in sentence


def test_another_rubric_by_the_same_name_is_refused(workplace, tmp_path):
    shutil.copy(workplace / "rewardbench2.jsonl", tmp_path)
    for name in ("reused-items", "replication"):
        cli("init", tmp_path / name, "--study", name)
        put_in(tmp_path / name, "")
    cli("freeze", tmp_path / "reused-items")
    path = tmp_path / "replication" / "protocol.toml"
    path.write_text(
        path.read_text(encoding="utf-8").replace('rubric = "strict"', 'rubric = "neutral"'), encoding="utf-8"
    )
    assert "The criterion `strict` has another rubric than in the study" in failure("freeze", path.parent)
