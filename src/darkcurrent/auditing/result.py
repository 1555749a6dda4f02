"""What `audit` returns."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cached_property
from html import escape
from pathlib import Path

import polars as pl

from darkcurrent.errors import UsageError
from darkcurrent.patterns import pair_patterns
from darkcurrent.printable import printable
from darkcurrent.reports import Provenance, html_report, markdown_report, terminal_report
from darkcurrent.reports.gates import CellGate, cell_gates
from darkcurrent.reports.tables import verdict_table
from darkcurrent.results import Analysis
from darkcurrent.study import Study

__all__ = ["Audit"]

_DRAWN = ("null", "utility", "patterns")
"""The sections of a report whose charts a notebook shows; the report has all of them."""


class Audit:
    """An audit that was made. Shown by itself, it is the table that answers the three questions.

    Attributes
    ----------
    analysis : Analysis
        Every number of it, as in `analysis.json`.
    outcomes : polars.DataFrame
        One row per scheduled call, also where there is no answer; the columns are those of
        `darkcurrent.ledger.SCHEMA`.
    folder : Path or None
        The study's folder; None where nothing was kept.

    Examples
    --------
    >>> import darkcurrent
    >>> pairs = [{"prompt": f"Is {n} even?", "chosen": "yes", "rejected": "no"} for n in range(0, 160, 2)]
    >>> audit = darkcurrent.audit(lambda prompt, a, b: "tie", pairs, journal=None, name="always-tie")
    >>> audit.passed
    False
    >>> audit.cells.select("clone_adverse", "clone_gate", "mean", "utility_gate").row(0)
    (0, 'PASS', 0.0, 'MISS')
    >>> audit.outcomes.height, sorted(audit.outcomes["value"].unique())
    (240, ['tie'])
    >>> audit.patterns["pattern"].unique().to_list()
    ['tie']
    >>> print(audit.gate()[0].state, audit.gate()[0].joint)
    MISS clone gate only
    """

    def __init__(
        self,
        analysis: Analysis,
        outcomes: pl.DataFrame,
        folder: Path | None,
        provenance: Provenance | None = None,
    ) -> None:
        self.analysis = analysis
        self.outcomes = outcomes
        self.folder = folder
        self._provenance = provenance

    @classmethod
    def of(cls, study: Study, *, kept: bool) -> Audit:
        """Analyze a study; return everything that is needed when its folder is gone."""
        analysis = study.analyze()
        folder = study.folder if kept else None
        return cls(analysis, study.ledger(), folder, study.provenance(analysis))

    @cached_property
    def patterns(self) -> pl.DataFrame:
        """One row per pair: what its two orders say together."""
        return pair_patterns(self.outcomes)

    @cached_property
    def cells(self) -> pl.DataFrame:
        """One row per cell: counts, bounds and gates; what is not given is null."""
        rows = []
        for cell in self.analysis.cells:
            core, signal = cell.clone["core"], cell.signal
            rows.append(
                {
                    "configuration": cell.configuration,
                    "criterion": cell.criterion,
                    "state": cell.state,
                    "clones": core.n,
                    "clone_adverse": core.adverse,
                    "clone_upper": core.upper,
                    "clone_p": core.p,
                    "clone_p_holm": core.p_holm,
                    "clone_gate": core.gate,
                    "items": signal.items,
                    "mean": signal.mean,
                    "lower": signal.lower,
                    "utility_gate": signal.gate,
                    "joint": cell.joint,
                }
            )
        numbers = dict.fromkeys(("clone_upper", "clone_p", "clone_p_holm", "mean", "lower"), pl.Float64)
        return pl.DataFrame(rows, schema_overrides=numbers)

    def gate(self) -> tuple[CellGate, ...]:
        """Return what the gates say of each cell: its name, PASS, MISS, HOLD or NOT GRADED, and why."""
        return cell_gates(self.analysis)

    @property
    def passed(self) -> bool:
        """Whether every cell passes both gates. HOLD and NOT GRADED do not pass."""
        gates = self.gate()
        return bool(gates) and all(one.state == "PASS" for one in gates)

    def report(self, path: str | Path) -> Path:
        """Write the whole report, as a page where the name ends with `.html` and as Markdown where it ends with `.md`.

        Raises
        ------
        UsageError
            Where it ends with something else, or cannot be written.
        """
        target = Path(path)
        makers: dict[str, Callable[[], str]] = {
            ".html": lambda: html_report(self.analysis, self._provenance),
            ".md": lambda: markdown_report(self.analysis),
        }
        maker = makers.get(target.suffix.lower())
        if maker is None:
            raise UsageError(
                f"{target} ends with `{target.suffix}`: give a name that ends with .html or .md."
            )
        try:
            target.write_text(maker(), encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"{target} cannot be written ({error.strerror}): give another path.") from error
        return target

    def __repr__(self) -> str:
        from rich.console import Console

        page = io.StringIO()
        # In a notebook a console would show the tables itself instead of writing them.
        plain = Console(file=page, width=120, color_system=None, force_jupyter=False)
        terminal_report(self.analysis, plain, full=False)
        lines = [line.rstrip() for line in page.getvalue().strip().splitlines()]
        return "\n".join(lines + ([f"Kept in {self.folder}"] if self.folder else []))

    def _repr_html_(self) -> str:
        from darkcurrent.reports.charts import LIGHT, figures  # altair: only who draws needs it
        from darkcurrent.reports.svg import page_svg

        table = verdict_table(self.analysis)

        def row(cells: tuple[str, ...], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(printable(cell))}</{tag}>" for cell in cells) + "</tr>"

        said = "".join(
            f"<p><b>{escape(printable(one.name))}</b>: {escape(printable(one.reason))}</p>"
            for one in self.gate()
        )
        drawn = "".join(
            f"<h4>{escape(printable(figure.title))}</h4>{page_svg(figure.spec, figure.title)}"
            f"<p><small>{escape(printable(figure.note))}</small></p>"
            for section, shown in figures(self.analysis, LIGHT).items()
            if section in _DRAWN
            for figure in shown
        )
        kept = f"<p>Kept in <code>{escape(printable(str(self.folder)))}</code></p>" if self.folder else ""
        rows = "".join(row(cells, "td") for cells in table.rows)
        return (
            f"<table><caption>{escape(table.title)}</caption><thead>{row(table.columns, 'th')}</thead>"
            f"<tbody>{rows}</tbody></table><p><small>{escape(table.note)}</small></p>{said}{drawn}{kept}"
        )
