"""What the driver does about every kind of loss, on a cluster in this process."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import closing

import pytest

from darkcurrent.capture import close_campaign, journal_path, read_journal
from darkcurrent.capture.journal import Journal
from darkcurrent.errors import IntegrityError, UsageError
from darkcurrent.executors.campaign import Distributed
from darkcurrent.executors.driver import run_on_cluster
from darkcurrent.records import Event
from darkcurrent.study import Study
from support.clusters import FakeCluster, Lost
from support.studies import http_study, study_with

# Keeps account of every call in a file; which one, says the prompt.
JUDGE = """
import time
def judge(prompt, a, b):
    with open({seen!r}, "a") as file:
        file.write(f"{{prompt}} {{a}} {{b}}\\n")
    if {failing!r} in prompt + a + b:
        time.sleep(1)
    return "A" if a > b else "tie"
"""


class Case:
    def __init__(self, folder, shards=3, items=4, failing="nothing", capture=""):
        self.folder = folder / "study"
        self.folder.mkdir()
        self.seen_path = folder / "seen"
        self.seen_path.touch()
        (self.folder / "judge.py").write_text(JUDGE.format(seen=str(self.seen_path), failing=failing))
        self.study = study_with(
            self.folder,
            'backend = "function"\ncallable = "judge:judge"\n',
            f"shards = {shards}\n{capture}",
            items,
        )
        self.cluster = FakeCluster(folder / "nodes")
        self.said = []
        self.error = None

    def run(self):
        study = Study(self.folder)
        configurations = list(study.frozen.protocol.configuration)
        states, self.error = run_on_cluster(
            self.folder, study.frozen, configurations, self.cluster, self.said.append
        )
        assert self.most_seen <= 1
        return states["judge"]

    @property
    def seen(self):
        return Counter(self.seen_path.read_text().splitlines())

    @property
    def most_seen(self):
        return max(self.seen.values(), default=0)

    @property
    def summary(self):
        return read_journal(journal_path(self.folder, "judge"))

    @property
    def counts(self):
        summary = self.summary
        return len(summary.terminals), len(summary.ambiguous)


@pytest.fixture
def case(tmp_path):
    return Case(tmp_path)


def test_undisturbed(case):
    assert case.run() == "COMPLETE"
    assert case.counts == (12, 0)
    assert len(case.cluster.tasks) == 3
    (cell,) = Study(case.folder).analyze().cells
    assert cell.clone["core"].n == 4
    assert case.run() == "COMPLETE"
    assert len(case.cluster.tasks) == 3


def test_what_was_handed_out_is_on_disk_before_the_cluster_hears_of_it(case):
    found = []
    case.cluster.on_submit = lambda number: found.append(len(case.summary.intents))
    case.run()
    # Two slots: the third shard is recorded and submitted once one of the others has ended.
    assert found == [4, 8, 12]


@pytest.mark.parametrize("commit", range(1, 10))
def test_a_node_is_lost_before_any_commit_and_its_disk_with_it(case, commit):
    case.cluster.lose = lambda task, number: task == 1 and number >= commit
    wipe_after(case, 1, "two")
    state = case.run()
    if commit > 5:  # opened, and a commit for each of four calls and the last end
        assert state == "PARTIAL_HOLD_TRANSPORT" or len(case.seen) == 12
    assert case.summary.terminals | case.summary.ambiguous == ids(case)
    (campaign,) = Study(case.folder).analyze().campaigns
    assert campaign.state == ("HOLD" if campaign.ambiguous else "COMPLETE")
    asked = len(case.seen)
    case.cluster.nodes = ["one", "two"]
    assert case.run() == state
    assert len(case.seen) == asked


@pytest.mark.parametrize("commit", range(1, 7))
def test_a_worker_is_lost_before_any_commit_and_its_disk_is_not(case, commit):
    case.cluster.lose = lambda task, number: task == 1 and number >= commit
    first = case.run()
    assert "its task was lost" in str(case.error)
    assert case.counts[1] <= 1
    assert first in {"INTERRUPTED", "PARTIAL_HOLD_TRANSPORT"}
    second = case.run()
    terminals, ambiguous = case.counts
    assert terminals + ambiguous == 12
    assert second == ("PARTIAL_HOLD_TRANSPORT" if ambiguous else "COMPLETE")


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_task_that_is_begun_twice_is_not_taken_for_one_that_never_began(case, elsewhere):
    """The cluster starts a task again, which is not admitted, and loses the disk of the first: its calls were sent."""
    get = case.cluster.get

    def twice(reference):
        outcome = get(reference)
        if reference != 1:
            return outcome
        task, node, *files = case.cluster.tasks[reference]
        if elsewhere:
            case.cluster.wipe(node)
            node = "one"
        case.cluster.tasks[reference] = (task, node, *files)
        return get(reference)

    case.cluster.get = twice
    state = case.run()
    assert state == ("PARTIAL_HOLD_TRANSPORT" if elsewhere else "COMPLETE")
    assert case.counts == ((8, 4) if elsewhere else (12, 0))
    case.cluster.get = get
    assert case.run() == state  # which also looks that no call was seen twice
    assert len(case.seen) == 12


def test_files_beside_the_study_are_not_written_on_a_node(tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "ca.pem").write_text("authority")
    study = http_study(tmp_path / "study", "http://127.0.0.1:1/v1", extra='ca_file = "../ca.pem"\n')
    assert Distributed(study.folder, study.frozen, study.configuration("judge")).study_files == {}
    (tmp_path / "study2").mkdir()
    inside = http_study(tmp_path / "study2", "http://127.0.0.1:1/v1", extra='ca_file = "ca.pem"\n')
    (tmp_path / "study2" / "ca.pem").write_text("authority")
    found = Distributed(inside.folder, inside.frozen, inside.configuration("judge")).study_files
    assert found == {"ca.pem": b"authority"}


def test_a_node_is_lost_and_comes_back_with_its_disk(case):
    case.cluster.lose = lambda task, number: task == 1 and number >= 4
    leave_after(case, 1, "two")
    assert case.run() == "PARTIAL_HOLD_TRANSPORT"
    assert case.counts == (8, 4)
    assert any("4 of its calls are ambiguous" in text for text in case.said)
    case.cluster.nodes.append("two")
    assert case.run() == "PARTIAL_HOLD_TRANSPORT"
    assert case.counts == (11, 1)


def test_a_node_is_gone_before_its_task_begins(case):
    case.cluster.on_submit = lambda number: case.cluster.nodes.remove("two") if number == 2 else None
    assert case.run() == "INTERRUPTED"  # never admitted: nothing of it is ambiguous
    assert case.counts == (8, 0)
    assert case.run() == "COMPLETE"


def test_the_driver_dies_after_the_record_and_before_the_task(case):
    class Dead(BaseException):
        pass

    def die(number):
        raise Dead

    case.cluster.on_submit = die
    with pytest.raises(Dead):
        case.run()
    assert case.counts == (0, 4)
    case.cluster.on_submit = lambda number: None
    # Nobody can say that it did not begin: it is never handed out again.
    assert case.run() == "PARTIAL_HOLD_TRANSPORT" or case.counts == (8, 4)
    assert len(case.seen) == 8


def test_a_failed_call_stops_the_campaign_and_what_waits_is_not_handed_out(tmp_path):
    case = Case(tmp_path, shards=4, failing="Question", capture="timeout_seconds = 0.05")
    case.cluster.slots = 1
    assert case.run() == "PARTIAL_HOLD_TRANSPORT"
    assert len(case.cluster.tasks) == 1
    assert len(case.seen) == 1
    assert case.run() == "PARTIAL_HOLD_TRANSPORT"
    assert len(case.seen) == 1


def test_a_stale_disk_is_noticed_and_nothing_is_sent_from_it(case):
    case.cluster.lose = lambda task, number: task == 1 and number >= 4
    assert case.run() == "INTERRUPTED"
    before = case.counts
    for path in (case.cluster.folder / "two").rglob("judge.sqlite*"):
        path.unlink()
    asked = len(case.seen)
    assert case.run() == "INTERRUPTED"  # its part is here; there is no journal to go on with
    assert (case.counts, len(case.seen)) == (before, asked)


def test_a_node_with_another_journal_of_the_shard_is_an_integrity_error(case):
    case.cluster.lose = lambda task, number: task == 1 and number >= 4
    assert case.run() == "INTERRUPTED"
    before = case.counts
    (path,) = (case.cluster.folder / "two").rglob("judge.sqlite")
    header = read_journal(path).header
    path.unlink()
    with closing(Journal.open(path, header)) as journal:
        events = [Event(at="now", elapsed_ms=n, kind="opened", detail={"identity": {}}) for n in range(9)]
        journal.commit(events)
    case.run()
    assert isinstance(case.error, IntegrityError)
    assert "does not continue" in str(case.error)
    assert case.counts == before


def test_a_journal_that_grew_since_it_was_collected_is_not_gone_on_with(case):
    case.cluster.lose = lambda task, number: task == 1 and number >= 4
    assert case.run() == "INTERRUPTED"
    asked = len(case.seen)
    (path,) = (case.cluster.folder / "two").rglob("judge.sqlite")

    def grow(number):
        with closing(Journal.open(path, read_journal(path).header)) as journal:
            journal.commit([Event(at="now", elapsed_ms=0, kind="paused", detail={})])

    case.cluster.on_submit = grow
    assert case.run() == "INTERRUPTED"
    assert "the driver knows of" in str(case.error)
    assert len(case.seen) == asked


def test_two_study_folders_and_one_node(case, tmp_path):
    case.run()
    for path in case.folder.glob("journal/**/*"):
        if path.is_file():
            path.unlink()
    asked = len(case.seen)
    assert case.run() == "NOT STARTED"
    assert "another study folder" in str(case.error)
    assert len(case.seen) == asked


def test_begun_here_goes_on_here_and_begun_there_goes_on_there(tmp_path):
    (tmp_path / "a").mkdir()
    here = Case(tmp_path / "a")
    close_campaign(here.folder, here.study.frozen, here.study.configuration("judge"), "enough")
    assert here.run() == "HELD_EARLY"
    (tmp_path / "b").mkdir()
    there = Case(tmp_path / "b")
    there.cluster.lose = lambda task, number: task == 1 and number >= 4
    there.run()
    with pytest.raises(UsageError, match="was handed out to a cluster"):
        there.study.run("judge")
    close_campaign(there.folder, there.study.frozen, there.study.configuration("judge"), "enough")
    assert there.run() == "HELD_EARLY"


def test_an_interrupted_local_campaign_is_not_handed_out(tmp_path):
    case = Case(tmp_path)
    case.cluster.lose = lambda task, number: number >= 3
    with case.cluster.dying(0), pytest.raises(Lost):
        case.study.run("judge")
    with pytest.raises(UsageError, match="was begun on this machine"):
        case.run()


def test_another_version_on_the_node_begins_nothing(case, monkeypatch):
    monkeypatch.setattr("darkcurrent.executors.node.__version__", "0.0.0")
    assert case.run() == "NOT STARTED"
    assert "The node has darkcurrent 0.0.0" in str(case.error)
    assert not case.seen


def test_a_key_that_the_nodes_do_not_have_begins_nothing(tmp_path, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    study = http_study(
        tmp_path / "study", "http://127.0.0.1:1/v1", "shards = 2", extra='api_key_env = "NO_SUCH_KEY"\n'
    )
    cluster, said = FakeCluster(tmp_path / "nodes"), []
    configurations = list(study.frozen.protocol.configuration)
    for _ in range(2):
        states, error = run_on_cluster(study.folder, study.frozen, configurations, cluster, said.append)
        assert states == {"judge": "NOT STARTED"}
        assert isinstance(error, UsageError)
        assert "NO_SUCH_KEY, which should hold the key, is not set" in str(error)
    # A service that is down leaves no trace either.
    monkeypatch.setenv("NO_SUCH_KEY", "sk-here")
    states, error = run_on_cluster(study.folder, study.frozen, configurations, cluster, said.append)
    assert states == {"judge": "NOT STARTED"}
    assert "cannot be reached" in str(error)
    assert not any("ambiguous" in text for text in said)


def test_a_folder_of_somebody_else_is_not_written(case, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert case.run() == "NOT STARTED"
    assert "belongs to somebody else" in str(case.error)


def test_a_cluster_without_a_cpu(case):
    case.cluster.slots = 0
    with pytest.raises(UsageError, match="no CPU"):
        case.run()


def ids(case):
    return {call.call_id for call in case.study.frozen.schedule("judge")}


def leave_after(case, task, node):
    """Have a node leave the cluster when a task of it is lost."""
    get = case.cluster.get

    def leaving(reference):
        try:
            return get(reference)
        finally:
            if reference == task:
                case.cluster.nodes.remove(node)

    case.cluster.get = leaving


def wipe_after(case, task, node):
    get = case.cluster.get

    def wiping(reference):
        try:
            return get(reference)
        finally:
            if reference == task:
                case.cluster.wipe(node)
                case.cluster.nodes.remove(node)

    case.cluster.get = wiping
