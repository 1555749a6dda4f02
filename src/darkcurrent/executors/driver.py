"""The driver: hands shards out once, collects their journals, and makes each campaign's journal of them.

Invariants and losses: `design/executors.md`.
"""

from __future__ import annotations

import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from darkcurrent.capture import CampaignState, Progress
from darkcurrent.errors import CaptureError, DarkcurrentError, IntegrityError, JournalLockedError, UsageError
from darkcurrent.executors.campaign import Distributed
from darkcurrent.executors.node import Outcome, ShardTask, copy_on_node, ends_on_node
from darkcurrent.executors.ray import RayExecutor
from darkcurrent.protocol.configurations import Configuration
from darkcurrent.protocol.freeze import Frozen
from darkcurrent.schedules import Shard

__all__ = ["run_on_cluster"]

_POLL_SECONDS = 0.5
_LOCK_SECONDS = 10.0
"""So long a journal is asked for whose task has ended, and whose process may not have."""


@dataclass(frozen=True, slots=True)
class _Running:
    campaign: Distributed
    shard: Shard
    token: str


def run_on_cluster(
    study: Path,
    frozen: Frozen,
    configurations: list[Configuration],
    cluster: RayExecutor,
    say: Callable[[str], None] = lambda text: None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> tuple[dict[str, CampaignState], DarkcurrentError | None]:
    """Capture what is missing of campaigns, all at the same time, on the nodes of a cluster.

    Parameters
    ----------
    say : callable
        Is told, in sentences, what went wrong with a shard.

    Returns
    -------
    tuple
        The states by name, and the first error that kept a shard from its end.

    Raises
    ------
    JournalLockedError
        Where another process captures one of the campaigns.
    UsageError
        Where one of them was begun on this machine, or the cluster has no CPU.
    IntegrityError
        Where a journal, collected or here, is not what it should be.
    CaptureError
        Where the cluster as a whole is lost.
    KeyboardInterrupt
        After Ctrl-C, once what was in flight on the nodes has been written down and collected.
    """
    if cluster.slots < 1:
        raise UsageError("The cluster has no CPU for a task: start a node with `ray start --address=...`.")
    with ExitStack() as held:
        campaigns = [held.enter_context(Distributed(study, frozen, each)) for each in configurations]
        driver = _Driver(frozen, [each for each in campaigns if each.goes_on], cluster, say, on_progress)
        try:
            driver.run()
        except cluster.errors as error:
            raise CaptureError(
                f"The cluster was lost ({last_line(error)}): what was handed out is recorded as ambiguous; run again to "
                "collect what the nodes have."
            ) from error
        return {each.name: each.state for each in campaigns}, driver.error


class _Driver:
    """One run: what is to be handed out, and what is out."""

    def __init__(
        self,
        frozen: Frozen,
        campaigns: list[Distributed],
        cluster: RayExecutor,
        say: Callable[[str], None],
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._frozen = frozen
        self._campaigns = campaigns
        self._cluster = cluster
        self._say = say
        self._on_progress = on_progress
        self._waiting: list[tuple[Distributed, Shard, str | None]] = []
        self._out: dict[Any, _Running] = {}
        self.error: DarkcurrentError | None = None

    def run(self) -> None:
        """Collect what earlier runs left, and merge it; hand out, wait, collect, and merge that."""
        with _pressed() as pressed:
            for campaign in self._campaigns:
                self._look_for(campaign)
                campaign.merge()
            files = self._cluster.put(_files(self._frozen)) if self._waiting else None
            while self._waiting or self._out:
                if pressed():
                    self._stop(self._campaigns)
                self._hand_out(files)
                if self._out:
                    self._wait()
            for campaign in self._campaigns:
                campaign.merge()
            if pressed():
                raise KeyboardInterrupt

    def _look_for(self, campaign: Distributed) -> None:
        """Collect what earlier runs have left on nodes, and see what may be sent now."""
        found = self._found(campaign, list(campaign.shards))
        for shard in campaign.shards:
            if campaign.was_handed_out(shard):
                node = None if campaign.is_over(shard) else self._collect(campaign, shard, found[shard])
                if node is not None and not campaign.is_over(shard):
                    self._waiting.append((campaign, shard, node))
            elif found[shard]:
                self._tell(
                    campaign,
                    shard,
                    CaptureError(
                        "a node has its journal, which another study folder was sent by: nothing is sent"
                    ),
                )
            else:
                self._waiting.append((campaign, shard, None))
        if campaign.stopped:
            self._stop([campaign])

    def _hand_out(self, files: Any) -> None:
        """Give the cluster as many shards as it has room for: one in its queue would be lost with the driver."""
        while self._waiting and len(self._out) < max(self._cluster.slots, 1):
            campaign, shard, node = self._waiting.pop(0)
            token = secrets.token_hex(16)
            task = ShardTask(self._frozen.study_digest, campaign.name, shard, campaign.end_of(shard), token)
            campaign.hand_out(shard)
            reference = self._cluster.submit(task, files, campaign.study_files, node)
            self._out[reference] = _Running(campaign, shard, token)

    def _wait(self) -> None:
        for reference in self._cluster.ended(list(self._out), _POLL_SECONDS):
            running = self._out.pop(reference)
            self._end(running, reference)
            if running.campaign.stopped:
                self._stop([running.campaign])
        heard = self._cluster.heard()
        total = sum(campaign.scheduled for campaign in self._campaigns)
        done = sum(campaign.collected_calls for campaign in self._campaigns)
        for running in self._out.values():
            if running.token in heard:
                done += heard[running.token].done - running.campaign.collected_calls_of(running.shard)
        invalid = sum(progress.invalid for progress in heard.values())
        self._on_progress(Progress(done, total, invalid, 0))

    def _end(self, running: _Running, reference: Any) -> None:
        """Take in that a task has ended, or was lost."""
        campaign, shard = running.campaign, running.shard
        began, error = True, None
        try:
            outcome: Outcome = self._cluster.get(reference)
            began, error = outcome.began, outcome.error
        except DarkcurrentError as failure:
            error = failure
        except self._cluster.errors as failure:
            error = CaptureError(f"its task was lost ({type(failure).__name__}: {last_line(failure)})")
        if error is not None and not campaign.paused:
            self._tell(campaign, shard, error)
        if self._cluster.take_back(running.token) or not began:
            campaign.take_back(shard)
        else:
            self._collect(campaign, shard, self._found(campaign, [shard])[shard])

    def _stop(self, campaigns: list[Distributed]) -> None:
        """Hand nothing more of some campaigns out, and pause what is out, once."""
        pausing = [each for each in campaigns if not each.paused]
        self._waiting = [each for each in self._waiting if each[0] not in pausing]
        for campaign in pausing:
            campaign.paused = True
        for reference, running in self._out.items():
            if running.campaign in pausing:
                self._cluster.cancel(reference)

    def _tell(self, campaign: Distributed, shard: Shard, error: DarkcurrentError) -> None:
        error.args = (f"{campaign.name}: shard {shard}: {error}",)
        self.error = self.error or error
        self._say(str(error))

    def _found(self, campaign: Distributed, shards: list[Shard]) -> dict[Shard, list[str]]:
        """Return which nodes have the journals of shards, the longest first: those that share a disk have the same."""
        rows: dict[Shard, dict[str, int]] = {shard: {} for shard in shards}
        asked = (self._frozen.study_digest, campaign.name, shards)
        for node, answer in self._cluster.on_each_node(ends_on_node, *asked).items():
            if isinstance(answer, DarkcurrentError):
                self._say(f"{campaign.name}: a node cannot say what it has: {answer}")
            elif not isinstance(answer, Exception):  # a node that is lost meanwhile has nothing
                for shard, end in answer.items():
                    rows[shard][node] = end[0]
        return {shard: sorted(found, key=lambda node: -found[node]) for shard, found in rows.items()}

    def _collect(self, campaign: Distributed, shard: Shard, nodes: list[str]) -> str | None:
        """Take the journal of a shard from a node that has it; return the node."""
        for node in nodes:
            try:
                campaign.take(shard, self._copy(node, (self._frozen.study_digest, campaign.name, shard)))
            except DarkcurrentError as error:
                kind = IntegrityError if isinstance(error, IntegrityError) else CaptureError
                self._tell(campaign, shard, kind(f"its journal cannot be collected: {error}"))
                continue
            except self._cluster.errors:
                continue  # the node is lost meanwhile
            return node
        self._say(
            f"{campaign.name}: shard {shard} was handed out, and no node of the cluster gives its journal: "
            f"{campaign.ambiguous_calls_of(shard)} of its calls are ambiguous, and none of them is sent again."
        )
        return None

    def _copy(self, node: str, where: tuple[str, str, Shard]) -> bytes:
        patience = time.monotonic() + _LOCK_SECONDS
        while True:
            try:
                return self._cluster.on_node(node, copy_on_node, *where)
            except JournalLockedError:
                if time.monotonic() > patience:
                    raise
                time.sleep(_POLL_SECONDS)


def _files(frozen: Frozen) -> dict[str, bytes]:
    """Return the frozen folder as it lies, to be checked against the study digest on each node."""
    return {name: (frozen.folder / name).read_bytes() for name in (*frozen.digests, "manifest.json")}


def last_line(error: BaseException) -> str:
    """Return what an error of Ray says, which puts the node's traceback before it."""
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__


@contextmanager
def _pressed() -> Iterator[Callable[[], bool]]:
    """Say whether a person wants a pause; a second Ctrl-C ends at once, and what is out stays recorded as such."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    times = 0

    def press(number: int, frame: object) -> None:
        nonlocal times
        times += 1
        if times > 1:
            raise KeyboardInterrupt

    heard = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]
    before = {number: signal.signal(number, press) for number in heard}
    try:
        yield lambda: times > 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
