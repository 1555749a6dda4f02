"""`darkcurrent gate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from darkcurrent.cli.common import Folder, Json, say, study_of
from darkcurrent.errors import UsageError

__all__ = ["command"]


def command(
    folder: Folder,
    form: Annotated[
        Literal["text", "junit", "github", "json"] | None,
        typer.Option(
            "--format", help="One line per cell (text), JUnit's XML, GitHub's annotations, or JSON."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write it instead of stdout."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Exit 0 where every cell passes both gates, 3 where one is missed, 4 where a cell is HOLD, NOT GRADED or STALE.

    A cell is STALE where its judge is no longer the one that was audited: the protocol, a rubric, a source or a model
    file is another one now.
    """
    from darkcurrent.freshness import freshness
    from darkcurrent.reports.gates import FORMATS, cell_gates, exit_code, with_changes

    if as_json and form not in (None, "json"):
        raise UsageError(f"--json and --format {form} exclude each other: give one.")
    study = study_of(folder)
    analysis = study.analyze()
    fresh = freshness(study)
    gates = with_changes(cell_gates(analysis), fresh.changed)
    text = FORMATS["json" if as_json else form or "text"](analysis.study, gates)
    if output is None:
        typer.echo(text, nl=False)
    else:
        try:
            output.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"{output} cannot be written ({error.strerror}): name another file.") from error
    for name, what in fresh.unchecked.items():
        say(f"{name}: {'; '.join(what)}.")
    if code := exit_code(gates):
        raise typer.Exit(code)
