"""The plugin for pytest, driven by pytest itself."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

JUDGES = """
def good(prompt, a, b):
    return "tie" if a == b else "A" if a.startswith("good") else "B"
def first(prompt, a, b):
    return "A"
def rude(prompt, a, b):
    return "I would rather not say."
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Run pytest with this plugin and no other that is installed here."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(*arguments, apart=False):
        given = ["-p", "no:cacheprovider", "-p", "darkcurrent.pytest_plugin", *map(str, arguments)]
        return pytester.runpytest_subprocess(*given) if apart else pytester.runpytest_inprocess(*given)

    return run


@pytest.fixture
def study(planted, monkeypatch, pytester):
    """Return the folder of a study with a judge that passes, one that misses and one that is HOLD."""
    study = planted(JUDGES, ["good", "first", "rude"], items=100)
    for name in ("good", "first", "rude"):
        study.run(name)
    return study.folder


def test_each_cell_is_a_test(run, study):
    result = run("--darkcurrent", study, "-v")
    result.assert_outcomes(passed=1, failed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "collect*3 items*",
            "*study::good[[]neutral[]] PASSED*",
            "*study::first[[]neutral[]] FAILED*",
            "*study::rude[[]neutral[]] ERROR*",
            "rude / neutral: HOLD. Not evaluated: 300 of 300 scheduled calls gave no valid verdict*",
            "first / neutral: neither gate. Preferred one of two identical texts 100 of 100 times*",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_cells_are_chosen_as_other_tests_are(run, study):
    result = run("--darkcurrent", study, "-k", "good")
    result.assert_outcomes(passed=1, deselected=2)
    assert result.ret == pytest.ExitCode.OK


def test_a_changed_judge_is_an_error(run, study):
    (study / "judge.py").write_text(JUDGES + "\n")
    result = run("--darkcurrent", study, "-k", "good")
    result.assert_outcomes(errors=1, deselected=2)
    result.stdout.fnmatch_lines(
        ["good / neutral: STALE. The judge is not the one that was audited: the source file*"]
    )


@pytest.mark.parametrize(
    ("spoil", "said"), [(None, "is not frozen yet"), ("frozen/items.jsonl", "edited after freezing")]
)
def test_a_folder_that_cannot_be_read_is_one_sentence(run, study, spoil, said):
    folder = study
    if spoil is None:
        folder = study / "other"
        folder.mkdir()
        (folder / "protocol.toml").write_text("")
    else:
        (study / spoil).write_text("")
    result = run("--darkcurrent", folder)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --darkcurrent: *{said}*"])


def test_it_runs_in_several_processes(run, study):
    run("--darkcurrent", study, "-p", "xdist", "-n", "2").assert_outcomes(passed=1, failed=1, errors=1)


def test_the_fixture_audits_in_the_tests_own_folder(run, pytester):
    pytester.makepyfile(
        """
        import pytest
        from pathlib import Path

        PAIRS = [{"prompt": f"p{n}", "chosen": f"good {n}", "rejected": f"bad {n}"} for n in range(70)]

        def good(prompt, a, b):
            return "tie" if a == b else "A" if a.startswith("good") else "B"

        def test_my_judge(darkcurrent_audit, tmp_path):
            audit = darkcurrent_audit(good, PAIRS)
            assert audit.passed, str(audit)
            assert audit.folder == tmp_path / "darkcurrent-0"
            assert darkcurrent_audit(good, PAIRS).folder == tmp_path / "darkcurrent-1"
            assert darkcurrent_audit(good, PAIRS, journal=None).folder is None

        def test_a_useless_one(darkcurrent_audit):
            audit = darkcurrent_audit(lambda prompt, a, b: "tie", PAIRS)
            assert audit.passed, str(audit)
        """
    )
    result = run("-W", "error", apart=True)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*clone gate only*"])


def test_nothing_is_imported_where_it_is_not_used(run, pytester):
    pytester.makepyfile(
        """
        import sys

        def test_light():
            assert "darkcurrent.pytest_plugin" in sys.modules
            heavy = {"polars", "numpy", "scipy", "pydantic", "aiohttp", "typer", "rich"}
            assert heavy & set(sys.modules) == set()
        """
    )
    run(apart=True).assert_outcomes(passed=1)


def test_the_option_is_documented(run):
    run("--help").stdout.fnmatch_lines(["audits of LLM judges:", "*--darkcurrent=DIR*"])


def test_it_is_declared_as_a_plugin():
    declared = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert declared["project"]["entry-points"]["pytest11"] == {"darkcurrent": "darkcurrent.pytest_plugin"}
