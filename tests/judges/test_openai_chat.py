"""The exact bytes that are sent, and what is read from every kind of reply."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.judges.base import RequestFailed
from darkcurrent.judges.reading import read_reply
from darkcurrent.judges.transport import HttpReply
from support.backends import judge_of
from support.server import completion

texts = st.text(st.characters(exclude_categories=()), max_size=30)  # lone surrogates and NUL included


def judge(**decoder):
    return judge_of("openai-chat", decoder=decoder)


def read(envelope, status=200, *, oversize=False):
    body = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
    return read_reply(HttpReply(status, body, oversize), judge().read)


@given(texts, texts, texts, texts)
def test_the_same_call_gives_the_same_bytes(rubric, prompt, a, b):
    first, second = judge(seed=3), judge(seed=3)
    request = first.request_bytes(rubric, prompt, a, b)
    assert request == second.request_bytes(rubric, prompt, a, b)
    assert request.isascii()
    # What arrives are the texts themselves. (JSON joins two surrogates that stand side by side; nothing else changes.)
    system, user = (message["content"] for message in json.loads(request)["messages"])
    shown = f"<request>\n{prompt}\n</request>\n\n<answer_A>\n{a}\n</answer_A>\n\n<answer_B>\n{b}\n</answer_B>"
    assert (system, user) == (json.loads(json.dumps(rubric)), json.loads(json.dumps(shown)))


def test_the_whole_request():
    extra = {"grammar": "root ::= x", "reasoning_effort": "low"}
    request = judge(temperature=0, max_tokens=9, seed=4, extra=extra).request_bytes("R", "P\n", "é", "\ud800")
    assert request == (
        b'{"model":"m","messages":[{"role":"system","content":"R"},{"role":"user","content":'
        b'"<request>\\nP\\n\\n</request>\\n\\n<answer_A>\\n\\u00e9\\n</answer_A>\\n\\n<answer_B>\\n\\ud800\\n</answer_B>"}],'
        b'"temperature":0.0,"max_tokens":9,"seed":4,"grammar":"root ::= x","reasoning_effort":"low"}'
    )


def test_no_seed_is_sent_where_none_is_declared():
    assert "seed" not in json.loads(judge().request_bytes("", "", "", ""))


def test_an_ordinary_reply():
    reply = read(completion("tie", system_fingerprint="fp_1"))
    assert (reply.text, reply.finish, reply.served_model, reply.fingerprint) == (
        "tie",
        "stop",
        "planted-1",
        "fp_1",
    )
    assert (reply.prompt_tokens, reply.completion_tokens, reply.reasoning) == (7, 3, False)


def message(**fields):
    return completion(choices=[{"message": fields, "finish_reason": "stop"}])


@pytest.mark.parametrize(
    ("envelope", "text", "reasoning"),
    [
        (message(content=None), None, False),
        (message(), None, False),
        (message(content=""), "", False),
        (message(content=None, reasoning_content="A is better"), None, True),
        (message(content="", reasoning="A is better"), "", True),
        (message(content="A", reasoning_content=""), "A", False),
        (message(content="\ud800"), "\ud800", False),
    ],
)
def test_content_and_reasoning_are_told_apart(envelope, text, reasoning):
    reply = read(envelope)
    assert (reply.text, reply.reasoning) == (text, reasoning)


def test_a_stray_byte_does_not_lose_the_reply():
    body = json.dumps(completion("x?x")).encode().replace(b"x?x", b"x\xffx")
    reply = read(body)
    assert reply.text == "x\ufffdx"


@pytest.mark.parametrize(
    "changes",
    [
        {"model": None},
        {"model": 7},
        {"usage": None},
        {"usage": "many"},
        {"usage": {"prompt_tokens": -1, "completion_tokens": 10**30}},
        {"usage": {"prompt_tokens": True, "completion_tokens": 1.5}},
        {"system_fingerprint": {"a": 1}},
    ],
)
def test_odd_side_fields_are_unknown_and_nothing_more(changes):
    reply = read(completion("A", **changes))
    assert reply.text == "A"
    if "model" in changes:
        assert reply.served_model is None
    if "usage" in changes:
        assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"Bad gateway",
        b"{",
        b"null",
        b"[]",
        b"7",
        b'{"choices": []}',
        b'{"choices": [null]}',
        b'{"choices": {"0": 1}}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": "A"}]}',
        b'{"choices": [{"message": {"content": 3}}]}',
        b'{"choices": [{"message": {"content": [{"text": "A"}]}}]}',
        b'{"error": {"message": "overloaded"}}',
        b"[" * 100_000,
        b'{"usage": ' + b"9" * 5000 + b"}",
    ],
)
def test_200_with_an_unreadable_envelope_is_a_failure_and_no_answer(body):
    with pytest.raises(RequestFailed) as caught:
        read(body)
    assert (caught.value.reason, caught.value.http_status, caught.value.body) == (
        "unreadable-reply",
        200,
        body,
    )


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_refusal_concerns_one_request(status):
    reply = read(b'{"error": "too long"}', status)
    assert (reply.refused, reply.http_status, reply.text) == (True, status, None)
    assert reply.body == b'{"error": "too long"}'
    assert reply.said == '{"error": "too long"}'


@pytest.mark.parametrize(
    "status", [201, 204, 301, 307, 401, 403, 404, 408, 409, 429, 500, 502, 503, 504, 529]
)
@pytest.mark.parametrize("oversize", [False, True])
def test_every_other_status_is_a_failure(status, oversize):
    """Also where the body looks like an answer, or is longer than is read."""
    with pytest.raises(RequestFailed) as caught:
        read(completion("A"), status, oversize=oversize)
    assert caught.value.reason == f"http-{status}"


def test_what_a_server_says_cannot_steer_a_terminal():
    with pytest.raises(RequestFailed) as caught:
        read(b"\x1b[2J\x07oops\r\n\xe2\x80\xae", 500)
    assert str(caught.value) == "HTTP 500:  [2J oops   "


def test_a_reply_that_is_too_large_has_no_text():
    reply = read(b'{"choices": [{"mess', oversize=True)
    assert (reply.oversize, reply.text, reply.served_model) == (True, None, None)
