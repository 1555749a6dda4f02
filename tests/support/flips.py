"""Flip one byte of an archive at a time, anywhere in it: `make flips` does so 10,000 times."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Mapping

from darkcurrent.archive.verify import verify_files
from darkcurrent.errors import DarkcurrentError
from support.archives import files_of

__all__ = ["flips_noticed"]


def flips_noticed(files: Mapping[str, bytes], seed: int, count: int) -> int:
    """Flip so many bytes, each in a whole archive, at places from a seed; return how many flips `verify` notices."""
    stream = random.Random(seed)
    names = sorted(files)
    sizes = [len(files[name]) for name in names]
    noticed = 0
    for _ in range(count):
        (name,) = stream.choices(names, sizes)
        spoiled = bytearray(files[name])
        spoiled[stream.randrange(len(spoiled))] ^= stream.randrange(1, 256)
        try:
            verify_files({**files, name: bytes(spoiled)})
        except DarkcurrentError:
            noticed += 1
    return noticed


def main() -> None:
    """Flip as many bytes as the command line says and print how many were noticed."""
    count = int(sys.argv[1])
    files = files_of()
    started = time.perf_counter()
    noticed = flips_noticed(files, 20261201, count)
    size = sum(map(len, files.values()))
    seconds = time.perf_counter() - started
    sys.stdout.write(f"{noticed} of {count} flips noticed, in an archive of {size} bytes; {seconds:.1f} s\n")
    sys.exit(noticed != count)


if __name__ == "__main__":
    main()
