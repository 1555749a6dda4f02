"""A cluster in this process: its nodes are folders, and tasks, nodes and messages are lost as a test says."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from darkcurrent.capture.journal import Journal
from darkcurrent.executors.node import NODE_DIR, run_shard
from darkcurrent.executors.ray import Desk

__all__ = ["FakeCluster", "Lost"]


class Lost(BaseException):
    """Ends a task as the loss of its node would."""


class ClusterError(Exception):
    """What the driver sees of it."""


class FakeCluster:
    """Runs each task where it is submitted, one after the other.

    Attributes
    ----------
    lose : callable
        Gets the number of a task and of the commit that it is about to make, and says whether the node is lost there.
    """

    errors = ClusterError

    def __init__(self, folder, slots=2):
        self.folder = folder
        self.nodes = ["one", "two"]
        self.slots = slots
        self.desk = Desk()
        self.tasks: list[Any] = []
        self.lose: Callable[[int, int], bool] = lambda task, commit: False
        self.on_submit: Callable[[int], None] = lambda number: None

    def put(self, value):
        return value

    def submit(self, task, frozen_files, study_files, node):
        number = len(self.tasks)
        self.on_submit(number)
        self.desk.expect(task.token)
        self.tasks.append((task, node or self.nodes[number % len(self.nodes)], frozen_files, study_files))
        return number

    def ended(self, references, seconds):
        return references[:1]

    def get(self, reference):
        task, node, frozen_files, study_files = self.tasks[reference]
        if node not in self.nodes:
            raise ClusterError("the node is dead")
        with self.on(node), self.dying(reference):
            try:
                return run_shard(
                    task,
                    frozen_files,
                    study_files,
                    self.desk.admit,
                    lambda progress: self.desk.report(task.token, progress),
                )
            except Lost as lost:
                raise ClusterError("the node was lost") from lost

    def on_node(self, node, function, *arguments):
        if node not in self.nodes:
            raise ClusterError("the node is dead")
        with self.on(node):
            return function(*arguments)

    def on_each_node(self, function, *arguments):
        answers = {}
        for node in self.nodes:
            try:
                answers[node] = self.on_node(node, function, *arguments)
            except Exception as error:  # noqa: BLE001 - as Ray hands it over
                answers[node] = error
        return answers

    def cancel(self, reference):
        """Tasks run one after the other: none is on its way when another has ended."""
        self.desk.take_back(self.tasks[reference][0].token)

    def take_back(self, token):
        return self.desk.take_back(token)

    def heard(self):
        return self.desk.heard()

    def wipe(self, node):
        shutil.rmtree(self.folder / node)

    @contextmanager
    def on(self, node):
        before = os.environ.get(NODE_DIR)
        os.environ[NODE_DIR] = str(self.folder / node)
        try:
            yield
        finally:
            del os.environ[NODE_DIR]
            if before is not None:
                os.environ[NODE_DIR] = before

    @contextmanager
    def dying(self, task):
        """End the task before a commit of its journal, where the test says so."""
        commit, number = Journal.commit, 0

        def lossy(journal, rows):
            nonlocal number
            if rows:
                number += 1
                if self.lose(task, number):
                    raise Lost
            commit(journal, rows)

        Journal.commit = lossy
        try:
            yield
        finally:
            Journal.commit = commit
