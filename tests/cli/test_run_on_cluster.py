"""`run --executor ray` where there is no Ray, or no cluster."""

from __future__ import annotations

import socket
import sys

import pytest


def test_without_ray_it_names_the_extra(program, small, monkeypatch):
    program("freeze", small.folder)
    monkeypatch.setitem(sys.modules, "ray", None)
    outcome = program("run", small.folder, "--executor", "ray")
    assert outcome.code == 2
    assert (
        outcome.err == "error: The executor `ray` needs an optional part: pip install 'darkcurrent[ray]'.\n"
    )


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.mark.parametrize(
    "address", ["127.0.0.1:{port}", "ray://127.0.0.1:{port}", "nowhere", "a:b", "http://[::1", ""]
)
def test_an_address_without_a_cluster_is_one_sentence(program, small, address):
    program("freeze", small.folder)
    outcome = program("run", small.folder, "--executor", "ray", "--address", address.format(port=free_port()))
    assert outcome.code == 2
    assert outcome.err.startswith("error: No Ray cluster can be reached at ")
    assert outcome.err.count("\n") == 1
    assert not (small.folder / "journal").exists()


def test_an_address_belongs_to_a_cluster(program, small):
    outcome = program("run", small.folder, "--address", "127.0.0.1:1")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--executor ray" in outcome.err


def test_shards_that_cannot_be_are_refused_at_freeze(program, tmp_path):
    (tmp_path / "pairs.jsonl").write_text('{"id": "a", "prompt": "p", "chosen": "x", "rejected": "y"}\n')
    (tmp_path / "protocol.toml").write_text(
        """format = 1
[study]
name = "s"
[battery]
source = "pairs"
path = "pairs.jsonl"
[criteria.neutral]
rubric = "neutral"
[[configuration]]
name = "judge"
backend = "simulated"
[schedule]
seed = 1
[capture]
shards = 4
"""
    )
    outcome = program("freeze", tmp_path)
    assert outcome.code == 2
    assert "`capture.shards = 4`: there are only 3 calls to divide" in outcome.err
    assert not (tmp_path / "frozen").exists()
