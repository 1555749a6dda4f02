"""`darkcurrent analyze`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from darkcurrent.cli.common import Folder, Json, console, print_json, say, study_of

__all__ = ["command"]


def command(
    folder: Folder,
    paper: Annotated[
        bool, typer.Option("--paper", help="Show the tables with the columns of the paper instead.")
    ] = False,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv", metavar="FOLDER", help="Write every table into this folder, one CSV file each."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Evaluate what is captured, write analysis.json, and show the tables."""
    study = study_of(folder)
    for name in study.running():
        say(f"`{name}` is being captured right now: its calls in flight count as sent with an unknown end.")
    analysis = study.analyze()
    if csv is not None:
        written = study.write_csv(analysis, csv)
        say(f"Wrote {len(written)} tables to {csv}.")
    if as_json:
        print_json(analysis.model_dump(mode="json", by_alias=True))
        return
    from darkcurrent.reports import print_paper_tables, terminal_report

    if paper:
        if not print_paper_tables(analysis, console()):
            say("This study has nothing that a table of the paper shows.")
    else:
        terminal_report(analysis, console())
