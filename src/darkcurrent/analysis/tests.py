"""The randomization tests, where a schedule stored what it assigned at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from darkcurrent.analysis.frames import of, success
from darkcurrent.declared import Declared
from darkcurrent.gates import HELD, Gate
from darkcurrent.results import FamilyResult, RandomizationTestResult
from darkcurrent.schedules import ArmAssignment, StoredAssignment
from darkcurrent.stats import holm
from darkcurrent.stats.randomization import Assignment, RandomizationResult, randomization_test

__all__ = ["DRAWS", "Contrast", "evaluate_tests", "randomized"]

DRAWS = 99_999
"""Draws where the law of a contrast is too large to be computed."""

_UNASSIGNED = "the schedule `{kind}` stores no random assignment, so that nothing says what could have been assigned otherwise"
_CONDITIONAL = (
    "the items, their order, and which arm each of them was shown in at each of its places; and, in each cohort, how "
    "often each sequence was used"
)
_OUTCOMES: dict[str, str] = {
    "signal": "1 where the target was chosen; 0 for a tie, a wrong choice and an invalid answer",
    "clone": "1 where the answer was no tie, an invalid answer included; 0 for a tie",
}

_TOGETHER = "an item has several pairs here, whose sequences were drawn together: the pairs are no units of the assignment"

_Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Contrast:
    """What is contrasted, and over which calls."""

    arm: Literal["signal", "clone"]
    criteria: _Pair | None = None
    orders: _Pair | None = None


def evaluate_tests(declared: Declared, ledger: pl.DataFrame, held: set[str]) -> list[FamilyResult]:
    """Test every configuration that may be evaluated, and say of every other one why it is not tested.

    A family runs over all configurations of the study. One without tests, because it is held, stays in the size
    of its families, so that it makes no other one's adjusted p smaller.
    """
    found: list[FamilyResult] = []
    for family, contrasts in _families(declared.criteria).items():
        arm = _arm_of(declared.assignment, contrasts[0].arm)
        untested = {
            name: _why_not(declared, name in held, contrasts[0].arm, arm) for name in declared.configurations
        }
        tests = {
            (name, number): randomized(of(ledger, configuration=name), arm, contrast, declared.method.seed)
            if arm is not None and untested[name] is None
            else None
            for name in declared.configurations
            for number, contrast in enumerate(contrasts)
        }
        adjusted = dict(
            zip(tests, holm(None if test is None else test.p for test in tests.values()), strict=True)
        )
        for name, why in untested.items():
            gate, reason = why or (None, None)
            own = [
                _record(test, contrasts[number], adjusted[configuration, number])
                for (configuration, number), test in tests.items()
                if configuration == name and test is not None
            ]
            found.append(FamilyResult(configuration=name, family=family, gate=gate, reason=reason, tests=own))
    return sorted(found, key=lambda result: declared.configurations.index(result.configuration))


def randomized(calls: pl.DataFrame, arm: ArmAssignment, contrast: Contrast, seed: int) -> RandomizationResult:
    """Test one contrast of one configuration's calls, all of which ended."""
    outcome = success() if contrast.arm == "signal" else pl.col("value").ne_missing("tie")
    # The roles that order AB shows in A and B name the comparison.
    turned = pl.col("order") == "BA"
    rows = (
        of(calls, arm=arm.arm)
        .filter(pl.col("context").is_null(), pl.col("null_stratum").eq_missing(arm.null_stratum))
        .sort("position")
        .with_columns(
            u=pl.when(turned).then("slot_b").otherwise("slot_a"),
            v=pl.when(turned).then("slot_a").otherwise("slot_b"),
            outcome=outcome.cast(pl.Int8),
        )
        .group_by("item", "u", "v", maintain_order=True)
        .agg("outcome")
    )
    outcomes = {(item, u, v): values for item, u, v, values in rows.iter_rows()}
    assignment = Assignment(
        treatments=arm.treatments,
        sequences=arm.sequences,
        drawn=[drawn.sequence for drawn in arm.drawn],
        cohorts=[drawn.cohort for drawn in arm.drawn],
    )
    return randomization_test(
        [outcomes[drawn.item, drawn.u, drawn.v] for drawn in arm.drawn],
        assignment,
        contrast.criteria,
        contrast.orders,
        draws=DRAWS,
        seed=seed,
    )


def _families(criteria: Sequence[str]) -> dict[str, list[Contrast]]:
    """Return the contrasts of each family: every further criterion against the first declared one."""
    base, *others = criteria
    pairs = [(criterion, base) for criterion in others]
    families = {
        "criterion": [Contrast("signal", criteria=pair) for pair in pairs],
        "order and criterion x order": [
            Contrast("signal", orders=("AB", "BA")),
            *(Contrast("signal", criteria=pair, orders=("BA", "AB")) for pair in pairs),
        ],
        "clone-criterion": [Contrast("clone", criteria=pair) for pair in pairs],
    }
    return {family: contrasts for family, contrasts in families.items() if contrasts}


def _arm_of(assignment: StoredAssignment | None, arm: Literal["signal", "clone"]) -> ArmAssignment | None:
    """Return what was drawn for the arm that is tested: signal pairs without a third candidate, or core clones."""
    stratum = "core" if arm == "clone" else None
    return next(
        (
            own
            for own in (assignment.arms if assignment else ())
            if (own.arm, own.null_stratum, own.context) == (arm, stratum, None)
        ),
        None,
    )


def _why_not(declared: Declared, held: bool, name: str, arm: ArmAssignment | None) -> tuple[Gate, str] | None:
    """Return why there is no test; None where there is one."""
    if declared.ungraded:
        return "NOT GRADED", declared.ungraded
    if declared.assignment is None:
        return "NOT GRADED", _UNASSIGNED.format(kind=declared.schedule)
    if held:
        return "HOLD", HELD
    if arm is None:
        return (
            "NOT GRADED",
            f"the battery has no {'signal pairs outside of a context' if name == 'signal' else 'core clones'}",
        )
    if declared.schedule == "carryover" and len({drawn.item for drawn in arm.drawn}) < len(arm.drawn):
        return "NOT GRADED", _TOGETHER
    return None


def _record(result: RandomizationResult, contrast: Contrast, p_holm: float | None) -> RandomizationTestResult:
    return RandomizationTestResult(
        contrast=result.contrast,
        criteria=contrast.criteria,
        orders=contrast.orders,
        units=result.n,
        statistic=result.statistic,
        p=result.p,
        p_holm=p_holm,
        method=result.method,
        draws=result.draws,
        seed=result.seed,
        degenerate=result.degenerate,
        remark=result.reason,
        outcome=_OUTCOMES[contrast.arm],
        null=result.null,
        conditional_on=_CONDITIONAL,
        does_not_identify=result.does_not_identify,
    )
