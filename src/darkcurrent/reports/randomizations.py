"""The table of the randomization tests."""

from __future__ import annotations

from darkcurrent.reports.numbers import number
from darkcurrent.reports.table import Table
from darkcurrent.results import Analysis

__all__ = ["randomization_table"]


def randomization_table(analysis: Analysis) -> Table:
    """Return a row for each test, and one with its reason for each family that has none."""
    rows: list[tuple[str, ...]] = []
    for family in analysis.tests:
        names = (family.configuration, family.family)
        if not family.tests:
            rows.append((*names, "–", "–", "–", "–", "–", f"{family.gate}: {family.reason}"))
        for test in family.tests:
            contrast = ", ".join(
                (test.contrast, *(" − ".join(pair) for pair in (test.criteria, test.orders) if pair))
            )
            drawn = f"{test.method}, {test.draws} draws" if test.draws else f"{test.method}"
            said = "; ".join(filter(None, (drawn if test.method else "", test.degenerate, test.remark)))
            rows.append(
                (
                    *names,
                    contrast,
                    str(test.units),
                    number(test.statistic),
                    number(test.p),
                    number(test.p_holm),
                    said or "–",
                )
            )
    note = (
        "Could the assignment that was drawn explain the difference? Against the sharp null that a call's outcome depends on "
        "its place in the schedule alone; two-sided, Holm-adjusted within the family over all configurations. Statistic: the "
        "first level minus the second, mean over items. A small p names no single cause: carry-over and drift can bring it "
        "about. A large one does not show that there is no effect."
    )
    columns = ("configuration", "family", "contrast", "units", "statistic", "p", "Holm p", "result")
    return Table("tests", "Randomization tests", note, columns, tuple(rows), left=3)
