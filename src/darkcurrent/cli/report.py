"""`darkcurrent report`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from darkcurrent.cli.common import Folder, Json, print_json, say, study_of
from darkcurrent.errors import UsageError

if TYPE_CHECKING:
    from darkcurrent.results import Analysis
    from darkcurrent.study import Study

__all__ = ["command"]

_STDOUT = Path("-")
_FILES = {"html": "report.html", "md": "report.md"}


def command(
    folder: Folder,
    form: Annotated[
        Literal["html", "md", "card", "json"] | None,
        typer.Option(
            "--format",
            help="Only this: the page, Markdown, the judge cards, or the analysis as JSON (on stdout).",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where to write it (without --format: the page); - is stdout.",
        ),
    ] = None,
    configuration: Annotated[
        str | None,
        typer.Option("--configuration", metavar="NAME", help="Whose card; all of them, if not given."),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            "--figures", metavar="FOLDER", help="Also write every chart into this folder, as SVG and PNG."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write report.html and report.md, or what --format names."""
    to_stdout = output == _STDOUT or (form == "json" and output is None)
    if as_json and to_stdout and form != "json":
        raise UsageError(
            "--json and -o - both want stdout: give a file to one, or --format json for the analysis."
        )
    if configuration is not None and form != "card":
        raise UsageError("--configuration chooses a judge card: give it with --format card.")
    study = study_of(folder)
    analysis = study.analyze()
    names = _names(analysis, configuration)
    if form == "card" and output is not None and len(names) > 1:
        raise UsageError(
            f"This study has {len(names)} judge cards and -o names one place: say which with --configuration."
        )
    drawn = study.write_figures(analysis, figures) if figures else []
    written: dict[str, str] = {}
    if form is None and not to_stdout:
        html, markdown = study.report(analysis, output)
        written = {"html": str(html), "markdown": str(markdown)}
    else:
        for kind, place, text in _documents(study, analysis, form or "html", names):
            target = output or study.folder / place
            if to_stdout:
                typer.echo(text, nl=False)
            else:
                from darkcurrent.writing import write_file

                write_file(target, text)
                written[kind] = str(target)
    if drawn:
        say(f"Wrote {len(drawn)} figures to {figures}.")
    if as_json and not to_stdout:
        print_json(written | ({"figures": [str(path) for path in drawn]} if figures else {}))
    elif written:
        say(f"Wrote {' and '.join(written.values())}.")


def _names(analysis: Analysis, only: str | None) -> list[str]:
    names = [campaign.configuration for campaign in analysis.campaigns]
    if only is None:
        return names
    if only not in names:
        known = ", ".join(f"`{name}`" for name in names)
        raise UsageError(f"There is no configuration `{only}` in this study: known are {known}.")
    return [only]


def _documents(study: Study, analysis: Analysis, form: str, names: list[str]) -> list[tuple[str, str, str]]:
    """Return kind, file name and text of each document of a format."""
    from darkcurrent.reports import html_report, markdown_report

    if form == "card":
        places = _card_places([campaign.configuration for campaign in analysis.campaigns])
        return [(f"card {name}", places[name], study.card(analysis, name)) for name in names]
    if form == "json":
        return [("json", "analysis.json", analysis.model_dump_json(indent=1, by_alias=True) + "\n")]
    make = html_report if form == "html" else markdown_report
    return [(form, _FILES[form], make(analysis, study.provenance(analysis)))]


def _card_places(names: list[str]) -> dict[str, str]:
    """Return the file of each configuration's card: names of recorded judges may be anything, so they are reduced."""
    if len(names) == 1:
        return {names[0]: "judge-card.md"}
    places: dict[str, str] = {}
    for number, name in enumerate(names, start=1):
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:60].strip("-.")
        taken = {place.casefold() for place in places.values()}
        place = f"judge-card-{plain}.md"
        if plain != name or place.casefold() in taken:
            place = f"judge-card-{number}-{plain}.md" if plain else f"judge-card-{number}.md"
        places[name] = place
    return places
