"""The only home of how a cell's calls become the rates of `darkcurrent.risk`, and what those cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from itertools import combinations

import polars as pl

from darkcurrent.analysis.frames import Key, of
from darkcurrent.declared import Declared
from darkcurrent.gates import HELD
from darkcurrent.results import (
    BreakEven,
    CallCounts,
    CellRisk,
    GridSummary,
    LossTable,
    PairBreakEvens,
    RateTable,
    RiskResult,
)
from darkcurrent.risk import PAPER_GRID, Losses, Rates, crossing, first_losses, risk

__all__ = [
    "KINDS",
    "counted_calls",
    "evaluate_risk",
    "known_rates",
    "leaders",
    "priced",
]

KINDS: dict[str, tuple[str, ...]] = {
    "clone": ("preference", "invalid"),
    "signal": ("wrong", "tie", "invalid"),
    "equivalent": ("preference", "invalid"),
}
"""Kind of call to what is counted of it."""

_COLUMNS = (
    "configuration",
    "criterion",
    "item",
    "stratum",
    "arm",
    "null_stratum",
    "context",
    "ending",
    "value",
    "winner",
    "target",
)

_LACKING = {
    "clone": "no identical texts were asked",
    "signal": "no pair with a target was asked",
}

_LEADING = 16
"""Cells of least risk that are held against each other: the pairs of all cells of a large study would be endless."""

_UNCERTIFIED = "`pi_e` is above 0, and this cell has no certified equivalents"


def counted_calls(ledger: pl.DataFrame, certified: bool) -> pl.DataFrame:
    """Return the calls that a risk counts, each with its `kind` and a flag for what it said.

    `calls` is always true, so that its sum counts calls.

    Core clones, signal pairs and, where something proves that neither text is better, equivalents: without a third
    candidate, and with an ending.
    """
    value, arm = pl.col("value"), pl.col("arm")
    kinds = {
        "clone": (arm == "clone") & (pl.col("null_stratum") == "core"),
        "signal": arm == "signal",
    }
    if certified:
        kinds["equivalent"] = arm == "equivalent"
    kind = pl.coalesce(*(pl.when(found).then(pl.lit(name)) for name, found in kinds.items()))
    valid = value.is_not_null()
    return (
        ledger.select(_COLUMNS)
        .filter(pl.col("ending") == "terminal", pl.col("context").is_null())
        .with_columns(
            kind=kind,
            calls=pl.lit(value=True),
            invalid=~valid,
            tie=(value == "tie").fill_null(value=False),
            preference=value.is_in(["A", "B"]).fill_null(value=False),
        )
        .with_columns(wrong=pl.col("preference") & pl.col("winner").ne_missing(pl.col("target")))
        .filter(pl.col("kind").is_not_null())
    )


def _rates_of(counts: dict[str, CallCounts]) -> Rates | None:
    """Return the shares of a cell's calls; None where identical texts or targets are lacking."""
    clone, signal, equivalent = (counts.get(kind) for kind in KINDS)
    if clone is None or signal is None:
        return None

    def share(count: int | None, own: CallCounts) -> float:
        return (count or 0) / own.calls

    return Rates(
        false_preference=share(clone.preference, clone),
        invalid_clone=share(clone.invalid, clone),
        wrong=share(signal.wrong, signal),
        tie=share(signal.tie, signal),
        invalid_signal=share(signal.invalid, signal),
        equivalent_preference=share(equivalent.preference, equivalent) if equivalent else None,
        invalid_equivalent=share(equivalent.invalid, equivalent) if equivalent else None,
    )


def known_rates(cell: CellRisk) -> Rates | None:
    """Return what `risk` computes with; None where the cell has none."""
    return Rates(**cell.rates.model_dump()) if cell.rates else None


def evaluate_risk(
    ledger: pl.DataFrame, keys: Sequence[Key], held: set[str], declared: Declared
) -> RiskResult:
    """Evaluate the risk block of a study: the rates of every cell, and what they cost at the first losses."""
    narrow = ledger.select(_COLUMNS)  # a ledger is wide, and may be long: a cell at a time
    cells = []
    for configuration, criterion in keys:
        own = of(narrow, configuration=configuration, criterion=criterion)
        counts = {} if configuration in held else _counts(counted_calls(own, declared.certified is not None))
        rates = _rates_of(counts)
        cells.append(
            CellRisk(
                configuration=configuration,
                criterion=criterion,
                counts=counts,
                rates=RateTable(**asdict(rates)) if rates else None,
                reason=HELD if configuration in held else _lacking(counts),
            )
        )
    return priced(cells, first_losses(rates for cell in cells for rates in [known_rates(cell)] if rates))


def priced(cells: Sequence[CellRisk], losses: Losses) -> RiskResult:
    """Return what cells cost at some losses, in the paper's grid, and against each other.

    A cell without rates has no risk. Neither has one without the rates of certified equivalents where `losses` says
    that equivalents occur.
    """
    rates = {_key(cell): own for cell in cells for own in [known_rates(cell)] if own}
    able = {
        key: own for key, own in rates.items() if losses.pi_e == 0 or own.equivalent_preference is not None
    }
    risks = {key: risk(own, losses) for key, own in able.items()}
    first = set(sorted(risks, key=lambda key: risks[key])[:_LEADING])
    leading = [key for key in risks if key in first]
    grids = dict(zip(rates, _summaries_of_grid(list(rates.values())), strict=True))
    return RiskResult(
        losses=LossTable(**asdict(losses)),
        cells=[
            cell.model_copy(
                update={
                    "risk": risks.get(key),
                    "grid": grids.get(key),
                    "reason": None if key in able else cell.reason if key not in rates else _UNCERTIFIED,
                }
            )
            for cell in cells
            for key in [_key(cell)]
        ],
        pairs=[
            PairBreakEvens(first=one, second=other, break_evens=_break_evens(able[one], able[other], losses))
            for one, other in combinations(leading, 2)
        ],
    )


def _key(cell: CellRisk) -> Key:
    return cell.configuration, cell.criterion


def _counts(calls: pl.DataFrame) -> dict[str, CallCounts]:
    return {
        kind: CallCounts(calls=own.height, **{name: int(own[name].sum()) for name in names})
        for kind, names in KINDS.items()
        for own in [of(calls, kind=kind)]
        if own.height
    }


def _lacking(counts: dict[str, CallCounts]) -> str | None:
    return " and ".join(words for kind, words in _LACKING.items() if kind not in counts) or None


def _summaries_of_grid(rates: Sequence[Rates]) -> list[GridSummary]:
    """Return how each cell fares in the paper's scenarios, next to the others."""
    table = [[risk(own, losses) for own in rates] for losses in PAPER_GRID]
    winners = [leaders(risks) for risks in table]
    return [
        GridSummary(
            least=min(risks[index] for risks in table),
            most=max(risks[index] for risks in table),
            best=sum(found == [index] for found in winners),
            shared=sum(index in found and len(found) > 1 for found in winners),
        )
        for index in range(len(rates))
    ]


def leaders(risks: Sequence[float]) -> list[int]:
    """Return the places of the least risk; several where they differ by rounding only."""
    least = min(risks, default=0.0)
    return [place for place, value in enumerate(risks) if value - least <= 1e-12 * (1 + least)]


def _break_evens(first: Rates, second: Rates, losses: Losses) -> dict[str, BreakEven]:
    """Return the break-even of every loss and prevalence that both cells' rates say something of."""
    certified = None not in (first.equivalent_preference, second.equivalent_preference)
    names = [field.name for field in fields(Losses) if certified or field.name not in ("pi_e", "lambda_e")]
    return {name: _break_even(first, second, losses, name) for name in names}


def _break_even(first: Rates, second: Rates, losses: Losses, name: str) -> BreakEven:
    found = crossing(first, second, losses, name)
    reason = None
    if found.value is None:
        reason = (
            ("both cost the same", "the first costs less", "the second costs less")[found.below]
            + " at every value that it can have"
        )  # fmt: skip
    return BreakEven(value=found.value, below=found.below or None, above=found.above or None, reason=reason)
