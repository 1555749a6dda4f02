"""The composite action: its form by the published schema, and its steps as a runner takes them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
JUDGES = """
def good(prompt, a, b):
    return "tie" if a == b else "A" if a.startswith("good") else "B"
def lazy(prompt, a, b):
    return "tie"
"""


def valid(schema, path):
    """Say whether a file has the form of a schema that the checker ships with."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def test_the_action_has_the_form_of_one(tmp_path):
    assert valid("github-actions", ROOT / "action.yml") == (True, "ok -- validation done\n")
    (tmp_path / "action.yml").write_text(
        re.sub("using: composite", "using: composed", (ROOT / "action.yml").read_text())
    )
    assert not valid("github-actions", tmp_path / "action.yml")[0]


def test_the_workflow_of_the_page_has_the_form_of_one_and_names_real_inputs(tmp_path):
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (workflow,) = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    path = tmp_path / "judge.yml"
    path.write_text(workflow)
    assert valid("github-workflows", path) == (True, "ok -- validation done\n")
    steps = yaml.safe_load(workflow)["jobs"]["gate"]["steps"]
    (own,) = [step for step in steps if step["uses"].startswith("OWNER/darkcurrent@")]
    assert own["with"].keys() <= ACTION["inputs"].keys()


def test_no_input_is_pasted_into_a_command():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]


def taken(folder, **inputs):
    """Take the steps as a runner does; return the exit code, what was printed, and the files that steps write to."""
    given = {name: one.get("default", "") for name, one in ACTION["inputs"].items()} | inputs
    written = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    bash = shutil.which("bash")
    printed = ""
    for step in ACTION["runs"]["steps"]:
        wanted = {
            None: True,
            "inputs.install != ''": given["install"] != "",
            "inputs.capture == 'true'": given["capture"] == "true",
        }
        if not wanted[step.get("if")]:
            continue
        own = {
            name: given[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value)[1]]
            for name, value in step["env"].items()
        }
        done = subprocess.run(
            [bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder,
            env={**os.environ, "PATH": path, **{name: str(one) for name, one in written.items()}, **own},
            capture_output=True,
            text=True,
            check=False,
        )
        printed += done.stdout
        if done.returncode:
            break
    return done.returncode, printed, {name: one.read_text() for name, one in written.items() if one.exists()}


@pytest.mark.parametrize(("judge", "code", "kind"), [("good", 0, "notice"), ("lazy", 3, "error")])
def test_the_steps_capture_annotate_and_end_with_the_gates_code(planted, judge, code, kind):
    study = planted(JUDGES, [judge])
    folder = study.folder.parent
    found, printed, files = taken(folder, study="study", capture="true", install="", junit="junit.xml")
    assert found == code
    assert printed.splitlines()[0].startswith(f"::{kind} title=darkcurrent ")
    assert files["GITHUB_OUTPUT"] == f"exit-code={code}\n"
    assert files["GITHUB_STEP_SUMMARY"].startswith("# ")
    assert "<testsuite " in (folder / "junit.xml").read_text()


def test_an_input_is_never_a_command(tmp_path):
    found, _, files = taken(tmp_path, study="$(touch stolen); touch stolen", install="")
    assert found == 2
    assert files["GITHUB_OUTPUT"] == "exit-code=2\n"
    assert not (tmp_path / "stolen").exists()
