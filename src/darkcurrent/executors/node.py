"""What happens on a node: a shard becomes a small study of its own, and its campaign runs as everywhere."""

from __future__ import annotations

import os
import platform
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from darkcurrent._version import __version__
from darkcurrent.capture import Progress, journal_path
from darkcurrent.capture.lock import only_writer
from darkcurrent.capture.merging import End, copy_of, end_of
from darkcurrent.capture.run import capture_locked
from darkcurrent.errors import CaptureError, DarkcurrentError, IntegrityError, UsageError
from darkcurrent.protocol.freeze import Frozen, load_frozen, write_whole
from darkcurrent.schedules import Shard

__all__ = ["NODE_DIR", "Outcome", "ShardTask", "copy_on_node", "ends_on_node", "run_shard", "shard_folder"]

NODE_DIR = "DARKCURRENT_NODE_DIR"
"""The environment variable of a node that names the folder in which it keeps the journals of its shards."""

_REPORT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class ShardTask:
    """What a node is told. It holds no key: a configuration names the environment variable that does.

    Attributes
    ----------
    study : str
        The study digest.
    end : tuple or None
        Where the shard's journal on this node ends, as far as the driver knows; None where there must be none yet.
    token : str
        Admitted once.
    version : str
        Of the driver's darkcurrent.
    """

    study: str
    configuration: str
    shard: Shard
    end: End | None
    token: str
    version: str = __version__


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended: without an error, or with one of ours and whether it may have sent something."""

    began: bool
    error: DarkcurrentError | None = None


def node_folder() -> Path:
    """Return the folder of this node for journals of shards; nobody else may write to it.

    Raises
    ------
    CaptureError
        Where it cannot be made, or belongs to somebody else.
    """
    folder = Path(os.environ.get(NODE_DIR) or f"/var/tmp/darkcurrent-{os.getuid()}")  # noqa: S108 - checked below
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise CaptureError(
            f"The node's folder {folder} cannot be written ({error.strerror}): set {NODE_DIR} where the node is started."
        ) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise CaptureError(
            f"The node's folder {folder} belongs to somebody else: set {NODE_DIR} where the node is started."
        )
    return folder


def shard_folder(study: str, configuration: str, shard: Shard) -> Path:
    """Return where a shard lies on this node: the folder of a small study."""
    return node_folder() / study[:32] / configuration / f"{shard.number}-of-{shard.of}"


def run_shard(
    task: ShardTask,
    frozen_files: dict[str, bytes],
    study_files: dict[str, bytes],
    admit: Callable[[str], bool],
    report: Callable[[Progress], None],
) -> Outcome:
    """Send what is missing of a shard, once it is admitted.

    Parameters
    ----------
    frozen_files, study_files : dict
        The study's frozen folder, and what else of its folder the configuration needs.
    admit : callable
        Says of a token, once, that its task may begin.
    report : callable
        Is shown how far the shard is.
    """
    admitted = False
    try:
        if task.version != __version__:
            raise UsageError(
                f"The node has darkcurrent {__version__} and the driver {task.version}: install one version on both."
            )
        folder = shard_folder(task.study, task.configuration, task.shard)
        with only_writer(folder, task.configuration):
            frozen = _frozen(folder, frozen_files)
            if frozen.study_digest != task.study:
                raise IntegrityError(
                    f"The node has another study in {folder / 'frozen'}: remove that folder."
                )
            for name, data in study_files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)
            configuration = next(c for c in frozen.protocol.configuration if c.name == task.configuration)
            _check_end(journal_path(folder, task.configuration), task)
            admitted = admit(task.token)
            if not admitted:
                raise CaptureError(
                    f"Shard {task.shard} of `{task.configuration}` was begun already: it is sent once."
                )
            capture_locked(folder, frozen, configuration, _now_and_then(report), shard=task.shard)
    except (DarkcurrentError, KeyboardInterrupt) as error:
        # Admitted and without a journal, nothing was sent. One that was not admitted may be the second of two: whether
        # another has begun, the desk alone knows. Another kind of error says nothing, and counts as begun.
        began = not admitted or journal_path(folder, task.configuration).exists()
        return Outcome(began, _plain(error) if isinstance(error, DarkcurrentError) else None)
    return Outcome(True)


def _frozen(folder: Path, files: dict[str, bytes]) -> Frozen:
    if not (folder / "frozen").exists():
        write_whole(folder / "frozen", files)
    return load_frozen(folder / "frozen")


def _check_end(journal: Path, task: ShardTask) -> None:
    """Make sure that the shard goes on exactly where the driver knows it to end."""
    found = end_of(journal) if journal.exists() else None
    if found != task.end:
        raise IntegrityError(
            f"The node's journal {journal} has {found[0] if found else 0} rows and the driver knows of "
            f"{task.end[0] if task.end else 0}: another study folder has sent this shard, or the node's disk was set back."
        )


def _now_and_then(report: Callable[[Progress], None]) -> Callable[[Progress], None]:
    """Return a reporter that is not called for every call."""
    last = 0.0

    def show(progress: Progress) -> None:
        nonlocal last
        if progress.done == progress.total or time.monotonic() - last >= _REPORT_SECONDS:
            last = time.monotonic()
            report(progress)

    return show


def _plain(error: DarkcurrentError) -> DarkcurrentError:
    """Return an error that travels: some of ours are made of more than their sentence."""
    kinds = {kind.exit_code: kind for kind in (UsageError, CaptureError, IntegrityError)}
    return kinds.get(error.exit_code, DarkcurrentError)(f"{error} (on node {platform.node()})")


def ends_on_node(study: str, configuration: str, shards: list[Shard]) -> dict[Shard, End]:
    """Return where the journals of shards on this node end, for those that it has."""
    journals = {
        shard: journal_path(shard_folder(study, configuration, shard), configuration) for shard in shards
    }
    return {shard: end_of(journal) for shard, journal in journals.items() if journal.exists()}


def copy_on_node(study: str, configuration: str, shard: Shard) -> bytes:
    """Return the journal of a shard on this node.

    Raises
    ------
    JournalLockedError
        Where its task still runs.
    """
    folder = shard_folder(study, configuration, shard)
    with only_writer(folder, configuration):
        return copy_of(journal_path(folder, configuration))
