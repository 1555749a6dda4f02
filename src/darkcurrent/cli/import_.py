"""`darkcurrent import`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from darkcurrent.cli.common import Json, print_json, say
from darkcurrent.errors import UsageError

if TYPE_CHECKING:
    from darkcurrent.verdicts import Contract

__all__ = ["command"]


def command(
    format_name: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="fastchat-pair, korean-mt-bench, llmbar, position-bias, judgebench, inspect, openai-batch or table.",
        ),
    ],
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES...", help="Files, or folders of files of this format.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="The new study's folder.")],
    mapping: Annotated[
        Path | None,
        typer.Option("--mapping", metavar="FILE", help="What is what; for inspect, openai-batch and table."),
    ] = None,
    contract: Annotated[
        str | None,
        typer.Option(
            "--contract", metavar="NAME", help="How kept replies are read; default: the format's own."
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--contract-option",
            metavar="KEY=VALUE",
            help="An option of the contract, JSON or text; may be repeated.",
        ),
    ] = None,
    count: Annotated[
        Literal["recorded", "contract"] | None,
        typer.Option(
            "--count",
            help="Whose verdict counts: the recorded label (default, if there is one) or the contract's.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Take in verdicts that others recorded: counted and described, never graded."""
    from darkcurrent.importers import import_verdicts
    from darkcurrent.importers.folder import compared

    declared = _contract(contract, option or [])
    imported = import_verdicts(
        format_name, files, output, mapping=mapping, contract=declared, count=count
    ).manifest
    if as_json:
        print_json(imported)
        return
    counted = (
        "recorded labels count" if imported["counted"] == "recorded" else "the contract's reading counts"
    )
    say(
        f"Imported {imported['calls']} calls on {imported['items']} items from {len(imported['sources'])} files; {counted}."
    )
    say(f"Coding: {imported['coding']}.")
    comparison = imported["comparison"]
    if comparison["compared"]:
        say(f"{compared(imported)}.")
    if comparison["disagree"]:
        say(f"  They are listed in {output / 'imported' / 'disagreements.jsonl'}")
    for note in imported["notes"]:
        say(f"note: {note}.")
    say(f"Next: darkcurrent analyze {output}")


def _contract(name: str | None, options: list[str]) -> Contract | None:
    from darkcurrent.verdicts import get_contract

    if name is None:
        if options:
            raise UsageError("--contract-option belongs to --contract: name the contract too.")
        return None
    values: dict[str, Any] = {}
    for text in options:
        key, sign, value = text.partition("=")
        if not sign:
            raise UsageError(f"The option {text!r} is not KEY=VALUE, e.g. where=last-line.")
        try:
            values[key] = json.loads(value)
        except ValueError:
            values[key] = value
    return get_contract(name, **values)
