"""A real capture from a counting server, killed again and again with SIGKILL; and stopped with Ctrl-C."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

from darkcurrent.capture import journal_path, read_journal
from darkcurrent.records import Intent
from support.server import ChatServer
from support.studies import command, http_study, program

# Prints what the capture acknowledges: how many calls are done.
ACKNOWLEDGING = """
import sys
from pathlib import Path
from darkcurrent.study import Study
Study(Path(sys.argv[1])).run("judge", lambda progress: print(progress.done, flush=True))
"""


def killed_run(folder, server, draw):
    """Capture in a process of its own and kill it in the middle; return how many calls it said are done."""
    reached, after = threading.Event(), len(server.bodies) + draw.randint(1, 4)
    server.on_request = lambda number: reached.set() if number >= after else None
    with subprocess.Popen(
        [sys.executable, "-c", ACKNOWLEDGING, folder], stdout=subprocess.PIPE, text=True
    ) as child:
        assert reached.wait(30)
        time.sleep(draw.uniform(0, 0.03))
        child.kill()
        said = child.stdout.read().split()
    assert child.returncode == -signal.SIGKILL
    return max(map(int, said), default=0)


@pytest.mark.parametrize("in_flight", [1, 8])
def test_killed_again_and_again(tmp_path, in_flight):
    draw = random.Random(in_flight)
    with ChatServer(delay=0.01) as server:
        study = http_study(tmp_path, server.url, f"in_flight = {in_flight}", items=10 + 2 * in_flight)
        path = journal_path(tmp_path, "judge")
        for kill in range(1, 6):
            done = killed_run(tmp_path, server, draw)
            summary = read_journal(path)  # follows the chain
            with closing(sqlite3.connect(path)) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert len(summary.terminals) >= done, "a call that was shown as done is lost"
            assert len(summary.ambiguous) <= kill * in_flight
            intents = []
            read_journal(path, intents.append)
            digests = {row.request_sha256 for row in intents if isinstance(row, Intent)}
            assert set(server.seen) <= digests, "the server got bytes that no intent speaks of"
        server.on_request = lambda number: None
        ended = program("run", tmp_path)
        assert max(server.seen.values()) == 1, "a call was seen twice"
        assert server.most_flying <= in_flight
    summary = read_journal(path)
    scheduled = {call.call_id for call in study.frozen.schedule("judge")}
    assert summary.terminals | summary.ambiguous == scheduled
    assert len(server.bodies) <= len(scheduled)
    # A kill in the middle of a request leaves it ambiguous. That is said, it is a HOLD, and nothing is sent again.
    assert summary.ambiguous
    assert ended.returncode == 5
    assert f"{len(summary.ambiguous)} calls were sent and their end is unknown" in ended.stderr
    analysis = json.loads(program("analyze", tmp_path, "--json").stdout)
    (campaign,) = analysis["campaigns"]
    assert (campaign["state"], campaign["ambiguous"]) == ("HOLD", len(summary.ambiguous))
    assert any("their end is unknown" in reason for reason in campaign["reasons"])


def interrupted(folder, server, *, after, presses, pause=0.3):
    """Press Ctrl-C once the server has been asked `after` times; return the ended process and its seconds."""
    reached = threading.Event()
    server.on_request = lambda number: reached.set() if number >= after else None
    with subprocess.Popen(
        command("run", folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert reached.wait(30)
        begun = time.monotonic()
        for _ in range(presses):
            child.send_signal(signal.SIGINT)
            time.sleep(pause)
        _, talk = child.communicate(timeout=30)
    return child.returncode, talk, time.monotonic() - begun


def test_ctrl_c_waits_for_what_is_in_flight(tmp_path):
    with ChatServer(delay=0.5) as server:
        http_study(tmp_path, server.url, "in_flight = 3", items=3)
        code, talk, _ = interrupted(tmp_path, server, after=3, presses=1)
        assert code == 130, talk
        assert "Traceback" not in talk
        summary = read_journal(journal_path(tmp_path, "judge"))
        assert summary.ambiguous == set()
        assert len(summary.terminals) == 3 == len(server.bodies)
        assert summary.events[-1].kind == "paused"
        server._delay = 0
        assert program("run", tmp_path).returncode == 0
        assert len(server.bodies) == 9
        assert max(server.seen.values()) == 1


def test_ctrl_c_twice_stops_at_once(tmp_path):
    with ChatServer(delay=30) as server:
        http_study(tmp_path, server.url, "in_flight = 2", items=3)
        code, talk, seconds = interrupted(tmp_path, server, after=2, presses=2)
        assert code == 130, talk
        assert "Traceback" not in talk
        assert seconds < 10
        summary = read_journal(journal_path(tmp_path, "judge"))
        assert len(summary.ambiguous) == 2
        server._delay = 0
        ended = program("run", tmp_path)
    assert ended.returncode == 5
    assert "2 calls were sent and their end is unknown" in ended.stderr
    assert len(server.bodies) == 9
    assert max(server.seen.values()) == 1


def test_the_second_run_names_the_first(tmp_path):
    with ChatServer(delay=30) as server:
        http_study(tmp_path, server.url, items=2)
        reached = threading.Event()
        server.on_request = lambda number: reached.set()
        with subprocess.Popen(command("run", tmp_path), stderr=subprocess.PIPE) as first:
            assert reached.wait(30)
            second = program("run", tmp_path)
            reading = program("status", tmp_path, "--json")
            first.kill()
        assert second.returncode == 5
        assert f"(process {first.pid} on {os.uname().nodename}, since " in second.stderr
        assert "Traceback" not in second.stderr
        # Reading goes on while a campaign runs.
        assert json.loads(reading.stdout)["judge"]["scheduled"] == 6
        server._delay = 0
        assert len(server.bodies) == 1
        # The lock of a killed process is free.
        assert "being captured" not in program("run", tmp_path).stderr
        assert len(server.bodies) == 6
