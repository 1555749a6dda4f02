"""Processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

__all__ = ["LocalExecutor"]

A = TypeVar("A")
R = TypeVar("R")


class LocalExecutor:
    """Computes in processes, or, with one, in this one.

    Parameters
    ----------
    processes : int or None
        How many; None is one for each core that this process may use.

    Examples
    --------
    >>> LocalExecutor(1).map(abs, [-2, 3])
    [2, 3]
    """

    def __init__(self, processes: int | None = None) -> None:
        self._processes = processes or len(os.sched_getaffinity(0))

    def map(self, function: Callable[[A], R], arguments: Iterable[A]) -> list[R]:
        """Return what a function gives for each argument, in their order."""
        arguments = list(arguments)
        processes = min(self._processes, len(arguments))
        if processes <= 1:
            return list(map(function, arguments))
        # A fork of a process with threads (polars has some) may never wake up.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(processes, mp_context=context) as pool:
            return list(pool.map(function, arguments))
