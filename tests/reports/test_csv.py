"""The tables as CSV: the same cells, and nothing that a program for tables would run."""

from __future__ import annotations

import csv
import io

import pytest

from darkcurrent.printable import printable
from darkcurrent.reports import csv_tables
from darkcurrent.reports.paper_tables import paper_tables
from darkcurrent.reports.tables import all_tables
from support.arms import run_arms
from support.studies import program

FORMULAS = ("=cmd()", "+1+1", "-x", "@SUM(A1)", 'plain, "quoted"\nline')
JUDGE = """
def good(prompt, a, b):
    return "tie" if a == b else "A" if a.startswith("good") else "B"
"""


@pytest.fixture
def hostile(planted):
    study = planted(JUDGE, ["good"], items=20, strata=FORMULAS)
    study.run("good")
    return study


def test_every_table_is_a_file_with_the_same_cells(hostile):
    analysis = hostile.analyze()
    files = csv_tables(analysis)
    tables = [*all_tables(analysis), *paper_tables(analysis)]
    assert list(files) == [f"{table.key}.csv" for table in tables]
    assert {"verdict.csv", "strata.csv", "paper-3.csv", "paper-4-5-7.csv", "paper-6.csv"} <= set(files)
    for table, text in zip(tables, files.values(), strict=True):
        rows = list(csv.reader(io.StringIO(text)))
        shown = [[printable(cell) for cell in row] for row in (table.columns, *table.rows)]
        assert [[cell.removeprefix("'") for cell in row] for row in rows] == shown


def test_the_columns_of_the_papers_tables(hostile):
    """Tables 3 and 6 as they are printed; tables 4, 5 and 7 as one, for a study has the columns of all three."""
    columns = {table.key: table.columns[2:] for table in paper_tables(hostile.analyze())}
    assert columns == {
        "paper-3": ("clone FP [upper]", "Holm p", "signal [lower]", "utility gate", "joint result"),
        "paper-4-5-7": (
            *("DC", "upper", "Holm p", "EFP", "invalid", "AB/BA", "aligned calls", "mean", "lower"),
            *("95 % interval", "result"),
        ),
        "paper-6": ("correct", "tie", "wrong", "invalid"),
    }


def test_a_name_is_never_a_formula_and_a_number_stays_one(hostile, tmp_path):
    strata = [row[2] for row in csv.reader(io.StringIO(csv_tables(hostile.analyze())["strata.csv"]))]
    assert set(strata) == {"stratum", *(f"'{name}" for name in FORMULAS[:4]), printable(FORMULAS[4])}
    hurt = "utility = 1.0\npresent = { utility = 0.0 }"
    _, analysis = run_arms(tmp_path / "c", 'source = "context"\nsettings = [0]', {"hurt": hurt})
    rows = list(csv.DictReader(io.StringIO(csv_tables(analysis)["context.csv"])))
    assert [row["difference"] for row in rows] == ["0.000", "-1.000"]


def test_the_command_writes_them(hostile, tmp_path):
    folder = tmp_path / "deep" / "csv"
    ended = program("analyze", hostile.folder, "--csv", folder, "--paper")
    assert ended.returncode == 0
    assert "Both gates (layout of table 3)" in ended.stdout
    assert "May this judge be used?" not in ended.stdout
    files = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert files == csv_tables(hostile.analyze())
    assert ended.stderr == f"Wrote {len(files)} tables to {folder}.\n"


def test_a_place_that_is_no_folder_is_a_usage_error(hostile, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    ended = program("analyze", hostile.folder, "--csv", tmp_path / "file")
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"error: {tmp_path / 'file'} cannot be a folder to write to")
