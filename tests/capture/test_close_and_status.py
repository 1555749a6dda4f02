"""Closing a campaign by hand, and how far each one is at a glance."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import threading
from contextlib import closing

import pytest

from darkcurrent.capture import close_campaign, glance, is_running, journal_path, read_journal
from darkcurrent.capture.journal import Journal
from darkcurrent.errors import IntegrityError, JournalLockedError, UsageError
from darkcurrent.judges.simulated import Faults, Properties, SimulatedServer
from darkcurrent.records import Event, Intent, Terminal
from support.studies import command, http_study, program, study_with

SIMULATED = 'backend = "simulated"'


@pytest.fixture
def study(tmp_path):
    return study_with(tmp_path, SIMULATED, items=3)


def now(study):
    return glance(study.folder, study.frozen, "judge")


def half_done(study):
    """Leave a journal with one answered and one ambiguous call, as a killed process does."""
    calls = study.frozen.schedule("judge")
    header = {
        "study": study.frozen.study_digest,
        "configuration": "judge",
        "identity": study.frozen.configurations["judge"]["digest"],
    }
    identity = {"served": ["simulated"], "planted": Properties().model_dump(mode="json")}
    common = {"at": "now", "elapsed_ms": 1500}
    with closing(Journal.open(journal_path(study.folder, "judge"), header)) as journal:
        journal.commit(
            [
                Event(**common, kind="opened", detail={"identity": identity}),
                Intent(**common, call_id=calls[0].call_id, request_sha256="0" * 64),
                Terminal(**common, call_id=calls[0].call_id, status="answered", text="?", prompt_tokens=7, completion_tokens=2),
                Intent(**common, call_id=calls[1].call_id, request_sha256="0" * 64),
            ]
        )  # fmt: skip


def test_a_campaign_is_closed_with_its_reason(study):
    half_done(study)
    closed = program("close", study.folder, "--reason", "the budget went elsewhere")
    assert closed.returncode == 0, closed.stderr
    assert "judge: HELD_EARLY." in closed.stderr
    again = program("run", study.folder)
    assert again.returncode == 0
    assert (
        "nothing to do, the campaign is HELD_EARLY (closed by a person: the budget went elsewhere)"
        in again.stderr
    )
    summary = read_journal(journal_path(study.folder, "judge"))
    assert [event.kind for event in summary.events] == ["opened", "stopped"]
    assert (len(summary.terminals), len(summary.intents)) == (1, 2), "nothing was asked"
    (campaign,) = study.analyze().campaigns
    assert (campaign.state, campaign.capture) == ("HOLD", "HELD_EARLY")
    assert campaign.stopped == "closed by a person: the budget went elsewhere"
    assert (campaign.terminal, campaign.ambiguous, campaign.missing) == (1, 1, 7)
    _, markdown = study.report(study.analyze())
    assert "the budget went elsewhere" in markdown.read_text(encoding="utf-8")


def test_a_campaign_that_was_never_begun_can_be_closed(study):
    assert close_campaign(study.folder, study.frozen, study.configuration("judge"), "no key") == "HELD_EARLY"
    assert now(study).why == "closed by a person: no key"
    assert study.run("judge") == "HELD_EARLY"


def test_closing_changes_nothing_where_a_campaign_has_ended(study):
    study.run("judge")
    before = journal_path(study.folder, "judge").read_bytes()
    closed = program("close", study.folder, "--reason", "too late", "--json")
    assert (closed.returncode, json.loads(closed.stdout)) == (0, {"judge": "COMPLETE"})
    assert journal_path(study.folder, "judge").read_bytes() == before


def test_closing_needs_a_reason_and_a_known_name(study):
    configuration = study.configuration("judge")
    with pytest.raises(UsageError, match="say it with --reason"):
        close_campaign(study.folder, study.frozen, configuration, " \n")
    assert program("close", study.folder).returncode == 2
    assert program("close", study.folder, "--reason", "x", "--only", "nobody").returncode == 2
    assert not journal_path(study.folder, "judge").exists()


def test_only_what_is_named_is_closed(tmp_path):
    configurations = f'{SIMULATED}\n[[configuration]]\nname = "other"\n{SIMULATED}'
    study = study_with(tmp_path, configurations, items=2)
    assert program("close", tmp_path, "--reason", "x", "--only", "other").returncode == 0
    shown = json.loads(program("status", tmp_path, "--json").stdout)
    assert {name: row["state"] for name, row in shown.items()} == {
        "judge": "NOT STARTED",
        "other": "HELD_EARLY",
    }
    assert study.run("judge") == "COMPLETE"


def test_status_counts_what_a_journal_holds(study):
    assert now(study).state == "NOT STARTED"
    half_done(study)
    found = now(study)
    assert (found.state, found.scheduled, found.ended, found.invalid, found.ambiguous) == (
        "INTERRUPTED",
        9,
        1,
        1,
        1,
    )
    assert (found.prompt_tokens, found.completion_tokens, found.usage_unknown, found.seconds) == (
        7,
        2,
        0,
        1.5,
    )
    study.run("judge")
    found = now(study)
    assert (found.state, found.ended, found.invalid, found.ambiguous) == ("PARTIAL_HOLD_TRANSPORT", 8, 1, 1)
    assert (found.prompt_tokens, found.completion_tokens, found.usage_unknown) == (7, 2, 7)
    shown = program("status", study.folder)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "PARTIAL_HOLD_TRANSPORT" in shown.stdout
    assert "8/9" in shown.stdout


def test_status_says_what_runs_and_does_not_disturb_it(tmp_path):
    reached = threading.Event()
    with SimulatedServer(faults=Faults(latency=0.4), model="planted-1") as server:
        study = http_study(tmp_path, server.url, items=2)
        assert not is_running(tmp_path, "judge")
        server.on_request = lambda number: reached.set()
        with subprocess.Popen(command("run", tmp_path), stderr=subprocess.PIPE, text=True) as child:
            assert reached.wait(30)
            while child.poll() is None:
                if is_running(tmp_path, "judge"):
                    state = now(study).state
                    assert state == "RUNNING" or now(study).ended == 6
            _, talk = child.communicate()
        assert child.returncode == 0, talk
    assert not is_running(tmp_path, "judge")
    assert now(study).state == "COMPLETE"


def test_a_look_does_not_keep_a_run_from_beginning(study):
    """`status` holds the lock for a moment; a run that begins just then waits for that long."""
    over = threading.Event()

    def look():
        while not over.is_set():
            is_running(study.folder, "judge")

    study.run("judge")
    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        for _ in range(20):
            study.run("judge")
    finally:
        over.set()
        watcher.join()


def test_a_closed_door(study):
    """Who captures holds the campaign against closing, too."""
    from darkcurrent.capture.lock import only_writer

    with only_writer(study.folder, "judge"):
        assert is_running(study.folder, "judge")
        assert now(study).state == "RUNNING"
        with pytest.raises(JournalLockedError, match="is being captured by another process"):
            close_campaign(study.folder, study.frozen, study.configuration("judge"), "x")


def test_status_notices_a_journal_of_another_study_and_no_journal_at_all(study, tmp_path):
    half_done(study)
    path = journal_path(study.folder, "judge")
    other = study_with(tmp_path / "other", SIMULATED, items=4)
    journal_path(other.folder, "judge").parent.mkdir()
    journal_path(other.folder, "judge").write_bytes(path.read_bytes())
    assert program("status", other.folder).returncode == 6
    path.write_bytes(b"not a database, " * 100)
    with pytest.raises(IntegrityError, match="damaged or was edited"):
        now(study)


def test_status_does_not_follow_the_chain_and_run_does(study):
    study.run("judge")
    with closing(sqlite3.connect(journal_path(study.folder, "judge"))) as connection:
        connection.execute("DROP TRIGGER terminal_no_update")
        connection.execute("UPDATE terminal SET text = 'A'")
        connection.commit()
    assert now(study).invalid == 9
    assert "only `run` and `analyze` check" in " ".join(
        program("status", "--help").stdout.replace("│", " ").split()
    )
    for verb in ("run", "analyze", "gate", "report"):
        assert program(verb, study.folder).returncode == 6
    closed = program("close", study.folder, "--reason", "x")
    assert closed.returncode == 6
