"""Every chart of a report as files: SVG and PNG, in the colours of print."""

from __future__ import annotations

from collections.abc import Iterator

from darkcurrent.results import Analysis

__all__ = ["drawn_figures"]

_SCALE = 3
"""Pixels of a PNG for each pixel of the chart: about 300 dots per inch at its printed size."""


def drawn_figures(analysis: Analysis) -> Iterator[tuple[str, bytes]]:
    """Yield the name of a file and its bytes for each chart, twice: `NAME.svg` and `NAME.png`."""
    import vl_convert  # starts a JavaScript engine: only who draws needs it

    from darkcurrent.reports.charts import LIGHT, figures

    for section in figures(analysis, LIGHT).values():
        for figure in section:
            yield f"{figure.name}.svg", vl_convert.vegalite_to_svg(figure.spec, allowed_base_urls=[]).encode()
            yield (
                f"{figure.name}.png",
                vl_convert.vegalite_to_png(figure.spec, scale=_SCALE, allowed_base_urls=[]),
            )
