"""Campaigns on a real Ray cluster of two nodes, against a server that counts what it saw."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import signal
import subprocess
import threading
from functools import partial

import pytest
import ray
from aiohttp import web
from ray.cluster_utils import Cluster

from darkcurrent.capture import journal_path, read_journal
from darkcurrent.executors.driver import run_on_cluster
from darkcurrent.executors.node import ShardTask
from darkcurrent.executors.ray import RayExecutor, _shard_on_node
from darkcurrent.schedules import Shard
from darkcurrent.study import Study
from support.server import ChatServer, completion
from support.studies import command, http_study, program

KEY = "sk-on-the-nodes-alone-7f3a"

# One cluster for all of them, in one process of pytest-xdist.
pytestmark = pytest.mark.xdist_group("ray")


class Nodes:
    """A cluster whose nodes have folders of their own for journals, and a key in their environment."""

    def __init__(self, folder):
        self.folder = folder
        # A node that refuses connections is dead after one or two seconds, and not after fifteen.
        health = {"health_check_period_ms": 500, "health_check_failure_threshold": 3}
        head = {"num_cpus": 0, "include_dashboard": False, "_system_config": health}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.alive = {}
        for name in ("one", "two"):
            self.start(name)

    @property
    def address(self):
        return self.cluster.address

    def start(self, name):
        environment = {"DARKCURRENT_NODE_DIR": str(self.folder / name), "JUDGE_KEY": KEY}
        self.alive[name] = self.cluster.add_node(num_cpus=1, env_vars=environment)

    def kill(self, name):
        self.cluster.remove_node(self.alive.pop(name), allow_graceful=False)

    def journals(self, study):
        """Node to the journals of a study's shards on it."""
        return {
            name: sorted((self.folder / name / study[:32]).rglob("judge.sqlite")) for name in ("one", "two")
        }


@pytest.fixture(scope="module")
def one_cluster(tmp_path_factory):
    nodes = Nodes(tmp_path_factory.mktemp("nodes"))
    yield nodes
    nodes.cluster.shutdown()


@pytest.fixture
def nodes(one_cluster):
    """Give both nodes, whatever the test before has done to them."""
    for name in {"one", "two"} - one_cluster.alive.keys():
        one_cluster.start(name)
    return one_cluster


async def answer(request, body):
    """Answer by what is asked, so that two runs are told the same."""
    winner = ["A", "B", "tie"][hashlib.sha256(body).digest()[0] % 3]
    return web.json_response(completion(f'{{"winner":"{winner}"}}'))


def run(study, nodes, said=None):
    with RayExecutor(nodes.address) as cluster:
        configurations = list(study.frozen.protocol.configuration)
        say = said.append if said is not None else lambda text: None
        states, error = run_on_cluster(study.folder, study.frozen, configurations, cluster, say)
    return states["judge"], error


def but_for_times(study):
    return study.ledger().drop("latency_ms", "elapsed_ms")


def test_an_undisturbed_run_gives_the_ledger_of_a_local_one(nodes, tmp_path, monkeypatch):
    capture = "shards = 3\nin_flight = 2"
    extra = 'api_key_env = "JUDGE_KEY"\n'
    with ChatServer(answer) as server:
        study = http_study(tmp_path / "ray", server.url, capture, items=10, extra=extra)
        shutil.copytree(study.folder, tmp_path / "local")
        assert "JUDGE_KEY" not in os.environ
        assert run(study, nodes) == ("COMPLETE", None)
        assert len(server.bodies) == 30
        assert max(server.seen.values()) == 1
        assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
        monkeypatch.setenv("JUDGE_KEY", KEY)
        local = Study(tmp_path / "local")
        assert local.run("judge") == "COMPLETE"
    assert but_for_times(study).equals(but_for_times(local))
    found, expected = study.analyze(), local.analyze()
    assert found.cells == expected.cells
    assert found.campaigns[0].state == "COMPLETE"
    # Each shard's journal is on one node, and all of them are in the merged one, which follows its own chain.
    journals = nodes.journals(study.frozen.study_digest)
    assert sum(map(len, journals.values())) == 3
    assert all(journals.values()), "one node did everything"
    assert len(read_journal(journal_path(study.folder, "judge")).terminals) == 30
    # The key is in the environment of the nodes, and nowhere else.
    places = [study.folder, nodes.folder, nodes.cluster.head_node.get_session_dir_path()]
    found = subprocess.run(["grep", "-rlF", KEY, *places], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (1, "")
    # Over is over: the server is gone, and nobody asks it.
    assert run(study, nodes) == ("COMPLETE", None)


def test_a_node_is_killed_in_the_middle(nodes, tmp_path):
    reached = threading.Event()
    with ChatServer(answer, delay=0.05) as server:
        study = http_study(tmp_path, server.url, "shards = 2", items=14)
        server.on_request = lambda number: reached.set() if number >= 12 else None

        def kill():
            reached.wait(60)
            nodes.kill("two")

        killing = threading.Thread(target=kill)
        killing.start()
        said = []
        state, error = run(study, nodes, said)
        killing.join()
        assert state == "PARTIAL_HOLD_TRANSPORT"
        assert "its task was lost" in str(error)
        assert any("21 of its calls are ambiguous" in text for text in said), said
        assert max(server.seen.values()) == 1
        asked = len(server.bodies)
        assert asked < 42
        summary = read_journal(journal_path(study.folder, "judge"))
        assert (len(summary.terminals), len(summary.ambiguous)) == (21, 21)
        (campaign,) = study.analyze().campaigns
        assert (campaign.state, campaign.ambiguous) == ("HOLD", 21)
        # Again, without the node: nothing is sent, by whichever executor.
        assert run(study, nodes)[0] == "PARTIAL_HOLD_TRANSPORT"
        assert study.run("judge") == "PARTIAL_HOLD_TRANSPORT"
        assert len(server.bodies) == asked
        # The node is back, with its disk: what its journal shows is merged, and it goes on there.
        server.on_request = lambda number: None
        nodes.start("two")
        assert run(study, nodes)[0] == "PARTIAL_HOLD_TRANSPORT"
        assert max(server.seen.values()) == 1
        (campaign,) = study.analyze().campaigns
        assert campaign.state == "HOLD"
        assert campaign.ambiguous <= 1
        assert campaign.terminal + campaign.ambiguous == 42
        assert len(server.bodies) in {41, 42}


def test_the_driver_is_killed(nodes, tmp_path):
    reached = threading.Event()
    with ChatServer(answer, delay=0.05) as server:
        study = http_study(tmp_path, server.url, "shards = 2", items=14)
        server.on_request = lambda number: reached.set() if number >= 12 else None
        arguments = command("run", tmp_path, "--executor", "ray", "--address", nodes.address)
        with subprocess.Popen(arguments, stderr=subprocess.PIPE) as driver:
            assert reached.wait(60)
            driver.kill()
        server.on_request = lambda number: None
        # What is out is ambiguous, by the journal here alone.
        path = journal_path(study.folder, "judge")
        assert len(read_journal(path).ambiguous) == 42
        assert json.loads(program("status", tmp_path, "--json").stdout)["judge"]["ambiguous"] == 42
        ended = program("run", tmp_path, "--executor", "ray", "--address", nodes.address)
        summary = read_journal(path)
        assert summary.terminals | summary.ambiguous == {c.call_id for c in study.frozen.schedule("judge")}
        assert len(summary.ambiguous) <= 2, ended.stderr
        assert ended.returncode == (5 if summary.ambiguous else 0), ended.stderr
        assert max(server.seen.values()) == 1


def test_ctrl_c_waits_for_what_is_in_flight_on_the_nodes(nodes, tmp_path):
    reached = threading.Event()
    with ChatServer(answer, delay=0.3) as server:
        study = http_study(tmp_path, server.url, "shards = 2\nin_flight = 2", items=4)
        server.on_request = lambda number: reached.set() if number >= 4 else None
        arguments = command("run", tmp_path, "--executor", "ray", "--address", nodes.address)
        with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as driver:
            assert reached.wait(60)
            driver.send_signal(signal.SIGINT)
            _, talk = driver.communicate(timeout=60)
        assert driver.returncode == 130, talk
        assert "Traceback" not in talk
        assert f"To go on: darkcurrent run {tmp_path} --executor ray" in talk
        summary = read_journal(journal_path(study.folder, "judge"))
        assert summary.ambiguous == set()
        assert 4 <= len(summary.terminals) == len(server.bodies) < 12
        # It does not go on here: the journals are on the nodes.
        here = program("run", tmp_path)
        assert here.returncode == 2
        assert "was handed out to a cluster" in here.stderr
        assert run(study, nodes) == ("COMPLETE", None)
        assert len(server.bodies) == 12
        assert max(server.seen.values()) == 1


def test_a_computation_of_many_arguments_on_the_nodes(nodes):
    with RayExecutor(nodes.address) as cluster:
        assert cluster.map(partial(math.comb, 4), range(5)) == [1, 4, 6, 4, 1]


def test_a_doubled_task_is_turned_away(nodes, tmp_path):
    with ChatServer(answer) as server:
        study = http_study(tmp_path, server.url, items=3)
        files = {
            path.relative_to(tmp_path / "frozen").as_posix(): path.read_bytes()
            for path in (tmp_path / "frozen").rglob("*")
            if path.is_file()
        }
        task = ShardTask(study.frozen.study_digest, "judge", Shard(1, 1), None, "token")
        with RayExecutor(nodes.address) as cluster:
            reference = cluster.submit(task, files, {}, None)
            assert cluster.get(reference).error is None
            again = [
                ray.remote(_shard_on_node).options(num_cpus=1, **cluster._at(node, soft=False))
                for node in cluster.nodes
            ]
            said = [str(ray.get(each.remote(task, files, {}, cluster.desk)).error) for each in again]
        # Where the shard was sent its journal is in the way; elsewhere the desk is.
        assert sum("the driver knows of 0" in text for text in said) == 1
        assert sum("was begun already" in text for text in said) == 1
        assert len(server.bodies) == 9
