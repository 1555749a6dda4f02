"""Every chart of a report, each specified in one place, in the colours of the page or of print.

>>> from darkcurrent.reports.charts import LIGHT, figures
>>> charts = figures(analysis, LIGHT)  # doctest: +SKIP

gives Vega-Lite specifications by section, in reading order; `vl_convert.vegalite_to_svg(figure.spec)` draws one.
"""

from __future__ import annotations

from darkcurrent.reports.charts.arms import context_figures, equivalent_figures, ladder_figures
from darkcurrent.reports.charts.frame import Figure
from darkcurrent.reports.charts.null import null_figures
from darkcurrent.reports.charts.palette import DARK, LIGHT, PAGE, Palette
from darkcurrent.reports.charts.riskgrid import risk_figures
from darkcurrent.reports.charts.shares import invalid_figures, pattern_figures, verdict_figures
from darkcurrent.reports.charts.timeline import timeline_figures
from darkcurrent.reports.charts.utility import strata_figures, utility_figures
from darkcurrent.results import Analysis

__all__ = ["DARK", "LIGHT", "PAGE", "Figure", "Palette", "figures"]

_SECTIONS = {
    "null": (null_figures,),
    "utility": (utility_figures, strata_figures),
    "patterns": (pattern_figures,),
    "verdicts": (verdict_figures,),
    "equivalent": (equivalent_figures,),
    "ladder": (ladder_figures,),
    "context": (context_figures,),
    "invalid": (invalid_figures,),
    "time": (timeline_figures,),
    "risk": (risk_figures,),
}


def figures(analysis: Analysis, palette: Palette) -> dict[str, list[Figure]]:
    """Return the charts of an analysis by section; a section has none where there is nothing to draw."""
    return {
        section: [figure for make in makers for figure in make(analysis, palette)]
        for section, makers in _SECTIONS.items()
    }
