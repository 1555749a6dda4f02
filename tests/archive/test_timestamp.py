"""A real time-stamp authority (openssl) puts its time on a study digest; the token is checked without it."""

from __future__ import annotations

import http.server
import subprocess
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from darkcurrent.archive.pack import Declaration, pack, pack_files
from darkcurrent.archive.verify import verify, verify_files
from darkcurrent.errors import IntegrityError, TransportError, UsageError
from darkcurrent.protocol.timestamp import check_token, commitment_of
from darkcurrent.reports import html_report, markdown_report
from darkcurrent.study import Study
from support.archives import PROTOCOL

CONFIG = """[ tsa ]
default_tsa = one
[ one ]
dir = .
serial = ./serial
crypto_device = builtin
signer_cert = ./tsa.pem
signer_key = ./tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ordering = no
tsa_name = no
ess_cert_id_chain = no
ess_cert_id_alg = sha256
[ root_ext ]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[ tsa_ext ]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
authorityKeyIdentifier = keyid
"""


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def _authority(folder: Path) -> Path:
    """Make a root and a signer in a folder; return the root's certificate."""
    folder.mkdir()
    (folder / "tsa.cnf").write_text(CONFIG, encoding="ascii")
    (folder / "serial").write_text("01\n", encoding="ascii")
    for name, subject in (("root", "/CN=A root of the tests"), ("tsa", "/CN=A clock of the tests")):
        _openssl(
            folder,
            *("req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", subject),
            *("-keyout", f"{name}.key", "-out", f"{name}.csr"),
        )
    _openssl(
        folder,
        *("x509", "-req", "-in", "root.csr", "-signkey", "root.key", "-days", "30", "-out", "root.pem"),
        *("-extfile", "tsa.cnf", "-extensions", "root_ext"),
    )
    _openssl(
        folder,
        *("x509", "-req", "-in", "tsa.csr", "-CA", "root.pem", "-CAkey", "root.key", "-days", "30"),
        *("-CAcreateserial", "-out", "tsa.pem", "-extfile", "tsa.cnf", "-extensions", "tsa_ext"),
    )
    return folder / "root.pem"


class _Clock(http.server.BaseHTTPRequestHandler):
    folder: Path
    answer: bytes | None = None

    def do_POST(self) -> None:
        query = self.rfile.read(int(self.headers["Content-Length"]))
        reply = self.answer
        if reply is None:
            (self.folder / "query.tsq").write_bytes(query)
            _openssl(
                self.folder,
                "ts",
                "-reply",
                "-config",
                "tsa.cnf",
                "-queryfile",
                "query.tsq",
                "-out",
                "reply.tsr",
            )
            reply = (self.folder / "reply.tsr").read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "application/timestamp-reply")
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *args: object) -> None:
        return None


@pytest.fixture(scope="module")
def clock(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tsa") / "authority"
    root = _authority(folder)
    handler = type("Clock", (_Clock,), {"folder": folder})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", root, handler
        server.shutdown()
        thread.join()


def _written(folder: Path) -> Study:
    folder.mkdir()
    (folder / "protocol.toml").write_text(PROTOCOL, encoding="utf-8")
    return Study(folder)


def test_a_study_is_stamped_and_says_by_whom_and_when(tmp_path, clock, program):
    url, root, _ = clock
    study = _written(tmp_path / "study")
    before = datetime.now(UTC).replace(microsecond=0)
    done = program("freeze", str(study.folder), "--timestamp", url, "--timestamp-ca", str(root))
    assert done.returncode == 0, done.stderr
    assert "Stamped by CN=A clock of the tests at " in done.stderr
    study = Study(study.folder)
    found = commitment_of(study.folder / "timestamp", study.frozen.study_digest)
    assert found.authority == "CN=A clock of the tests"
    assert before <= datetime.fromisoformat(found.at) <= datetime.now(UTC)
    for name in ("fair", "fenced"):
        study.run(name)
    analysis = study.analyze()
    for page in (markdown_report(analysis), html_report(analysis)):
        assert "A clock of the tests" in page
        assert "no third party" not in page
    pack(study, tmp_path / "bag.zip")
    said = verify(tmp_path / "bag.zip").commitment
    assert "CN=A clock of the tests" in said
    assert "for you to say" in said
    assert "which you trust" in verify(tmp_path / "bag.zip", authorities=root).commitment
    other = _authority(tmp_path / "other")
    with pytest.raises(IntegrityError, match="token does not hold for the study digest"):
        verify(tmp_path / "bag.zip", authorities=other)


def test_a_private_key_beside_the_certificates_stays_where_it_is(tmp_path, clock):
    url, root, _ = clock
    both = tmp_path / "both.pem"
    both.write_bytes(b"# /home/CANARY\n" + root.with_name("root.key").read_bytes() + root.read_bytes())
    study = _written(tmp_path / "study")
    study.freeze()
    study.stamp(url, both)
    kept = study.folder / "timestamp" / "authorities.pem"
    assert kept.read_bytes() == root.read_bytes()
    kept.write_bytes(both.read_bytes())  # as an earlier version kept it
    files = pack_files(study, Declaration())
    assert files["data/frozen/timestamp/authorities.pem"] == root.read_bytes()
    assert not any(b"PRIVATE KEY" in data for data in files.values())


def test_without_an_authority_the_report_says_so(tmp_path):
    study = _written(tmp_path / "study")
    study.freeze()
    assert "Locally frozen, no third party" in markdown_report(study.analyze())
    assert "Locally frozen, no third party" in html_report(study.analyze())


def test_a_frozen_study_can_be_stamped_until_its_first_call(tmp_path, clock):
    url, root, _ = clock
    study = _written(tmp_path / "study")
    study.freeze()
    assert study.stamp(url, root).authority == "CN=A clock of the tests"
    with pytest.raises(UsageError, match="never overwritten"):
        study.stamp(url, root)
    other = _written(tmp_path / "other")
    other.freeze()
    other.run("fair")
    with pytest.raises(UsageError, match="made its first call already"):
        other.stamp(url, root)


def test_a_token_holds_for_its_own_digest_and_for_no_other(tmp_path, clock):
    url, root, _ = clock
    study = _written(tmp_path / "study")
    study.freeze()
    study.stamp(url, root)
    token = (study.folder / "timestamp" / "token.tsr").read_bytes()
    pem, digest = root.read_bytes(), study.frozen.study_digest
    check_token(token, pem, digest)
    with pytest.raises(IntegrityError, match="does not hold"):
        check_token(token, pem, "0" * 64)
    with pytest.raises(IntegrityError, match="is no RFC 3161 response in DER"):
        check_token(token[:-9], pem, digest)
    signature = bytearray(token)
    signature[-20] ^= 1
    with pytest.raises(IntegrityError, match="does not hold"):
        check_token(bytes(signature), pem, digest)
    (study.folder / "timestamp" / "token.tsr").write_bytes(bytes(signature))
    with pytest.raises(IntegrityError, match="does not hold"):
        study.analyze()
    (study.folder / "timestamp" / "token.tsr").unlink()
    with pytest.raises(IntegrityError, match="is not whole"):
        study.analyze()


def test_what_is_no_token_leaves_the_study_frozen_and_not_stamped(tmp_path, clock, program):
    url, root, handler = clock
    study = _written(tmp_path / "study")
    handler.answer = b"<html>"
    try:
        done = program("freeze", str(study.folder), "--timestamp", url, "--timestamp-ca", str(root))
    finally:
        handler.answer = None
    assert done.returncode == 6
    assert "is no RFC 3161 response in DER" in done.stderr
    assert not (study.folder / "timestamp").exists()
    assert Study(study.folder).frozen.study_digest
    for address, error in (
        ("http://127.0.0.1:9", TransportError),
        ("file:///etc/passwd", UsageError),
        ("http://[", UsageError),
    ):
        with pytest.raises(error):
            Study(study.folder).stamp(address, root)
    with pytest.raises(UsageError, match="cannot be read"):
        Study(study.folder).stamp(url, tmp_path / "absent.pem")
    with pytest.raises(UsageError, match="are no PEM file"):
        Study(study.folder).stamp(url, study.protocol_path)


def test_half_a_token_and_a_wish_to_trust_without_one_are_refused(tmp_path, clock):
    url, root, _ = clock
    study = _written(tmp_path / "study")
    study.freeze()
    study.stamp(url, root)
    from support.archives import sealed

    files = pack_files(study, Declaration())
    assert "A clock of the tests" in verify_files(files).commitment
    files.pop("data/frozen/timestamp/authorities.pem")
    with pytest.raises(IntegrityError, match="its other half is missing"):
        verify_files(sealed(files))
    files.pop("data/frozen/timestamp/token.tsr")
    assert verify_files(sealed(files)).commitment == "Locally frozen, no third party."
    with pytest.raises(UsageError, match="has no time stamp"):
        verify_files(sealed(files), authorities=root)


def test_without_the_extra_a_token_is_said_to_be_unchecked(tmp_path, clock, monkeypatch):
    from darkcurrent.errors import MissingExtraError
    from darkcurrent.protocol import timestamp

    url, root, _ = clock
    study = _written(tmp_path / "study")
    study.freeze()
    study.stamp(url, root)
    files = pack_files(study, Declaration())

    def absent():
        raise MissingExtraError("A time-stamp token", "timestamp")

    monkeypatch.setattr(timestamp, "_client", absent)
    said = markdown_report(study.evaluate())
    assert "was not checked here" in said
    assert "darkcurrent\\[timestamp\\]" in said
    assert "was not checked" in verify_files(files).commitment
    with pytest.raises(MissingExtraError, match="timestamp"):
        check_token(b"", b"", "0" * 64)
