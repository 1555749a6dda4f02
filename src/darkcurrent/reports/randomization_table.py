"""The table of the randomization tests."""

from __future__ import annotations

from darkcurrent.reports.numbers import number
from darkcurrent.reports.table import Table
from darkcurrent.results import Analysis, RandomizationTestResult

__all__ = ["randomization_table"]


def randomization_table(analysis: Analysis) -> Table:
    """Return a row for each test; none where the schedule stored no assignment."""
    rows = tuple(
        (
            family.configuration,
            _contrast(test),
            family.family,
            str(test.units),
            number(test.statistic),
            number(test.p),
            number(test.p_holm),
            _method(test),
        )
        for family in analysis.tests
        for test in family.tests
    )
    note = (
        "Could the stored random assignment alone give a contrast as large? Statistic: the first level minus the second, mean "
        "over items. A small p speaks against the null of the whole schedule, not for one cause: carry-over and drift of one "
        "treatment can bring it about. A large p does not show that there is no effect."
    )
    columns = ("configuration", "contrast", "family", "items", "statistic", "p", "Holm p", "method")
    return Table("randomization", "Randomization tests", note, columns, rows, left=3)


def _contrast(test: RandomizationTestResult) -> str:
    pairs = [f"{first} - {second}" for first, second in filter(None, (test.criteria, test.orders))]
    return pairs[0] if len(pairs) == 1 else " x ".join(f"({pair})" for pair in pairs)


def _method(test: RandomizationTestResult) -> str:
    return f"{test.draws:,} draws" if test.draws else "exact"
