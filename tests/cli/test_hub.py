"""The hub, asked by its own client, from a stand-in on the loopback."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import huggingface_hub.constants
import polars as pl
import pytest

from support.hub import COMMIT, hub
from support.rewardbench2 import rb2_rows, select_study

HUB = f'source = "rewardbench2"\nrevision = "{COMMIT}"\nseed = 7\nper_stratum = 2\n'


@pytest.fixture
def server():
    data = io.BytesIO()
    pl.DataFrame(rb2_rows(3)).write_parquet(data)
    with hub(data.getvalue()) as running:
        yield running


@pytest.fixture
def asks(monkeypatch, tmp_path, server):
    """Let this process ask the stand-in, with a cache of its own."""
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    (tmp_path / "token").write_text("hf_of_a_login")  # a token in a file is not used
    monkeypatch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    return server


def test_a_pinned_file_is_fetched_once_and_frozen_with_its_digest(program, tmp_path, asks):
    study = select_study(tmp_path / "study", HUB)
    assert program("battery", "check", study.folder).code == 0
    assert [method for method, *_ in asks.asked] == ["HEAD", "GET"]
    assert program("freeze", study.folder).code == 0
    assert len(asks.asked) == 2
    assert {token for *_, token in asks.asked} == {None}
    source = study.frozen.receipt("selection")["source"]
    assert source["revision"] == COMMIT
    assert source["dataset"] == "allenai/reward-bench-2"
    rows = rb2_rows(3)
    local = select_study(
        tmp_path / "local", HUB.replace(f'revision = "{COMMIT}"', 'path = "rows.jsonl"'), rows
    )
    local.freeze()
    assert local.frozen.items == study.frozen.items
    assert local.frozen.texts == study.frozen.texts


def test_a_token_comes_from_the_environment_and_reaches_no_file(program, tmp_path, asks, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    study = select_study(tmp_path / "study", HUB)
    assert program("freeze", study.folder).code == 0
    assert [token for *_, token in asks.asked] == [
        "Bearer hf_secret",
        None,
    ]  # none for the host that stores the files
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"hf_secret" not in path.read_bytes()


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("gated", "only to those who accepted its terms"),
        ("repository", "The hub has no data set allenai/reward-bench-2 that may be read without a token"),
        ("other-commit", "The hub answered with another commit than"),
        ("other-bytes", "is not the file that the hub has for this commit: remove it"),
        ("no-commit", "or what answers there is no hub"),
    ],
)
def test_what_the_hub_may_answer(program, tmp_path, asks, fault, says):
    asks.fault = fault
    study = select_study(tmp_path / "study", HUB)
    assert says in program("freeze", study.folder).error(2)
    assert not study.is_frozen


def test_an_unknown_commit_and_an_unknown_file(program, tmp_path, asks):
    study = select_study(tmp_path / "study", HUB.replace(COMMIT, "f" * 40))
    assert program("freeze", study.folder).error(2).startswith("The hub has no commit ffff")
    select_study(tmp_path / "study", HUB + 'file = "data/train.parquet"')
    assert "has no file data/train.parquet: check `battery.file`." in program("freeze", study.folder).error(2)


def test_nobody_answers(program, tmp_path, monkeypatch, asks):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.file_download._DEFAULT_RETRY_ON_EXCEPTIONS", ())
    study = select_study(tmp_path / "study", HUB)
    message = program("freeze", study.folder).error(2)
    assert message.startswith("The hub cannot be reached at http://127.0.0.1:9")


def test_without_the_extra(program, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    study = select_study(tmp_path / "study", HUB)
    assert program("freeze", study.folder).error(2) == (
        "A data set of the hub needs an optional part: pip install 'darkcurrent[hf]'."
    )


def test_the_program_reads_the_address_of_the_hub_from_its_environment(tmp_path, server):
    study = select_study(tmp_path / "study", HUB)
    environment = {**os.environ, "HF_ENDPOINT": server.url, "HF_HOME": str(tmp_path / "home")}
    code = "from darkcurrent.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "freeze", str(study.folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "%|" not in done.stderr
    assert len(study.frozen.items) == 6
