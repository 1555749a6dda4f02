"""One writer per campaign: where its journal lies, who holds it, and whether anybody does."""

from __future__ import annotations

import fcntl
import os
import platform
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from darkcurrent.errors import CaptureError, JournalLockedError

__all__ = ["is_running", "journal_path", "only_writer"]

_PATIENCE_SECONDS = 0.3
"""So long a writer tries: `is_running` holds the lock for a moment, too."""


def journal_path(study: Path, configuration: str) -> Path:
    """Return where the journal of a configuration lies."""
    return study / "journal" / f"{configuration}.sqlite"


@contextmanager
def only_writer(study: Path, configuration: str) -> Iterator[None]:
    """Hold the campaign's lock, and say beside it who holds it; the system frees the lock whatever ends us."""
    path = journal_path(study, configuration)
    holder = path.with_suffix(".holder")
    with ExitStack() as held:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(FileLock(path.with_suffix(".lock"), timeout=_PATIENCE_SECONDS))
            since = datetime.now(UTC).isoformat(timespec="seconds")
            holder.write_text(f"process {os.getpid()} on {platform.node()}, since {since}", encoding="utf-8")
        except Timeout as error:
            who = ""
            with suppress(OSError):  # it may have ended just now
                who = f" ({holder.read_text(encoding='utf-8')})"
            raise JournalLockedError(
                f"configuration `{configuration}` is being captured by another process{who}: "
                "wait until it ends, or stop it."
            ) from error
        except OSError as error:
            raise CaptureError(
                f"{path.parent} cannot be written ({error.strerror}): make room or grant access, then run again."
            ) from error
        held.callback(holder.unlink, missing_ok=True)
        yield


def is_running(study: Path, configuration: str) -> bool:
    """Say whether a process captures a configuration right now."""
    try:
        descriptor = os.open(journal_path(study, configuration).with_suffix(".lock"), os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
