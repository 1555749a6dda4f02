"""The chance to pass each gate, by what is true of the judge; see `darkcurrent.stats.power`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from darkcurrent.gates import HOLM_LEVEL
from darkcurrent.protocol import Protocol
from darkcurrent.records import Call
from darkcurrent.stats import clone_allowed, clone_power, clone_smallest_n, utility_power

__all__ = ["CellChances", "Truth", "chances", "family_of"]

RATES = (0.0, 0.001, 0.005, 0.01, 0.02, 0.05)
MEANS = (0.75, 0.8, 0.85, 0.9, 0.95)
"""The true rates of adverse clones, and of right choices, that are always shown."""

REPETITIONS = 400
"""Simulated studies for each mean, where there are several strata: the standard error is at most .025."""


@dataclass(frozen=True)
class Truth:
    """What is supposed to be true of a judge.

    Attributes
    ----------
    adverse : float
        The rate at which it does not tie a clone, in [0, 1].
    utility : float
        The rate at which it chooses the target, in [0, 1].
    correlation : float
        Between an item's two orders: 0 for independent ones, 1 where both always agree.
    """

    adverse: float
    utility: float
    correlation: float = 0.0


@dataclass(frozen=True)
class CellChances:
    """What a cell of a study can pass.

    Attributes
    ----------
    clones, signals : int
        Items with a core clone, and with a target.
    strata : int
        Strata of the signal items.
    family : int
        Cells that Holm's adjustment runs over.
    clone_allowed : int or None
        The most adverse clones with which the gate is passed; None where none are enough.
    clone_smallest : int or None
        The fewest clones with which a cell can pass at all; None where the gate has no threshold.
    clone, utility : dict
        True rate to the chance to pass; empty where the gate has no threshold or nothing is shown for it.
    method : str or None
        How the second was computed.
    """

    clones: int
    signals: int
    strata: int
    family: int
    clone_allowed: int | None
    clone_smallest: int | None
    clone: dict[float, float]
    utility: dict[float, float]
    method: str | None


def family_of(protocol: Protocol) -> int:
    """Return how many cells share Holm's adjustment."""
    cells = len(protocol.criteria)
    return cells * len(protocol.configuration) if protocol.gates.clone_family == "study" else cells


def chances(protocol: Protocol, calls: Sequence[Call], truth: Truth) -> CellChances:
    """Return the chance of one cell to pass each gate.

    Parameters
    ----------
    calls : sequence of Call
        One configuration's schedule; all cells of a study show the same items.
    truth : Truth
        Its rates are shown beside the usual ones.

    Notes
    -----
    Both are computed by `darkcurrent.stats.clone_power` and `utility_power`, which name their formulas: the binomial
    tail at the most adverse clones allowed, with Holm's largest factor; and the law of the bootstrap's lower bound.
    """
    criterion = calls[0].criterion if calls else ""
    own = [call for call in calls if call.criterion == criterion and call.context != "present"]
    clones = len({call.item for call in own if call.null_stratum == "core"})
    signals = {call.item: call.stratum for call in own if call.arm == "signal"}
    sizes = list(Counter(signals.values()).values())
    family = family_of(protocol)
    p0, least = protocol.gates.clone_threshold, protocol.gates.utility_threshold
    rates, means = sorted({*RATES, truth.adverse}), sorted({*MEANS, truth.utility})
    clone: dict[float, float] = {}
    utility: dict[float, float] = {}
    allowed = smallest = method = None
    if p0 is not None:
        smallest = clone_smallest_n(0, p0, family, alpha=HOLM_LEVEL)
        allowed = clone_allowed(clones, p0, family, alpha=HOLM_LEVEL)
        if clones:
            found = clone_power(clones, rates, p0, family, alpha=HOLM_LEVEL)
            clone = dict(zip(found.rates, found.power, strict=True))
    if least is not None and sizes:
        law = utility_power(
            sizes,
            means,
            truth.correlation,
            least,
            weights=protocol.analysis.weights,
            repetitions=REPETITIONS,
        )
        utility, method = dict(zip(law.means, law.power, strict=True)), law.method
    return CellChances(clones, len(signals), len(sizes), family, allowed, smallest, clone, utility, method)
