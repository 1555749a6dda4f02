"""What several commands share: arguments, the two consoles, JSON on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from darkcurrent.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

    from darkcurrent.study import Study

__all__ = ["Folder", "Json", "console", "only_talk", "print_json", "say", "study_of"]

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The study's folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]


def say(text: str) -> None:
    """Talk to the person: one line on stderr. It may quote names and rows, which must not steer a terminal."""
    typer.echo(printable(text), err=True)


def print_json(value: Any) -> None:
    """Print data: stdout. ASCII, so that no text can steer a terminal."""
    typer.echo(json.dumps(value, indent=1, allow_nan=False))


def console() -> Console:
    """Return the console that tables are printed on: stdout. A pipe gets them wide enough not to be folded."""
    from rich.console import Console

    plain = Console(highlight=False)
    return plain if plain.is_terminal else Console(highlight=False, width=max(plain.width, 120))


def study_of(folder: Path) -> Study:
    """Return the study in a folder."""
    from darkcurrent.study import Study

    return Study(folder)


@contextmanager
def only_talk() -> Iterator[None]:
    """Send what a person's own judge prints to stderr: stdout is for data."""
    with redirect_stdout(sys.stderr):
        yield
