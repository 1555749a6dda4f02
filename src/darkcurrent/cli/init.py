"""`darkcurrent init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from darkcurrent.cli.common import Json, print_json, say
from darkcurrent.errors import UsageError

__all__ = ["command", "write_protocol"]


def write_protocol(folder: Path, study: str) -> Path:
    """Write a template as a study's protocol; refuse to overwrite one."""
    from darkcurrent.protocol.templates import template_text

    text = template_text(study)
    path = folder / "protocol.toml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as handle:
            handle.write(text)
    except OSError as error:
        if path.exists():
            raise UsageError(
                f"{path} exists already and is not overwritten: choose another folder, or edit it."
            ) from error
        raise UsageError(
            f"{path} cannot be written ({error.strerror}): choose a folder that you may write to."
        ) from error
    return path


def _list(as_json: bool) -> None:
    from darkcurrent.protocol.templates import template_names, template_summary

    summaries = {name: template_summary(name) for name in template_names()}
    if as_json:
        print_json(summaries)
        return
    width = max(map(len, summaries))
    for name, summary in summaries.items():
        typer.echo(f"{name:<{width}}  {summary}")


def command(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Where to write protocol.toml; made if need be.")
    ] = None,
    study: Annotated[
        str,
        typer.Option(
            "--study",
            metavar="NAME",
            help="The template: pairs (your own pairs), quickstart, or a study of the paper; --list says which.",
        ),
    ] = "pairs",
    all_names: Annotated[
        bool, typer.Option("--list", help="Print each template's name and what it is for; write nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a commented protocol.toml to start from."""
    if all_names:
        _list(as_json)
        return
    if folder is None:
        raise UsageError("Name the folder to write to, e.g. `darkcurrent init my-study`.")
    path = write_protocol(folder, study)
    if as_json:
        print_json({"protocol": str(path)})
    else:
        say(f"Wrote {path}. Edit it, then: darkcurrent freeze {folder}")
