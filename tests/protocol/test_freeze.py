"""`frozen/` appears whole or not at all, and no byte of it changes afterwards."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from darkcurrent.canonical import digest, digest_text
from darkcurrent.errors import IntegrityError, UsageError
from darkcurrent.protocol import freeze, load_frozen, parse_protocol
from darkcurrent.protocol.model import ScheduleTable
from darkcurrent.records import Battery, Comparison, Item, Refusal
from darkcurrent.schedules import calls_of, plan

TEXT = """\
format = 1
criteria.neutral.rubric = "neutral"
[study]
name = "s"
[battery]
source = "pairs"
path = "pairs.jsonl"
[[configuration]]
name = "one"
backend = "function"
callable = "judge:choose"
[[configuration]]
name = "two"
backend = "function"
callable = "judge:choose"
[schedule]
seed = 1
"""
ODD = ["a lone \ud800 surrogate", "\ufeffmark", "line\u2028separator\r\n", "\x00", "</script>", ""]


def _battery() -> Battery:
    texts = {digest_text(text): text for text in ODD}
    keys = list(texts)
    item = Item(
        id="i/1 \u00e9",
        stratum="s",
        cluster="c",
        prompt=keys[0],
        texts={"chosen": keys[1], "rejected": keys[2]},
    )
    return Battery(
        items=(item,),
        comparisons=(
            Comparison(item=item.id, arm="clone", u="chosen", v="chosen", null_stratum="core"),
            Comparison(item=item.id, arm="signal", u="chosen", v="rejected", target="chosen"),
        ),
        texts=texts,
        refusals=(Refusal(where="row 2", stratum="s", arm="signal", reason="no reason"),),
        receipts={"source": {"inputs": 3}},
    )


def _freeze(folder: Path, text: str = TEXT) -> str:
    battery = _battery()
    configurations = {name: {"digest": digest(name)} for name in ("one", "two")}
    planned = plan(ScheduleTable(kind="hash", seed=1), battery, ["neutral"])
    schedules = {
        name: calls_of(planned, battery, {"neutral": digest_text("r")}, name, identity["digest"])
        for name, identity in configurations.items()
    }
    return freeze(folder, parse_protocol(text), text, battery, configurations, schedules)


@pytest.fixture
def frozen(tmp_path):
    folder = tmp_path / "study" / "frozen"
    _freeze(folder)
    return folder


FILES = [
    "configurations.json",
    "items.jsonl",
    "protocol.json",
    "protocol.toml",
    "public.json",
    "receipts/source.json",
    "refusals.jsonl",
    "schedule/one.jsonl",
    "schedule/two.jsonl",
    "texts.jsonl",
]


def test_what_was_frozen_reads_back(frozen):
    study, battery = load_frozen(frozen), _battery()
    assert study.items == battery.items
    assert study.refusals == battery.refusals
    assert study.texts == battery.texts
    assert study.protocol == parse_protocol(TEXT)
    assert study.configurations["two"] == {"digest": digest("two")}
    assert study.receipt("source") == {"inputs": 3}
    assert study.receipt("other") is None
    assert [call.position for call in study.schedule("one")] == [0, 1, 2]


def test_the_manifest_states_each_file_and_the_digest_over_all(frozen):
    manifest = json.loads((frozen / "manifest.json").read_text())
    assert sorted(manifest["files"]) == FILES
    for name, row in manifest["files"].items():
        data = (frozen / name).read_bytes()
        assert row == {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    body = {"format": manifest["format"], "files": manifest["files"]}
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
    assert manifest["study_digest"] == hashlib.sha256(canonical.encode()).hexdigest()


def test_the_same_inputs_give_the_same_bytes_anywhere(tmp_path):
    one, two = tmp_path / "a" / "frozen", tmp_path / "b" / "other"
    assert _freeze(one) == _freeze(two) == load_frozen(one).study_digest
    for name in (*FILES, "manifest.json"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_any_change_of_the_protocol_changes_the_digest(tmp_path):
    plain = _freeze(tmp_path / "a")
    assert _freeze(tmp_path / "b", TEXT.replace("seed = 1", "seed = 2")) != plain
    assert _freeze(tmp_path / "c", TEXT + "# a comment\n") != plain


def test_texts_are_stored_once_in_ascii_under_their_digest(frozen):
    data = (frozen / "texts.jsonl").read_bytes()
    assert data.isascii()
    assert len(data.splitlines()) == len(ODD)
    assert digest_text("\ud800") == hashlib.sha256(b"\xed\xa0\x80").hexdigest()


def test_a_frozen_folder_is_never_overwritten(frozen):
    before = {path: path.read_bytes() for path in frozen.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match="exists already and is never overwritten"):
        _freeze(frozen, TEXT.replace("seed = 1", "seed = 2"))
    assert {path: path.read_bytes() for path in frozen.rglob("*") if path.is_file()} == before


def _rejects(folder: Path, *says: str) -> None:
    with pytest.raises(IntegrityError) as caught:
        load_frozen(folder)
    for part in says:
        assert part in str(caught.value)


@pytest.mark.parametrize("name", FILES)
def test_an_edited_file_is_named(frozen, name):
    path = frozen / name
    data = path.read_bytes()
    path.write_bytes(data.replace(data[-3:], data[-3:].swapcase() + b" "))
    _rejects(frozen, str(path), "was edited after freezing")


def test_an_edit_of_the_same_length_is_noticed(frozen):
    path = frozen / "items.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"stratum":"s"', b'"stratum":"t"'))
    _rejects(frozen, str(path), "was edited")


@pytest.mark.parametrize("name", FILES)
def test_a_removed_file_is_named(frozen, name):
    (frozen / name).unlink()
    _rejects(frozen, str(frozen / name), "removed")


@pytest.mark.parametrize("name", ["extra.txt", "schedule/three.jsonl", ".hidden", "schedule/manifest.json"])
def test_an_added_file_is_named(frozen, name):
    (frozen / name).write_text("x")
    _rejects(frozen, str(frozen / name), "was added after freezing")


def test_links_are_no_frozen_files(frozen, tmp_path):
    path = frozen / "items.jsonl"
    path.rename(tmp_path / "items.jsonl")
    path.symlink_to(tmp_path / "items.jsonl")
    _rejects(frozen, str(path), "link")


def test_links_do_not_hide_what_was_added(frozen, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (frozen / "more").symlink_to(tmp_path / "elsewhere")
    _rejects(frozen, str(frozen / "more"), "was added")
    (frozen / "more").unlink()
    (frozen / "broken").symlink_to(tmp_path / "nowhere")
    _rejects(frozen, str(frozen / "broken"), "was added")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"bytes":', b'"bytez":'),
        (b'"study_digest":"', b'"study_digest":"0'),
        (b"darkcurrent/frozen/1", b"darkcurrent/frozen/2"),
        (b'"files"', b'"filez"'),
        (b"{", b""),
        (b'"bytes":', b'"bytes":1e999,"b":'),
        (b'"bytes":', b'"bytes":"\\ud800","b":'),
    ],
)
def test_an_edited_manifest_is_noticed(frozen, old, new):
    path = frozen / "manifest.json"
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    _rejects(frozen, str(path))


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{}", '{"files": 1, "study_digest": 2}', "[" * 9999, "\xff"]
)
def test_a_damaged_manifest_is_named(frozen, text):
    path = frozen / "manifest.json"
    path.write_bytes(text.encode("latin-1"))
    _rejects(frozen, str(path))
    path.unlink()
    _rejects(frozen, str(path), "missing")


def test_an_edit_while_a_study_is_open_is_noticed_too(frozen):
    study = load_frozen(frozen)
    for name in ("schedule/two.jsonl", "texts.jsonl", "items.jsonl"):
        (frozen / name).write_bytes(b"{}\n")
    with pytest.raises(IntegrityError, match=r"two\.jsonl was edited"):
        study.schedule("two")
    with pytest.raises(IntegrityError, match=r"texts\.jsonl was edited"):
        _ = study.texts
    with pytest.raises(IntegrityError, match=r"items\.jsonl was edited"):
        _ = study.items


def test_nothing_frozen_is_a_usage_error_and_a_file_in_its_place_is_not(tmp_path):
    with pytest.raises(UsageError, match="There is no study in"):
        load_frozen(tmp_path / "frozen")
    (tmp_path / "protocol.toml").touch()
    with pytest.raises(UsageError, match="is not frozen yet: run `darkcurrent freeze"):
        load_frozen(tmp_path / "frozen")
    (tmp_path / "frozen").write_text("x")
    _rejects(tmp_path / "frozen")


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    written = []

    def full(path: Path, data: bytes) -> int:
        written.append(path)
        if len(written) == 4:
            raise OSError(28, "No space left on device")
        with path.open("wb") as handle:
            return handle.write(data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(UsageError, match=r"cannot be written \(No space left on device\)"):
        _freeze(tmp_path / "frozen")
    assert len(written) == 4
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_the_study_is_one_clear_error(tmp_path):
    (tmp_path / "study").write_text("x")
    with pytest.raises(UsageError, match="cannot be written"):
        _freeze(tmp_path / "study" / "frozen")


_KILLED = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_freeze import _freeze

real, step = os.fsync, 0
while True:  # one process per step; each of them dies when it has asked the disk to keep `step` things
    folder = Path(sys.argv[1]) / str(step)
    child = os.fork()
    if child == 0:
        left = step
        def fsync(descriptor):
            global left
            if left == 0:
                os.kill(os.getpid(), 9)
            left -= 1
            real(descriptor)
        os.fsync = fsync
        _freeze(folder / "frozen")
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
    step += 1
"""


def test_a_kill_at_any_step_leaves_a_whole_folder_or_none(tmp_path):
    here = str(Path(__file__).parent)
    subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path), here], check=True, timeout=60)
    folders = sorted(tmp_path.iterdir(), key=lambda path: int(path.name))
    # eleven files, three folders, and the folder that holds `frozen/`
    assert len(folders) == 15 + 1
    whole = [folder.name for folder in folders if (folder / "frozen").exists()]
    assert whole == ["14", "15"]
    for folder in folders:
        if folder.name not in whole:
            assert [path.name[:8] for path in folder.iterdir()] == [".frozen."]
            _freeze(folder / "frozen")
        load_frozen(folder / "frozen")


def test_what_a_killed_process_of_the_same_number_left_is_no_hindrance(tmp_path, monkeypatch):
    monkeypatch.setattr("os.getpid", lambda: 7)
    (tmp_path / ".frozen.7").mkdir()
    (tmp_path / ".frozen.7" / "stray.json").write_text("{}")
    _freeze(tmp_path / "frozen")
    load_frozen(tmp_path / "frozen")
    assert [path.name for path in tmp_path.iterdir()] == ["frozen"]


def test_criteria_keep_the_order_in_which_they_were_written(tmp_path):
    text = TEXT.replace("criteria.neutral.rubric", 'criteria.zeal.rubric = "strict"\ncriteria.neutral.rubric')
    protocol = parse_protocol(text)
    identities = {name: {"digest": name} for name in ("one", "two")}
    freeze(tmp_path / "frozen", protocol, text, Battery(items=(), comparisons=(), texts={}), identities, {})
    assert list(load_frozen(tmp_path / "frozen").protocol.criteria) == ["zeal", "neutral"]
