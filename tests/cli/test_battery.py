"""`battery check`, and tables of `[battery]` that cannot be used."""

from __future__ import annotations

import pytest

from support.hub import COMMIT
from support.rewardbench2 import rb2_row, rb2_rows, select_study

LOCAL = 'source = "rewardbench2"\npath = "rows.jsonl"\nseed = 7\n'


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (f'{LOCAL}revision = "{COMMIT}"', "give either `revision`"),
        ('source = "rewardbench2"\nseed = 1', "give either `revision`"),
        ('source = "rewardbench2"\nseed = 1\nrevision = "main"', "must be a full commit of the data set"),
        (f"{LOCAL}per_stratum = 0", 'give a whole number from 1 on, or "all"'),
        (f"{LOCAL}per_stratum = 1.5", 'give a whole number from 1 on, or "all"'),
        (f"{LOCAL}strata = []", "`battery.strata` is empty"),
        (f"{LOCAL}per_startum = 3", "did you mean `per_stratum`?"),
    ],
)
def test_a_table_that_cannot_be_used(program, tmp_path, table, says):
    study = select_study(tmp_path, table, rb2_rows(2))
    assert says in program("freeze", study.folder).error(2)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("battery",), "check"),
        (("label",), "write"),
        (("battery", "check"), "--json"),
        (("label", "write"), "--json"),
        (("label", "read"), "DIR"),
    ],
)
def test_the_groups_document_themselves(program, words, says):
    outcome = program(*words, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert says in outcome.out


def test_battery_check_shows_the_same_before_and_after_freezing(program, tmp_path):
    rows = [*rb2_rows(4), rb2_row("far", "Math", rejected=["x"]), rb2_row("few", "Math", chosen=[])]
    study = select_study(tmp_path, LOCAL + "per_stratum = 3", rows)
    before = program("battery", "check", study.folder, "--json").json()
    assert before["strata"]["Math"] == {
        "rows": 6,
        "eligible": 4,
        "taken": 3,
        "refused": {
            "eligible, and not drawn: enough rows of its stratum come before it": 1,
            "it has fewer than two answers": 1,
            "no rejected answer is within 20 words and 25 % of the chosen one": 1,
        },
        "arms_refused": {},
    }
    assert list(before["strata"]) == ["Focus", "Math", "Ties"]
    study.freeze()
    after = program("battery", "check", study.folder, "--json").json()
    assert after == before | {"frozen": True}
    shown = program("battery", "check", study.folder)
    assert (shown.code, shown.err) == (0, "")
    assert "1 it has fewer than two answers" in shown.out
    assert [line.split() for line in shown.out.splitlines() if line.split()[:1] == ["all"]] == [
        ["all", "14", "12", "9"]
    ]


def test_battery_check_shows_the_table_of_a_battery_that_cannot_be_frozen(program, tmp_path):
    study = select_study(tmp_path, LOCAL, rb2_rows(4))
    outcome = program("battery", "check", study.folder, "--json")
    assert outcome.error(2).startswith("`battery.per_stratum` is 17")
    assert outcome.json()["strata"]["Ties"]["eligible"] == 4
    assert len(outcome.json()["problems"]) == 1
    assert "Ties" in program("battery", "check", study.folder).out


def test_battery_check_counts_what_other_sources_refuse(program, tmp_path):
    rows = [
        {"id": n, "prompt": "p", "chosen": "x", "rejected": "x" if n < 2 else "y", "stratum": "\x1b[31mred"}
        for n in range(5)
    ]
    table = 'source = "pairs"\npath = "rows.jsonl"\nidentical = "clone"\n'
    study = select_study(tmp_path, table, rows)
    (found,) = program("battery", "check", study.folder, "--json").json()["strata"].values()
    assert found["arms_refused"] == {"signal": {"chosen and rejected are the same text": 2}}
    assert (found["rows"], found["taken"]) == (5, 5)
    assert "\x1b" not in program("battery", "check", study.folder).out
    select_study(tmp_path, table + 'arms = ["signal"]', rows)
    (found,) = program("battery", "check", study.folder, "--json").json()["strata"].values()
    assert (found["rows"], found["taken"], found["refused"]) == (
        5,
        3,
        {"chosen and rejected are the same text": 2},
    )


@pytest.mark.parametrize("kind", ["hash", "crossover", "carryover"])
def test_battery_check_shows_what_the_schedule_balances_before_and_after_freezing(program, tmp_path, kind):
    study = select_study(tmp_path, LOCAL + "per_stratum = 3", rb2_rows(4))
    path = study.folder / "protocol.toml"
    text = path.read_text(encoding="utf-8")
    assert "[schedule]\n" in text
    path.write_text(text.replace("[schedule]\n", f'[schedule]\nkind = "{kind}"\n'), encoding="utf-8")
    before = program("battery", "check", study.folder, "--json").json()["schedule"]
    shown = program("battery", "check", study.folder).out
    assert f"Schedule `{kind}`: {before['calls']} calls" in shown
    assert "Not balanced: " in shown
    assert program("freeze", study.folder).code == 0
    assert program("battery", "check", study.folder, "--json").json()["schedule"] == before
    assert sum(before["blocks"]) == before["calls"] > 0
    assert (study.folder / "frozen" / "assignment.json").exists() == (kind != "hash")
