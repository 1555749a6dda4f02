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
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write the HTML page.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write report.html and report.md."""
    study = study_of(folder)
    html, markdown = study.report(study.analyze(), output)
    if as_json:
        print_json({"html": str(html), "markdown": str(markdown)})
    else:
        say(f"Wrote {html} and {markdown}.")
