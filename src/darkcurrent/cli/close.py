"""`darkcurrent close`."""

from __future__ import annotations

from typing import Annotated

import typer

from darkcurrent.cli.common import Folder, Json, print_json, say, study_of

__all__ = ["command"]


def command(
    folder: Folder,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why nothing more will be asked; kept and shown.")
    ],
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="Only this configuration; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """End campaigns before their last call, for good: what is missing stays missing, and they are HOLD."""
    from darkcurrent.capture import close_campaign

    study = study_of(folder)
    configurations = [
        study.configuration(name)
        for name in only or [each.name for each in study.frozen.protocol.configuration]
    ]
    states = {each.name: close_campaign(folder, study.frozen, each, reason) for each in configurations}
    if as_json:
        print_json(states)
        return
    for name, state in states.items():
        say(f"{name}: {state}.")
