"""`darkcurrent compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from darkcurrent.cli.common import Json, console, print_json, study_of
from darkcurrent.errors import UsageError
from darkcurrent.printable import printable

__all__ = ["command"]


def command(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="The studies' folders; the first is compared with the others."),
    ],
    configurations: Annotated[
        list[str] | None,
        typer.Option(
            "--configurations",
            metavar="A=B",
            help="Compare configuration A of the first study with B of the others; may be repeated.",
        ),
    ] = None,
    criteria: Annotated[
        list[str] | None,
        typer.Option("--criteria", metavar="A=B", help="The same for criteria; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show studies side by side, and the calls that they share verdict by verdict."""
    from darkcurrent.comparing import compare_studies

    analyses, comparison = compare_studies(
        [study_of(folder) for folder in folders],
        _mapping(configurations or [], "--configurations"),
        _mapping(criteria or [], "--criteria"),
    )
    if as_json:
        value = comparison.model_dump(mode="json")
        value["analyses"] = [
            each.model_dump(mode="json", by_alias=True, include={"cells", "campaigns", "gates", "risk"})
            for each in analyses
        ]
        print_json(value)
        return
    from darkcurrent.reports.compare_tables import compare_tables, compare_words, total_words
    from darkcurrent.reports.terminal import print_table

    for table in compare_tables(analyses, comparison):
        print_table(table, console())
    for line in total_words(comparison):
        typer.echo(f"\n{line}")
    if words := compare_words(comparison):
        typer.echo("\nWhat this rests on, and what is not compared")
        for line in words:
            typer.echo(f"- {printable(line)}.")


def _mapping(pairs: list[str], option: str) -> dict[str, str]:
    mapping: dict[str, str] = {}
    for pair in pairs:
        own, sign, its = pair.partition("=")
        if not (own and sign and its):
            raise UsageError(f"{option} {pair} has not the form A=B: name a pair, such as {option} old=new.")
        if own in mapping:
            raise UsageError(f"{option} names `{own}` twice: give it one counterpart.")
        mapping[own] = its
    return mapping
