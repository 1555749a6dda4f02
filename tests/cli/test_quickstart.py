"""The quickstart with the real embedded model, on one parameter setting of each family."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from darkcurrent.protocol.templates import template_text


def _darkcurrent(*arguments):
    program = [sys.executable, "-c", "from darkcurrent.cli.main import main; main()", *arguments]
    return subprocess.run(program, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.embedded
def test_a_real_model_is_audited_from_protocol_to_report(tmp_path):
    folder = tmp_path / "quickstart"
    folder.mkdir()
    text = template_text("quickstart")
    small = text.replace('source = "finite-code"\n', 'source = "finite-code"\nsettings = [0]\n')
    small = small.replace("edge_controls = 8 ", "edge_controls = 1 ")
    # One thread: beside other work, threads that wait for each other are many times slower than one alone.
    small = small.replace('model = "gemma-3-270m"\n', 'model = "gemma-3-270m"\nthreads = 1\n')
    assert small.count("\n") == text.count("\n") + 3
    (folder / "protocol.toml").write_text(small, encoding="utf-8")

    first = _darkcurrent("quickstart", str(folder))
    assert first.returncode == 0, first.stderr
    assert "May this judge be used?" in first.stdout
    assert len((first.stdout + first.stderr).splitlines()) <= 48

    data = json.loads((folder / "analysis.json").read_text(encoding="utf-8"))
    campaigns = {campaign["configuration"]: campaign for campaign in data["campaigns"]}
    cells = {cell["configuration"]: cell for cell in data["cells"]}
    # Without a grammar the base model writes on and on: nothing it says is a verdict.
    assert campaigns["gemma-free"]["state"] == "HOLD"
    assert campaigns["gemma-free"]["capture"] == "HELD_EARLY"
    assert campaigns["gemma-free"]["invalid"] >= 1
    # With one, every answer is valid, and what they say is the model's own.
    assert campaigns["gemma-grammar"]["state"] == "COMPLETE"
    assert campaigns["gemma-grammar"]["terminal"] == 8 * 3 + 2
    assert campaigns["gemma-grammar"]["invalid"] == 0
    assert campaigns["gemma-grammar"]["prompt_tokens"] > 26 * 150
    assert campaigns["gemma-grammar"]["basis"] == "verified digest"
    assert cells["gemma-grammar"]["clone"]["core"]["n"] == 8
    assert cells["gemma-grammar"]["signal"]["items"] == 8
    # The oracle runs both programs and is right about all of them.
    assert cells["oracle"]["clone"]["core"]["adverse"] == 0
    assert cells["oracle"]["signal"]["mean"] == 1
    assert cells["oracle"]["signal"]["gate"] == "PASS"

    second = _darkcurrent("quickstart", str(folder))
    assert second.returncode == 0, second.stderr
    assert second.stderr.count("nothing to do") == 3
    assert second.stdout == first.stdout
