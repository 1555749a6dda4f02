"""The arms beside clones and targets: equivalents, ladders, contexts."""

from __future__ import annotations

from typing import Any

import altair as alt

from darkcurrent.reports.charts.frame import (
    HEADER,
    PERCENT,
    WIDTH,
    Figure,
    Rows,
    axis,
    dressed,
    rows,
)
from darkcurrent.reports.charts.palette import Palette
from darkcurrent.reports.labels import cell_labels, labels
from darkcurrent.reports.words import number, share
from darkcurrent.results import Analysis, CellResult

__all__ = ["context_figures", "equivalent_figures", "ladder_figures"]

_SEEN = 0.75
"""The sensitivity that the results look for: `smallest_75`."""


def equivalent_figures(analysis: Analysis, palette: Palette) -> list[Figure]:
    """Return one chart of the pairs that were not tied though neither text is better."""
    values: Rows = [
        {
            "label": label,
            "rate": pairs.rate,
            "text": f"{label}: {share(pairs.adverse, pairs.pairs)} pairs not tied",
        }
        for label, cell in zip(cell_labels(analysis.cells), analysis.cells, strict=True)
        for pairs in [cell.equivalent]
        if pairs is not None and pairs.rate is not None and cell.state != "HOLD"
    ]
    if not values:
        return []
    chart = (
        alt.Chart(rows(values))
        .mark_bar(height=HEADER - 8, color=palette.orange)
        .encode(
            x=alt.X("rate:Q", title="share of pairs", scale=alt.Scale(domain=[0, 1]), axis=PERCENT),
            y=axis([value["label"] for value in values]),
            description=alt.Description("text:N"),
        )
        .properties(width=WIDTH, height=HEADER * len(values))
    )
    return [
        Figure("equivalent", "Equally good texts that were not tied in both orders", dressed(chart, palette))
    ]


def ladder_figures(analysis: Analysis, palette: Palette) -> list[Figure]:
    """Return one chart for each configuration: a curve for each criterion, the hardest step at the left."""
    by_judge: dict[str, list[CellResult]] = {}
    for cell in analysis.cells:
        if cell.ladder is not None and cell.state != "HOLD":
            by_judge.setdefault(cell.configuration, []).append(cell)
    names = labels(list(by_judge), 40)
    figures = []
    for index, (name, cells) in enumerate(zip(names, by_judge.values(), strict=True)):
        chart = _curves(cells, palette)
        if chart is not None:
            note = "Share of calls that chose the better text · bars: 95 % intervals, described · dashed: .75"
            figures.append(
                Figure(f"ladder-{index}", f"{name}: by size of the contrast", dressed(chart, palette), note)
            )
    return figures


def _curves(cells: list[CellResult], palette: Palette) -> Any:
    values: Rows = []
    steps: dict[str, None] = {}
    kinds = labels([cell.criterion for cell in cells])
    for kind, cell in zip(kinds, cells, strict=True):
        for step, found in cell.ladder.steps.items() if cell.ladder else ():
            if found.sensitivity is None:
                continue
            steps[step] = None
            low, high = found.interval or (None, None)
            text = f"{kind}, {step}: {number(found.sensitivity)}, {share(found.success, found.calls)} calls"
            values.append(
                {
                    "step": step,
                    "kind": kind,
                    "seen": found.sensitivity,
                    "low": low,
                    "high": high,
                    "text": text,
                }
            )
    if not values:
        return None
    colors = [palette.blue, palette.orange, palette.green, palette.purple, palette.yellow, palette.grey]
    color = alt.Color(
        "kind:N",
        title=None,
        scale=alt.Scale(domain=kinds, range=[colors[index % len(colors)] for index in range(len(kinds))]),
        legend=alt.Legend(orient="top") if len(kinds) > 1 else None,
    )
    x = alt.X(
        "step:N", title=None, sort=None, scale=alt.Scale(domain=list(steps)), axis=alt.Axis(labelAngle=0)
    )
    y = alt.Y("seen:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=PERCENT)
    shape = alt.Shape("kind:N", legend=None, scale=alt.Scale(domain=kinds))
    base = alt.Chart(rows(values))
    return alt.layer(
        alt.Chart(rows([{"seen": _SEEN}]))
        .mark_rule(strokeDash=[4, 3], strokeWidth=1.5, color=palette.ink)
        .encode(y="seen:Q"),
        base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=color),
        base.mark_line(strokeWidth=2).encode(x=x, y=y, color=color),
        base.mark_point(filled=True, size=60, opacity=1).encode(
            x=x, y=y, color=color, shape=shape, description=alt.Description("text:N")
        ),
    ).properties(width=WIDTH + 50, height=150)


def context_figures(analysis: Analysis, palette: Palette) -> list[Figure]:
    """Return one chart for each arm: what a third text changes in the share of successes."""
    figures = []
    for arm in dict.fromkeys(arm for cell in analysis.cells for arm in cell.context):
        values: Rows = []
        for label, cell in zip(cell_labels(analysis.cells), analysis.cells, strict=True):
            one = cell.context.get(arm)
            if one is None or one.difference is None or cell.state == "HOLD":
                continue
            low, high = one.interval or (one.difference, one.difference)
            text = f"{label}: {number(one.absent)} without, {number(one.present)} with, difference {number(one.difference)}"
            values.append(
                {"label": label, "difference": one.difference, "low": low, "high": high, "text": text}
            )
        if not values:
            continue
        reach = max(0.1, *(abs(value[end]) for value in values for end in ("low", "high")))
        scale = alt.Scale(domain=[-reach * 1.05, reach * 1.05], nice=False)
        base = alt.Chart(rows(values))
        y = axis([value["label"] for value in values])
        chart = alt.layer(
            alt.Chart(rows([{"difference": 0}]))
            .mark_rule(color=palette.ink, strokeWidth=1.5)
            .encode(x=alt.X("difference:Q", scale=scale)),
            base.mark_rule(strokeWidth=3, color=palette.blue).encode(x=alt.X("low:Q"), x2="high:Q", y=y),
            base.mark_point(size=70, filled=True, opacity=1, color=palette.blue).encode(
                x=alt.X(
                    "difference:Q",
                    title="with − without",
                    scale=scale,
                    axis=alt.Axis(format="+.2f", tickCount=5),
                ),
                y=y,
                description=alt.Description("text:N"),
            ),
        ).properties(width=WIDTH, height=HEADER * len(values))
        note = "● change of success with a third text · bar: 95 % interval, described"
        figures.append(
            Figure(f"context-{arm}", f"A third text that cannot win: {arm}", dressed(chart, palette), note)
        )
    return figures
