"""No text, no secret and no address of a study is in its archive: each of them is marked, and the marks are looked for."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl
import pytest
from aiohttp import web

from darkcurrent.archive import columns
from darkcurrent.archive.columns import TABLES
from darkcurrent.archive.pack import Declaration, pack_files
from darkcurrent.archive.replay import replay
from darkcurrent.archive.verify import verify, verify_files
from darkcurrent.archive.words import server_word
from darkcurrent.capture import close_campaign
from darkcurrent.errors import UsageError
from darkcurrent.protocol import public
from darkcurrent.protocol.configurations import Configuration
from darkcurrent.protocol.model import Protocol
from darkcurrent.records import Terminal
from darkcurrent.study import Study
from support.server import ChatServer, completion

PROTOCOL = """format = 1
[study]
name = "marked"
title = "CANARY title"
[battery]
source = "pairs"
path = "CANARY-pairs.jsonl"
[criteria.own]
rubric_file = "CANARY-rubric.txt"
[[configuration]]
name = "asked"
backend = "openai-chat"
model = "planted-1"
base_url = "{url}"
api_key_env = "CANARY_KEY_NAME"
decoder = {{ temperature = 0, extra = {{ of = {{ note = "CANARY of it", key = "sk-CANARY", host = "canary.internal/v1" }} }} }}
contract = "regex"
contract_options = {{ pattern = '\\[CANARY (A|B|tie)\\]' }}
[[configuration]]
name = "never-asked"
backend = "openai-completions"
model = "planted-1"
base_url = "https://canary-host.example:8443/canary-route"
ca_file = "CANARY-authority.pem"
template = "CANARY template {{system}} and {{user}}"
[schedule]
seed = 3
[gates]
clone_threshold = 0.5
utility_threshold = 0.5
invalid_ceiling = 0.9
"""


async def _answer(request: web.Request, body: bytes) -> web.StreamResponse:
    said = json.loads(body)["messages"][1]["content"]
    headers = {"Server": "CANARY-gateway", "X-CANARY": "CANARY header"}
    if "number 2" in said:
        return web.json_response({"error": "CANARY refusal"}, status=400, headers=headers)
    if "number 3" in said:
        return web.Response(text="CANARY no envelope", headers=headers)
    message = {"role": "assistant", "content": "[CANARY A]", "reasoning_content": "CANARY thoughts"}
    if "number 1" in said:
        message["content"] = "CANARY prose"
    envelope = completion(system_fingerprint="CANARY print")
    envelope["choices"] = [{"index": 0, "message": message, "finish_reason": "CANARY finish"}]
    return web.json_response(envelope, headers=headers)


@pytest.fixture
def marked(tmp_path, monkeypatch):
    monkeypatch.setenv("CANARY_KEY_NAME", "CANARY-key-0123456789")
    folder = tmp_path / "CANARY-folder"
    folder.mkdir()
    (folder / "CANARY-rubric.txt").write_text("CANARY rubric", encoding="ascii")
    authority = Path(__file__).parents[1] / "support" / "tls" / "authority.pem"
    (folder / "CANARY-authority.pem").write_bytes(authority.read_bytes())
    rows = [
        {
            "id": f"i{n}",
            "prompt": f"CANARY prompt number {n}",
            "chosen": f"CANARY good {n}",
            "rejected": f"CANARY bad {n}",
        }
        for n in range(6)
    ]
    rows.append({**rows[0], "id": "i9", "rejected": rows[0]["chosen"]})
    (folder / "CANARY-pairs.jsonl").write_text("\n".join(map(json.dumps, rows[:6])), encoding="utf-8")
    with ChatServer(_answer) as server:
        (folder / "protocol.toml").write_text(PROTOCOL.format(url=server.url), encoding="utf-8")
        study = Study(folder)
        study.freeze()
        study.run("asked")
        close_campaign(folder, study.frozen, study.configuration("never-asked"), "CANARY reason")
        yield study, server.port


def _everything(files: dict[str, bytes]) -> dict[str, str]:
    """Return all that can be read in an archive: the bytes of each file, and what Parquet packs."""
    told = {name: data.decode("utf-8", "replace").casefold() for name, data in files.items()}
    for table in TABLES:
        name = f"data/tables/{table}.parquet"
        told[name] += pl.read_parquet(io.BytesIO(files[name])).write_csv().casefold()
    return told


def test_no_mark_is_in_the_archive(marked, charts):
    study, port = marked
    files = pack_files(study, Declaration())
    told = _everything(files)
    assert {name for name, text in told.items() if "canary" in text} == set()
    assert {name for name, text in told.items() if "127.0.0.1" in text or str(port) in text} == set()
    # The marks were where they are looked for: in what was frozen and in the journal.
    assert b"CANARY" in (study.folder / "frozen" / "texts.jsonl").read_bytes()
    journal = (study.folder / "journal" / "asked.sqlite").read_bytes() + b"".join(
        path.read_bytes() for path in (study.folder / "journal").glob("*-wal")
    )
    for mark in (
        b"CANARY refusal",
        b"CANARY thoughts",
        b"CANARY prose",
        b"CANARY finish",
        b"CANARY print",
        b"CANARY-gateway",
    ):
        assert mark in journal, mark


def test_what_is_left_is_checked_and_gives_the_same_result(marked, tmp_path, program):
    study, _ = marked
    bag = tmp_path / "bag"
    done = program("archive", study.folder, "-o", bag)
    assert done.returncode == 0, done.stderr
    replay(bag)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CANARY_KEY_NAME")  # nobody is asked
        assert verify(bag, Study(study.folder)).checks["requests built again"] > 0


@pytest.mark.parametrize(
    ("source", "marks", "never"),
    [
        ("items", ("canary prompt", "canary good", "canary bad"), ("canary rubric", "canary prose")),
        ("rubrics", ("canary rubric",), ("canary prompt", "canary prose")),
        (
            "replies",
            ("canary prose",),
            ("canary prompt", "canary rubric", "canary thoughts", "canary refusal"),
        ),
    ],
)
def test_texts_leave_only_by_source_and_with_a_licence(marked, tmp_path, source, marks, never, program):
    study, _ = marked
    bag = tmp_path / "bag.tar.zst"
    refused = program("archive", study.folder, "-o", bag, "--with-texts", source)
    assert refused.returncode == 2
    assert "Texts leave only under a licence" in refused.stderr
    done = program("archive", study.folder, "-o", bag, "--with-texts", f"{source}=CC-BY-4.0", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["declared"]["texts"] == {source: "CC-BY-4.0"}
    found = verify(bag)
    told = _everything(dict(found.files))
    with_marks = {name for name, text in told.items() if "canary" in text}
    assert with_marks == {f"data/texts/{source}.jsonl"}
    assert "CC-BY-4.0" in found.files["data/datasheet.md"].decode()
    assert "CC-BY-4.0" in found.files["data/README.md"].decode()
    text = told[f"data/texts/{source}.jsonl"]
    assert all(mark in text for mark in marks)
    assert not any(mark in text for mark in never)
    assert found.checks["texts with their digest"] > 0


def test_a_text_that_is_both_prompt_and_rubric_belongs_to_both_sources(tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "CANARY-rubric.txt").write_text("Choose the better one.", encoding="ascii")
    row = {"id": "i", "prompt": "Choose the better one.", "chosen": "a", "rejected": "b"}
    (folder / "CANARY-pairs.jsonl").write_text(json.dumps(row), encoding="ascii")
    text = PROTOCOL.partition("[[configuration]]")[0]
    text += '[[configuration]]\nname = "one"\nbackend = "simulated"\n[schedule]\nseed = 1\n'
    (folder / "protocol.toml").write_text(text, encoding="ascii")
    study = Study(folder)
    study.freeze()
    for source, texts in (("items", 3), ("rubrics", 1)):
        files = pack_files(study, Declaration(texts={source: "CC0"}))
        assert verify_files(files).checks["texts with their digest"] == texts


def test_a_source_that_does_not_exist_is_said(marked, tmp_path, program):
    study, _ = marked
    done = program("archive", study.folder, "-o", tmp_path / "bag", "--with-texts", "journals=CC0")
    assert (done.returncode, "There are no texts called `journals`" in done.stderr) == (2, True)


@pytest.mark.parametrize("name", ["{}", "question 7: {}", "{} (seven)"])
def test_an_item_named_by_its_own_text_does_not_leave(tmp_path, name):
    folder = tmp_path / "study"
    folder.mkdir()
    prompt = "Which of the two answers is the shorter one?"
    row = {"id": name.format(prompt[:30]), "prompt": prompt, "chosen": "a", "rejected": "b"}
    (folder / "pairs.jsonl").write_text(json.dumps(row), encoding="utf-8")
    text = (
        PROTOCOL.partition("[[configuration]]")[0]
        .replace("CANARY-pairs", "pairs")
        .replace("rubric_file", "rubric")
    )
    text = text.replace("CANARY-rubric.txt", "neutral")
    text += '[[configuration]]\nname = "one"\nbackend = "simulated"\n[schedule]\nseed = 1\n'
    (folder / "protocol.toml").write_text(text, encoding="utf-8")
    study = Study(folder)
    study.freeze()
    with pytest.raises(UsageError, match="named by a piece of its own text"):
        pack_files(study, Declaration())


@pytest.mark.parametrize(
    ("word", "leaves"),
    [
        *(
            (word, False)
            for word in ("10.0.0.7", "at-10.0.0.7/v1", "gateway.internal:8443", "fp/host-7:80/v1")
        ),
        *(
            (word, True)
            for word in ("gpt-4.1-2025-04-14", "qwen2.5:72b", "accounts/a/models/b", "3.11.2", "fp_1")
        ),
    ],
)
def test_a_word_that_is_an_address_does_not_leave(word, leaves):
    assert (server_word(word) == word) is leaves
    assert (public.word_or_digest(word) == word) is leaves


# -- the allow-lists are whole: a new field leaves a study only when somebody has said so --


def test_a_field_that_nobody_has_thought_of_stops_the_archive(monkeypatch):
    columns.check_allow_list()
    monkeypatch.setitem(Terminal.model_fields, "chain_of_thought", Terminal.model_fields["text"])
    with pytest.raises(AssertionError, match=r"whether Terminal\.chain_of_thought may leave"):
        columns.check_allow_list()
    monkeypatch.undo()
    monkeypatch.setitem(columns.SCHEMA, "quoted", pl.String)
    with pytest.raises(AssertionError, match="whether the ledger's `quoted` may leave"):
        columns.check_allow_list()


def test_every_key_of_a_protocol_is_shown_hashed_or_kept_back():
    assert Protocol.model_fields.keys() == public.PROTOCOL_FIELDS.keys()
    (union, _) = Configuration.__metadata__[0], None  # the discriminator
    kinds = Configuration.__origin__.__args__
    fields = {name for kind in kinds for name in kind.model_fields}
    assert union.discriminator == "backend"
    assert fields == public.CONFIGURATION_FIELDS.keys()


@pytest.mark.parametrize("table", TABLES)
def test_the_shipped_schemas_are_those_of_the_columns(table):
    from darkcurrent.archive.schema import schema_text, shipped_schema

    assert shipped_schema(table).decode() == schema_text(table), "run `python -m darkcurrent.archive.schema`"


def test_no_path_of_this_machine_is_in_an_archive(marked):
    study, _ = marked
    told = _everything(pack_files(study, Declaration()))
    home = str(Path(study.folder).parent).casefold()
    assert [name for name, text in told.items() if home in text] == []


def test_a_title_that_is_no_text_is_said(marked, tmp_path, program):
    study, _ = marked
    done = program("archive", study.folder, "-o", tmp_path / "bag", "--title", "\udcff")
    assert (done.returncode, "has no canonical JSON form" in done.stderr) == (2, True)
    assert not (tmp_path / "bag").exists()


def test_making_an_archive_changes_nothing_in_the_study(marked, tmp_path, program):
    study, _ = marked

    def state() -> dict[str, bytes]:
        # SQLite puts two small files beside a journal whenever somebody reads it.
        paths = [path for path in study.folder.rglob("*") if path.is_file() and "-" not in path.suffix]
        return {str(path): path.read_bytes() for path in paths}

    before = state()
    assert program("archive", study.folder, "-o", tmp_path / "bag").returncode == 0
    assert state() == before
