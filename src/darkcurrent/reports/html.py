"""The report as one HTML page that needs nothing else."""

from __future__ import annotations

from importlib.resources import files

from jinja2 import Environment, StrictUndefined

from darkcurrent.printable import printable
from darkcurrent.reports.tables import all_tables
from darkcurrent.reports.words import cell_sentences, commitment_words, limits
from darkcurrent.results import Analysis

__all__ = ["html_report"]

_TONES = {"both gates pass": "good", "PASS": "good", "neither gate": "bad", "MISS": "bad"}


def html_report(analysis: Analysis) -> str:
    """Return the page. Every value is escaped by the template engine; there is no script."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"printable": printable, "tone": _tone}
    source = files(__package__).joinpath("templates/report.html").read_text(encoding="utf-8")
    tables = all_tables(analysis)
    return environment.from_string(source).render(
        analysis=analysis,
        verdict=tables[0],
        tables=tables[1:],
        sentences=cell_sentences(analysis),
        limits=limits(analysis),
        commitment=commitment_words(analysis),
    )


def _tone(value: str) -> str:
    if value in _TONES:
        return _TONES[value]
    return "warn" if value.startswith("HOLD") or value.endswith(" only") else ""
