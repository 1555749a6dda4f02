"""The null: how often a cell preferred one of two identical texts, and how often it may."""

from __future__ import annotations

from typing import Any

import altair as alt

from darkcurrent.reports.charts.frame import HEADER, WIDTH, Figure, axis, dressed, rows, threshold_rule
from darkcurrent.reports.charts.palette import Palette
from darkcurrent.reports.labels import cell_labels
from darkcurrent.reports.words import number, share
from darkcurrent.results import Analysis

__all__ = ["null_figures"]

_TITLES = {
    "core": "Identical texts: rate and its upper bound",
    "natural": "Pairs that happen to be one text: rate and its upper bound",
    "edge-empty": "Two empty texts: rate (stress test, not graded)",
    "edge-whitespace": "Two blank texts: rate (stress test, not graded)",
}


def null_figures(analysis: Analysis, palette: Palette) -> list[Figure]:
    """Return one chart for each null stratum: they are never pooled."""
    figures = []
    names = cell_labels(analysis.cells)
    threshold = analysis.gates["clone_threshold"]
    for stratum, title in _TITLES.items():
        values = []
        for label, cell in zip(names, analysis.cells, strict=True):
            clone = cell.clone.get(stratum)  # type: ignore[call-overload]
            if clone is None or clone.n == 0 or cell.state == "HOLD":
                continue
            bound = "" if clone.upper is None else f", at most {number(clone.upper)}"
            values.append(
                {
                    "label": label,
                    "rate": clone.adverse / clone.n,
                    "upper": clone.upper,
                    "gate": clone.gate,
                    "text": f"{label}: {share(clone.adverse, clone.n)}{bound}, {clone.gate}",
                }
            )
        if not values:
            continue
        graded = any(value["upper"] is not None for value in values)
        highest = max(value["upper"] or value["rate"] for value in values)
        if graded and threshold:
            highest = max(highest, 2 * threshold)
        x: dict[str, Any] = {
            "title": "share not tied",
            "scale": alt.Scale(domain=[0, min(1.0, highest * 1.05) or 1.0]),
        }
        base = alt.Chart(rows(values))
        color = alt.Color(
            "gate:N",
            scale=alt.Scale(
                domain=["PASS", "MISS", "NOT GRADED"], range=[palette.good, palette.bad, palette.soft]
            ),
            legend=None,
        )
        y = axis([value["label"] for value in values])
        layers = [
            base.mark_point(size=70, filled=True, opacity=1).encode(
                x=alt.X("rate:Q", axis=alt.Axis(format="~%", tickCount=4), **x),
                y=y,
                color=color,
                description=alt.Description("text:N"),
            )
        ]
        if graded:
            rule = threshold_rule(threshold, palette)
            layers = [
                base.mark_rule(strokeWidth=3).encode(x=alt.X("rate:Q"), x2="upper:Q", y=y, color=color),
                base.mark_tick(thickness=3, size=12).encode(x=alt.X("upper:Q"), y=y, color=color),
                *layers,
                *([rule] if rule else []),
            ]
        chart = alt.layer(*layers).properties(width=WIDTH, height=HEADER * len(values))
        note = "● rate · bar: one-sided 95 % upper bound" if graded else ""
        note += " · dashed: threshold" if graded and threshold else ""
        figures.append(Figure(f"null-{stratum}", title, dressed(chart, palette), note))
    return figures
