"""Which cell costs least, and how sure that is: items are resampled for all cells together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from darkcurrent.analysis.frames import Key
from darkcurrent.analysis.risks import KINDS, counted_calls, leaders
from darkcurrent.declared import Declared
from darkcurrent.results import Margin, RiskResult, Selection
from darkcurrent.risk import Losses, Rates, risk
from darkcurrent.stats import joint_resampling, percentile

__all__ = ["CONDITIONAL_ON", "select_cell"]

CONDITIONAL_ON = (
    "the declared losses and prevalences, the observed items and strata, and the one verdict that each call got: items are "
    "resampled within their strata, all cells with the same ones. The cell was chosen by the same data, which makes its lead "
    "look larger than it is; the intervals are not adjusted for that or for their number, and say nothing of other items, "
    "other calls or another time."
)

_LEVELS = (0.025, 0.975)

_NAMES = {
    ("clone", "preference"): "false_preference",
    ("clone", "invalid"): "invalid_clone",
    ("signal", "wrong"): "wrong",
    ("signal", "tie"): "tie",
    ("signal", "invalid"): "invalid_signal",
    ("equivalent", "preference"): "equivalent_preference",
    ("equivalent", "invalid"): "invalid_equivalent",
}
"""Kind of call and what it said, to the rate that it counts in."""


def select_cell(ledger: pl.DataFrame, priced: RiskResult, declared: Declared) -> Selection:
    """Name the cell of least risk, with the paired interval of what each other one costs more.

    Parameters
    ----------
    ledger : polars.DataFrame
        The study's ledger.
    priced : RiskResult
        What the cells cost at the losses in question.
    declared : Declared
        Its `method` gives draws and seed.

    Notes
    -----
    Within a stratum, items are drawn among those that have the same numbers of calls of each kind, so that the
    denominators of all rates stay as they are and the risk stays linear in what is drawn.
    """
    risks = {
        (cell.configuration, cell.criterion): cell.risk for cell in priced.cells if cell.risk is not None
    }
    if not risks:
        reasons = sorted({cell.reason or "" for cell in priced.cells})
        return Selection(
            conditional_on=CONDITIONAL_ON, reason=f"no cell has a risk: {'; '.join(reasons) or 'no cell'}"
        )
    keys = list(risks)
    best = keys[leaders(list(risks.values()))[0]]
    losses = Losses(**priced.losses.model_dump())
    items = _items(ledger, keys, certified=declared.certified is not None)
    method = declared.method
    drawn = _drawn(items, keys, losses, method.draws, method.seed)
    lead = drawn[best] - np.min(np.stack(list(drawn.values())), axis=0)
    return Selection(
        configuration=best[0],
        criterion=best[1],
        risk=risks[best],
        others=[
            _margin(key, risks[key], risks[key] - risks[best], drawn[key] - drawn[best])
            for key in sorted(keys, key=lambda key: risks[key])
            if key != best
        ],
        stays=float((lead <= 1e-12).mean()),
        items=items.height,
        strata=items["stratum"].n_unique(),
        draws=method.draws,
        seed=method.seed,
        conditional_on=CONDITIONAL_ON,
    )


def _margin(key: Key, own: float, difference: float, drawn: npt.NDArray[np.float64]) -> Margin:
    low, high = (percentile(drawn, level) for level in _LEVELS)
    return Margin(
        configuration=key[0],
        criterion=key[1],
        risk=own,
        difference=max(difference, 0.0),
        interval=(low, high),
        remark=None if high > low else "every resample gives the same difference, which is no certainty",
    )


def _items(ledger: pl.DataFrame, keys: Sequence[Key], certified: bool) -> pl.DataFrame:
    """Return one row per item: its `group` and, for every cell, kind and answer, the calls (`CELL/KIND/ANSWER`)."""
    calls = counted_calls(ledger, certified)
    table = calls.select("item", "stratum").unique(maintain_order=True).sort("stratum", "item")
    for place, (configuration, criterion) in enumerate(keys):
        own = calls.filter(pl.col("configuration") == configuration, pl.col("criterion") == criterion)
        table = table.join(
            own.group_by("item").agg(
                pl.col(answer)
                .filter(pl.col("kind") == kind)
                .sum()
                .cast(pl.Int64)
                .alias(f"{place}/{kind}/{answer}")
                for kind, answers in _answers().items()
                for answer in answers
            ),
            on="item",
            how="left",
        )
    sizes = [name for name in table.columns if name.endswith("/calls")]
    return table.fill_null(0).with_columns(group=pl.concat_str("stratum", *sizes, separator="\x1f"))


def _answers() -> dict[str, tuple[str, ...]]:
    return {kind: ("calls", *answers) for kind, answers in KINDS.items()}


def _drawn(
    items: pl.DataFrame, keys: Sequence[Key], losses: Losses, draws: int, seed: int
) -> dict[Key, npt.NDArray[np.float64]]:
    """Return the risks of every cell in every draw."""
    prices = _prices(losses)
    columns = [
        (key, name, f"{place}/{kind}/{answer}", f"{place}/{kind}/calls")
        for place, key in enumerate(keys)
        for (kind, answer), name in _NAMES.items()
    ]
    sums = joint_resampling(
        items.select(counted for *_, counted, _ in columns).to_numpy(), items["group"].to_list(), draws, seed
    )
    found = {key: np.zeros(draws) for key in keys}
    for place, (key, name, _, all_calls) in enumerate(columns):
        calls = int(items[all_calls].sum())
        if calls:
            found[key] += prices[name] * (sums[:, place] / calls)
    return found


def _prices(losses: Losses) -> dict[str, float]:
    """Return what each rate costs: the risk is linear in the rates, and this is the risk where one of them is 1."""
    nothing = dict.fromkeys(_NAMES.values(), 0.0)
    return {name: risk(Rates(**{**nothing, name: 1.0}), losses) for name in nothing}
