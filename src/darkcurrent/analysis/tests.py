"""The randomization tests, where a schedule stored what it assigned at random."""

from __future__ import annotations

from darkcurrent.declared import Declared
from darkcurrent.results import FamilyResult

__all__ = ["evaluate_tests"]

_UNASSIGNED = (
    "the order of the calls is by hash: no random assignment is stored, so that nothing says what could have been "
    "assigned otherwise"
)


def evaluate_tests(declared: Declared) -> list[FamilyResult]:
    """Say of each family of randomization tests why this schedule gives none."""
    families = ["order and criterion x order"]
    if len(declared.criteria) > 1:
        families = ["criterion", *families, "clone-criterion"]
    return [
        FamilyResult(
            configuration=name, family=family, gate="NOT GRADED", reason=declared.ungraded or _UNASSIGNED
        )
        for name in declared.configurations
        for family in families
    ]
