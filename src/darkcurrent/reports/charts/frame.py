"""What all charts share: their size, their look, their labels, and the two lines that every gate draws."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from darkcurrent.printable import printable
from darkcurrent.reports.charts.palette import Palette

__all__ = [
    "HEADER",
    "PERCENT",
    "WIDTH",
    "Figure",
    "Rows",
    "axis",
    "dressed",
    "rows",
    "stack",
    "threshold_rule",
]

WIDTH = 270
"""Of the area that is drawn in, in pixels; with its labels a chart fits a phone and, twice, a desk."""

HEADER = 22
"""Height of a row of bars or points."""

_WIDE = 6.9
"""Room for one sign of a label, in pixels."""

_WIDER = "mwMW@%#+<>=^~"
"""Signs that take four pixels more in DejaVu Sans, the widest of the usual fonts; capitals take two more."""

PERCENT = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
"""The axis of a share between 0 and 1."""

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Figure:
    """A chart.

    Attributes
    ----------
    name : str
        Unique in a report; becomes part of a file name, and holds no text from outside.
    title : str
        What it shows, in a few words; it may hold names from outside.
    note : str
        What its marks mean, where that does not show.
    spec : dict
        Vega-Lite. Texts from outside stand in it as values of data and as domains of scales only, where nothing is evaluated.
    """

    name: str
    title: str
    spec: dict[str, Any]
    note: str = ""


def rows(values: Rows) -> alt.InlineData:
    """Return rows as data that stands in the chart itself."""
    return alt.InlineData(values=values)


def axis(domain: Sequence[str], field: str = "label") -> alt.Y:
    """Return the axis of named rows, from top to bottom."""
    return alt.Y(
        field=field,
        type="nominal",
        title=None,
        sort=None,
        scale=alt.Scale(domain=list(domain)),
        axis=alt.Axis(
            domain=False,
            ticks=False,
            labelPadding=6,
            labelLimit=0,
            # The reader's font is not that which the chart is measured with: room for a wide one.
            minExtent=max(40.0, *map(_room, domain)),
        ),
    )


def _room(label: str) -> float:
    """Return how many pixels a label may take in the reader's font."""
    wide = sum(sign in _WIDER or unicodedata.east_asian_width(sign) in "WF" for sign in label)
    capitals = sum(sign.isupper() and sign not in _WIDER for sign in label)
    return _WIDE * len(label) + 4 * wide + 2 * capitals


def threshold_rule(value: float | None, palette: Palette) -> Any:
    """Return the dashed line of a declared threshold."""
    if value is None:
        return None
    return (
        alt.Chart(rows([{"threshold": value}]))
        .mark_rule(strokeDash=[4, 3], strokeWidth=1.5, color=palette.ink)
        .encode(x=alt.X("threshold:Q"))
    )


def stack(values: Rows, domain: Sequence[str], kinds: dict[str, str], title: str) -> Any:
    """Return bars of shares.

    Parameters
    ----------
    values : list of dict
        `label`, `kind`, `share`, `order` and `text`.
    domain : sequence of str
        The labels, from top to bottom.
    kinds : dict
        Kind to colour, in the order in which they are stacked.
    """
    return (
        alt.Chart(rows(values))
        .mark_bar(height=HEADER - 6)
        .encode(
            x=alt.X(
                "share:Q",
                stack="zero",
                title=title,
                scale=alt.Scale(domain=[0, 1]),
                axis=PERCENT,
            ),
            y=axis(domain),
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=list(kinds), range=list(kinds.values())),
                legend=alt.Legend(orient="top", columns=3, symbolType="square"),
            ),
            order=alt.Order("order:Q"),
            description=alt.Description("text:N"),
        )
        .properties(width=WIDTH, height=HEADER * len(domain))
    )


def dressed(chart: Any, palette: Palette, right: int = 18) -> dict[str, Any]:
    """Return the specification of a chart in the colours of a palette, with so much room at its right."""
    styled = chart.configure(
        background="transparent",
        font="system-ui, sans-serif",
        padding={"left": 2, "top": 2, "bottom": 2, "right": right},
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            labelColor=palette.ink,
            titleColor=palette.soft,
            titleFontWeight="normal",
            labelFontSize=11,
            titleFontSize=11,
            gridColor=palette.line,
            domainColor=palette.soft,
            tickColor=palette.soft,
        ),
        legend=alt.LegendConfig(labelColor=palette.ink, labelFontSize=11, labelLimit=0, columnPadding=18),
        title=alt.TitleConfig(color=palette.ink, fontSize=13, anchor="start"),
    )
    spec: dict[str, Any] = _printable(styled.to_dict())
    return spec


def _printable(part: Any) -> Any:
    """Return a part of a specification whose texts are printable: a control character ends the process that draws it."""
    if isinstance(part, dict):
        return {key: _printable(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_printable(value) for value in part]
    return printable(part) if isinstance(part, str) else part
