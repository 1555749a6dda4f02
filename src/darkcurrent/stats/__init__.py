"""The arithmetic of an audit: pure functions of numbers, without input or output.

What a number is conditional on, and what it does not show, stands in each function's Notes.
"""

from __future__ import annotations

from darkcurrent.stats.binomial import CloneResult, clone_tail, clone_test, clopper_pearson_upper
from darkcurrent.stats.bootstrap import (
    DEFAULT_SEED,
    BootstrapResult,
    StratumMean,
    bootstrap,
    bootstrap_difference,
)
from darkcurrent.stats.conservative import ConservativeBound, conservative_lower
from darkcurrent.stats.holm import holm
from darkcurrent.stats.joint import joint_resampling, percentile
from darkcurrent.stats.power import (
    ClonePower,
    UtilityPower,
    clone_allowed,
    clone_detectable_rate,
    clone_power,
    clone_smallest_n,
    utility_power,
)
from darkcurrent.stats.randomization import (
    Assignment,
    RandomizationResult,
    randomization_family,
    randomization_test,
)

__all__ = [
    "DEFAULT_SEED",
    "Assignment",
    "BootstrapResult",
    "ClonePower",
    "CloneResult",
    "ConservativeBound",
    "RandomizationResult",
    "StratumMean",
    "UtilityPower",
    "bootstrap",
    "bootstrap_difference",
    "clone_allowed",
    "clone_detectable_rate",
    "clone_power",
    "clone_smallest_n",
    "clone_tail",
    "clone_test",
    "clopper_pearson_upper",
    "conservative_lower",
    "holm",
    "joint_resampling",
    "percentile",
    "randomization_family",
    "randomization_test",
    "utility_power",
]
