"""Writing what a person asked for: whole files, and one clear sentence where that cannot be."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from darkcurrent.errors import UsageError

__all__ = ["write_file", "write_files"]


def write_files(folder: Path, files: Iterable[tuple[str, bytes]]) -> list[Path]:
    """Write files by their names into a folder, which is made if need be, and return their paths.

    Raises
    ------
    UsageError
        Where nothing can be written there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be a folder to write to ({error.strerror}): name another one."
        ) from error
    written = []
    for name, data in files:
        write_file(folder / name, data)
        written.append(folder / name)
    return written


def write_file(path: Path, content: str | bytes) -> None:
    """Put a file in its place in one step, so that nobody reads half of it.

    Raises
    ------
    UsageError
        Where it cannot be written.
    """
    temporary = path.parent / f".{path.name}.{os.getpid()}"
    try:
        try:
            temporary.write_bytes(content if isinstance(content, bytes) else content.encode())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written ({error.strerror}): choose a folder with room that you may write to."
        ) from error
