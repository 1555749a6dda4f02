"""What using each cell costs: the rates that a risk is made of, and what follows from them."""

from __future__ import annotations

from dataclasses import asdict

from pydantic import Field

from darkcurrent.records import Record
from darkcurrent.risk import FIRST_LOSSES

__all__ = [
    "BreakEven",
    "CallCounts",
    "CellRisk",
    "GridSummary",
    "LossTable",
    "Margin",
    "PairBreakEvens",
    "RateTable",
    "RiskResult",
    "Selection",
]


class CallCounts(Record):
    """Calls of one kind that ended, and what they said.

    Attributes
    ----------
    calls, invalid : int
        All, and those without a valid verdict.
    preference : int or None
        Those that chose a slot where neither text is better; None where one is.
    wrong, tie : int or None
        Those where one text is better; None where neither is.
    """

    calls: int
    invalid: int
    preference: int | None = None
    wrong: int | None = None
    tie: int | None = None


class RateTable(Record):
    """The fields of `darkcurrent.risk.Rates`: shares of calls."""

    false_preference: float
    invalid_clone: float
    wrong: float
    tie: float
    invalid_signal: float
    equivalent_preference: float | None
    invalid_equivalent: float | None


class LossTable(Record):
    """The fields of `darkcurrent.risk.Losses`."""

    pi_c: float
    lambda_c: float
    lambda_w: float
    lambda_t: float
    lambda_i: float
    pi_e: float
    lambda_e: float


class GridSummary(Record):
    """A cell in the 96 scenarios of the paper.

    Attributes
    ----------
    least, most : float
        Its smallest and its largest risk.
    best, shared : int
        Scenarios in which it alone, or it together with others, costs least of all cells with rates.
    """

    least: float
    most: float
    best: int
    shared: int


class CellRisk(Record):
    """One cell.

    Attributes
    ----------
    counts : dict
        By `clone` (core), `signal` and `equivalent` (certified ones only), for those that were asked.
    rates : RateTable or None
        None with a `reason`. They are observed shares, and no bounds.
    risk : float or None
        Expected loss in each call at the losses of the whole; None with a `reason`.
    grid : GridSummary or None
        None where there are no rates.
    """

    configuration: str
    criterion: str
    counts: dict[str, CallCounts]
    rates: RateTable | None = None
    risk: float | None = None
    grid: GridSummary | None = None
    reason: str | None = None


class BreakEven(Record):
    """Where two cells cost the same as one loss changes and the others stay.

    Attributes
    ----------
    value : float or None
        None with a `reason`.
    below, above : int or None
        Which costs less at smaller and larger values: 1 the first, 2 the second; None where neither does.
    """

    value: float | None
    below: int | None
    above: int | None
    reason: str | None = None


class PairBreakEvens(Record):
    """Two cells (configuration and criterion) and their break-evens, by the name of the loss."""

    first: tuple[str, str]
    second: tuple[str, str]
    break_evens: dict[str, BreakEven]


class RiskResult(Record):
    """The risk of a study.

    Attributes
    ----------
    losses : LossTable
        What the risks and break-evens are computed with. In `analysis.json` nobody declared it: it is what
        `darkcurrent.risk.first_losses` gives, a place to start from.
    cells : list of CellRisk
        All, in their order.
    pairs : list of PairBreakEvens
        Every two cells that have a risk; of more than 16, those of the 16 least risks.
    """

    losses: LossTable = LossTable(**asdict(FIRST_LOSSES))
    cells: list[CellRisk] = Field(default_factory=list)
    pairs: list[PairBreakEvens] = Field(default_factory=list)


class Margin(Record):
    """By how much another cell costs more than the one that costs least.

    Attributes
    ----------
    difference : float
        Its risk minus that of the chosen cell; 0 or more.
    interval : tuple of float
        Two-sided 95 % percentile interval of the difference, from paired resampling.
    remark : str or None
        What makes the interval say less than it seems to.
    """

    configuration: str
    criterion: str
    risk: float
    difference: float
    interval: tuple[float, float]
    remark: str | None = None


class Selection(Record):
    """The cell of least risk at some losses.

    Attributes
    ----------
    configuration, criterion, risk : str, str, float, or None
        None where there is no cell with a risk, with a `reason`.
    others : list of Margin
        The other cells with a risk, least first.
    stays : float or None
        Share of the resamples in which no other cell costs less.
    items, strata, draws, seed : int or None
        What was resampled, and how.
    conditional_on : str
        What is taken as given, and what an interval does not show.
    """

    configuration: str | None = None
    criterion: str | None = None
    risk: float | None = None
    others: list[Margin] = Field(default_factory=list)
    stays: float | None = None
    items: int | None = None
    strata: int | None = None
    draws: int | None = None
    seed: int | None = None
    conditional_on: str
    reason: str | None = None
