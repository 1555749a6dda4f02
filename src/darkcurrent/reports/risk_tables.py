"""What each cell costs: tables, and the break-evens between cells in sentences."""

from __future__ import annotations

from darkcurrent.printable import shortened
from darkcurrent.reports.numbers import interval, number, share
from darkcurrent.reports.table import Table
from darkcurrent.results import CellRisk, PairBreakEvens, RiskResult, Selection
from darkcurrent.risk import PAPER_GRID, Losses

__all__ = ["break_even_words", "grid_table", "losses_words", "risk_table", "risk_tables", "selection_words"]

_SIGNS = {
    "pi_c": "π_c",
    "pi_e": "π_e",
    "lambda_c": "λ_c",
    "lambda_w": "λ_W",
    "lambda_t": "λ_T",
    "lambda_i": "λ_I",
    "lambda_e": "λ_e",
}
"""As the paper writes them."""

_COUNTED = {
    "invented": ("clone", "preference"),
    "invalid": ("clone", "invalid"),
    "wrong": ("signal", "wrong"),
    "tie": ("signal", "tie"),
    "invalid target": ("signal", "invalid"),
    "equals": ("equivalent", "preference"),
    "invalid equals": ("equivalent", "invalid"),
}
"""Column to the calls that it counts."""


def losses_words(losses: Losses) -> str:
    """Return losses as they are written in a note."""
    names = [name for name in _SIGNS if losses.pi_e or not name.endswith("_e")]
    return ", ".join(f"{_SIGNS[name]} {getattr(losses, name):g}" for name in names)


def risk_tables(result: RiskResult) -> list[Table]:
    """Return the tables of a report: none where no cell has rates, and no grid where one has nothing to win against."""
    rated = sum(cell.rates is not None for cell in result.cells)
    return [risk_table(result), *([grid_table(result)] if rated > 1 else [])] if rated else []


def risk_table(result: RiskResult, declared: bool = False) -> Table:
    """Return the cells by their risk, least first, with the counts that it is made of.

    `declared` says whether somebody declared the losses.
    """
    losses = _losses(result)
    certified = any("equivalent" in cell.counts for cell in result.cells)
    counted = {name: own for name, own in _COUNTED.items() if certified or own[0] != "equivalent"}
    lacking = any(cell.reason for cell in result.cells)
    rows = tuple(
        (
            cell.configuration,
            cell.criterion,
            number(cell.risk),
            *(_count(cell, *own) for own in counted.values()),
            *((cell.reason or "–",) if lacking else ()),
        )
        for cell in sorted(result.cells, key=lambda cell: (cell.risk is None, cell.risk or 0.0))
    )
    note = (
        f"Expected loss in each call at {losses_words(losses)}"
        + (" (nobody declared these: a place to start from, and no advice)" if not declared else "")
        + ". invented: identical texts with a preference. Observed shares of calls, and no bounds."
    )
    columns = ("configuration", "criterion", "risk", *counted, *(("reason",) if lacking else ()))
    return Table("risk", "What does using it cost?", note, columns, rows)


def _count(cell: CellRisk, kind: str, answer: str) -> str:
    own = cell.counts.get(kind)
    return "–" if own is None else share(getattr(own, answer), own.calls)


def grid_table(result: RiskResult) -> Table:
    """Return how the cells fare in the paper's grid."""
    rows = tuple(
        (
            cell.configuration,
            cell.criterion,
            *map(str, (cell.grid.best, cell.grid.shared)),
            *map(number, (cell.grid.least, cell.grid.most)),
        )
        for cell in result.cells
        if cell.grid
    )
    note = (
        f"In how many of the {len(PAPER_GRID)} scenarios of the paper's grid the cell alone costs least, in how many together "
        "with others, and its smallest and largest risk."
    )
    return Table(
        "risk-grid",
        "Risk over the paper's grid",
        note,
        ("configuration", "criterion", "costs least", "shares it", "smallest risk", "largest risk"),
        rows,
    )


def break_even_words(result: RiskResult, leading: int = 4) -> list[str]:
    """Say of every two of the leading cells how each loss and prevalence decides between them."""
    able = sorted((cell for cell in result.cells if cell.risk is not None), key=lambda cell: cell.risk or 0.0)
    first = {(cell.configuration, cell.criterion) for cell in able[:leading]}
    losses = _losses(result)
    return [
        sentence
        for pair in result.pairs
        if {pair.first, pair.second} <= first
        for sentence in _pair_words(pair, losses)
    ]


def _pair_words(pair: PairBreakEvens, losses: Losses) -> list[str]:
    names = [_name(pair.first), _name(pair.second)]
    said, never = [], []
    for name, found in pair.break_evens.items():
        sign, below, above = _SIGNS[name], found.below, found.above
        if found.value is None or below is None or above is None:
            end = None if found.value is None or below == above else f"{sign} {found.value:g}"
            never.append((sign, below or above, end))
            continue
        at = f"{sign} {number(found.value)} (it is {getattr(losses, name):g})"
        said.append(f"{names[below - 1]} costs less below {at}, {names[above - 1]} costs less above.")
    for who in dict.fromkeys(who for _, who, _ in never):
        signs = ", ".join(sign for sign, own, _ in never if own == who)
        ends = ", ".join(end for _, own, end in never if own == who and end)
        but = f", but both cost the same at {ends}" if ends else ""
        what = "both cost the same" if who is None else f"{names[who - 1]} costs less"
        said.append(f"{names[0]} against {names[1]}: {what} whatever {signs} alone may be{but}.")
    return said


def selection_words(selection: Selection) -> list[str]:
    """Say which cell costs least, by how much, and what that is conditional on."""
    if selection.configuration is None or selection.criterion is None:
        return [f"No cell can be chosen: {selection.reason}."]
    name = _name((selection.configuration, selection.criterion))
    said = [f"{name} costs least: {number(selection.risk)} in each call."]
    for other in selection.others:
        who = _name((other.configuration, other.criterion))
        text = f"{who} costs {number(other.difference)} more, 95 % interval {interval(other.interval)}"
        said.append(text + (f" ({other.remark})." if other.remark else "."))
    if selection.others and selection.stays is not None:
        said.append(
            f"No other cell costs less in {selection.stays:.1%} of {selection.draws} resamples of {selection.items} items in "
            f"{selection.strata} {'stratum' if selection.strata == 1 else 'strata'} (seed {selection.seed})."
        )
    return [*said, f"Conditional on {selection.conditional_on}"]


def _name(key: tuple[str, str]) -> str:
    return " / ".join(shortened(part, 40) for part in key)


def _losses(result: RiskResult) -> Losses:
    return Losses(**result.losses.model_dump())
