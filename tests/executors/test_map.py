"""One small interface for heavy computations, on this machine and on a cluster."""

from __future__ import annotations

import math

import pytest

from darkcurrent.executors import Executor, LocalExecutor


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_the_order_of_the_arguments(processes):
    executor: Executor = LocalExecutor(processes)
    assert executor.map(math.factorial, range(5)) == [1, 1, 2, 6, 24]
    assert executor.map(math.factorial, []) == []


def test_an_error_of_the_function_is_the_callers():
    with pytest.raises(ValueError, match="not defined for negative"):
        LocalExecutor(2).map(math.factorial, [3, -1])
