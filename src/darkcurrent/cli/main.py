"""The program `darkcurrent`. Each command's own imports happen when it runs, so that `--help` is quick."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from darkcurrent._version import __version__
from darkcurrent.cli import (
    analyze,
    archive,
    battery,
    close,
    compare,
    doctor,
    freeze,
    gate,
    import_,
    init,
    label,
    plan,
    quickstart,
    replay,
    report,
    risk,
    run,
    simulate,
    status,
    verify,
)
from darkcurrent.cli.common import say
from darkcurrent.errors import DarkcurrentError

__all__ = ["app", "main"]

app = typer.Typer(
    name="darkcurrent",
    help="Tells whether an LLM judge may be trusted with your choice.",
    epilog="Exit codes: 0 done · 1 unexpected · 2 usage or protocol error · 3 a gate missed (gate) · "
    "4 HOLD, NOT GRADED or STALE (gate) · 5 capture stopped · 6 integrity failure · 130 interrupted",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)

_COMMANDS = (
    *(quickstart, init, plan, freeze, doctor, run, status, close, analyze, gate, risk, compare, report),
    *(archive, verify, replay, import_, simulate),
)

for _command in _COMMANDS:
    app.command(name=_command.__name__.rpartition(".")[2].rstrip("_"))(_command.command)

for _group in (battery, label):
    app.add_typer(_group.app, name=_group.__name__.rpartition(".")[2])


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"darkcurrent {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Tells whether an LLM judge may be trusted with your choice."""


def main() -> None:
    """Run the program; an error of ours is one sentence and its exit code, anything else a traceback and 1."""
    try:
        app(prog_name="darkcurrent")
    except DarkcurrentError as error:
        say(f"error: {error}")
        sys.exit(error.exit_code)
