"""One request, sent once, on real sockets: no retry, no redirect, bounded, and a key that stays here."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time

import pytest
from aiohttp import web

from darkcurrent.errors import SecretError
from darkcurrent.judges.base import RequestFailed
from darkcurrent.judges.keys import key_from_environment
from darkcurrent.judges.transport import Transport
from support.server import ChatServer, RawServer, completion, http_reply

KEY = "sk-live-0123/45"
BODY = json.dumps(completion()).encode()


def send(url, *bodies, key=None, timeout=5.0, max_bytes=1024, pause=0.0):
    """Send requests one after the other over one transport; return replies and failures."""

    async def sending():
        transport = Transport(url, key, 1, max_bytes)
        await transport.open()
        found = []
        try:
            for body in bodies:
                try:
                    found.append(await transport.post("/chat/completions", body, timeout))
                except RequestFailed as failure:
                    found.append(failure)
                await asyncio.sleep(pause)
        finally:
            await transport.close()
        return found

    return asyncio.run(sending())


def test_the_bytes_arrive_as_they_are():
    request = b'{"a":"\\ud800", "b" : 1}'
    with ChatServer() as server:
        (reply,) = send(server.url, request.replace(b'"b"', b'"model"').replace(b"1", b'"m"'))
    assert reply.status == 200
    assert server.bodies == [b'{"a":"\\ud800", "model" : "m"}']
    assert server.headers[0]["Content-Type"] == "application/json"
    assert "Authorization" not in server.headers[0]


def test_a_large_request_is_sent_whole():
    request = json.dumps({"model": "m", "x": "é" * 400_000}).encode()
    with ChatServer() as server:
        send(server.url, request)
    assert server.bodies == [request]
    assert server.headers[0]["Content-Length"] == str(len(request))


def test_a_redirect_is_not_followed():
    async def away(request, body):
        return web.Response(status=307, headers={"Location": str(request.url)})

    with ChatServer(away) as server:
        (reply,) = send(server.url, b"{}")
    assert reply.status == 307
    assert len(server.bodies) == 1


def test_no_cookie_ties_a_call_to_the_one_before_it():
    async def sticky(request, body):
        response = web.json_response(completion())
        response.set_cookie("session", "1")
        return response

    with ChatServer(sticky) as server:
        send(server.url.replace("127.0.0.1", "localhost"), b"{}", b"{}")  # clients keep none of an address
    assert all("Cookie" not in headers for headers in server.headers)


def read_then(*steps):
    """Make a server that reads a request per step and answers it with these bytes; None closes without a word."""

    def talk(connection, number):
        for step in steps:
            if not server.read_request(connection) or step is None:
                return
            connection.sendall(step)

    server = RawServer(talk)
    return server


def test_a_connection_that_closes_between_calls_is_no_second_request():
    """The server answers once on each connection and then closes it, as a restart or an idle limit would."""
    with read_then(http_reply(BODY)) as server:
        replies = send(server.url, b'{"n":1}', b'{"n":2}', b'{"n":3}', pause=0.05)
    assert [reply.status for reply in replies] == [200, 200, 200]
    assert [request.rpartition(b"\r\n")[2] for request in server.requests] == [
        b'{"n":1}',
        b'{"n":2}',
        b'{"n":3}',
    ]
    assert server.connections == 3


def test_a_request_that_meets_a_closing_connection_is_never_sent_again():
    """The second request is read on the kept connection, which then closes: a client might think it was never seen."""
    with read_then(http_reply(BODY), None) as server:
        first, second = send(server.url, b'{"n":1}', b'{"n":2}')
    assert first.status == 200
    assert second.reason == "connection-lost"
    assert [request.rpartition(b"\r\n")[2] for request in server.requests] == [b'{"n":1}', b'{"n":2}']


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def broken(kind):
    def talk(connection, number):
        server.read_request(connection)
        if kind == "reset":
            reset(connection)
        elif kind == "half a head":
            connection.sendall(b"HTTP/1.1 200 O")
        elif kind == "half a body":
            connection.sendall(http_reply(BODY)[:-9])
        elif kind == "reset in the body":
            connection.sendall(http_reply(BODY)[:-9])
            time.sleep(0.05)
            reset(connection)
        elif kind == "no HTTP":
            connection.sendall(b"220 smtp ready\r\n\r\n")
        elif kind == "broken chunks":
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n")

    server = RawServer(talk)
    return server


@pytest.mark.parametrize(
    "kind",
    [
        "close",
        "reset",
        "half a head",
        "half a body",
        "reset in the body",
        "no HTTP",
        "broken chunks",
    ],
)
def test_a_broken_reply_is_a_failure_and_is_asked_for_once(kind):
    with broken(kind) as server:
        (failure,) = send(server.url, b"{}")
    assert isinstance(failure, RequestFailed)
    assert failure.reason == "connection-lost"
    assert len(server.requests) == 1
    assert server.connections == 1


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    (failure,) = send(f"http://127.0.0.1:{port}", b"{}")
    assert failure.reason == "connection"


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"])
def test_a_server_that_hangs_is_left_at_the_time_out(said):
    def talk(connection, number):
        server.read_request(connection)
        connection.sendall(said)
        connection.recv(1)  # until the client gives up

    with RawServer(talk) as server:
        begun = time.monotonic()
        (failure,) = send(server.url, b"{}", timeout=0.3)
        assert 0.3 <= time.monotonic() - begun < 2
    assert failure.reason == "timeout"
    assert len(server.requests) == 1


def test_a_slow_drip_does_not_stretch_the_time_out():
    def talk(connection, number):
        server.read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        try:
            for _ in range(100):
                connection.sendall(b" ")
                time.sleep(0.05)
        except OSError:
            return  # the client has gone

    with RawServer(talk) as server:
        begun = time.monotonic()
        (failure,) = send(server.url, b"{}", timeout=0.4)
        assert time.monotonic() - begun < 2
    assert failure.reason == "timeout"


def test_a_long_time_out_is_not_rounded_up(monkeypatch):
    """Above five seconds aiohttp would wait up to the next whole second, beyond a deadline."""
    seen = []
    real = asyncio.SelectorEventLoop.call_at

    def call_at(loop, when, *rest, **more):
        seen.append(when - loop.time())
        return real(loop, when, *rest, **more)

    monkeypatch.setattr(asyncio.SelectorEventLoop, "call_at", call_at)
    with read_then(http_reply(BODY)) as server:
        send(server.url, b"{}", timeout=5.25)
    assert 5 < max(seen) <= 5.25


def test_an_oversize_reply_is_bounded():
    def talk(connection, number):
        server.read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n")
        try:
            while True:
                sent.append(connection.send(b"x" * 65536))
        except OSError:
            return  # the client has gone

    sent = []
    with RawServer(talk) as server:
        (reply,) = send(server.url, b"{}", max_bytes=5000)
    assert (reply.oversize, len(reply.body)) == (True, 5000)
    assert sum(sent) < 20_000_000, "the rest was not read"


def test_a_reply_of_just_the_allowed_size_is_whole():
    with read_then(http_reply(b"x" * 1024), http_reply(b"x" * 1025)) as server:
        just, over = send(server.url, b"{}", b"{}", max_bytes=1024)
    assert (just.oversize, len(just.body)) == (False, 1024)
    assert (over.oversize, len(over.body)) == (True, 1024)


@pytest.mark.parametrize("form", [KEY, KEY.replace("/", "\\/")])
def test_a_key_that_a_server_repeats_is_blotted_out(form):
    async def telling(request, body):
        return web.Response(status=401, body=f'{{"error":"Bearer {form} is not valid"}}'.encode())

    with ChatServer(telling) as server:
        (reply,) = send(server.url, b"{}", key=KEY)
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert reply.body == b'{"error":"Bearer [key] is not valid"}'


def test_a_key_in_a_broken_head_is_in_no_error():
    def talk(connection, number):
        server.read_request(connection)
        connection.sendall(f"HTTP/1.1 {KEY}\r\n{KEY}: {KEY}\r\nbroken\x00: 1\r\n\r\n".encode())

    with RawServer(talk) as server:
        (failure,) = send(server.url, b"{}", key=KEY)
    assert KEY not in str(failure)


def test_a_stand_in_for_a_key_changes_no_answer():
    """`none` or `EMPTY` is what people set for a server without keys."""
    with ChatServer() as server:
        (reply,) = send(server.url, b'{"model":"none"}', key="none")
    assert json.loads(reply.body)["model"] == "none"


def test_the_key_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", f" {KEY}\n")
    assert key_from_environment("JUDGE_KEY") == KEY
    assert key_from_environment(None) is None


@pytest.mark.parametrize("value", ["", "  \n"])
def test_a_key_that_is_not_set(monkeypatch, value):
    monkeypatch.setenv("JUDGE_KEY", value)
    with pytest.raises(SecretError, match=r"JUDGE_KEY.*export JUDGE_KEY="):
        key_from_environment("JUDGE_KEY")
    monkeypatch.delenv("JUDGE_KEY")
    with pytest.raises(SecretError):
        key_from_environment("JUDGE_KEY")


@pytest.mark.parametrize(
    "value", ["sk-one\nsk-two", "sk-one\r\nX-Evil: 1", "sk-\u2013dash", "sk-\udcff", "sk-\u00e9", "a\tb"]
)
def test_a_key_that_cannot_be_one(monkeypatch, value):
    monkeypatch.setenv("JUDGE_KEY", value)
    with pytest.raises(SecretError, match="more than a key") as caught:
        key_from_environment("JUDGE_KEY")
    assert "sk-" not in str(caught.value)
