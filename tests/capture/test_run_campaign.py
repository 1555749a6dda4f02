"""A campaign as a person starts it: identity, the lock, secrets, and every fault of a server."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from contextlib import closing

import pytest
from aiohttp import web
from filelock import FileLock

from darkcurrent.canonical import digest_bytes
from darkcurrent.capture import check_identity, journal_path, read_journal
from darkcurrent.errors import (
    CaptureError,
    IntegrityError,
    JournalLockedError,
    ModelMismatchError,
    SecretError,
    TransportError,
)
from darkcurrent.judges import Identity, open_judge
from darkcurrent.judges.base import RequestFailed
from darkcurrent.judges.function import FunctionJudge
from darkcurrent.protocol.configurations import OpenAIChatConfiguration
from darkcurrent.records import Intent, Terminal
from support.backends import PathServer
from support.server import ChatServer, completion
from support.studies import http_study, program, study_with

FUNCTION = 'backend = "function"\ncallable = "judge:choose"\n'


def function_study(folder, source="def choose(prompt, a, b): return 'tie'\n", capture=""):
    folder.mkdir(exist_ok=True)
    (folder / "judge.py").write_text(source, encoding="utf-8")
    return study_with(folder, FUNCTION, capture, items=3)


def journal_of(study):
    rows = []
    return read_journal(journal_path(study.folder, "judge"), rows.append), rows


def test_a_whole_campaign(tmp_path):
    with ChatServer() as server:
        study = http_study(tmp_path, server.url, "in_flight = 4", items=5)
        assert study.run("judge") == "COMPLETE"
        assert study.run("judge") == "COMPLETE", "a second run says that all is done"
    assert len(server.bodies) == 15
    assert max(server.seen.values()) == 1
    assert server.most_flying <= 4
    summary, rows = journal_of(study)
    # The journal's digests are those of the bytes that the server got, and of the bytes that can be made again.
    intents = {row.call_id: row.request_sha256 for row in rows if isinstance(row, Intent)}
    assert set(intents.values()) == set(server.seen)
    judge = open_judge(study.configuration("judge"), tmp_path)
    for call in study.frozen.schedule("judge"):
        texts = (study.frozen.texts[key] for key in (call.rubric, call.prompt, call.text_a, call.text_b))
        assert digest_bytes(judge.request_bytes(*texts)) == intents[call.call_id]
    assert [event.kind for event in summary.events] == ["opened"]
    assert summary.header["study"] == study.frozen.study_digest
    assert not list(tmp_path.glob("journal/*.holder"))


def test_a_thread_that_is_not_the_main_one_may_capture(tmp_path):
    study, states = function_study(tmp_path), []
    worker = threading.Thread(target=lambda: states.append(study.run("judge")))
    worker.start()
    worker.join(30)
    assert states == ["COMPLETE"]


def answering(*choices):
    """Answer the n-th request by the n-th choice; every later one with a tie."""
    waiting = list(choices)

    async def answer(request, body):
        found = waiting.pop(0) if waiting else completion()
        return found if isinstance(found, web.Response) else web.json_response(found)

    return answer


@pytest.mark.parametrize(
    ("answer", "state", "reason"),
    [
        (web.Response(status=400, text="too long"), "COMPLETE", "request-refused"),
        (web.Response(status=413), "COMPLETE", "request-refused"),
        (web.Response(status=422), "COMPLETE", "request-refused"),
        (completion("x" * 5000), "COMPLETE", "reply-too-large"),
        (completion("\ud800"), "COMPLETE", None),
        (completion("maybe"), "COMPLETE", None),
        (completion(choices=[{"message": {"content": None, "reasoning_content": "A"}}]), "COMPLETE", None),
        (completion(model="planted-2"), "PARTIAL_HOLD_MODEL", "mismatched-model"),
        (completion(model=None), "PARTIAL_HOLD_MODEL", "mismatched-model"),
        (web.Response(status=429, headers={"Retry-After": "0"}), "PARTIAL_HOLD_TRANSPORT", "transport"),
        (web.Response(status=500), "PARTIAL_HOLD_TRANSPORT", "transport"),
        (web.Response(status=502, text="<html>" + "x" * 5000), "PARTIAL_HOLD_TRANSPORT", "transport"),
        (web.Response(status=307, headers={"Location": "/v1/chat/completions"}), "PARTIAL_HOLD_TRANSPORT", "transport"),
        (web.Response(text="Welcome"), "PARTIAL_HOLD_TRANSPORT", "transport"),
    ],
)  # fmt: skip
def test_a_fault_of_the_server(tmp_path, answer, state, reason):
    with ChatServer(answering(completion(), answer)) as server:
        study = http_study(tmp_path, server.url, "max_reply_bytes = 1024", items=2)
        assert study.run("judge") == state
        asked = len(server.bodies)
        assert asked == (6 if state == "COMPLETE" else 2)
        assert study.run("judge") == state, "a campaign that stopped for good asks nothing more"
        assert len(server.bodies) == asked
    summary, rows = journal_of(study)
    second = [row for row in rows if isinstance(row, Terminal)][1]
    assert second.reason == reason
    assert summary.ambiguous == set()
    (campaign,) = study.analyze().campaigns
    assert campaign.state == "HOLD"  # one call of six is above the ceiling of 1 %
    assert campaign.invalid == 1


def test_a_key_is_in_no_file_and_no_output(tmp_path):
    key = "sk-secret/0123456789"

    async def telling(request, body):
        said = {"error": f"{request.headers['Authorization']} is not known"}
        return web.json_response(said, status=403, headers={"X-Echo": key})

    with ChatServer(telling) as server:
        http_study(tmp_path, server.url, items=2, extra='api_key_env = "JUDGE_KEY"')
        environment = {**os.environ, "JUDGE_KEY": key}
        said = [program(verb, tmp_path, env=environment) for verb in ("doctor", "run", "report")]
    assert server.headers[-1]["Authorization"] == f"Bearer {key}"
    assert said[1].returncode == 5
    assert "Bearer [key] is not known" in said[1].stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"judge.sqlite", "analysis.json", "report.html"} <= {path.name for path in files}
    for path in files:
        data = path.read_bytes()
        assert key.encode() not in data, path
        assert b"Authorization" not in data, path
    for done in said:
        assert key not in done.stdout + done.stderr


def test_a_key_that_is_not_set_stops_before_anything_is_sent(tmp_path, monkeypatch):
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    with ChatServer() as server:
        study = http_study(tmp_path, server.url, items=2, extra='api_key_env = "JUDGE_KEY"')
        with pytest.raises(SecretError):
            study.run("judge")
        monkeypatch.setenv("JUDGE_KEY", "sk-a key\nand more")
        with pytest.raises(SecretError):
            study.run("judge")
    assert server.headers == []


def test_a_key_that_the_service_refuses_does_not_spend_the_campaign(tmp_path):
    with ChatServer(models=401) as server:
        study = http_study(tmp_path, server.url, items=2)
        with pytest.raises(
            TransportError, match=r"does not accept the key.*nothing was sent; declare `api_key_env`"
        ):
            study.run("judge")
        assert server.bodies == []
        assert study.states()["judge"][0] == "NOT STARTED"
        server._models = 404  # many services have no list
        assert study.run("judge") == "COMPLETE"


def test_a_service_that_is_down_leaves_no_trace(tmp_path):
    with ChatServer() as server:
        study = http_study(tmp_path, server.url, items=2)
    with pytest.raises(
        TransportError, match=r"`judge` cannot be reached .*: nothing was sent; start the service"
    ):
        study.run("judge")
    assert not journal_path(tmp_path, "judge").exists()
    doctor = program("doctor", tmp_path)
    assert doctor.returncode == 5
    assert "nothing was sent; start the service, or correct `base_url`." in doctor.stdout


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_service_that_cannot_tell_yet_who_it_is_does_not_spend_the_campaign(tmp_path, status):
    """A server that still loads its model answers 503 to everything."""
    with ChatServer(models=status) as server:
        study = http_study(tmp_path, server.url, items=2)
        with pytest.raises(TransportError, match=rf"HTTP {status}.*: nothing was sent; try again"):
            study.run("judge")
        assert server.bodies == []
        assert study.states()["judge"][0] == "NOT STARTED"


@pytest.mark.parametrize(
    ("status", "state"), [(503, "COMPLETE"), (429, "COMPLETE"), (404, "PARTIAL_HOLD_MODEL")]
)
def test_a_service_that_cannot_tell_at_the_end_who_it_is_has_not_changed(tmp_path, status, state):
    told = {"/version": {"version": "1"}, "/v1/models": {"data": [{"id": "m"}]}}

    def answer(sent):
        server._answers["/version"] = lambda sent: web.json_response({}, status=status)
        return completion(model="m")

    with PathServer({**told, "/v1/chat/completions": answer}) as server:
        study = study_with(tmp_path, f'backend = "vllm"\nmodel = "m"\nbase_url = "{server.url}"\n', items=2)
        assert study.run("judge") == state


@pytest.mark.parametrize(
    ("status", "says"), [(401, "`api_key_env`"), (403, "`api_key_env`"), (404, "`base_url` and `model`")]
)
def test_what_to_look_at_is_said_where_the_first_call_fails(tmp_path, status, says):
    async def answer(request, body):
        return web.json_response({"error": "no"}, status=status)

    with ChatServer(answer, models=404) as server:
        http_study(tmp_path, server.url, items=2)
        ran = program("run", tmp_path)
    assert ran.returncode == 5
    assert says in ran.stderr


def test_a_service_that_lists_other_models_is_not_asked(tmp_path):
    with ChatServer(models=("other-7b",)) as server:
        study = http_study(tmp_path, server.url, items=2)
        with pytest.raises(ModelMismatchError, match=r"lists other-7b.*declares planted-1"):
            study.run("judge")
    assert server.bodies == []


def test_the_list_may_hold_the_asked_name_or_the_dated_one():
    configuration = OpenAIChatConfiguration(
        name="c", backend="openai-chat", base_url="http://h", model="m", accepted_models=("m-2026-01-01",)
    )
    for served in (["m"], ["m-2026-01-01"], ["x", "m"], [], None):
        check_identity(configuration, Identity("service's declaration", {"served": served}))
    with pytest.raises(ModelMismatchError):
        check_identity(configuration, Identity("service's declaration", {"served": ["m-2025-01-01"]}))


def test_the_source_of_a_function_may_not_change(tmp_path):
    study = function_study(tmp_path)
    (tmp_path / "judge.py").write_text("def choose(prompt, a, b): return 'A'\n", encoding="utf-8")
    with pytest.raises(ModelMismatchError, match="the source file has changed"):
        study.run("judge")
    assert not journal_path(tmp_path, "judge").exists()


def test_a_service_that_changes_between_two_runs_is_not_asked(tmp_path, monkeypatch):
    study, build = function_study(tmp_path), "b1"

    async def identify(judge):
        return Identity("verified digest", {"served": ["judge:choose"], "build": build})

    def stop(progress):
        if progress.done == 2:
            raise RuntimeError("stop here")

    monkeypatch.setattr(FunctionJudge, "identify", identify)
    with pytest.raises(RuntimeError, match="stop here"):
        study.run("judge", stop)
    before = journal_of(study)[1]
    build = "b2"
    with pytest.raises(ModelMismatchError, match="build of the service changed"):
        study.run("judge")
    assert journal_of(study)[1] == before
    build = "b1"
    assert study.run("judge") == "COMPLETE"


@pytest.mark.parametrize(
    ("later", "state"),
    [
        (lambda: Identity("verified digest", {"build": "b1", "served": ["more"]}), "COMPLETE"),
        (lambda: Identity("verified digest", {"build": "b2"}), "PARTIAL_HOLD_MODEL"),
        (lambda: Identity("verified digest", {}), "PARTIAL_HOLD_MODEL"),
        (lambda: _raise(RequestFailed("connection", "gone")), "COMPLETE"),
        (lambda: _raise(ModelMismatchError("another file")), "PARTIAL_HOLD_MODEL"),
    ],
)
def test_a_service_that_changed_while_it_was_asked_is_noticed_at_the_end(tmp_path, monkeypatch, later, state):
    study, asked = function_study(tmp_path), []

    async def identify(judge):
        asked.append(judge)
        return Identity("verified digest", {"build": "b1", "served": []}) if len(asked) == 1 else later()

    monkeypatch.setattr(FunctionJudge, "identify", identify)
    assert study.run("judge") == state
    assert len(asked) == 2
    (campaign,) = study.analyze().campaigns
    assert campaign.terminal == campaign.scheduled
    if state == "COMPLETE":
        assert campaign.state == "COMPLETE"
    else:
        assert campaign.state == "HOLD"
        (reason,) = campaign.reasons
        assert "changed while the campaign ran" in reason


def _raise(error):
    raise error


def test_an_analysis_beside_a_running_campaign_says_so(tmp_path):
    study = function_study(tmp_path)
    study.run("judge")
    with FileLock(journal_path(tmp_path, "judge").with_suffix(".lock")):
        said = program("analyze", tmp_path)
    assert "`judge` is being captured right now" in said.stderr
    assert said.returncode == 0
    assert "right now" not in program("analyze", tmp_path).stderr


def test_a_callable_that_raises_gives_an_invalid_answer_and_no_tie(tmp_path):
    study = function_study(tmp_path, "import sys\ndef choose(prompt, a, b): sys.exit(0)\n")
    assert study.run("judge") == "COMPLETE"
    _, rows = journal_of(study)
    terminals = [row for row in rows if isinstance(row, Terminal)]
    assert len(terminals) == len(study.frozen.schedule("judge"))
    assert {(row.status, row.reason, row.text, row.detail) for row in terminals} == {
        ("refused", "judge-raised", None, "function-raised: judge:choose raised SystemExit: 0")
    }
    (campaign,) = study.analyze().campaigns
    assert campaign.state == "HOLD"
    assert campaign.invalid_by_reason == {"judge-raised": len(terminals)}


def test_a_callable_that_hangs_ends_at_the_time_out(tmp_path):
    source = "import time\ndef choose(prompt, a, b): time.sleep(600)\n"
    function_study(tmp_path, source, "timeout_seconds = 0.2")
    done = program("run", tmp_path)  # the program ends too, though its thread does not
    assert done.returncode == 5
    assert "did not return within 0.2 s" in done.stderr


def test_one_writer_at_a_time(tmp_path):
    study = function_study(tmp_path)
    lock = journal_path(tmp_path, "judge").with_suffix(".lock")
    lock.parent.mkdir()
    with FileLock(lock), pytest.raises(JournalLockedError, match=r"another process: wait until it ends"):
        study.run("judge")
    assert study.run("judge") == "COMPLETE"


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path):
    study = function_study(tmp_path)
    (tmp_path / "journal").write_text("a file where a folder should be")
    with pytest.raises(
        CaptureError, match=r"journal cannot be written \(File exists\): make room or grant access"
    ):
        study.run("judge")
    (tmp_path / "journal").unlink()
    (tmp_path / "journal" / "judge.lock").mkdir(parents=True)
    with pytest.raises(CaptureError, match="cannot be written"):
        study.run("judge")


def test_a_journal_of_another_study_is_refused(tmp_path):
    first, second = (
        function_study(tmp_path / "one"),
        function_study(tmp_path / "two", "def choose(**k): return 'A'\n"),
    )
    first.run("judge")
    (second.folder / "journal").mkdir()
    journal_path(second.folder, "judge").write_bytes(journal_path(first.folder, "judge").read_bytes())
    for verb in (lambda: second.run("judge"), second.analyze):
        with pytest.raises(IntegrityError, match="another study"):
            verb()


def test_an_edited_journal_is_an_integrity_failure_everywhere(tmp_path):
    study = function_study(tmp_path)
    study.run("judge")
    with closing(sqlite3.connect(journal_path(tmp_path, "judge"))) as connection:
        connection.execute("DROP TRIGGER terminal_no_update")
        connection.execute("UPDATE terminal SET text = 'A'")
        connection.commit()
    for look in (lambda: study.run("judge"), study.states, study.analyze):
        with pytest.raises(IntegrityError, match="was edited"):
            look()
    done = program("run", tmp_path)
    assert done.returncode == 6
    assert "Traceback" not in done.stderr


def test_what_was_opened_is_said(tmp_path):
    study = function_study(tmp_path)
    study.run("judge")
    summary, _ = journal_of(study)
    detail = summary.events[0].detail
    assert {"pid", "host", "darkcurrent", "python", "basis", "identity"} <= detail.keys()
    assert json.loads(json.dumps(detail)) == detail
