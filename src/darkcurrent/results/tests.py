"""The results of randomization tests."""

from __future__ import annotations

from pydantic import Field

from darkcurrent.gates import Gate
from darkcurrent.records import Record

__all__ = ["FamilyResult", "RandomizationTestResult"]


class RandomizationTestResult(Record):
    """One contrast of one configuration, against all assignments that could have been drawn.

    Attributes
    ----------
    contrast : str
        `criterion`, `order` or `criterion x order`.
    criteria, orders : tuple of str, or None
        What is contrasted: the first minus the second.
    units : int
        Comparisons that were assigned.
    statistic : float or None
        Mean over them; None where there is no test.
    p, p_holm : float or None
        Two-sided; adjusted over the family, which runs over all configurations of the study.
    method, draws, seed : str, int, int, or None
        How p was found.
    degenerate, remark : str or None
        Why the test cannot reject; what there is to say on it or on the method.
    outcome : str
        What is counted of a call, also of an invalid one.
    null, conditional_on, does_not_identify : str
        What is tested, what is taken as given, and what neither a small nor a large p shows.
    """

    contrast: str
    criteria: tuple[str, str] | None
    orders: tuple[str, str] | None
    units: int
    statistic: float | None
    p: float | None
    p_holm: float | None
    method: str | None
    draws: int | None
    seed: int | None
    degenerate: str | None
    remark: str | None
    outcome: str
    null: str
    conditional_on: str
    does_not_identify: str


class FamilyResult(Record):
    """One family of randomization tests of one configuration.

    Attributes
    ----------
    family : str
        `criterion`, `order and criterion x order`, or `clone-criterion`.
    gate : str or None
        `HOLD` or `NOT GRADED` where there is no test; else None, for a test has no threshold of its own.
    reason : str or None
        Why there is none.
    tests : list of RandomizationTestResult
        Empty where there is none.
    """

    configuration: str
    family: str
    gate: Gate | None
    reason: str | None
    tests: list[RandomizationTestResult] = Field(default_factory=list)
