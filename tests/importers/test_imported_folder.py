"""The folder of an import, and what the commands make of it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from types import SimpleNamespace

import polars as pl
import pytest

from darkcurrent.canonical import digest, digest_bytes, digest_text
from darkcurrent.cli.main import main
from darkcurrent.comparing import shown_calls
from darkcurrent.errors import BatteryError, IntegrityError, UsageError
from darkcurrent.importers import FORMATS, import_verdicts, load_imported
from darkcurrent.study import Study
from support.imports import Imported, jsonl


def row(number, ab="A", ba="B", **changes):
    winner = {("A", "B"): "m1", ("A", "A"): "inconsistent"}[ab, ba]
    return {
        "question_id": number,
        "turn": 1,
        "model_a": "m1",
        "model_b": "m2",
        "judge_id": "j",
        "category": "c",
        "winner": winner,
        "winner_ab": ab,
        "winner_ba": ba,
        "judgment_ab": f"[[{ab}]]",
        "judgment_ba": f"[[{ba}]]",
        **changes,
    }


@pytest.fixture
def source(tmp_path):
    rows = [row(1), row(2, "A", "A", judgment_ba="\ud83d lone, and [[B]]"), row(3)]
    return jsonl(tmp_path / "in" / "m1_vs_m2.jsonl", rows)


@pytest.fixture
def study(tmp_path, source):
    return Imported(tmp_path / "out", "korean-mt-bench", source).study


def test_the_manifest_says_where_everything_comes_from_and_no_machine_path(tmp_path, source, study):
    folder = study.folder / "imported"
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert manifest["format"] == "korean-mt-bench"
    assert manifest["coding"] == FORMATS["korean-mt-bench"].coding
    assert "slots" in manifest["coding"]
    assert manifest["contract"] == {"name": "bracket", "where": "anywhere"}
    assert manifest["counted"] == "recorded"
    assert manifest["sources"] == [
        {
            "name": "m1_vs_m2.jsonl",
            "sha256": digest_bytes(source.read_bytes()),
            "bytes": source.stat().st_size,
        }
    ]
    assert {path.name for path in folder.iterdir()} == {*manifest["files"], "manifest.json"}
    for path in [*folder.iterdir(), study.folder / "analysis.json"]:
        assert str(tmp_path).encode() not in path.read_bytes()
    stated = manifest.pop("study_digest")
    assert stated == digest(manifest) == study.analyze().study_digest


def test_replies_are_kept_as_they_were(study):
    texts = study.imported.texts()
    assert all(digest_text(text) == key for key, text in texts.items())
    assert "\ud83d lone, and [[B]]" in texts.values()
    ledger = pl.read_parquet(study.folder / "imported" / "ledger.parquet")
    assert set(ledger["reply"]) <= set(texts)
    (listed,) = [
        json.loads(line)
        for line in (study.folder / "imported" / "disagreements.jsonl").read_bytes().splitlines()
    ]
    assert (listed["recorded"], listed["read"], listed["where"]) == ("A", "B", "m1_vs_m2.jsonl:2")
    assert texts[listed["reply"]] == listed["reply_ends"]


def test_what_an_earlier_version_imported_lacks_columns_and_reads_the_same(study):
    folder = study.folder / "imported"
    path, manifest = folder / "ledger.parquet", json.loads((folder / "manifest.json").read_bytes())
    now = study.imported.ledger()
    pl.read_parquet(path).drop("step", "context", "third").write_parquet(path)
    manifest["files"]["ledger.parquet"] = digest_bytes(path.read_bytes())
    manifest.pop("study_digest")
    manifest["study_digest"] = digest(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert load_imported(folder).ledger().equals(now)


def test_two_imports_and_two_analyses_are_the_same_bytes(tmp_path, source, study):
    other = Imported(tmp_path / "again" / "out", "korean-mt-bench", source).study
    for name in ("manifest.json", "ledger.parquet", "texts.parquet", "disagreements.jsonl"):
        assert (study.folder / "imported" / name).read_bytes() == (
            other.folder / "imported" / name
        ).read_bytes()
    assert (study.folder / "analysis.json").read_bytes() == (other.folder / "analysis.json").read_bytes()


def test_an_import_is_never_overwritten_and_never_beside_a_frozen_study(tmp_path, source, study, planted):
    with pytest.raises(UsageError, match="holds a study already"):
        import_verdicts("korean-mt-bench", [source], study.folder)
    frozen = planted("def good(prompt, a, b): return 'tie'", ["good"], items=2)
    with pytest.raises(UsageError, match="holds a study already"):
        import_verdicts("korean-mt-bench", [source], frozen.folder)


def test_one_file_given_twice_is_refused(tmp_path, source):
    copy = source.with_name("copy_vs_x.jsonl")
    shutil.copy(source, copy)
    for paths in ([source, source], [source.parent], [copy, source]):
        with pytest.raises(UsageError, match="is the same file as"):
            import_verdicts("korean-mt-bench", paths, tmp_path / "x")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    pipe = tmp_path / "x.jsonl"
    os.mkfifo(pipe)
    with pytest.raises(BatteryError, match=r"x\.jsonl is not a regular file"):
        import_verdicts("korean-mt-bench", [pipe], tmp_path / "s")


def test_folders_are_searched_and_files_are_named_by_what_they_do_not_share(tmp_path):
    for name, number in (("one", 1), ("two", 2)):
        jsonl(tmp_path / "in" / name / "a_vs_b.jsonl", [row(number)])
    (tmp_path / "in" / "notes.txt").write_text("no")
    found = Imported(tmp_path / "s", "korean-mt-bench", tmp_path / "in")
    assert [one["name"] for one in found.manifest["sources"]] == ["one/a_vs_b.jsonl", "two/a_vs_b.jsonl"]
    assert found.ledger["where"][0] == "one/a_vs_b.jsonl:1"
    with pytest.raises(UsageError, match=r"holds no file that is called result\.json"):
        import_verdicts("llmbar", [tmp_path / "in"], tmp_path / "t")
    with pytest.raises(UsageError, match=r"none\.jsonl cannot be read"):
        import_verdicts("korean-mt-bench", [tmp_path / "none.jsonl"], tmp_path / "t")


@pytest.fixture
def program(monkeypatch, capsys):
    """Return a runner of the command line in this process."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["darkcurrent", *map(str, arguments)])
        with pytest.raises(SystemExit) as exited:
            main()
        shown = capsys.readouterr()
        return SimpleNamespace(returncode=exited.value.code, stdout=shown.out, stderr=shown.err)

    return run


def _edit_ledger(folder):
    path = folder / "ledger.parquet"
    pl.read_parquet(path).with_columns(value=pl.lit("A"), winner=pl.lit("m1")).write_parquet(path)


def _edit_manifest(folder):
    path = folder / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b'"counted":"recorded"', b'"counted":"contract"'))


DAMAGE = {
    "ledger edited": _edit_ledger,
    "manifest edited": _edit_manifest,
    "texts gone": lambda folder: (folder / "texts.parquet").unlink(),
    "manifest gone": lambda folder: (folder / "manifest.json").unlink(),
    "manifest no object": lambda folder: (folder / "manifest.json").write_text("[]"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_was_edited_is_noticed(study, damage):
    DAMAGE[damage](study.folder / "imported")
    with pytest.raises(IntegrityError):
        Study(study.folder).analyze()


def test_a_file_that_was_replaced_by_a_link_is_noticed(tmp_path, study):
    path = study.folder / "imported" / "ledger.parquet"
    shutil.move(path, tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(IntegrityError, match="was edited after the import"):
        load_imported(study.folder / "imported").ledger()


def test_the_commands_work_on_an_import_and_grade_nothing(tmp_path, source, program):
    folder = tmp_path / "out"
    done = program("import", "korean-mt-bench", source, "-o", folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert "Imported 6 calls on 3 items from 1 files; recorded labels count." in done.stderr
    assert "Coding: winner_ab and winner_ba are slots" in done.stderr
    assert "1 of 6 recorded labels disagree with the kept reply." in done.stderr
    analysed = program("analyze", folder, "--json")
    assert json.loads(analysed.stdout)["state"] == "NOT GRADED"
    shown = program("analyze", folder).stdout
    assert "HOLD" not in shown
    assert (
        "asked for" not in shown
    )  # the judge of an import may have been asked for the contract that is shown
    assert "No valid verdict in 0/6 replies of this judge (0.0%)" in " ".join(shown.split())
    assert program("report", folder).returncode == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "NOT GRADED" in page
    assert "Nothing was fixed before these verdicts were seen" in page
    assert "winner_ab and winner_ba are slots" in page
    gate = program("gate", folder)
    assert gate.returncode == 4
    assert "j / recorded: NOT GRADED" in gate.stdout
    assert "Not graded: recorded by others, with no schedule" in gate.stdout
    run = program("run", folder)
    assert run.returncode == 2
    assert "holds imported verdicts, and nothing to run" in run.stderr
    _edit_ledger(folder / "imported")
    assert program("gate", folder).returncode == 6


def test_bad_input_is_one_sentence_and_exit_code_2(tmp_path, source, program):
    def error(*arguments):
        done = program("import", *arguments, "-o", tmp_path / "x")
        assert done.returncode == 2, done
        (line,) = done.stderr.splitlines()
        assert not (tmp_path / "x").exists()
        return line

    bad = source.with_name("bad_vs_x.jsonl")
    bad.write_text('{"question_id": 1}\n{"question', encoding="utf-8")
    assert error("korean-mt-bench", bad).startswith("error: bad_vs_x.jsonl:1 has no `model_a`")
    assert "There is no format 'x'" in error("x", source)
    assert "There is no contract 'brackets'" in error("korean-mt-bench", source, "--contract", "brackets")
    assert "has no option 'were'" in error(
        "korean-mt-bench", source, "--contract", "bracket", "--contract-option", "were=x"
    )
    assert "is not KEY=VALUE" in error(
        "korean-mt-bench", source, "--contract", "bracket", "--contract-option", "where"
    )
    assert "--contract-option belongs to --contract" in error(
        "korean-mt-bench", source, "--contract-option", "where=anywhere"
    )


def test_contract_and_count_are_options(tmp_path, source, program):
    options = (
        "--contract",
        "bracket",
        "--contract-option",
        "where=last-line",
        "--count",
        "contract",
        "--json",
    )
    done = program("import", "korean-mt-bench", source, "-o", tmp_path / "out", *options)
    manifest = json.loads(done.stdout)
    assert manifest["contract"] == {"name": "bracket", "where": "last-line"}
    assert manifest["counted"] == "contract"
    result = Study(tmp_path / "out").analyze()
    assert result.cells[0].patterns["unlabelled"]["stable"] == 3  # as the replies say, not the labels
    # The declared contract has another option than the plain one, which is therefore another contract.
    assert "bracket" in [one.contract for one in result.campaigns[0].sensitivity]


def test_the_texts_of_each_call_stand_in_the_slots_in_which_they_were_shown(tmp_path):
    said = {"winner": "1", "completion": ["Output (a)", "stop"]}
    row = {"input": "Do.", "output_1": "good", "output_2": "bad", "label": 1}
    swapped = said | {"completion": ["Output (b)", "stop"]}
    row["results"] = [{"swap = False": said, "swap = True": swapped}]
    path = tmp_path / "Natural" / "GPT" / "Vanilla" / "result.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([row]), encoding="utf-8")
    shown = shown_calls(Imported(tmp_path / "s", "llmbar", path).study)
    good, bad = digest_text("good"), digest_text("bad")
    assert shown.select("order", "text_a", "text_b").sort("order").rows() == [
        ("AB", good, bad),
        ("BA", bad, good),
    ]
    assert shown.select("rubric", "text_c").null_count().row(0) == (2, 2)
