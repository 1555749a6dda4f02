"""`darkcurrent compare` as a person runs it: a replication in another order, two configurations, recorded verdicts."""

from __future__ import annotations

import json
import shutil

import pytest

from support.imports import jsonl

TWO = '[[configuration]]\nname = "lazy"\nbackend = "function"\ncallable = "judge:lazy"\n[schedule]'


@pytest.fixture
def studies(small, program):
    """Two studies of the same items; the second asks in another order, and its judge ties on items 10 to 19."""
    other = small.folder.parent / "again"
    shutil.copytree(small.folder, other)
    small.protocol("[schedule]", TWO)
    again = (small.folder / "protocol.toml").read_text(encoding="utf-8")
    (other / "protocol.toml").write_text(
        again.replace("seed = 1", "seed = 2").replace('"small"', '"again"'), encoding="utf-8"
    )
    judge = (other / "judge.py").read_text(encoding="utf-8")
    tired = 'def good(prompt, a, b):\n    if prompt.startswith("p1") and len(prompt) == 3:\n        return "tie"\n'
    (other / "judge.py").write_text(judge.replace("def good(prompt, a, b):\n", tired), encoding="utf-8")
    for folder in (small.folder, other):
        assert program("freeze", folder).code == 0
        assert program("run", folder).code == 0
    return small.folder, other


def test_a_replication_says_how_many_verdicts_came_again(studies, program):
    done = program("compare", *studies)
    assert done.code == 0
    rows = [line.split() for line in done.out.splitlines()]
    assert [
        "1:",
        "good",
        "/",
        "neutral",
        "2:",
        "good",
        "/",
        "neutral",
        "240",
        "220",
        "20",
        "220/240",
        "0",
    ] in rows
    assert [
        "1:",
        "lazy",
        "/",
        "neutral",
        "2:",
        "lazy",
        "/",
        "neutral",
        "240",
        "240",
        "0",
        "240/240",
        "0",
    ] in rows
    assert [
        "1:",
        "good",
        "/",
        "neutral",
        "2:",
        "good",
        "/",
        "neutral",
        "signal",
        "stable",
        "tie",
        "10",
    ] in rows
    assert "different digests" in done.out
    assert "Of 480 shared calls with a valid verdict in both, 460 say the same in study 2.\n" in done.out


def test_the_json_has_every_change(studies, program):
    value = program("compare", *studies, "--json").json()
    assert [each["study"] for each in value["studies"]] == ["small", "again"]
    good = value["cells"][0]
    assert good["arms"]["signal"]["transitions"] == {"target": {"target": 140, "tie": 20}}
    assert {change["item"] for change in good["changes"]} == {f"i{n}" for n in range(10, 20)}
    assert len(good["pattern_changes"]) == 10
    assert len(value["analyses"]) == 2


def test_two_configurations_of_one_study(studies, program):
    value = program("compare", studies[0], "--configurations", "good=lazy", "--json").json()
    (cell,) = value["cells"]
    assert (cell["base"]["configuration"], cell["other"]["configuration"]) == ("good", "lazy")
    assert cell["arms"]["clone/core"]["transitions"] == {"tie": {"tie": 80}}
    assert cell["arms"]["signal"]["transitions"] == {"target": {"tie": 160}}


def test_a_cell_without_a_counterpart_is_named(studies, small, program):
    third = studies[0].parent / "third"
    shutil.copytree(studies[0], third, ignore=shutil.ignore_patterns("frozen", "journal", "*.json"))
    text = (third / "protocol.toml").read_text(encoding="utf-8").replace('name = "good"', 'name = "new"')
    (third / "protocol.toml").write_text(text, encoding="utf-8")
    program("freeze", third)
    program("run", third)
    done = program("compare", studies[0], third)
    assert "study 2 has no cell good / neutral" in done.out
    mapped = program("compare", studies[0], third, "--configurations", "good=new", "--json").json()
    assert [cell["reproduced"] for cell in mapped["cells"]] == [240, 240]
    assert mapped["unmatched"] == []


def test_recorded_verdicts_are_compared_by_name_and_with_a_captured_study_by_what_is_on_record(
    tmp_path, program
):
    def rows(**changes):
        found = []
        for n in range(4):
            ab, ba = changes.get(f"q{n}", ("A", "B"))
            winner = {("A", "B"): "m1", ("A", "A"): "inconsistent"}[ab, ba]
            found.append(
                {"question_id": n, "turn": 1, "model_a": "m1", "model_b": "m2", "judge_id": "j", "category": "c",
                 "winner": winner, "winner_ab": ab, "winner_ba": ba, "judgment_ab": f"[[{ab}]]", "judgment_ba": f"[[{ba}]]"}
            )  # fmt: skip
        return found

    for name, recorded in (("one", rows()), ("two", rows(q2=("A", "A")))):
        jsonl(tmp_path / f"in-{name}" / "m1_vs_m2.jsonl", recorded)
        assert program("import", "korean-mt-bench", tmp_path / f"in-{name}", "-o", tmp_path / name).code == 0
    value = program("compare", tmp_path / "one", tmp_path / "two", "--json").json()
    (cell,) = value["cells"]
    assert (cell["shared"], cell["reproduced"]) == (8, 7)
    assert cell["arms"]["unlabelled"]["patterns"] == {"stable": {"position": 1, "stable": 3}}
    assert any("matched by the names" in note for note in cell["notes"])
    assert json.dumps(value).count(str(tmp_path)) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "One study alone needs"),
        (["--configurations", "good"], "has not the form A=B"),
        (["--configurations", "good=lazy", "--configurations", "good=good"], "twice"),
        (
            ["--configurations", "nobody=lazy"],
            "no configuration `nobody` in the first study: known are `good`, `lazy`",
        ),
        (["--configurations", "good=nobody"], "no configuration `nobody` in this study"),
        (["--criteria", "neutral=strict"], "no criterion `strict`"),
    ],
)
def test_bad_input_is_one_sentence(studies, program, options, words):
    assert words in program("compare", studies[0], *options).error(2)


def test_what_is_held_is_counted_and_not_summed(small, program):
    small.protocol("[schedule]", TWO.replace("judge:lazy", "judge:rude"))
    program("freeze", small.folder)
    program("run", small.folder)
    done = program("compare", small.folder, small.folder)
    assert (
        "Of 240 shared calls with a valid verdict in both, 240 say the same in study 2. Cells on HOLD are not"
        in done.out
    )
    assert "study 2 is HOLD here: its verdicts are counted, and nothing is concluded of them." in done.out


def test_a_folder_without_a_study(tmp_path, program):
    assert program("compare", tmp_path / "a", tmp_path / "b").error(2)
