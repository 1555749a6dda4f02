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

__all__ = [
    "DEFAULT_SEED",
    "BootstrapResult",
    "CloneResult",
    "ConservativeBound",
    "StratumMean",
    "bootstrap",
    "bootstrap_difference",
    "clone_tail",
    "clone_test",
    "clopper_pearson_upper",
    "conservative_lower",
    "holm",
]
