"""Reading and writing the files of an archive: a folder, a `.zip`, or a `.tar.zst`.

A stranger's archive is read into memory and nothing of it is unpacked to disk. Of each member only its name is
looked at until that is found in the closed list of `layout`; then at most so many bytes are read as that list
allows, whatever the member says of its size.
"""

from __future__ import annotations

import io
import os
import stat
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import IO, Any, Final

from darkcurrent.archive.layout import LARGEST_TOTAL, LIMITS
from darkcurrent.errors import IntegrityError, UsageError
from darkcurrent.protocol.freeze import write_whole

__all__ = ["read_files", "write_files"]

_MOST_MEMBERS: Final = 100
"""Files and folders of a container; an archive has fewer than forty."""

_OVERHEAD: Final = 1 << 20
"""Bytes that the headers of one member of a tar may have, and that may be read ahead of it."""

_WINDOW: Final = 1 << 27
"""The most memory that unpacking Zstandard may ask for: 128 MiB, the default of its own program."""


def read_files(path: Path) -> dict[str, bytes]:
    """Return every file of an archive by its name.

    Raises
    ------
    UsageError
        Where there is nothing of the kind at `path`.
    IntegrityError
        Where a member is no plain file, has a name that an archive does not have, comes twice, or is larger than
        it may be; or where the container is damaged.
    """
    intake = _Intake()
    if not path.is_dir() and not path.is_file():
        raise UsageError(f"There is no archive at {path}: name a folder, a .zip or a .tar.zst.")
    try:
        if path.is_dir():
            _read_folder(path, intake)
        else:
            with path.open("rb") as handle:
                _read_packed(path, handle, intake)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).") from error
    return intake.files


class _Intake:
    """Takes the members of a container one by one, as long as they are those of an archive."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self._room = LARGEST_TOTAL
        self._seen = 0

    def count(self) -> None:
        """Take note of a member, whatever it is."""
        self._seen += 1
        if self._seen > _MOST_MEMBERS:
            raise IntegrityError(f"The archive has more than {_MOST_MEMBERS} members.")

    def most(self, name: str) -> int:
        """Return how many bytes a member may have; refuse a name that an archive does not have."""
        if name not in LIMITS:
            raise IntegrityError(f"{_shown(name)} is no file of an archive: it was added, or this is none.")
        if name in self.files:
            raise IntegrityError(f"{name} is there twice.")
        return min(LIMITS[name], self._room)

    def take(self, name: str, handle: IO[bytes]) -> None:
        """Read a member."""
        most = self.most(name)
        data = handle.read(most + 1)
        if len(data) > most:
            raise IntegrityError(f"{name} is larger than the {most} bytes that it may have.")
        self._room -= len(data)
        self.files[name] = data


def _read_folder(folder: Path, intake: _Intake) -> None:
    waiting = [(folder, "")]
    while waiting:
        place, prefix = waiting.pop()
        with os.scandir(place) as entries:
            for entry in entries:
                intake.count()
                name = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    _check_folder(name)
                    waiting.append((place / entry.name, f"{name}/"))
                    continue
                if not entry.is_file(follow_symlinks=False):
                    raise _no_plain_file(name)
                intake.most(name)
                # Opened without following a link that was put there meanwhile, and without waiting for a pipe.
                descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                with os.fdopen(descriptor, "rb") as handle:
                    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                        raise _no_plain_file(name)
                    intake.take(name, handle)


def _read_packed(path: Path, handle: IO[bytes], intake: _Intake) -> None:
    head = handle.read(4)
    handle.seek(0)
    if head == b"PK\x03\x04":
        _read_zip(handle, intake)
    elif head == b"\x28\xb5\x2f\xfd":
        _read_tar(handle, intake)
    else:
        raise UsageError(f"{path} is no archive: it is neither a folder nor a .zip nor a .tar.zst.")


def _read_zip(handle: IO[bytes], intake: _Intake) -> None:
    try:
        with zipfile.ZipFile(handle) as container:
            members = container.infolist()
            top = _top(members[0].filename) if members else ""
            for member in members:
                intake.count()
                name = member.filename.removeprefix(top)
                if member.is_dir():
                    _check_folder(name.rstrip("/"))
                    continue
                if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
                    raise _no_plain_file(name)
                if member.flag_bits & 1:
                    raise IntegrityError(f"{_shown(name)} is encrypted.")
                if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise IntegrityError(f"{_shown(name)} is packed by a method other than deflate.")
                intake.most(name)
                with container.open(member) as inner:
                    intake.take(name, inner)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OSError) as error:
        raise _damaged("zip", error) from error


def _read_tar(handle: IO[bytes], intake: _Intake) -> None:
    zstd = _zstd()

    limits: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW.bit_length() - 1}
    try:
        with zstd.ZstdFile(handle, options=limits) as reader:
            bounded = _Bounded(reader)
            top = None
            with tarfile.open(fileobj=bounded, mode="r|") as container:
                while (member := container.next()) is not None:
                    intake.count()
                    top = _top(member.name) if top is None else top
                    name = member.name.removeprefix(top)
                    if member.isdir():
                        _check_folder(name.rstrip("/"))
                        continue
                    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
                        raise _no_plain_file(name)
                    bounded.room = intake.most(name) + _OVERHEAD
                    inner = container.extractfile(member)
                    assert inner is not None  # a plain file has its bytes
                    intake.take(name, inner)
                    bounded.room = _OVERHEAD
    except (tarfile.TarError, zstd.ZstdError, EOFError, ValueError, OSError, RecursionError) as error:
        raise _damaged("tar.zst", error) from error


def _zstd() -> ModuleType:
    """Return the library for `.tar.zst`; Python has it from 3.14 on."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


class _Bounded(io.RawIOBase):
    """A stream that ends in an error rather than go on for ever: `room` is how many bytes may still be read."""

    def __init__(self, inner: IO[bytes] | io.BufferedIOBase) -> None:
        self._inner = inner
        self.room = _OVERHEAD

    def read(self, size: int = -1, /) -> bytes:
        data = self._inner.read(size)
        self.room -= len(data)
        if self.room < 0:
            raise IntegrityError("The tar unpacks to more bytes than its members may have.")
        return data


def _top(first: str) -> str:
    """Return the one folder that packed files lie in, with its slash; an empty text where they lie in none."""
    folder = first.partition("/")[0]
    return "" if folder in ("", "..", "data") or folder in LIMITS else f"{folder}/"


def _check_folder(name: str) -> None:
    if name and not any(file.startswith(f"{name}/") for file in LIMITS):
        raise IntegrityError(f"{_shown(name)} is no folder of an archive.")


def _no_plain_file(name: str) -> IntegrityError:
    return IntegrityError(f"{_shown(name)} is no plain file: an archive holds no links, devices or pipes.")


def _damaged(kind: str, error: Exception) -> IntegrityError:
    return IntegrityError(f"The {kind} is damaged ({ascii(str(error))[:200]}): get another copy.")


def _shown(name: str) -> str:
    return name if len(name) < 100 and name.isascii() and name.isprintable() else ascii(name[:100])


def write_files(path: Path, files: Mapping[str, bytes]) -> None:
    """Write an archive; its form follows from the end of the name, `.zip`, `.tar.zst`, or none for a folder.

    Raises
    ------
    UsageError
        Where there is something already, or it cannot be written.
    """
    if os.path.lexists(path):
        raise UsageError(f"{path} exists already and is never overwritten: name another place.")
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent} is no folder: make it first, or name another place.")
    if path.name.endswith((".zip", ".tar.zst")):
        top = path.name.removesuffix(".zip").removesuffix(".tar.zst")
        packed = (_zip if path.name.endswith(".zip") else _tar)(
            {f"{top}/{name}": files[name] for name in sorted(files)}
        )
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            try:
                draft.write_bytes(packed)
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(f"{path} cannot be written ({error.strerror}): choose another place.") from error
    elif path.suffix in (".tar", ".gz", ".tgz", ".zst", ".7z", ".xz", ".bz2"):
        raise UsageError(
            f"{path.name} is a form that is not written: end the name with .zip or .tar.zst, or name a folder."
        )
    else:
        write_whole(path, dict(files))


def _zip(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as container:
        for name, data in files.items():
            member = zipfile.ZipInfo(name)  # the date of the format's first day, not that of the machine
            member.external_attr = (stat.S_IFREG | 0o644) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            container.writestr(member, data)
    return buffer.getvalue()


def _tar(files: Mapping[str, bytes]) -> bytes:
    zstd = _zstd()

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as container:
        for name, data in files.items():
            member: Any = tarfile.TarInfo(name)  # no owner and no date
            member.size = len(data)
            container.addfile(member, io.BytesIO(data))
    return bytes(zstd.compress(buffer.getvalue(), level=10))
