"""Whether it is still the same judge: what each reply says of who made it, over whole campaigns."""

from __future__ import annotations

import hashlib
import json

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.capture import journal_path, read_journal
from darkcurrent.judges import Witness
from darkcurrent.judges.base import Reply
from darkcurrent.judges.identity import gateway_of
from darkcurrent.records import Terminal
from support.backends import PathServer
from support.server import completion
from support.studies import program, study_with

PATH = "/v1/chat/completions"
HEADERS = {
    "openai-model": "m-1",
    "X-Request-Id": "r",
    "Server": "proxy",
    "Set-Cookie": "s=1",
    "OpenAI-Organization": "us",
}


def study_of(folder, server, extra="", capture="", items=4):
    configuration = f'backend = "openai-chat"\nmodel = "m"\nbase_url = "{server.url}/v1"\n{extra}'
    return study_with(folder, configuration, capture, items)


def serving(*replies):
    """Give a server that makes the n-th reply from the n-th (headers, changes of the envelope), the last one for ever."""
    count = iter(range(10**6))

    def answer(sent):
        headers, changes = replies[min(next(count), len(replies) - 1)]
        return web.json_response(completion(**{"model": "m", **changes}), headers=headers)

    return PathServer({PATH: answer})


def terminals(folder):
    rows = []
    read_journal(journal_path(folder, "judge"), rows.append)
    return [row for row in rows if isinstance(row, Terminal)]


def why(study):
    return next(e.detail["why"] for e in study.states()["judge"][1].events if e.kind == "stopped")


def same(fingerprint="fp", header="m-1"):
    headers = {**HEADERS, "openai-model": header} if header else {}
    return headers, {"system_fingerprint": fingerprint}


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (same(fingerprint="fp_2"), "the system fingerprint was 'fp' at first and is 'fp_2' now"),
        (same(fingerprint=None), "the system fingerprint was 'fp' at first and is absent now"),
        (same(header="m-2"), "the header openai-model was 'm-1' at first and is 'm-2' now"),
        (same(header=None), "the header openai-model was 'm-1' at first and is absent now"),
    ],
)
def test_a_change_in_the_middle_stops_the_campaign(tmp_path, other, says):
    with serving(same(), same(), other) as server:
        study = study_of(tmp_path, server)
        assert study.run("judge") == "PARTIAL_HOLD_MODEL"
        assert len(server.bodies(PATH)) == 3
    assert why(study) == says
    assert [row.reason for row in terminals(tmp_path)] == [None, None, "mismatched-model"]
    (campaign,) = study.analyze().campaigns
    assert (campaign.state, campaign.invalid_by_reason) == ("HOLD", {"mismatched-model": 1})


def test_what_no_reply_is_to_be_judged_by_may_change(tmp_path):
    """Ways and numbers of requests differ from call to call."""
    with serving(
        same(), ({**HEADERS, "Server": "b", "Via": "1.1 x", "X-Request-Id": "s"}, same()[1])
    ) as server:
        study = study_of(tmp_path, server)
        assert study.run("judge") == "COMPLETE"
    first, second = terminals(tmp_path)[:2]
    assert json.loads(first.gateway) == {"openai-model": "m-1", "server": "proxy", "x-request-id": "r"}
    assert json.loads(second.gateway)["via"] == "1.1 x"
    assert first.fingerprint == "fp"


def test_where_that_is_declared_fingerprints_are_only_recorded(tmp_path):
    with serving(same(), same(fingerprint="fp_2", header="m-2")) as server:
        study = study_of(tmp_path, server, 'fingerprint = "any"\n')
        assert study.run("judge") == "COMPLETE"
    assert [row.fingerprint for row in terminals(tmp_path)] == ["fp"] + ["fp_2"] * 11


def test_the_first_reply_of_the_first_run_counts_in_every_run(tmp_path):
    """A pause does not make a new judge the first one."""
    with serving(same(), same(), same(fingerprint="fp_2")) as server:
        study = study_of(tmp_path, server)

        def interrupt(progress):
            if progress.done == 1:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            study.run("judge", interrupt)
        assert study.states()["judge"][0] == "INTERRUPTED"
        assert study.run("judge") == "PARTIAL_HOLD_MODEL"
    assert why(study).startswith("the system fingerprint was 'fp' at first")


def test_a_refusal_or_a_reply_that_is_too_large_says_nothing_of_the_judge(tmp_path):
    count = iter(range(100))

    def answer(sent):
        number = next(count)
        if number == 0:
            return web.json_response({"error": "no"}, status=400)
        content = "x" * 5000 if number == 2 else '{"winner":"tie"}'
        return web.json_response(completion(content, model="m", system_fingerprint="fp"))

    with PathServer({PATH: answer}) as server:
        study = study_of(tmp_path, server, capture="max_reply_bytes = 2000")
        assert study.run("judge") == "COMPLETE"
    reasons = [row.reason for row in terminals(tmp_path)]
    assert reasons == ["request-refused", None, "reply-too-large", *[None] * 9]


def test_what_a_server_said_in_refusing_is_shown(tmp_path):
    """A field that no call can have is a fault of the protocol; the person has to see it."""
    refusal = web.json_response
    with PathServer({PATH: lambda sent: refusal({"error": "unknown field top_j"}, status=422)}) as server:
        study_of(tmp_path, server, "decoder = { extra = { top_j = 1 } }\n", "stop_when_held = true")
        ran = program("run", tmp_path)
        status = json.loads(program("status", tmp_path, "--json").stdout)
    assert 'in the last one the server answered HTTP 422: {"error": "unknown field top_j"}' in ran.stderr
    assert "unknown field top_j" in status["judge"]["why"]
    assert status["judge"]["state"] == "HELD_EARLY"
    assert len(server.bodies(PATH)) == 1


def test_another_prompt_than_was_sent_stops_the_campaign(tmp_path):
    """A server that cuts prompts: the tokenizer counts what was sent, the reply what was read."""

    def answer(sent):
        read = min(len(sent["prompt"].split()), 500)
        settings = {"temperature": 0.0, "n_predict": 256}
        reply = {"content": '{"winner":"tie"}', "model": "m", "stop_type": "eos", "tokens_evaluated": read}
        return {**reply, "generation_settings": settings}

    count = {"/tokenize": lambda sent: {"tokens": sent["content"].split() if "content" in sent else []}}
    with PathServer({"/completion": answer, **count, "/v1/models": {"data": [{"id": "m"}]}}) as server:
        keys = f'backend = "llama-cpp-raw"\nmodel = "m"\nbase_url = "{server.url}"\ntemplate = "{{system}} {{user}}"\n'
        short = study_with(tmp_path / "short", keys, items=2)
        assert short.run("judge") == "COMPLETE"
        longer = study_with(tmp_path / "longer", keys.replace("{user}", "{user}" + " more" * 500), items=2)
        assert longer.run("judge") == "PARTIAL_HOLD_MODEL"
    assert why(longer).startswith("the reply is to a prompt of 500 tokens, the one that was sent has ")
    assert len(terminals(tmp_path / "longer")) == 1


# ------------------------------------------------------------------ doctor


def test_doctor_tells_who_answers_and_checks_the_file(tmp_path):
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    told = {
        "/props": {
            "model_alias": "m",
            "model_path": str(tmp_path / "m.gguf"),
            "build_info": "b7\x1b[2J\ud800",
        },
        "/v1/models": {"data": [{"id": "m"}]},
    }
    with PathServer(told) as server:
        keys = f'backend = "llama-cpp"\nmodel = "m"\nbase_url = "{server.url}"\nmodel_path = "m.gguf"\n'
        study_with(tmp_path, keys, items=2)
        done = program("doctor", tmp_path)
        assert done.returncode == 0, done.stderr
        assert "basis: verified digest" in done.stderr
        facts = json.loads(program("doctor", tmp_path, "--json").stdout)["judge"]
        assert facts["model_sha256"] == hashlib.sha256(b"GGUF").hexdigest()
        assert "\x1b" not in done.stderr
        (tmp_path / "m.gguf").write_bytes(b"another")
        changed = program("doctor", tmp_path)
    assert changed.returncode == 5
    assert "the model file has changed since the study was frozen" in changed.stderr


def test_doctor_says_what_cannot_be_sent_before_anything_is_frozen(tmp_path):
    with PathServer({}) as server:
        keys = f'backend = "openai-chat"\nmodel = "m"\nbase_url = "{server.url}"\n'
        study_with(tmp_path, keys, items=2)
        text = (tmp_path / "protocol.toml").read_text(encoding="utf-8")
        other = tmp_path / "other"
        other.mkdir()
        (other / "protocol.toml").write_text(
            text.replace('model = "m"', 'model = "m"\ndecoder.thinking = true')
        )
        done = program("doctor", other)
    assert done.returncode == 2
    assert "its backend cannot send `decoder.thinking`" in done.stderr
    assert server.asked == []


# ------------------------------------------------------------------ the parts


names = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=20)


@given(st.dictionaries(names, st.text(max_size=300), max_size=8))
def test_only_listed_headers_are_kept(headers):
    secret = {"authorization": "Bearer k", "set-cookie": "c", "openai-organization": "us", "x-api-key": "k"}
    found = gateway_of({**headers, **secret, "x-litellm-model-id": "d" * 900})
    kept = json.loads(found)
    assert kept.keys().isdisjoint(secret)
    assert kept["x-litellm-model-id"] == "d" * 200
    assert all(name in headers or name == "x-litellm-model-id" for name in kept)
    assert gateway_of(secret) is None


def made(fingerprint="fp", served_model="m", gateway=None):
    return Reply("A", "stop", served_model, b"", fingerprint=fingerprint, gateway=gateway)


def test_a_reply_that_names_no_model_is_no_first_one():
    witness = Witness()
    assert witness.objection(made(fingerprint=None, served_model=None)) is None
    assert witness.objection(made()) is None
    assert witness.objection(made(fingerprint="other")) is not None
    assert witness.objection(made()) is None, "the first one stays the measure"
