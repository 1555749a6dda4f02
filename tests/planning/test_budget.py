"""The sharing of calls, against every sharing there is."""

from __future__ import annotations

from functools import cache

import pytest

from darkcurrent.errors import UsageError
from darkcurrent.planning import Truth, best_allocation
from darkcurrent.stats import clone_power, utility_power


def of_all(calls, truth, family):
    """Return the largest smaller chance over every number of clones and contrasts."""

    @cache
    def passing(signals):
        return utility_power(signals, [truth.utility, 0.75], truth.correlation, 0.75).power

    return max(
        min(clone_power(clones, [truth.adverse], 0.05, family).power[0], passing(signals)[0])
        for clones in range(1, calls - 1)
        for signals in range(1, (calls - clones) // 2 + 1)
        if passing(signals)[1] <= 0.1
    )


@pytest.mark.parametrize(
    ("calls", "truth", "family"),
    [
        (110, Truth(0.0, 0.85), 1),
        (130, Truth(0.002, 0.9), 1),
        (150, Truth(0.01, 0.85), 1),
        (170, Truth(0.005, 0.85, 0.5), 4),
    ],
)
def test_no_other_sharing_is_better(calls, truth, family):
    best = best_allocation(calls, truth, 0.05, 0.75, family)
    assert best.calls == best.clones + 2 * best.signals <= calls
    assert best.clone == clone_power(best.clones, [truth.adverse], 0.05, family).power[0]
    assert best.utility == utility_power(best.signals, [truth.utility], truth.correlation, 0.75).power[0]
    assert min(best.clone, best.utility) == pytest.approx(of_all(calls, truth, family), abs=1e-12)


def test_more_calls_are_never_worse():
    truth = Truth(0.004, 0.85)
    chances = [
        min(found.clone, found.utility)
        for calls in range(120, 300, 60)
        for found in [best_allocation(calls, truth, 0.05, 0.75, 1)]
    ]
    assert chances == sorted(chances)


def test_too_many_calls_are_an_error_and_no_endless_search():
    with pytest.raises(UsageError, match="at most 5000 for a cell"):
        best_allocation(10**8, Truth(1.0, 0.99), 0.05, 0.75, 1)


@pytest.mark.parametrize("calls", [1, 60, 61, 62])
def test_too_few_calls_are_an_error_that_says_how_many_it_takes(calls):
    with pytest.raises(UsageError, match="the clone gate alone takes 59 clones"):
        best_allocation(calls, Truth(0.0, 0.99), 0.05, 0.75, 1)
