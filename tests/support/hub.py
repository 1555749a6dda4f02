"""A stand-in for the Hugging Face hub on the loopback, in the wire form that its own client asks for.

`resolve` answers like the hub does for a large file: HEAD and GET give 302 to another host, with the commit, the
file's SHA-256 and its size in headers; errors carry `X-Error-Code`.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["COMMIT", "FILE", "Hub", "hub"]

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILE = "data/test-00000-of-00001.parquet"
DATASET = "allenai/reward-bench-2"


class Hub:
    """What the stand-in serves and what it was asked.

    Attributes
    ----------
    fault : str or None
        What it answers instead of the file: `gated`, `repository`, `busy`, `other-commit`, `other-bytes`, `no-commit`.
    asked : list of tuple
        Method, path and the authorization header of each request.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.fault: str | None = None
        self.asked: list[tuple[str, str, str | None]] = []
        self.url = ""
        self.store = ""


def _handler(state: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._answer()

        def do_GET(self) -> None:
            self._answer()

        def _send(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def _error(self, status: int, code: str) -> None:
            self._send(status, {"X-Error-Code": code, "X-Error-Message": code})

        def _answer(self) -> None:
            state.asked.append((self.command, self.path, self.headers.get("Authorization")))
            base = f"/datasets/{DATASET}/resolve/"
            if state.fault == "busy":
                self._error(500, "Busy")
            elif state.fault == "gated":
                self._error(403, "GatedRepo")
            elif self.path == "/blob":
                body = b"x" * len(state.data) if state.fault == "other-bytes" else state.data
                self._send(200, {}, body)
            elif state.fault == "repository" or not self.path.startswith(base):
                self._error(401, "RepoNotFound")
            elif not self.path.startswith(f"{base}{COMMIT}/"):
                self._error(404, "RevisionNotFound")
            elif self.path != f"{base}{COMMIT}/{FILE}":
                self._error(404, "EntryNotFound")
            else:
                commit = {"other-commit": "f" * 40, "no-commit": ""}.get(str(state.fault), COMMIT)
                headers = {
                    "Location": f"{state.store}/blob",
                    "X-Linked-Etag": f'"{hashlib.sha256(state.data).hexdigest()}"',
                    "X-Linked-Size": str(len(state.data)),
                    "ETag": '"0"',
                }
                self._send(302, headers | ({"X-Repo-Commit": commit} if commit else {}))

    return Handler


@contextmanager
def hub(data: bytes) -> Iterator[Hub]:
    """Serve one file of one data set at one commit."""
    state = Hub(data)
    servers = [ThreadingHTTPServer((host, 0), _handler(state)) for host in ("127.0.0.1", "127.0.0.2")]
    state.url, state.store = (
        f"http://{server.server_address[0]}:{server.server_address[1]}" for server in servers
    )
    threads = [
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}) for server in servers
    ]
    for server, thread in zip(servers, threads, strict=True):
        server.daemon_threads = True
        thread.start()
    try:
        yield state
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()
