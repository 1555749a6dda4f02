"""The road to a server: TLS with a private authority, IPv6, proxies, passwords that stay at home, packed replies."""

from __future__ import annotations

import asyncio
import base64
import gzip
import ssl
import tracemalloc
import zlib
from pathlib import Path

import pytest
from aiohttp import web

from darkcurrent.capture import journal_path
from darkcurrent.errors import ProtocolError, UsageError
from darkcurrent.judges.base import RequestFailed
from darkcurrent.judges.proxy import proxy_for
from darkcurrent.judges.transport import Transport
from support.backends import PathServer
from support.server import RawServer, completion, http_reply
from support.studies import study_with

TLS = Path(__file__).parent.parent / "support" / "tls"
ANSWERS = {"/v1/chat/completions": lambda sent: completion(model=sent["model"])}
PATH = "/v1/chat/completions"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def tls_server(**options):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(TLS / "server.pem")
    return PathServer(ANSWERS, tls=context, **options)


def post(url, *, max_bytes=10_000, key=None, **options):
    async def sending():
        transport = Transport(url, key, 1, max_bytes, **options)
        await transport.open()
        try:
            return await transport.post(PATH, b'{"model":"m"}', 10)
        finally:
            await transport.close()

    return asyncio.run(sending())


# ------------------------------------------------------------------ TLS and IPv6


def test_a_private_authority_is_named_by_a_key_of_the_protocol(tmp_path):
    (tmp_path / "our-ca.pem").write_bytes((TLS / "authority.pem").read_bytes())
    with tls_server() as server:
        configuration = f"""backend = "openai-chat"
model = "planted-1"
base_url = "{server.url}/v1"
ca_file = "our-ca.pem"
"""
        study = study_with(tmp_path, configuration, items=2)
        assert study.run("judge") == "COMPLETE"
    assert len(server.bodies(PATH)) == 6


def test_an_unknown_authority_is_no_connection():
    with tls_server() as server:
        with pytest.raises(RequestFailed, match="certificate verify failed") as caught:
            post(server.url)
        assert caught.value.reason == "connection"
        assert server.asked == []


def test_ssl_cert_file_is_honoured_and_ca_file_stands_in_its_place(monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "authority.pem"))
    other = tmp_path / "other.pem"
    other.write_bytes((TLS / "server.pem").read_bytes())
    with tls_server() as server:
        assert post(server.url).status == 200
        with pytest.raises(RequestFailed, match="certificate verify failed"):
            post(server.url.replace("127.0.0.1", "localhost"), ca_file=other)


@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
def test_a_ca_file_that_is_none_is_an_error_before_the_first_call(tmp_path, content):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ProtocolError, match=r"`ca_file` .*ca\.pem cannot be used .*: name a PEM file"):
        Transport("https://127.0.0.1:1", None, 1, 1024, ca_file=path)


@pytest.mark.parametrize("tls", [False, True])
def test_ipv6(tls):
    with tls_server(host="::1") if tls else PathServer(ANSWERS, host="::1") as server:
        assert server.url.startswith(("http://[::1]:", "https://[::1]:"))
        assert post(server.url, ca_file=TLS / "authority.pem" if tls else None).status == 200


# ------------------------------------------------------------------ proxies and passwords


def test_a_proxy_of_the_environment_is_asked(monkeypatch):
    with PathServer(ANSWERS) as proxy:
        monkeypatch.setenv("http_proxy", f"http://us%40er:pass%3Aword@127.0.0.1:{proxy.port}/")
        assert post("http://judge.invalid:8000", key="sk-12345678").status == 200
    (headers,) = proxy.headers
    assert headers["Host"] == "judge.invalid:8000"
    assert headers["Authorization"] == "Bearer sk-12345678"
    shown = base64.b64encode(b"us@er:pass:word").decode()
    assert headers["Proxy-Authorization"] == f"Basic {shown}"


def test_a_proxy_for_https_gets_a_tunnel_and_no_key(monkeypatch):
    def talk(connection, number):
        proxy.read_request(connection)
        connection.sendall(http_reply(b"no", "403 Forbidden"))

    with RawServer(talk) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url.replace("//", "//user:hidden-word@"))
        with pytest.raises(RequestFailed) as caught:
            post("https://judge.invalid", key="sk-12345678")
    (request,) = proxy.requests
    assert request.startswith(b"CONNECT judge.invalid:443 HTTP/1.1\r\n")
    assert b"sk-12345678" not in request
    assert b"Proxy-Authorization: Basic " in request
    assert caught.value.reason == "connection"
    assert "hidden-word" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://127.0.0.1:{}", "http://localhost:{}"])
def test_this_machine_is_never_asked_by_way_of_a_proxy(monkeypatch, url):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:3128")
    with PathServer(ANSWERS) as server:
        assert post(url.format(server.port)).status == 200


@pytest.mark.parametrize(
    ("environment", "url", "expected"),
    [
        ({"http_proxy": "proxy:3128"}, "http://judge.example/v1", "http://proxy:3128"),
        ({"HTTP_PROXY": "http://proxy"}, "http://judge.example/v1", "http://proxy"),
        ({"http_proxy": "http://[2001:db8::1]:80"}, "http://judge.example", "http://[2001:db8::1]:80"),
        ({"http_proxy": "http://proxy"}, "https://judge.example", None),
        ({"http_proxy": "http://proxy", "no_proxy": "example"}, "http://judge.example", None),
        ({"http_proxy": "http://proxy", "no_proxy": "10.0.0.1"}, "http://10.0.0.1:8000", None),
        ({"http_proxy": "http://proxy", "NO_PROXY": "*"}, "http://judge.example", None),
        ({"http_proxy": "http://proxy"}, "http://[::1]:8000", None),
        ({"http_proxy": "http://proxy"}, "http://127.8.8.8", None),
        ({"http_proxy": ""}, "http://judge.example", None),
    ],
)
def test_which_proxy(monkeypatch, environment, url, expected):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = proxy_for(url)
    assert (found.url if found else None) == expected


@pytest.mark.parametrize("named", ["socks5://proxy:1080", "http://proxy:port", "http://"])
def test_a_proxy_that_cannot_be_used_is_named_without_its_password(monkeypatch, named):
    monkeypatch.setenv("http_proxy", named.replace("//", "//user:hidden-word@"))
    with pytest.raises(UsageError, match=r"correct http_proxy, or take judge\.example out") as caught:
        proxy_for("http://judge.example")
    assert "hidden-word" not in str(caught.value)


def test_passwords_of_a_netrc_file_stay_at_home(monkeypatch, tmp_path):
    netrc = tmp_path / ".netrc"
    netrc.write_text(
        "machine 127.0.0.1 login me password hidden-word\ndefault login me password hidden-word\n"
    )
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(netrc))
    with PathServer(ANSWERS) as server:
        post(server.url)
    assert "Authorization" not in server.headers[0]


def test_a_proxys_password_is_in_no_file_of_a_study(monkeypatch, tmp_path):
    """Even where the proxy repeats it, as it stands or as it came."""
    shown = base64.b64encode(b"user:hidden-word").decode()

    def telling(sent):
        answer = completion(f"hidden-word {shown}", model="m")
        return web.json_response(answer, headers={"Via": f"1.1 hidden-word {shown}"})

    with PathServer({PATH: telling}) as proxy:
        monkeypatch.setenv("http_proxy", f"http://user:hidden-word@127.0.0.1:{proxy.port}")
        configuration = 'backend = "openai-chat"\nmodel = "m"\nbase_url = "http://judge.invalid/v1"\n'
        study = study_with(tmp_path, configuration, items=2)
        assert study.run("judge") == "COMPLETE"
    assert journal_path(tmp_path, "judge").exists()
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"hidden-word" not in path.read_bytes()
        assert path.is_dir() or shown.encode() not in path.read_bytes()


# ------------------------------------------------------------------ packed replies

TEXT = b'{"content":"' + b"tie " * 1000 + b'"}'


def packed(body, encoding):
    def talk(connection, number):
        server.read_request(connection)
        connection.sendall(http_reply(body, "200 OK", f"Content-Encoding: {encoding}"))

    server = RawServer(talk)
    return server


def test_no_packing_is_asked_for():
    with PathServer(ANSWERS) as server:
        post(server.url)
    assert server.headers[0]["Accept-Encoding"] == "identity"


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (gzip.compress(TEXT, mtime=0), "gzip"),
        (gzip.compress(TEXT, mtime=0), "X-GZIP"),
        (zlib.compress(TEXT), "deflate"),
        (TEXT, "identity"),
    ],
)
def test_a_packed_reply_is_unpacked_all_the_same(body, encoding):
    with packed(body, encoding) as server:
        reply = post(server.url)
    assert (reply.body, reply.oversize) == (TEXT, False)


def test_a_packed_reply_of_just_the_allowed_size_is_whole():
    with packed(gzip.compress(TEXT, mtime=0), "gzip") as server:
        assert post(server.url, max_bytes=len(TEXT)).body == TEXT
    with packed(gzip.compress(TEXT, mtime=0), "gzip") as server:
        reply = post(server.url, max_bytes=len(TEXT) - 1)
    assert (reply.oversize, reply.body) == (True, TEXT[:-1])


def test_a_bomb_is_bounded_after_unpacking():
    """A gigabyte of zeros in a megabyte: no more of it is ever made than the declared size."""
    packer = zlib.compressobj(9)
    block = bytes(2**20)
    bomb = b"".join(packer.compress(block) for _ in range(1024)) + packer.flush()
    with packed(bomb, "deflate") as server:
        tracemalloc.start()
        reply = post(server.url, max_bytes=100_000)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert (reply.oversize, len(reply.body)) == (True, 100_000)
    assert peak < 20 * 2**20


@pytest.mark.parametrize(
    ("body", "encoding", "says"),
    [
        (b"not gzip", "gzip", "the packed body is broken"),
        (gzip.compress(TEXT, mtime=0)[:-9], "gzip", "the packed body ends too early"),
        (gzip.compress(TEXT, mtime=0)[:40], "gzip", "the packed body ends too early"),
        (b"", "gzip", "the packed body ends too early"),
        (gzip.compress(TEXT, mtime=0) + b"more", "gzip", "other bytes come behind"),
        (TEXT, "br", "packed as 'br', which was not asked for"),
        (TEXT, "gzip, gzip", "which was not asked for"),
    ],
)
def test_what_cannot_be_unpacked_is_a_failure(body, encoding, says):
    with packed(body, encoding) as server:
        with pytest.raises(RequestFailed, match=says) as caught:
            post(server.url)
        assert (caught.value.reason, caught.value.http_status) == ("unreadable-reply", 200)
    assert len(server.requests) == 1
