"""Which cell costs least in each scenario of the paper's grid."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from darkcurrent.analysis import leaders
from darkcurrent.reports.charts.frame import Figure, Rows, dressed, rows
from darkcurrent.reports.charts.palette import Palette
from darkcurrent.reports.prices import priced_cells
from darkcurrent.reports.words import number
from darkcurrent.results import Analysis
from darkcurrent.risk import PAPER_GRID, Rates, risk

__all__ = ["risk_figures", "winners"]

_SIDE = 26
_COLORS = ("blue", "orange", "green", "yellow", "purple", "grey")


def winners(rates: Sequence[Rates]) -> list[list[int]]:
    """Return for each scenario of the grid the cells of least risk; more than one where they cost the same."""
    return [leaders([risk(each, losses) for each in rates]) for losses in PAPER_GRID]


def risk_figures(analysis: Analysis, palette: Palette) -> list[Figure]:
    """Return the heat map of the cells' numbers; none where there are not two cells to choose from."""
    choices = priced_cells(analysis)
    if len(choices) < 2:
        return []
    names = [name for name, _ in choices]
    rates = [rates for _, rates in choices]
    won = winners(rates)
    common = sorted(
        {index for each in won for index in each}, key=lambda index: -sum(index in each for each in won)
    )
    leading = sorted(common[: len(_COLORS)])
    values: Rows = []
    for losses, best in zip(PAPER_GRID, won, strict=True):
        first = best[0]
        who = ", ".join(names[index] for index in best)
        mark = str(first + 1) if len(best) == 1 else "="
        values.append(
            {
                "lambda_c": f"{losses.lambda_c:g}",
                "lambda_t": f"{losses.lambda_t:g}",
                "column": f"π_c {losses.pi_c:g}",
                "row": f"λ_I {losses.lambda_i:g}",
                "kind": "several" if len(best) > 1 else f"cell {first + 1}" if first in leading else "other",
                "mark": mark,
                "text": f"π_c {losses.pi_c:g}, λ_c {losses.lambda_c:g}, λ_T {losses.lambda_t:g}, λ_I {losses.lambda_i:g}: "
                f"{who} at {number(risk(rates[first], losses))}",
            }
        )
    colors = {
        f"cell {index + 1}": getattr(palette, color) for index, color in zip(leading, _COLORS, strict=False)
    }
    colors |= {"other": palette.line, "several": palette.pale}
    base = alt.Chart(rows(values)).encode(
        x=alt.X("lambda_c:O", title="λ_c", sort=None, axis=alt.Axis(labelAngle=0, domain=False, ticks=False)),
        y=alt.Y("lambda_t:O", title="λ_T", sort=None, axis=alt.Axis(domain=False, ticks=False)),
    )
    layered = alt.layer(
        base.mark_rect(stroke=palette.paper, strokeWidth=2, fillOpacity=0.45).encode(
            color=alt.Color(
                "kind:N", legend=None, scale=alt.Scale(domain=list(colors), range=list(colors.values()))
            ),
            description=alt.Description("text:N"),
        ),
        base.mark_text(fontSize=12, fontWeight="bold", color=palette.ink).encode(text="mark:N"),
    ).properties(width=4 * _SIDE, height=4 * _SIDE)
    header = alt.Header(title=None, labelColor=palette.ink, labelFontSize=12)
    chart = layered.facet(
        column=alt.Column("column:N", sort=None, header=header),
        row=alt.Row("row:N", sort=None, header=header),
        spacing=8,
    )
    note = "A number is that of the cell in the list above; = where several cost the same. A wrong choice costs 1."
    title = "The cell of least risk in the 96 scenarios of the paper's grid"
    return [Figure("risk-grid", title, dressed(chart, palette), note)]
