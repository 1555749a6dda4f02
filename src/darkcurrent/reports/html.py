"""The report as one HTML page that needs nothing else.

Texts from outside reach the page in three ways, each escaped in one place: through the template, which escapes
every value; as text in a chart, which `svg` rebuilds from the tags and attributes that draw; and in the JSON that the
risk explorer reads, which holds no `<`, `>` or `&`. The page may run its own script, by digest, and nothing else, and
may load nothing.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from darkcurrent.printable import printable
from darkcurrent.reports.answers import answers, summary
from darkcurrent.reports.labels import shown
from darkcurrent.reports.prices import explorer_json, priced_cells, ranking
from darkcurrent.reports.provenance import Provenance
from darkcurrent.reports.readings import readings
from darkcurrent.reports.tables import Table, all_tables
from darkcurrent.reports.words import commitment_words, items_words, limits, number, simulated_words
from darkcurrent.results import Analysis
from darkcurrent.risk import Losses

if TYPE_CHECKING:
    from darkcurrent.reports.charts import Figure

__all__ = ["html_report"]

_TONES = {
    "both gates pass": "good",
    "PASS": "good",
    "neither gate": "bad",
    "MISS": "bad",
    "HOLD": "warn",
    "clone gate only": "warn",
    "utility gate only": "warn",
}


@dataclass(frozen=True)
class _Drawing:
    title: str
    note: str
    svg: Markup


@dataclass(frozen=True)
class _Section:
    """A part of the page: a reading, charts and the tables that hold the same numbers."""

    key: str
    title: str
    reading: str
    figures: list[_Drawing]
    tables: list[Table]


_SECTIONS = {
    "null": ("Does it invent preferences?", ("null",)),
    "utility": ("Does it choose the target?", ("utility", "strata", "parts")),
    "patterns": ("What do both orders say together?", ("patterns", "retest")),
    "verdicts": ("Correct, tie, wrong, invalid", ("utility", "contrasts")),
    "equivalent": ("Does it prefer one of two equals?", ("equivalent", "gap-0")),
    "ladder": ("How large must a difference be?", ("ladder", "contrasts")),
    "context": ("Does a third text change its mind?", ("context",)),
    "invalid": ("Answers without a verdict", ("campaigns", "invalid", "sensitivity")),
    "tests": ("Randomization tests", ("tests",)),
    "time": ("Along the schedule", ("usage", "campaigns")),
    "risk": ("What does using it cost?", ("risk", "risk-grid")),
    "provenance": ("Identity and provenance", ("identity", "digests", "usage", "deviations", "imported")),
}
"""Key to title, and to the tables that belong to it."""


def html_report(analysis: Analysis, provenance: Provenance | None = None) -> str:
    """Return the page.

    Parameters
    ----------
    provenance : Provenance, optional
        Where the numbers come from; the section has only what the analysis knows without it.
    """
    from darkcurrent.reports.charts import DARK, LIGHT, PAGE, figures  # altair: only who draws needs it

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "shown": shown,
        "tone": lambda value: _TONES.get(value, ""),
        "number": number,
        "lines": _lines,
    }
    tables = [*all_tables(analysis), *(provenance.tables if provenance else ())]
    drawn = figures(analysis, PAGE)
    said = readings(analysis)
    sections = [
        _Section(
            key,
            title,
            said[key],
            list(map(_drawing, drawn.get(key, ()))),
            [table for table in tables if table.key in keys],
        )
        for key, (title, keys) in _SECTIONS.items()
        if key in said
    ]
    cells = priced_cells(analysis)
    losses = Losses(**analysis.risk.losses.model_dump())
    script = _template("report.js")
    return environment.from_string(_template("report.html")).render(
        analysis=analysis,
        protocol=provenance.protocol if provenance else "",
        summary=summary(analysis),
        answers=answers(analysis),
        sections=sections,
        tables=tables,
        limits=limits(analysis),
        items=items_words(analysis.battery),
        simulated=simulated_words(analysis),
        commitment=commitment_words(analysis),
        ranking=ranking(cells, losses),
        losses=asdict(losses),
        sliders=_sliders(certified=losses.pi_e > 0),
        explorer=Markup(explorer_json(cells, losses)),  # noqa: S704 - holds no sign that means anything in HTML
        style=Markup(_template("report.css")),  # noqa: S704 - our own
        light=Markup(LIGHT.css()),  # noqa: S704 - our own
        dark=Markup(DARK.css()),  # noqa: S704 - our own
        script=Markup(script),  # noqa: S704 - our own
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _drawing(figure: Figure) -> _Drawing:
    from darkcurrent.reports.svg import page_svg

    return _Drawing(figure.title, figure.note, Markup(page_svg(figure.spec, figure.title)))  # noqa: S704 - rebuilt


@dataclass(frozen=True)
class _Slider:
    name: str
    sign: str
    meaning: str
    highest: float
    step: float


def _sliders(certified: bool) -> list[_Slider]:
    found = [
        _Slider("pi_c", "π_c", "share of calls with identical texts", 1, 0.005),
        _Slider("lambda_c", "λ_c", "loss of an invented preference", 10, 0.05),
        _Slider("lambda_w", "λ_W", "loss of a wrong choice", 10, 0.05),
        _Slider("lambda_t", "λ_T", "loss of a tie where one is better", 10, 0.05),
        _Slider("lambda_i", "λ_I", "loss of an invalid answer", 10, 0.05),
    ]
    if certified:
        found += [
            _Slider("pi_e", "π_e", "share of calls with equivalent texts", 1, 0.005),
            _Slider("lambda_e", "λ_e", "loss of a preference between equivalents", 10, 0.05),
        ]
    return found


def _lines(text: str) -> str:
    """Return a text of several lines, each of which is printable."""
    return "\n".join(map(printable, text.replace("\t", "    ").splitlines()))


def _template(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")
