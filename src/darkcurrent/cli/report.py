"""`darkcurrent report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from darkcurrent.cli.common import Folder, Json, print_json, say, study_of

__all__ = ["command"]


def command(
    folder: Folder,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write the HTML page; - is stdout."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write report.html and report.md."""
    study = study_of(folder)
    analysis = study.analyze()
    if output == Path("-"):
        from darkcurrent.reports import html_report

        typer.echo(html_report(analysis, study.provenance(analysis)), nl=False)
        return
    html, markdown = study.report(analysis, output)
    if as_json:
        print_json({"html": str(html), "markdown": str(markdown)})
    else:
        say(f"Wrote {html} and {markdown}.")
