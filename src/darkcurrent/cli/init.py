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


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where to write protocol.toml; made if need be.")
    ],
    study: Annotated[
        str,
        typer.Option(
            "--study", metavar="NAME", help="The template: pairs, fresh-items, replication or quickstart."
        ),
    ] = "pairs",
    as_json: Json = False,
) -> None:
    """Write a commented protocol.toml to start from."""
    path = write_protocol(folder, study)
    if as_json:
        print_json({"protocol": str(path)})
    else:
        say(f"Wrote {path}. Edit it, then: darkcurrent freeze {folder}")
