"""What heavy analysis needs of a place to compute."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

__all__ = ["Executor"]

A = TypeVar("A")
R = TypeVar("R")


class Executor(Protocol):
    """Computes a function of many arguments, wherever that is."""

    def map(self, function: Callable[[A], R], arguments: Iterable[A]) -> list[R]:
        """Return what a function gives for each argument, in their order.

        Parameters
        ----------
        function : callable
            Of a module, and a pure one: it may be called again where a process is lost.
        """
