"""Human labels: blinded sheets, what may be in them when they come back, agreement, and nothing after outcomes."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.batteries.equivalence import krippendorff_alpha
from darkcurrent.batteries.sheets import ANSWERS, Pair, read_sheet, sheet_path, write_sheets
from darkcurrent.study import Study
from support.rewardbench2 import select_study

TABLE = """source = "equivalence"
path = "rows.jsonl"
seed = 41
{more}
[battery.labels]
raters = ["ann", "ben"]
{rule}
"""


def _rows(count: int = 8) -> list[dict]:
    return [
        {
            "id": f"item-{n}",
            "prompt": f"Say {n}",
            "first": f"It is {n}.",
            "second": f"That would be {n}.",
            "stratum": "even" if n % 2 == 0 else "odd",
        }
        for n in range(count)
    ]


def _study(
    folder: Path, rows: list[dict] | None = None, rule: str = "", more: str = "", name: str = "eq"
) -> Study:
    return select_study(folder, TABLE.format(rule=rule, more=more), _rows() if rows is None else rows, name)


def _sheet(study: Study, rater: str) -> list[list[str]]:
    text = sheet_path(study.folder, rater).read_text(encoding="utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))


def _save(
    study: Study, rater: str, rows: list[list[str]], delimiter: str = ",", encoding: str = "utf-8-sig"
) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    sheet_path(study.folder, rater).write_bytes(text.getvalue().encode(encoding))


def _fill(study: Study, rater: str, different: str = "7") -> None:
    """Call every pair equivalent but those whose request ends so."""
    header, *rows = _sheet(study, rater)
    for row in rows:
        row[4] = "different" if row[1].endswith(tuple(different)) else "equivalent"
    _save(study, rater, [header, *rows])


@pytest.fixture
def written(program, tmp_path) -> Study:
    study = _study(tmp_path / "study")
    assert program("label", "write", study.folder).code == 0
    return study


@pytest.fixture
def filled(written) -> Study:
    for rater in ("ann", "ben"):
        _fill(written, rater)
    return written


# ------------------------------------------------------------------ the sheets


def test_a_sheet_is_blinded(written):
    ann, ben = _sheet(written, "ann"), _sheet(written, "ben")
    assert ann[0] == ["pair", "request", "answer_1", "answer_2", "label", "note"]
    text = sheet_path(written.folder, "ann").read_text(encoding="utf-8-sig")
    for word in ("item-", "even", "odd", "first", "second", "reference", "equivalent", "ann", "eq", "rows"):
        assert word not in text.replace("request", "")
    assert [row[1] for row in ann] != [row[1] for row in ben]
    assert {row[1] for row in ann} == {row[1] for row in ben}
    assert {row[0] for row in ann[1:]} & {row[0] for row in ben[1:]} == set()
    assert {row[2].startswith("It is") for row in ann[1:] + ben[1:]} == {True, False}
    assert "Do both answers" in (written.folder / "labels" / "README.txt").read_text()


def test_the_same_protocol_writes_the_same_sheets_and_another_seed_others(program, tmp_path, written):
    other = _study(tmp_path / "other")
    program("label", "write", other.folder)
    assert _sheet(other, "ann") == _sheet(written, "ann")
    path = other.folder / "protocol.toml"
    path.write_text(path.read_text().replace("seed = 41", "seed = 42"))
    sheet_path(other.folder, "ann").unlink()
    sheet_path(other.folder, "ben").unlink()
    program("label", "write", other.folder)
    assert [row[1] for row in _sheet(other, "ann")] != [row[1] for row in _sheet(written, "ann")]


def test_sheets_with_labels_are_never_overwritten(program, filled):
    before = sheet_path(filled.folder, "ann").read_bytes()
    sheet_path(filled.folder, "ben").unlink()
    assert "ann.csv exists already and is not overwritten" in program("label", "write", filled.folder).error(
        2
    )
    assert sheet_path(filled.folder, "ann").read_bytes() == before
    assert not sheet_path(filled.folder, "ben").exists()


HOSTILE = [
    "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "  =1", "a;=1", "a\n- b\n+ c", "＝1", 'x","=1',
    "\x1b[31m", "\u202egnp", "\ud800", "a\x00b", "line\r\nline", "", " ", "\ufeff=1", "'=1",
]  # fmt: skip


def test_hostile_text_is_harmless_and_comes_back(program, tmp_path):
    rows = [{"id": n, "prompt": text, "first": text, "second": f"{text} "} for n, text in enumerate(HOSTILE)]
    study = _study(tmp_path / "study", rows)
    assert program("label", "write", study.folder).code == 0
    data = sheet_path(study.folder, "ann").read_bytes()
    for harm in (b"\x1b", b"\x00", "\u202e".encode()):
        assert harm not in data
    for row in _sheet(study, "ann")[1:]:
        for cell in row[1:4]:
            for line in cell.replace(";", "\n").replace("\t", "\n").split("\n"):
                assert not line.strip().startswith(("=", "+", "-", "@", "＝"))
    for rater in ("ann", "ben"):
        header, *cells = _sheet(study, rater)
        _save(
            study,
            rater,
            [header, *([*row[:4], ANSWERS[number % 2], "=1"] for number, row in enumerate(cells))],
        )
    assert program("label", "read", study.folder, "--json").json()["pairs"] == len(HOSTILE)


NUMBERS = [
    "3/4",
    "007",
    "1e5",
    "42",
    "1,000",
    "50 %",
    "$5",
    "(5)",
    "12:30 PM",
    "Mar-04",
    "3 May 2026",
    "TRUE",
    "false",
    "٣",
]


def test_a_spreadsheet_takes_no_cell_for_a_number_or_a_date(program, tmp_path):
    """It would show `3/4` as a day and save it as that, and a key of digits, or of digits and one e, as another number."""
    rows = [
        {"id": n, "prompt": text, "first": text, "second": f"x {text} y z"} for n, text in enumerate(NUMBERS)
    ]
    study = _study(tmp_path / "study", rows)
    assert program("label", "write", study.folder).code == 0
    shown = _sheet(study, "ann")[1:]
    assert {row[1] for row in shown} == {f"'{text}" for text in NUMBERS}
    assert {row[2] for row in shown} | {row[3] for row in shown} >= {f"x {text} y z" for text in NUMBERS}
    assert all(row[0].startswith("p") for row in shown)
    assert "a number or a date" in (study.folder / "labels" / "README.txt").read_text()


@given(st.lists(st.tuples(st.text(), st.text(), st.text()), min_size=1, max_size=4), st.sampled_from(",;\t"))
def test_any_text_comes_back_whatever_the_separator(tmp_path_factory, texts, delimiter):
    pairs = [Pair(f"i{n}", "s", "c", prompt, one, f"{two}2") for n, (prompt, one, two) in enumerate(texts)]
    folder = tmp_path_factory.mktemp("any")
    (path,) = write_sheets(pairs, "s", 1, ["ann"], "q", folder)
    header, *rows = csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline=""))
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows([header, *([*row[:4], " Unsure ", ""] for row in rows)])
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    assert read_sheet(path, pairs, "s", 1, "ann", "q").labels == {pair.id: "unsure" for pair in pairs}


# ------------------------------------------------------------------ what comes back


def test_the_labels_admit_what_the_rule_says_and_are_frozen(program, filled):
    found = program("label", "read", filled.folder, "--json").json()
    assert (found["pairs"], found["admitted"], found["alpha"]) == (8, 7, 1.0)
    assert found["strata"] == {
        "even": {"pairs": 4, "reach_the_rule": 4},
        "odd": {"pairs": 4, "reach_the_rule": 3},
    }
    assert found["raters"]["ben"] == {"equivalent": 7, "different": 1, "unsure": 0}
    assert "7 of 8 pairs reach the rule `all`" in program("label", "read", filled.folder).out
    assert program("freeze", filled.folder).code == 0
    frozen = filled.frozen
    assert {item.id for item in frozen.items} == {f"item-{n}" for n in range(7)}
    assert len(frozen.schedule("judge")) == 14
    assert {call.arm for call in frozen.schedule("judge")} == {"equivalent"}
    assert [(one.where, one.reason) for one in frozen.refusals] == [
        ("item-7", "its raters do not all call it equivalent")
    ]
    receipt = frozen.receipt("labels")
    assert receipt["raters"]["ann"]["labels"]["item-7"] == "different"
    assert (receipt["alpha"], receipt["admit"], receipt["min_alpha"]) == (1.0, "all", 0.667)
    assert len(receipt["raters"]["ann"]["sheet_sha256"]) == 64
    assert "is frozen, and its labels with it" in program("label", "read", filled.folder).error(2)


def test_the_sides_of_a_sheet_are_no_roles(program, filled):
    program("freeze", filled.folder)
    for item in filled.frozen.items:
        number = item.id.removeprefix("item-")
        texts = {role: filled.frozen.texts[key] for role, key in item.texts.items()}
        assert texts == {"reference": f"It is {number}.", "equivalent": f"That would be {number}."}


def test_clones_stand_beside_equivalents(program, tmp_path):
    study = _study(tmp_path / "study", more='arms = ["clone", "equivalent"]')
    program("label", "write", study.folder)
    for rater in ("ann", "ben"):
        _fill(study, rater)
    assert program("freeze", study.folder).code == 0
    calls = study.frozen.schedule("judge")
    assert sorted({(call.arm, call.null_stratum) for call in calls}, key=str) == [
        ("clone", "core"),
        ("equivalent", None),
    ]
    assert len(calls) == 7 * 3


@pytest.mark.parametrize(
    ("rule", "admitted"), [('admit = "all"\nmin_alpha = 0.1', 4), ('admit = "majority"\nmin_alpha = 0.1', 6)]
)
def test_all_and_a_majority(program, tmp_path, rule, admitted):
    study = _study(tmp_path / "study", rule=rule)
    path = study.folder / "protocol.toml"
    path.write_text(path.read_text().replace('"ben"]', '"ben", "cyn"]'))
    program("label", "write", study.folder)
    for rater, different in (("ann", "74"), ("ben", "764"), ("cyn", "75")):
        _fill(study, rater, different)
    assert program("label", "read", study.folder, "--json").json()["admitted"] == admitted


def test_without_labels_the_arm_is_refused(program, tmp_path):
    study = _study(tmp_path / "study")
    for command in (("freeze",), ("battery", "check")):
        message = program(*command, study.folder).error(2)
        assert message.startswith("The arm `equivalent` is refused without labels")
        assert "darkcurrent label write" in message
    found = program("battery", "check", study.folder, "--json").json()
    assert found["strata"]["odd"]["refused"] == {"nobody has labelled it yet": 4}


def test_labels_do_not_come_after_outcomes(program, filled):
    (filled.folder / "journal").mkdir()
    (filled.folder / "journal" / "judge.sqlite").write_bytes(b"")
    for command in (("freeze",), ("label", "read"), ("battery", "check")):
        assert "labels must be collected before any judge is asked" in program(*command, filled.folder).error(
            2
        )
    for rater in ("ann", "ben"):
        sheet_path(filled.folder, rater).unlink()
    assert "labels must be collected before" in program("label", "write", filled.folder).error(2)
    assert not filled.is_frozen


def test_a_journal_of_a_shard_is_a_journal(program, filled):
    """A run on a cluster that did not end has collected journals of shards, and no whole one yet."""
    path = filled.folder / "journal" / "judge.shards" / "1-of-2.sqlite"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    assert "labels must be collected before any judge is asked" in program("freeze", filled.folder).error(2)


def test_too_little_agreement_admits_nothing(program, written):
    _fill(written, "ann", "0123")
    _fill(written, "ben", "2345")
    message = program("freeze", written.folder).error(2)
    assert message.startswith(
        "The raters' agreement is alpha = 0.062, and `battery.labels.min_alpha` is 0.667"
    )
    outcome = program("label", "read", written.folder, "--json")
    assert outcome.error(2) == message
    assert outcome.json()["admitted"] == 0


def test_agreement_needs_more_than_one_word(program, written):
    for rater in ("ann", "ben"):
        _fill(written, rater, "x")
    assert "agreement beyond chance cannot be told" in program("freeze", written.folder).error(2)
    assert program("label", "read", written.folder, "--json").json()["alpha"] is None


def _edit(column: int, value: str, row: int = 2):
    def change(rows: list[list[str]]) -> list[list[str]]:
        rows[row][column] = value
        return rows

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_edit(4, ""), "ann.csv:3: the label is blank: write one of equivalent, different, unsure."),
        (_edit(4, "same"), "ann.csv:3: the label is 'same': write one of"),
        (_edit(4, "=equivalent"), "ann.csv:3: the label is '=equivalent': write one of"),
        (_edit(1, "Say 99"), "ann.csv:3: the column `request` is not as it was written"),
        (_edit(2, "It is"), "ann.csv:3: the column `answer_1` is not as it was written"),
        (_edit(3, ""), "ann.csv:3: the column `answer_2` is not as it was written"),
        (_edit(0, "p" + "0" * 16), "ann.csv:3 has a pair that was not written on this sheet"),
        (_edit(0, "", 0), "ann.csv does not begin with the columns"),
        (lambda rows: rows[:-2], "ann.csv has 6 of the 8 rows that were written"),
        (lambda rows: [*rows, rows[3]], "ann.csv:10 has a pair for the second time"),
        (lambda rows: [row[:5] for row in rows], "ann.csv:1 has 5 columns and not 6"),
        (lambda rows: [], "ann.csv does not begin with the columns"),
    ],
)
def test_a_sheet_that_is_not_as_it_was_written(program, filled, change, says):
    _save(filled, "ann", change(_sheet(filled, "ann")))
    for command in (("label", "read"), ("freeze",)):
        message = program(*command, filled.folder).error(2)
        assert message.startswith(f"{filled.folder}/labels/{says}")
    assert not filled.is_frozen


def test_rows_may_come_back_in_another_order_and_with_blank_lines(program, filled):
    header, *rows = _sheet(filled, "ann")
    _save(filled, "ann", [header, [], *rows[::-1], [""] * 6])
    assert program("label", "read", filled.folder, "--json").json()["admitted"] == 7


def test_a_sheet_from_elsewhere(program, tmp_path, filled):
    ben = sheet_path(filled.folder, "ben").read_bytes()
    ann = sheet_path(filled.folder, "ann")
    kept = ann.read_bytes()
    ann.write_bytes(ben)
    assert "it is of another study, of another rater" in program("label", "read", filled.folder).error(2)
    other = _study(tmp_path / "other", name="another")
    program("label", "write", other.folder)
    ann.write_bytes(sheet_path(other.folder, "ann").read_bytes())
    assert "it is of another study, of another rater" in program("label", "read", filled.folder).error(2)
    ann.write_bytes(kept)
    rows = _rows()
    rows[0]["second"] = "Something else."
    (filled.folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert "the candidates, the seed or the question were changed" in program("freeze", filled.folder).error(
        2
    )


def test_sheets_that_cannot_be_read(program, filled):
    path = sheet_path(filled.folder, "ann")
    good = path.read_bytes()
    path.write_bytes(good.replace(b"Say", b"S\xe4y"))
    assert "is not UTF-8: save the sheet as CSV in UTF-8." in program("label", "read", filled.folder).error(2)
    path.write_bytes(good + b'"x')
    assert "is not valid CSV" in program("label", "read", filled.folder).error(2)
    path.unlink()
    assert "cannot be read (No such file or directory): put it back there." in program(
        "label", "read", filled.folder
    ).error(2)


# ------------------------------------------------------------------ what cannot be labelled


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            [_rows()[0] | {"second": "It is 0."}],
            "rows.jsonl:1: the two answers are the same text, so there is nothing to label",
        ),
        *(
            (
                [_rows()[0] | {"first": first, "second": second}],
                "rows.jsonl:1: the two answers differ in line ends or control characters alone",
            )
            for first, second in [("a\r\nb", "a\nb"), ("a\x00", "a\\x00")]
        ),
        ([_rows()[0], _rows()[0]], "rows.jsonl:2 has the id `item-0` of"),
        ([{"id": 1, "prompt": "p", "first": "x"}], "rows.jsonl:1 has no column `second`"),
        ([_rows()[0] | {"first": 3}], "rows.jsonl:1: `first` is 3, not a text"),
        ([], "holds no row: give the pairs that are to be labelled."),
    ],
)
def test_candidates_that_cannot_be_used(program, tmp_path, rows, says):
    study = _study(tmp_path / "study", rows)
    assert says in program("label", "write", study.folder).error(2)
    assert not (study.folder / "labels").exists()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('["ann", "ben"]', '["ann"]', "`battery.labels.raters` has 1: give at least 2."),
        ('["ann", "ben"]', '["ann", "Ann"]', "`raters` names a rater twice"),
        ('["ann", "ben"]', '["ann", "../ben"]', "must begin with a letter or digit"),
        ("[battery.labels]", "min_alpha = 0\n[battery.labels]", "is not a known key"),
        ("seed = 41", "", "lacks the key `seed`"),
    ],
)
def test_a_table_that_cannot_be_used(program, tmp_path, old, new, says):
    study = _study(tmp_path / "study")
    text = study.protocol_path.read_text()
    assert old in text
    study.protocol_path.write_text(text.replace(old, new))
    assert says in program("label", "write", study.folder).error(2)


def test_a_rater_may_have_a_dot_in_the_name_as_the_error_says(program, tmp_path):
    study = _study(tmp_path / "study")
    study.protocol_path.write_text(study.protocol_path.read_text().replace('"ben"', '"b.lee"'))
    assert program("label", "write", study.folder).code == 0
    assert (study.folder / "labels" / "b.lee.csv").exists()


def test_other_sources_have_no_labels(program, small):
    for command in ("write", "read"):
        assert 'only a battery with `source = "equivalence"` has labels' in program(
            "label", command, small.folder
        ).error(2)


# ------------------------------------------------------------------ agreement


def test_alpha_without_its_library(program, filled, monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk.metrics.agreement", None)
    assert program("label", "read", filled.folder).error(2) == (
        "Krippendorff's alpha needs an optional part: pip install 'darkcurrent[labels]'."
    )


def test_alpha_of_a_worked_example():
    """Two raters, ten units, coincidences 10, 4, 4, 2 (Krippendorff 2011, example B): alpha = 1 - 19 * 4 / (14 * 6) = .095."""
    meg = dict(zip(range(10), "0100000000", strict=True))
    owen = dict(zip(range(10), "1110010100", strict=True))
    assert krippendorff_alpha({"meg": meg, "owen": owen}) == pytest.approx(0.095, abs=5e-4)


@given(st.lists(st.tuples(*[st.sampled_from(ANSWERS)] * 3), min_size=2, max_size=12))
def test_alpha_is_one_minus_observed_over_expected_disagreement(units):
    labels = {name: {str(n): unit[rater] for n, unit in enumerate(units)} for rater, name in enumerate("abc")}
    alpha = krippendorff_alpha(labels)
    flat = [label for unit in units for label in unit]
    expected = sum(x != y for i, x in enumerate(flat) for j, y in enumerate(flat) if i != j) / (
        len(flat) * (len(flat) - 1)
    )
    observed = sum(x != y for unit in units for x in unit for y in unit) / (6 * len(units))
    if expected == 0:
        assert alpha is None
    else:
        assert alpha == pytest.approx(1 - observed / expected)
