"""What each backend sends, to the byte, and what it reads from a reply, over HTTP with a server that speaks its form."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from aiohttp import web

from darkcurrent.errors import ModelMismatchError, ProtocolError
from darkcurrent.judges import freeze_configuration
from darkcurrent.judges.base import RequestFailed
from darkcurrent.protocol.configurations import OpenAIChatConfiguration
from darkcurrent.study import Study
from support.backends import PathServer, asked, configuration_of, identified, judge_of
from support.server import completion
from support.studies import study_with

USER = "<request>\nP\n</request>\n\n<answer_A>\na\n</answer_A>\n\n<answer_B>\nb\n</answer_B>"
CHAT = [{"role": "system", "content": "R"}, {"role": "user", "content": USER}]
RAW = f"<s>R</s>\n<u>{USER}</u>\n"
EVERY = {"temperature": 0.5, "max_tokens": 9, "seed": 4}

OPENAI_REPLY = completion('{"winner":"A"}', model="m", system_fingerprint="fp")
COMPLETION_REPLY = {
    "model": "m",
    "choices": [{"text": '{"winner":"A"}', "finish_reason": "length"}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 3},
}
ANTHROPIC_REPLY = {
    "type": "message",
    "model": "m",
    "content": [{"type": "thinking", "thinking": "B?"}, {"type": "text", "text": '{"winner":"A"}'}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 4, "cache_read_input_tokens": 3, "output_tokens": 3},
}
OLLAMA_REPLY = {
    "model": "m",
    "message": {"role": "assistant", "content": '{"winner":"A"}', "thinking": "B?"},
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 7,
    "eval_count": 3,
}
OLLAMA_RAW_REPLY = {
    **{key: value for key, value in OLLAMA_REPLY.items() if key != "message"},
    "response": '{"winner":"A"}',
}
LLAMA_RAW_REPLY = {
    "content": '{"winner":"A"}',
    "model": "m",
    "stop_type": "eos",
    "truncated": False,
    "tokens_evaluated": 7,
    "tokens_predicted": 3,
    "generation_settings": {"seed": 4, "temperature": 0.5, "n_predict": 9},
}
OPTIONS = {"temperature": 0.5, "num_predict": 9, "seed": 4}
WANTED = [
    "content",
    "model",
    "stop_type",
    "truncated",
    "tokens_evaluated",
    "tokens_predicted",
    "generation_settings",
]

BACKENDS = {
    "openai-chat": (
        "/chat/completions",
        {"model": "m", "messages": CHAT, **EVERY, "reasoning_effort": "low"},
        OPENAI_REPLY,
        ("stop", False),
    ),
    "openai-completions": (
        "/completions",
        {"model": "m", "prompt": RAW, **EVERY},
        COMPLETION_REPLY,
        ("length", False),
    ),
    "anthropic": (
        "/messages",
        {
            "model": "m",
            "system": "R",
            "messages": CHAT[1:],
            "temperature": 0.5,
            "max_tokens": 9,
            "thinking": {"type": "disabled"},
            "output_config": {"effort": "low"},
        },
        ANTHROPIC_REPLY,
        ("stop", True),
    ),
    "ollama": (
        "/api/chat",
        {
            "model": "m",
            "messages": CHAT,
            "stream": False,
            "truncate": False,
            "shift": False,
            "think": False,
            "options": {**OPTIONS, "num_ctx": 4096, "top_k": 1},
        },
        OLLAMA_REPLY,
        ("stop", True),
    ),
    "ollama-raw": (
        "/api/generate",
        {
            "model": "m",
            "prompt": RAW,
            "raw": True,
            "stream": False,
            "truncate": False,
            "shift": False,
            "think": False,
            "options": OPTIONS,
        },
        OLLAMA_RAW_REPLY,
        ("stop", False),
    ),
    "llama-cpp": (
        "/v1/chat/completions",
        {
            "model": "m",
            "messages": CHAT,
            **EVERY,
            "chat_template_kwargs": {"reasoning_effort": "low", "enable_thinking": False},
            "cache_prompt": False,
        },
        OPENAI_REPLY,
        ("stop", False),
    ),
    "llama-cpp-raw": (
        "/completion",
        {
            "model": "m",
            "prompt": RAW,
            "temperature": 0.5,
            "n_predict": 9,
            "seed": 4,
            "stream": False,
            "cache_prompt": False,
            "response_fields": WANTED,
        },
        LLAMA_RAW_REPLY,
        ("stop", False),
    ),
    "vllm": (
        "/v1/chat/completions",
        {
            "model": "m",
            "messages": CHAT,
            **EVERY,
            "reasoning_effort": "low",
            "chat_template_kwargs": {"enable_thinking": True},
        },
        OPENAI_REPLY,
        ("stop", False),
    ),
    "vllm-raw": (
        "/v1/completions",
        {"model": "m", "prompt": RAW, **EVERY},
        COMPLETION_REPLY,
        ("length", False),
    ),
}  # fmt: skip
DECODERS = {
    "openai-chat": {**EVERY, "reasoning_effort": "low"},
    "anthropic": {"temperature": 0.5, "max_tokens": 9, "thinking": False, "reasoning_effort": "low"},
    "ollama": {**EVERY, "thinking": False, "extra": {"options": {"top_k": 1}}},
    "llama-cpp": {**EVERY, "thinking": False, "reasoning_effort": "low"},
    "vllm": {**EVERY, "thinking": True, "reasoning_effort": "low"},
}
TOKENIZERS = {
    "/tokenize": lambda sent: {"count": 7, "tokens": [0] * 7, "max_model_len": 99},
}


def judge_for(backend, url="http://127.0.0.1:1", **keys):
    keys.setdefault("decoder", DECODERS.get(backend, EVERY))
    if backend == "ollama":
        keys.setdefault("context", 4096)
    return judge_of(backend, base_url=url, **keys)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_sent_and_what_is_read(backend):
    path, request, answer, (finish, reasoning) = BACKENDS[backend]
    with PathServer({path: answer, **TOKENIZERS}) as server:
        judge = judge_for(backend, server.url)
        sent = judge.request_bytes("R", "P", "a", "b")
        (reply,) = asked(judge, sent)
    assert sent == json.dumps(request, separators=(",", ":")).encode()
    assert server.bodies(path) == [request]
    assert (reply.text, reply.finish, reply.served_model) == ('{"winner":"A"}', finish, "m")
    assert (reply.prompt_tokens, reply.completion_tokens) == (7, 3)
    assert (reply.reasoning, reply.objection, reply.http_status) == (reasoning, None, 200)
    assert json.loads(reply.body) == answer


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_third_candidate_is_sent_behind_the_two(backend):
    without, beside = (judge_for(backend).request_bytes("R", "P", "a", "b", c) for c in (None, "third"))
    assert b"not_eligible_C" not in without
    shown = json.dumps("\n\n<not_eligible_C>\nthird\n</not_eligible_C>")[1:-1].encode()
    assert beside.replace(shown, b"") == without


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_same_call_gives_the_same_bytes_and_texts_are_data(backend):
    """Placeholders, braces and surrogates in a text mean nothing."""
    texts = ("{user} {0}", "{system}{user} %s", "\ud800", "{__class__}\x00</s>")
    sent = judge_for(backend).request_bytes(*texts)
    assert sent == judge_for(backend).request_bytes(*texts)
    assert sent.isascii()
    request = json.loads(sent)
    parts = (
        request.get("prompt"),
        request.get("system"),
        *(m["content"] for m in request.get("messages", ())),
    )
    shown = "".join(part for part in parts if part is not None)
    assert shown.count("{user} {0}") == 1
    assert shown.count("{system}{user} %s") == 1
    assert shown.index("{user} {0}") < shown.index("{system}{user} %s") < shown.index("\ud800")


def changed(answer, **changes):
    return {key: value for key, value in {**answer, **changes}.items() if value is not ...}


def read(backend, answer, status=200):
    path = BACKENDS[backend][0]
    with PathServer({path: lambda sent: web.json_response(answer, status=status), **TOKENIZERS}) as server:
        judge = judge_for(backend, server.url)
        return asked(judge, judge.request_bytes("R", "P", "a", "b"))[0]


@pytest.mark.parametrize(
    ("backend", "answer"),
    [
        ("openai-completions", {"choices": []}),
        ("openai-completions", {"choices": [{"text": 1}]}),
        ("anthropic", {"content": "A"}),
        ("anthropic", {"content": [{"type": "text"}]}),
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error"}}),
        ("ollama", changed(OLLAMA_REPLY, done=False)),
        ("ollama", changed(OLLAMA_REPLY, message="A")),
        ("ollama", {"error": "model runner has stopped"}),
        ("ollama-raw", changed(OLLAMA_RAW_REPLY, response=...)),
        ("ollama-raw", changed(OLLAMA_RAW_REPLY, done=...)),
        ("llama-cpp-raw", changed(LLAMA_RAW_REPLY, content=...)),
        ("llama-cpp-raw", changed(LLAMA_RAW_REPLY, generation_settings={})),
        (
            "llama-cpp-raw",
            changed(
                LLAMA_RAW_REPLY,
                generation_settings={**LLAMA_RAW_REPLY["generation_settings"], "temperature": 10**400},
            ),
        ),
        ("vllm-raw", {"object": "error", "message": "no"}),
    ],
)
def test_200_with_an_unknown_envelope_is_a_failure(backend, answer):
    with pytest.raises(RequestFailed) as caught:
        read(backend, answer)
    assert caught.value.reason == "unreadable-reply"
    assert json.loads(caught.value.body) == answer


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_refusal_is_kept_with_what_the_server_said(backend):
    path = BACKENDS[backend][0]
    refusal = {path: lambda sent: web.Response(status=400, body=b"no field `seed`\x1b[2J \xff")}
    with PathServer({**refusal, **TOKENIZERS}) as server:
        judge = judge_for(backend, server.url)
        (reply,) = asked(judge, judge.request_bytes("R", "P", "a", "b"))
    assert (reply.refused, reply.http_status, reply.text) == (True, 400, None)
    assert "no field `seed`" in reply.said
    assert reply.said.isprintable()
    assert reply.objection is None


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("status", [404, 429, 500, 529])
def test_every_other_status_is_a_failure(backend, status):
    with pytest.raises(RequestFailed, match=f"HTTP {status}"):
        read(backend, BACKENDS[backend][2], status)


@pytest.mark.parametrize("where", ["/tokenize", "/completion"])
def test_when_to_come_again_is_handed_on(where):
    busy = {where: lambda sent: web.json_response({}, status=429, headers={"Retry-After": "7"})}
    with PathServer({"/completion": LLAMA_RAW_REPLY, **TOKENIZERS, **busy}) as server:
        judge = judge_for("llama-cpp-raw", server.url)
        with pytest.raises(RequestFailed) as caught:
            asked(judge, judge.request_bytes("R", "P", "a", "b"))
    assert (caught.value.reason, caught.value.http_status, caught.value.retry_after) == ("http-429", 429, "7")


@pytest.mark.parametrize(
    ("backend", "answer", "text", "finish"),
    [
        ("anthropic", changed(ANTHROPIC_REPLY, content=[]), None, "stop"),
        ("anthropic", changed(ANTHROPIC_REPLY, content=ANTHROPIC_REPLY["content"][:1]), None, "stop"),
        ("anthropic", changed(ANTHROPIC_REPLY, stop_reason="max_tokens"), '{"winner":"A"}', "max_tokens"),
        ("anthropic", changed(ANTHROPIC_REPLY, stop_reason="refusal"), '{"winner":"A"}', "refusal"),
        ("anthropic", changed(ANTHROPIC_REPLY, stop_reason=...), '{"winner":"A"}', None),
        ("ollama", changed(OLLAMA_REPLY, done_reason="length"), '{"winner":"A"}', "length"),
        ("ollama", changed(OLLAMA_REPLY, message={"thinking": "B"}), None, "stop"),
        ("llama-cpp-raw", changed(LLAMA_RAW_REPLY, stop_type="limit"), '{"winner":"A"}', "length"),
        ("llama-cpp-raw", changed(LLAMA_RAW_REPLY, truncated=True), '{"winner":"A"}', "length"),
    ],
)
def test_what_the_server_says_of_the_end(backend, answer, text, finish):
    reply = read(backend, answer)
    assert (reply.text, reply.finish) == (text, finish)


def test_redacted_thinking_is_thinking():
    blocks = [{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "tie"}]
    reply = read("anthropic", changed(ANTHROPIC_REPLY, content=blocks))
    assert (reply.text, reply.reasoning) == ("tie", True)


def test_anthropic_is_shown_its_own_headers(monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "sk-ant-12345678")
    with PathServer({"/messages": ANTHROPIC_REPLY}) as server:
        judge = judge_for("anthropic", server.url, api_key_env="JUDGE_KEY")
        asked(judge, judge.request_bytes("R", "P", "a", "b"))
    sent = {name.lower(): value for name, value in server.headers[0].items()}
    assert (sent["x-api-key"], sent["anthropic-version"]) == ("sk-ant-12345678", "2023-06-01")
    assert "authorization" not in sent


# ------------------------------------------------------------------ the decoder


@pytest.mark.parametrize(
    ("backend", "decoder", "says"),
    [
        ("openai-chat", {"thinking": False}, "`decoder.thinking`"),
        ("openai-completions", {"reasoning_effort": "low"}, "`decoder.reasoning_effort`"),
        ("anthropic", {"seed": 1}, "`decoder.seed`"),
        ("anthropic", {"omit": ["max_tokens"]}, "a request without `max_tokens`"),
        ("anthropic", {"thinking": True, "extra": {"thinking": {}}}, "`thinking` of `decoder.extra`"),
        ("ollama", {"thinking": True, "reasoning_effort": "low"}, "both `decoder.thinking`"),
        ("ollama", {"seed": 1, "extra": {"options": {"seed": 2}}}, "`options.seed` of `decoder.extra`"),
        ("ollama", {"extra": {"options": 1}}, "`options` of `decoder.extra`"),
        ("ollama", {"extra": {"truncate": True}}, "`truncate` of `decoder.extra`"),
        ("ollama-raw", {"thinking": True}, "`decoder.thinking`"),
        ("ollama-raw", {"thinking": False}, "`decoder.thinking`"),
        ("llama-cpp", {"thinking": True, "extra": {"chat_template_kwargs": {}}}, "`chat_template_kwargs`"),
        ("llama-cpp-raw", {"extra": {"cache_prompt": True}}, "`cache_prompt` of `decoder.extra`"),
        ("llama-cpp-raw", {"thinking": False}, "`decoder.thinking`"),
        ("vllm-raw", {"reasoning_effort": "low"}, "`decoder.reasoning_effort`"),
    ],
)
def test_what_a_backend_cannot_send_is_an_error_at_freezing(backend, decoder, says, tmp_path):
    with pytest.raises(ProtocolError, match="configuration `judge`: its backend cannot send") as caught:
        freeze_configuration(configuration_of(backend, decoder=decoder), tmp_path)
    assert says in str(caught.value)


def test_a_field_that_a_model_refuses_can_be_left_out(tmp_path):
    decoder = {"omit": ["temperature", "max_tokens"], "extra": {"max_completion_tokens": 50}}
    request = json.loads(judge_for("openai-chat", decoder=decoder).request_bytes("R", "P", "a", "b"))
    assert request.keys() == {"model", "messages", "max_completion_tokens"}
    raw = json.loads(
        judge_for("llama-cpp-raw", decoder={"omit": ["max_tokens"]}).request_bytes("", "", "", "")
    )
    assert "n_predict" not in raw
    assert "temperature" in raw


@pytest.mark.parametrize(
    ("used", "says"),
    [
        ({"seed": 5}, "the server used seed 5, declared is 4"),
        ({"temperature": 0.8}, "the server used temperature 0.8, declared is 0.5"),
        ({"n_predict": -1}, "the server used max_tokens -1, declared is 9"),
        ({"temperature": 0.5000000001}, None),
        ({"top_k": 3}, None),
    ],
)
def test_llama_cpp_says_what_it_used(used, says):
    settings = {**LLAMA_RAW_REPLY["generation_settings"], **used}
    assert read("llama-cpp-raw", changed(LLAMA_RAW_REPLY, generation_settings=settings)).objection == says


# ------------------------------------------------------------------ the ledger of prompts


@pytest.mark.parametrize(
    ("backend", "question"),
    [
        ("llama-cpp-raw", {"content": RAW, "add_special": True, "parse_special": True}),
        ("vllm-raw", {"model": "m", "prompt": RAW, "add_special_tokens": False}),
    ],
)
def test_each_prompt_is_counted_before_it_is_sent(backend, question):
    path, _, answer, _ = BACKENDS[backend]
    decoder = {**EVERY, "extra": {"add_special_tokens": False}} if backend == "vllm-raw" else EVERY
    with PathServer({path: answer, **TOKENIZERS}) as server:
        judge = judge_for(backend, server.url, decoder=decoder)
        request = judge.request_bytes("R", "P", "a", "b")
        asked(judge, request, request)
    assert [where for where, _ in server.asked] == ["/tokenize", path] * 2
    assert server.bodies("/tokenize") == [question] * 2


@pytest.mark.parametrize("backend", ["llama-cpp-raw", "vllm-raw"])
@pytest.mark.parametrize(("count", "found"), [(8, "7 tokens"), (6, "7 tokens"), (7, None)])
def test_another_count_than_the_tokenizers_is_an_objection(backend, count, found):
    path, _, answer, _ = BACKENDS[backend]
    tokens = {"/tokenize": {"count": count, "tokens": [1] * count}}
    with PathServer({path: answer, **tokens}) as server:
        judge = judge_for(backend, server.url)
        (reply,) = asked(judge, judge.request_bytes("R", "P", "a", "b"))
    says = f"the reply is to a prompt of {found}, the one that was sent has {count}"
    assert reply.objection == (says if found else None)
    assert reply.text == '{"winner":"A"}', "what was answered is kept"


def test_a_reply_without_a_count_is_an_objection():
    reply = read("vllm-raw", changed(COMPLETION_REPLY, usage=...))
    assert reply.objection == "the reply is to a prompt of no count, the one that was sent has 7"


@pytest.mark.parametrize("backend", ["llama-cpp-raw", "vllm-raw"])
def test_without_a_tokenizer_nothing_is_sent(backend):
    path, _, answer, _ = BACKENDS[backend]
    with PathServer({path: answer}) as server:
        judge = judge_for(backend, server.url)
        with pytest.raises(RequestFailed, match="/tokenize: HTTP 404"):
            asked(judge, judge.request_bytes("R", "P", "a", "b"))
        assert server.bodies(path) == []
        with pytest.raises(RequestFailed, match="/tokenize: HTTP 404"):
            identified(judge)


def test_a_prompt_that_the_tokenizer_refuses_is_a_refusal_of_the_call():
    def refuse(sent):
        return web.json_response({"error": "invalid string: surrogate"}, status=400)

    with PathServer({"/completion": LLAMA_RAW_REPLY, "/tokenize": refuse}) as server:
        judge = judge_for("llama-cpp-raw", server.url)
        (reply,) = asked(judge, judge.request_bytes("R", "P", "\ud800", "b"))
    assert (reply.refused, reply.http_status) == (True, 400)
    assert "surrogate" in reply.said
    assert server.bodies("/completion") == []


def test_counting_and_asking_share_one_time_out():
    def slow(sent):
        import time

        time.sleep(0.25)
        return LLAMA_RAW_REPLY

    def slow_count(sent):
        slow(sent)
        return {"tokens": [0] * 7}

    with PathServer({"/completion": slow, "/tokenize": slow_count}) as server:
        judge = judge_for("llama-cpp-raw", server.url)
        request = judge.request_bytes("R", "P", "a", "b")
        with pytest.raises(RequestFailed) as caught:
            asked(judge, request, timeout=0.4)
    assert caught.value.reason == "timeout"


# ------------------------------------------------------------------ who answers

OLLAMA_IDENTITY = {
    "/api/version": {"version": "0.40.1"},
    "/api/tags": {
        "models": [
            {"name": "m:latest", "model": "m:latest", "digest": "d" * 64},
            {"name": "other:7b", "model": "other:7b", "digest": "e" * 64},
        ]
    },
    "/api/show": {
        "modelfile": f"# FROM m\nFROM /usr/share/ollama/models/blobs/sha256-{'f' * 64}\nTEMPLATE x\n",
        "template": "{{ .Prompt }}",
        "details": {"quantization_level": "Q4_K_M", "parameter_size": "8B"},
    },
}


@pytest.mark.parametrize("backend", ["ollama", "ollama-raw"])
def test_what_ollama_tells_of_itself(backend):
    with PathServer(OLLAMA_IDENTITY) as server:
        found = identified(judge_for(backend, server.url))
    assert found.basis == "service's declaration"
    assert found.facts["served"] == ["m", "m:latest", "other:7b"]
    assert (found.facts["version"], found.facts["tag_digest"]) == ("0.40.1", "d" * 64)
    assert (found.facts["file_sha256"], found.facts["quantization"]) == ("f" * 64, "Q4_K_M")
    assert len(found.facts["chat_template_sha256"]) == 64
    assert server.bodies("/api/show") == [{"model": "m"}]


def vllm_identity(root):
    rows = [{"id": "m", "root": root, "max_model_len": 4096}, {"id": "lora", "root": "/x"}]
    return {"/version": {"version": "0.30.0"}, "/v1/models": {"data": rows}, **TOKENIZERS}


@pytest.mark.parametrize("backend", ["vllm", "vllm-raw"])
def test_what_vllm_tells_of_itself(backend):
    with PathServer(vllm_identity("org/model")) as server:
        found = identified(judge_for(backend, server.url))
    counted = {"prompts_counted_by": "/tokenize"} if backend == "vllm-raw" else {}
    facts = {"served": ["lora", "m"], "version": "0.30.0", "root": "org/model", "context": 4096, **counted}
    assert (found.basis, found.facts) == ("service's declaration", facts)


def test_a_model_folder_is_hashed_whole_and_must_be_the_servers(tmp_path):
    (tmp_path / "model" / "sub").mkdir(parents=True)
    (tmp_path / "model" / "config.json").write_bytes(b"{}")
    (tmp_path / "model" / "sub" / "weights").write_bytes(b"w")

    def frozen():
        return freeze_configuration(configuration_of("vllm", model_path="model"), tmp_path)["artifacts"][
            "model"
        ]

    first = frozen()
    with PathServer(vllm_identity(str(tmp_path / "model"))) as server:
        judge = judge_of("vllm", tmp_path, base_url=server.url, model_path="model")
        assert identified(judge).basis == "verified digest"
    with PathServer(vllm_identity("/another/model")) as server:
        judge = judge_of("vllm", tmp_path, base_url=server.url, model_path="model")
        with pytest.raises(ModelMismatchError, match="has its model from /another/model"):
            identified(judge)
    (tmp_path / "model" / "sub" / "weights").rename(tmp_path / "model" / "weights")
    assert frozen() != first, "where a file lies counts too"
    with pytest.raises(ProtocolError, match="there is no model at"):
        freeze_configuration(configuration_of("vllm", model_path="absent"), tmp_path)


def llama_identity(path):
    return {
        "/props": {
            "model_alias": "m",
            "model_path": path,
            "model_ftype": "Q8_0",
            "build_info": "b7000-abc",
            "chat_template": "{{ x }}",
            "default_generation_settings": {"n_ctx": 4096},
        },
        "/v1/models": {
            "data": [{"id": "m", "meta": {"n_params": 5, "n_vocab": 6, "n_ctx_train": 7, "size": 8}}]
        },
        **TOKENIZERS,
    }


@pytest.mark.parametrize("backend", ["llama-cpp", "llama-cpp-raw"])
def test_what_a_llama_cpp_server_tells_of_itself(backend, tmp_path):
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    with PathServer(llama_identity(str(tmp_path / "m.gguf"))) as server:
        found = identified(judge_of(backend, tmp_path, base_url=server.url))
        assert found.basis == "service's declaration", "no file is declared, so none was hashed"
        assert found.facts["served"] == ["m"]
        assert (found.facts["build"], found.facts["file"]) == ("b7000-abc", "m.gguf")
        assert (found.facts["quantization"], found.facts["context"], found.facts["n_params"]) == (
            "Q8_0",
            4096,
            5,
        )
        declared = judge_of(backend, tmp_path, base_url=server.url, model_path="m.gguf")
        assert identified(declared).basis == "verified digest"
    for stated in ("elsewhere.gguf", "m.gguf\0", "\ud800", "/" + "m" * 5000):
        with PathServer(llama_identity(stated)) as server:
            declared = judge_of(backend, tmp_path, base_url=server.url, model_path="m.gguf")
            with pytest.raises(ModelMismatchError, match="the server has its model from"):
                identified(declared)


@pytest.mark.parametrize("backend", ["openai-chat", "openai-completions", "anthropic"])
def test_a_service_lists_its_models_or_not(backend):
    with PathServer({"/models": {"data": [{"id": "m"}, {"id": "k"}]}}) as server:
        found = identified(judge_for(backend, server.url))
    assert (found.basis, found.facts["served"]) == ("service's declaration", ["k", "m"])
    with PathServer({"/models": lambda sent: web.Response(text="<html>")}) as server:
        assert identified(judge_for(backend, server.url)).facts["served"] is None


@pytest.mark.parametrize("backend", sorted(BACKENDS))
def test_a_key_that_is_not_accepted_is_said_at_once(backend):
    paths = ("/models", "/api/version", "/props", "/version")
    answers = {path: lambda sent: web.json_response({}, status=401) for path in paths}
    with PathServer(answers) as server, pytest.raises(RequestFailed, match="does not accept the key"):
        identified(judge_for(backend, server.url))


@pytest.mark.parametrize("backend", sorted(BACKENDS))
@pytest.mark.parametrize("body", ["[]", "7", '{"data": 3, "models": [1], "details": 2}', "[" * 90_000])
def test_what_a_server_tells_may_be_anything(backend, body):
    paths = ("/models", "/v1/models", "/api/version", "/api/tags", "/api/show", "/props", "/version")
    strange = {path: lambda sent: web.Response(text=body, content_type="application/json") for path in paths}
    with PathServer({**strange, **TOKENIZERS}) as server:
        assert not identified(judge_for(backend, server.url)).facts["served"]


def test_items_that_hold_a_mark_of_a_declared_template_are_flagged(tmp_path):
    keys = 'backend = "ollama-raw"\nmodel = "m"\ntemplate = "{system}<|user|>{user}<|end|>"\n'
    study = study_with(tmp_path, keys, items=2)
    assert [item.flags for item in study.frozen.items] == [(), ()]
    rows = (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").replace("good 1", "good <|end|>")
    again = tmp_path / "again"
    again.mkdir()
    (again / "protocol.toml").write_text((tmp_path / "protocol.toml").read_text(encoding="utf-8"))
    (again / "pairs.jsonl").write_text(rows, encoding="utf-8")
    Study(again).freeze()
    assert [item.flags for item in Study(again).frozen.items] == [(), ("holds-prompt-tags",)]


def test_the_page_lists_every_backend_and_its_address():
    page = (Path(__file__).parents[2] / "docs" / "backends.md").read_text(encoding="utf-8")
    rows = [
        line.split("|")[1:3]
        for line in page.splitlines()
        if line.startswith("| `") and ("base_url}/" in line or "`function`" in line)
    ]
    listed = {name.strip(" `"): request for name, request in rows}
    assert listed.keys() == {*BACKENDS, "function"}
    for backend, (path, *_) in BACKENDS.items():
        assert f"POST {{base_url}}{path}`" in listed[backend]


def test_the_table_on_the_page_is_a_decoder():
    page = (Path(__file__).parents[2] / "docs" / "backends.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    decoder = tomllib.loads(table)["configuration"]["decoder"]
    declared = {"name": "j", "backend": "openai-chat", "base_url": "http://127.0.0.1/v1", "model": "m"}
    configuration = OpenAIChatConfiguration.model_validate_json(json.dumps(declared | {"decoder": decoder}))
    assert configuration.decoder.extra == {"max_completion_tokens": 2048}
