"""`darkcurrent gate`."""

from __future__ import annotations

import typer

from darkcurrent.cli.common import Folder, Json, print_json, say, study_of

__all__ = ["command"]

_MISSED = 3
_HELD = 4


def command(folder: Folder, as_json: Json = False) -> None:
    """Exit 0 where every gate of every cell passes, 3 where one is missed, 4 where a cell is HOLD or NOT GRADED."""
    analysis = study_of(folder).analyze()
    joints = {f"{cell.configuration} / {cell.criterion}": cell.joint for cell in analysis.cells}
    if as_json:
        print_json(joints)
    else:
        for name, joint in joints.items():
            typer.echo(f"{name}: {joint}")
        if analysis.state == "NOT GRADED":
            for reason in dict.fromkeys(reason for one in analysis.campaigns for reason in one.reasons):
                say(f"Not graded: {reason}.")
    if {"HOLD", "NOT GRADED"} & set(joints.values()):
        raise typer.Exit(_HELD)
    if set(joints.values()) != {"both gates pass"}:
        raise typer.Exit(_MISSED)
