"""The examples freeze as they stand, and the llama.cpp one is driven for real."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from darkcurrent.study import Study
from support.studies import program

EXAMPLES = Path(__file__).parent.parent / "examples"
FOLDERS = sorted(path.parent for path in EXAMPLES.glob("*/protocol.toml"))


def test_every_example_is_listed():
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in FOLDERS] == ["llama-server", "ollama", "vllm"]
    assert all(f"| `{path.name}` |" in listed for path in FOLDERS)


@pytest.mark.parametrize("example", FOLDERS, ids=lambda path: path.name)
def test_an_example_freezes(example, tmp_path):
    shutil.copytree(example, tmp_path / "study")
    study = Study(tmp_path / "study")
    study.freeze()
    assert [c.name for c in study.frozen.protocol.configuration] == ["chat", "raw"]
    for configuration in study.frozen.protocol.configuration:
        assert len(study.frozen.schedule(configuration.name)) in (24, 288)


def shown_options(example):
    """Return the protocol with every commented-out key of it put in."""
    lines = (EXAMPLES / example / "protocol.toml").read_text(encoding="utf-8").splitlines()
    options = ("# model_path", "# api_key_env", "# ca_file", "# base_url", "# extra")
    return "\n".join(line.removeprefix("# ") if line.startswith(options) else line for line in lines)


@pytest.mark.parametrize("example", ["ollama", "vllm", "llama-server"])
def test_what_an_example_shows_in_a_comment_is_a_key(example):
    from darkcurrent.protocol import parse_protocol

    text = shown_options(example)
    assert text.count("\n") > 50
    assert parse_protocol(text).study.name == example


@pytest.mark.embedded
def test_the_llama_cpp_example_with_a_real_server(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    folder = tmp_path / "study"
    shutil.copytree(EXAMPLES / "llama-server", folder)
    text = (folder / "protocol.toml").read_text(encoding="utf-8")
    # One family's pair: two configurations of three calls.
    (folder / "pairs.jsonl").write_text('{"id": "1", "prompt": "2 + 2?", "chosen": "4", "rejected": "5"}\n')
    small = text.replace(":8080", f":{port}").replace(
        'source = "finite-code"\nsettings = [0]', 'source = "pairs"\npath = "pairs.jsonl"'
    )
    assert small.count(f":{port}") == text.count(":8080")
    assert 'source = "pairs"' in small
    (folder / "protocol.toml").write_text(small, encoding="utf-8")
    command = [sys.executable, str(folder / "start.py"), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout.readline() == f"listening at http://127.0.0.1:{port}\n"
            assert program("freeze", folder).returncode == 0
            told = json.loads(program("doctor", folder, "--json").stdout)
            assert told["chat"]["basis"] == told["raw"]["basis"] == "service's declaration"
            assert told["chat"]["file"] == "gemma-3-270m-q4_k_m.gguf"
            assert told["raw"]["prompts_counted_by"] == "/tokenize"
            ran = program("run", folder, "--json")
            assert json.loads(ran.stdout) == {"chat": "COMPLETE", "raw": "COMPLETE"}, ran.stderr
        finally:
            server.terminate()
        assert server.wait(20) == 0
    campaigns = Study(folder).analyze().campaigns
    assert [(c.state, c.terminal, c.invalid, c.usage_unknown) for c in campaigns] == [
        ("COMPLETE", 3, 0, 0)
    ] * 2
