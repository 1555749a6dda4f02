"""SIGKILL at every commit and at random moments of a campaign; then the campaign goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])}
PROMPTS = [f"prompt {n}" for n in range(5)]


def test_a_kill_at_every_commit_boundary(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "support.crash_points", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0, done.stderr
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    kills = [case for case in cases if case["ended"]]
    # One kill per commit and moment, and one run to the end for each of the six groups.
    assert len(cases) - len(kills) == 6
    assert len(kills) >= 3 * (7 + 4)
    for case in kills:
        name = f"{case['in_flight']} in flight, {case['moment']} commit {case['number']}"
        killed, resumed = case["killed"], case["resumed"]
        assert case["ended"] == -signal.SIGKILL, name
        assert case["again"] == 0, done.stderr
        assert len(set(resumed["asked"])) == len(resumed["asked"]), f"{name}: a call was sent twice"
        assert set(killed["asked"]) <= {*killed["terminals"], *killed["ambiguous"]}, (
            f"{name}: sent without an intent"
        )
        assert killed["shown"] <= len(killed["terminals"]), f"{name}: shown as done and lost"
        assert len(killed["ambiguous"]) <= case["in_flight"], name
        assert resumed["ambiguous"] == killed["ambiguous"], f"{name}: an ambiguous call stays ambiguous"
        assert set(killed["terminals"]) <= set(resumed["terminals"]), name
        assert sorted(resumed["terminals"] + resumed["ambiguous"]) == PROMPTS, f"{name}: a call was left out"
        assert resumed["state"] == ("PARTIAL_HOLD_TRANSPORT" if resumed["ambiguous"] else "COMPLETE"), name
    # The kills are real ones: some hit between an intent and its answer, some before anything was written.
    assert any(case["killed"]["ambiguous"] for case in kills)
    assert any(case["killed"]["state"] == "NOT STARTED" for case in kills)
    assert any(set(case["killed"]["ambiguous"]) - set(case["killed"]["asked"]) for case in kills)


@pytest.mark.parametrize(
    ("group", "kills"),
    [
        ("one in flight", 200),
        ("sixteen in flight", 200),
        ("one in flight, at commits", 40),
        ("sixteen in flight, at commits", 40),
        ("four in flight, some refused", 40),
    ],
)
def test_campaigns_of_300_calls_that_are_killed_again_and_again(tmp_path, group, kills):
    """No call is observed twice, and nothing is lost but what is said to be ambiguous; see support/torture.py."""
    done = subprocess.run(
        [sys.executable, "-m", "support.torture", str(tmp_path), str(kills), group],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=ENVIRONMENT,
    )
    assert done.stdout, done.stderr
    account = json.loads(done.stdout)
    assert account["wrong"] == []
    assert account["kills"] == kills
    # The kills are real ones: some hit calls that were on their way, and never more than could be.
    assert kills / 4 < account["ambiguous"] <= kills * account["in_flight"]
    assert (account["refusals"] > 0) == account["faults"]
    assert done.returncode == 0
