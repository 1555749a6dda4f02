"""Tests of what may not be read or written, also where they are run by root."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_privileges"]


@contextmanager
def without_privileges() -> Iterator[None]:
    """Give up the right to write everywhere that root has, for a while; for everybody else it changes nothing."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if was == 0:
            os.seteuid(0)
