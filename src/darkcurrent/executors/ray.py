"""A Ray cluster: how it is reached, and what is asked of its nodes. Everything that imports Ray is here."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from darkcurrent.capture import Progress
from darkcurrent.errors import CaptureError, DarkcurrentError, MissingExtraError, UsageError
from darkcurrent.executors.node import Outcome, ShardTask, run_shard

__all__ = ["Desk", "RayExecutor"]

A = TypeVar("A")
R = TypeVar("R")

_PATIENCE_SECONDS = 5.0


class Desk:
    """Lives beside the driver, in memory: admits each token once, and hears how far the shards are.

    It is never restarted: what it does not know any more, it must not admit.
    """

    def __init__(self) -> None:
        self._tokens: dict[str, bool] = {}
        self._progress: dict[str, Progress] = {}

    def expect(self, token: str) -> None:
        """Make a token good for one admission."""
        self._tokens[token] = True

    def admit(self, token: str) -> bool:
        """Say whether the task with this token may begin; at most once yes."""
        return self._tokens.pop(token, False)

    def take_back(self, token: str) -> bool:
        """Make a token worthless; say whether nobody was admitted with it."""
        return self._tokens.pop(token, False)

    def report(self, token: str, progress: Progress) -> None:
        """Hear how far a shard is."""
        self._progress[token] = progress

    def heard(self) -> dict[str, Progress]:
        """Return what was heard last of each."""
        return dict(self._progress)


def _shard_on_node(
    task: ShardTask, frozen_files: dict[str, bytes], study_files: dict[str, bytes], desk: Any
) -> Outcome:
    import ray

    def admit(token: str) -> bool:
        return bool(ray.get(desk.admit.remote(token)))

    def report(progress: Progress) -> None:
        with suppress(ray.exceptions.RayError):  # nobody has to hear it
            desk.report.remote(task.token, progress)

    return run_shard(task, frozen_files, study_files, admit, report)


def _result_of(function: Callable[[A], R], argument: A) -> R:
    return function(argument)


class RayExecutor:
    """The nodes of a Ray cluster; a context, which ends the connection.

    Parameters
    ----------
    address : str
        `HOST:PORT` of the cluster, or `auto` for the one that this machine belongs to.

    Raises
    ------
    MissingExtraError
        Where Ray is not installed.
    UsageError
        Where there is no cluster at the address.
    """

    def __init__(self, address: str) -> None:
        try:
            import ray
        except ImportError as error:
            raise MissingExtraError("The executor `ray`", "ray") from error
        # Ray is typed here and there only.
        self._ray: Any = ray
        _check_reachable(address)
        try:
            # What nodes print stays on them.
            ray.init(address=address, log_to_driver=False, configure_logging=False)
        except (OSError, RuntimeError, ValueError) as error:
            said = str(error).strip().splitlines()
            raise UsageError(
                f"The Ray cluster at {address} cannot be used ({said[0] if said else type(error).__name__}): start it with "
                "`ray start --head`, or give another --address."
            ) from error
        self._desk: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._ray.shutdown()

    def map(self, function: Callable[[A], R], arguments: Iterable[A]) -> list[R]:
        """Return what a pure function gives for each argument, in their order; lost tasks are done again."""
        remote = self._ray.remote(_result_of)  # Ray itself takes no partial, and nothing that is built in
        return list(self._ray.get([remote.remote(function, argument) for argument in arguments]))

    @property
    def slots(self) -> int:
        """How many tasks the cluster has room for."""
        return int(self._ray.cluster_resources().get("CPU", 0))

    @property
    def nodes(self) -> list[str]:
        """The nodes that are alive and take tasks."""
        return [
            node["NodeID"]
            for node in self._ray.nodes()
            if node["Alive"] and node["Resources"].get("CPU", 0) > 0
        ]

    @property
    def desk(self) -> Any:
        """The desk of this driver, on its own node."""
        if self._desk is None:
            options = self._at(self._ray.get_runtime_context().get_node_id(), soft=True)
            kind = self._ray.remote(Desk)
            self._desk = kind.options(num_cpus=0, max_restarts=0, max_task_retries=0, **options).remote()
        return self._desk

    def put(self, value: Any) -> Any:
        """Give the cluster a value that several tasks get."""
        return self._ray.put(value)

    def get(self, reference: Any) -> Any:
        """Wait for a result.

        Raises
        ------
        DarkcurrentError
            What the function raised; a CaptureError where it was not one of ours.
        Exception
            One of `errors`, where the node or the worker is lost.
        """
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, DarkcurrentError):
                raise error.cause from None
            said = str(error.cause).strip().splitlines()
            raise CaptureError(
                f"it failed on the node ({type(error.cause).__name__}: {said[-1] if said else ''})"
            ) from error

    def submit(self, task: ShardTask, frozen_files: Any, study_files: Any, node: str | None) -> Any:
        """Have a shard sent by a node, once; return what its end is asked with.

        Parameters
        ----------
        node : str or None
            The node that has the shard's journal; None where no node has.
        """
        self._ray.get(self.desk.expect.remote(task.token))
        where = {"scheduling_strategy": "SPREAD"} if node is None else self._at(node, soft=False)
        remote = self._ray.remote(_shard_on_node).options(num_cpus=1, max_retries=0, **where)
        return remote.remote(task, frozen_files, study_files, self.desk)

    def on_node(self, node: str, function: Callable[..., R], *arguments: Any) -> R:
        """Return what a function gives on a certain node."""
        return self.get(self._asked(node, function, arguments))  # type: ignore[no-any-return]

    def on_each_node(self, function: Callable[..., R], *arguments: Any) -> dict[str, R | Exception]:
        """Return what a function gives on each node, or how it failed there."""
        asked = {node: self._asked(node, function, arguments) for node in self.nodes}
        answers: dict[str, R | Exception] = {}
        for node, reference in asked.items():
            try:
                answers[node] = self.get(reference)
            except (DarkcurrentError, self.errors) as error:
                answers[node] = error
        return answers

    def _asked(self, node: str, function: Callable[..., R], arguments: tuple[Any, ...]) -> Any:
        options = {"num_cpus": 0, "max_retries": 0, **self._at(node, soft=False)}
        return self._ray.remote(function).options(**options).remote(*arguments)

    def ended(self, references: list[Any], seconds: float) -> list[Any]:
        """Wait until one of some tasks ends, or a time is over; return those that have ended."""
        return list(self._ray.wait(references, num_returns=1, timeout=seconds, fetch_local=False)[0])

    def cancel(self, reference: Any) -> None:
        """Have a task wait for what is in flight, and end."""
        self._ray.cancel(reference, force=False)

    def take_back(self, token: str) -> bool:
        """Say whether no task was admitted with a token, and none will be."""
        try:
            return bool(self._ray.get(self.desk.take_back.remote(token)))
        except self._ray.exceptions.RayError:
            return False  # nobody knows

    def heard(self) -> dict[str, Progress]:
        """Return how far each task is, by its token."""
        try:
            found: dict[str, Progress] = self._ray.get(self.desk.heard.remote())
        except self._ray.exceptions.RayError:
            return {}
        return found

    @property
    def errors(self) -> type[Exception]:
        """What a lost node, worker or task raises."""
        return self._ray.exceptions.RayError  # type: ignore[no-any-return]

    def _at(self, node: str, *, soft: bool) -> dict[str, Any]:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return {"scheduling_strategy": NodeAffinitySchedulingStrategy(node, soft=soft)}


def _check_reachable(address: str) -> None:
    """Say in one sentence that nobody listens; Ray would try for minutes."""
    if address == "auto":
        return
    try:
        parts = urlsplit(f"//{address}")
        host, port = parts.hostname, parts.port
        if not host or not port:
            raise ValueError("that is not HOST:PORT")
        with socket.create_connection((host, port), timeout=_PATIENCE_SECONDS):
            pass
    except (OSError, ValueError) as error:
        raise UsageError(
            f"No Ray cluster can be reached at {address!r} ({error}): give HOST:PORT, as `ray start --head` prints it, "
            "on a machine that belongs to the cluster."
        ) from error
