"""Utility: how often a cell chose the target, as a whole, by order, and in each stratum."""

from __future__ import annotations

from typing import Any

import altair as alt

from darkcurrent.reports.answers import hidden_strata
from darkcurrent.reports.charts.frame import (
    HEADER,
    PERCENT,
    WIDTH,
    Figure,
    Rows,
    axis,
    dressed,
    rows,
    threshold_rule,
)
from darkcurrent.reports.charts.palette import Palette
from darkcurrent.reports.labels import MOST_CHARTS, cell_labels, labels
from darkcurrent.reports.words import number
from darkcurrent.results import Analysis, CellResult

__all__ = ["MOST_STRATA", "strata_figures", "utility_figures"]

MOST_STRATA = 30
"""Strata in one chart; where there are more, the weakest are drawn. The table has all."""

_FOREST = WIDTH - 80

_X: dict[str, Any] = {"title": "share that chose the target", "scale": alt.Scale(domain=[0, 1])}


def utility_figures(analysis: Analysis, palette: Palette) -> list[Figure]:
    """Return one chart of all evaluated cells: mean, lower bounds by method, and both orders."""
    values: Rows = []
    for label, cell in zip(cell_labels(analysis.cells), analysis.cells, strict=True):
        signal = cell.signal
        if signal.mean is None:
            continue
        orders = {name: counts.success / counts.n for name, counts in signal.orders.items() if counts.n}
        bound = signal.bounds.get("conservative")
        said = f"{label}: mean {number(signal.mean)}, lower bound {number(signal.lower)}, conservative {number(bound)}"
        said += "".join(f", order {name} {number(rate)}" for name, rate in orders.items())
        values.append(
            {
                "label": label,
                "mean": signal.mean,
                "lower": signal.lower,
                "conservative": bound,
                "text": said,
                **orders,
            }
        )
    if not values:
        return []
    y = axis([value["label"] for value in values])
    base = alt.Chart(rows(values))
    rule = threshold_rule(analysis.gates["utility_threshold"], palette)
    order: dict[str, Any] = {"size": 34, "filled": True, "opacity": 1}
    chart = alt.layer(
        base.mark_rule(strokeWidth=2, color=palette.soft).encode(x=alt.X("lower:Q"), x2="mean:Q", y=y),
        base.mark_tick(thickness=2, size=14, color=palette.grey).encode(x=alt.X("conservative:Q"), y=y),
        base.mark_tick(thickness=3, size=14, color=palette.ink).encode(x=alt.X("lower:Q"), y=y),
        base.mark_point(shape="triangle-down", color=palette.blue, yOffset=-8, **order).encode(
            x=alt.X("AB:Q"), y=y
        ),
        base.mark_point(shape="triangle-up", color=palette.orange, yOffset=8, **order).encode(
            x=alt.X("BA:Q"), y=y
        ),
        base.mark_point(size=75, filled=True, opacity=1, color=palette.ink).encode(
            x=alt.X("mean:Q", axis=PERCENT, **_X), y=y, description=alt.Description("text:N")
        ),
        *([rule] if rule else []),
    ).properties(width=WIDTH, height=(HEADER + 4) * len(values))
    title = "Share that chose the target: mean, lower bounds, both orders"
    note = (
        "● mean · black bar: lower bound · grey bar: conservative bound · ▼ order AB · ▲ order BA"
        + _dashed(analysis)
    )
    return [Figure("utility", title, dressed(chart, palette), note)]


def strata_figures(analysis: Analysis, palette: Palette) -> list[Figure]:
    """Return one forest plot for each evaluated cell with more than one stratum; of many cells, first those that hide one."""
    figures = []
    named = zip(cell_labels(analysis.cells, 60), analysis.cells, strict=True)
    several = [(label, cell) for label, cell in named if len(cell.signal.strata) > 1]
    if len(several) > MOST_CHARTS:
        several.sort(key=lambda each: not hidden_strata(each[1], analysis))
    for index, (label, cell) in enumerate(several[:MOST_CHARTS]):
        note = "● mean of a stratum, and its items · line: the whole cell" + _dashed(analysis)
        left_out = max(0, len(cell.signal.strata) - MOST_STRATA)
        title = f"{label}: by stratum" + (f", without the {left_out} strongest" if left_out else "")
        spec = dressed(_forest(cell, analysis, palette), palette, right=110)
        figures.append(Figure(f"strata-{index}", title, spec, note))
    return figures


def _forest(cell: CellResult, analysis: Analysis, palette: Palette) -> Any:
    found = sorted(cell.signal.strata.items(), key=lambda pair: pair[1].mean)[:MOST_STRATA]
    hidden = set(hidden_strata(cell, analysis))
    values: Rows = [
        {
            "label": label,
            "mean": stratum.mean,
            "pooled": cell.signal.mean,
            "kind": "hidden" if name in hidden else "plain",
            "mark": f"{number(stratum.mean)} of {stratum.items}" + (" ◀ hidden" if name in hidden else ""),
            "text": f"{label}: mean {number(stratum.mean)} over {_items(stratum.items)}",
        }
        for (name, stratum), label in zip(found, labels([name for name, _ in found], 20), strict=True)
    ]
    y = axis([value["label"] for value in values])
    base = alt.Chart(rows(values))
    color = alt.Color(
        "kind:N", scale=alt.Scale(domain=["hidden", "plain"], range=[palette.bad, palette.blue]), legend=None
    )
    rule = threshold_rule(analysis.gates["utility_threshold"], palette)
    pooled = alt.Chart(rows([{"pooled": cell.signal.mean}])).mark_rule(color=palette.soft)
    return alt.layer(
        pooled.encode(x=alt.X("pooled:Q")),
        base.mark_rule(strokeWidth=2).encode(x=alt.X("pooled:Q"), x2="mean:Q", y=y, color=color),
        base.mark_point(size=80, filled=True, opacity=1).encode(
            x=alt.X("mean:Q", axis=PERCENT, **_X),
            y=y,
            color=color,
            shape=alt.Shape(
                "kind:N",
                scale=alt.Scale(domain=["hidden", "plain"], range=["diamond", "circle"]),
                legend=None,
            ),
            description=alt.Description("text:N"),
        ),
        base.mark_text(align="left", fontSize=11).encode(
            x=alt.value(_FOREST + 8), y=y, text="mark:N", color=color
        ),
        *([rule] if rule else []),
    ).properties(width=_FOREST, height=HEADER * len(values))


def _dashed(analysis: Analysis) -> str:
    return "" if analysis.gates["utility_threshold"] is None else " · dashed: threshold"


def _items(count: int) -> str:
    return f"{count} item" if count == 1 else f"{count} items"
