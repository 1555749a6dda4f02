"""A disk that is full, a folder that may not be written, a reply that is too long: the journal stays whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from aiohttp import web

from darkcurrent.capture import close_campaign, glance, journal_path, read_journal
from darkcurrent.errors import CaptureError
from darkcurrent.judges.simulated import SimulatedServer
from darkcurrent.records import Terminal
from support.privileges import without_privileges
from support.server import ChatServer, completion
from support.studies import http_study, program, study_with

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
from darkcurrent.cli.main import main
sys.argv[:] = ["darkcurrent", "run", sys.argv[2]]
main()
"""


@pytest.mark.parametrize("room", [16_384, 120_000, 200_000])
def test_no_room_for_the_journal(tmp_path, room):
    """The system refuses to let any file grow beyond `room` bytes, as a quota does."""
    with SimulatedServer(model="planted-1") as server:
        study = http_study(tmp_path, server.url, "in_flight = 4", items=60)
        full = subprocess.run(
            [sys.executable, "-c", LIMITED, str(room), str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert full.returncode == 5, full.stderr
        assert "Traceback" not in full.stderr
        assert "make room" in full.stderr
        path = journal_path(tmp_path, "judge")
        summary = read_journal(path) if path.exists() else None
        asked = server.requests
        if room > 100_000:
            assert summary is not None
            assert 0 < len(summary.terminals) < 180
        known = summary.intents if summary else set()
        assert asked <= len(known), "a request left before its intent was on disk"
        lost = len(summary.ambiguous) if summary else 0
        assert lost <= 4
        # With room it goes on, and nothing is asked twice.
        again = program("run", tmp_path)
        assert again.returncode == (5 if lost else 0), again.stderr
        assert max(server.observed.values()) == 1
        assert server.requests == 180 - (len(known) - asked)
    after = read_journal(path)
    assert len(after.terminals) == 180 - lost
    assert {call.call_id for call in study.frozen.schedule("judge")} == after.terminals | after.ambiguous


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a file system")
def test_a_file_system_that_is_full(tmp_path):
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", tmp_path], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mounting is not allowed here")
    try:
        with SimulatedServer(model="planted-1") as server:
            http_study(tmp_path, server.url, "in_flight = 4", items=60)
            full = program("run", tmp_path)
            assert full.returncode == 5, full.stderr
            assert "Traceback" not in full.stderr
            assert "make room" in full.stderr
            summary = read_journal(journal_path(tmp_path, "judge"))
            assert 0 < len(summary.terminals) < 180
            assert len(summary.ambiguous) <= 4
            assert server.requests <= len(summary.intents)
            subprocess.run(["mount", "-o", "remount,size=8m", tmp_path], check=True)
            program("run", tmp_path)
            assert max(server.observed.values()) == 1
            after = read_journal(journal_path(tmp_path, "judge"))
            assert len(after.terminals) == 180 - len(after.ambiguous)
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_a_reply_of_50_megabytes_is_bounded(tmp_path):
    """It is cut off at the declared size, counts as invalid, and never is in memory as a whole."""
    chunk = b"x" * 2**20

    async def endless(request, body):
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        head = json.dumps(completion(model=json.loads(body)["model"])).encode()
        try:
            await response.write(head[:-1] + b', "padding": "')
            for _ in range(50):
                await response.write(chunk)
        except ConnectionError:
            pass  # whoever asked has heard enough
        return response

    measured = (
        "import sys, resource; from darkcurrent.cli.main import main; sys.argv[0] = 'darkcurrent'\n"
        "try: main()\n"
        "finally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    with ChatServer(endless) as server:
        http_study(tmp_path, server.url, "max_reply_bytes = 65536", items=4)
        done = subprocess.run(
            [sys.executable, "-c", measured, "run", tmp_path],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert len(server.bodies) == 12
    rows = []
    read_journal(journal_path(tmp_path, "judge"), rows.append)
    ended = [row for row in rows if isinstance(row, Terminal)]
    assert {(row.reason, len(row.body)) for row in ended} == {("reply-too-large", 65536)}
    plain = subprocess.run(
        [sys.executable, "-c", measured, "status", tmp_path],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    grown = int(done.stdout.split()[-1]) - int(plain.stdout.split()[-1])
    assert grown < 150_000, f"{grown} KB more than to look at it"


def test_a_server_that_closes_every_connection(tmp_path):
    async def closing(request, body):
        response = web.json_response(completion(model=json.loads(body)["model"]))
        response.force_close()
        return response

    with ChatServer(closing) as server:
        http_study(tmp_path, server.url, "in_flight = 3", items=5)
        assert program("run", tmp_path).returncode == 0
        assert len(server.bodies) == 15
        assert max(server.seen.values()) == 1


def test_a_folder_that_may_not_be_written():
    # A folder of its own: pytest's are closed to others.
    with tempfile.TemporaryDirectory() as outer:
        Path(outer).chmod(0o755)
        study = study_with(Path(outer) / "study", 'backend = "simulated"', items=2)
        configuration = study.configuration("judge")
        (study.folder / "journal").mkdir(mode=0o555)
        with without_privileges():
            for write in (
                lambda: study.run("judge"),
                lambda: close_campaign(study.folder, study.frozen, configuration, "x"),
            ):
                with pytest.raises(CaptureError, match=r"cannot be written \(Permission denied\)"):
                    write()
            assert glance(study.folder, study.frozen, "judge").state == "NOT STARTED"
        assert list((study.folder / "journal").iterdir()) == []
