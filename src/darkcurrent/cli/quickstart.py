"""`darkcurrent quickstart`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from darkcurrent.cli.common import Json, console, print_json, say, study_of
from darkcurrent.cli.init import write_protocol
from darkcurrent.cli.run import run_all

__all__ = ["command"]


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the study is kept.")] = Path(
        "quickstart"
    ),
    as_json: Json = False,
) -> None:
    """Audit a real, small, embedded model from protocol to report; a second run goes on or says that all is done."""
    study = study_of(folder)
    if not study.protocol_path.exists():
        write_protocol(folder, "quickstart")
    if not study.is_frozen:
        say("Freezing the battery: 96 program pairs, each run on its whole domain ...")
        study.freeze()
    say(
        f"Frozen under {study.frozen.study_digest[:16]}. Asking three judges; this takes a few minutes. Ctrl-C pauses."
    )
    _, error = run_all(folder)
    if error is not None:
        raise error
    analysis = study.analyze()
    html, markdown = study.report(analysis)
    if as_json:
        print_json(analysis.model_dump(mode="json", by_alias=True))
        return
    from darkcurrent.reports import terminal_report

    terminal_report(analysis, console(), full=False)
    say("")
    say(f"The whole report: {html} (or {markdown}). All tables: darkcurrent analyze {folder}")
    say("Your own judge and pairs: darkcurrent init my-study")
