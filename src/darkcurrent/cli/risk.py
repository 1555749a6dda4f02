"""`darkcurrent risk`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from darkcurrent.cli.common import Folder, Json, console, print_json, say, study_of
from darkcurrent.printable import printable

if TYPE_CHECKING:
    from darkcurrent.results import RiskResult

__all__ = ["command"]


def command(
    folder: Folder,
    loss: Annotated[
        Path | None,
        typer.Option(
            "--loss",
            metavar="FILE",
            help="What mistakes cost you: a TOML file with pi_c, lambda_c and the others; - is stdin.",
        ),
    ] = None,
    grid: Annotated[
        Literal["paper"] | None, typer.Option("--grid", help="Show every cell over the paper's 96 scenarios.")
    ] = None,
    optimal: Annotated[
        bool,
        typer.Option(
            "--optimal", help="Name the cell of least risk, with the interval of what the others cost more."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what using each cell costs, and at which losses another one costs less."""
    from darkcurrent.analysis import load_losses, priced, select_cell

    losses = load_losses(loss) if loss else None
    study = study_of(folder)
    result = study.analyze().risk
    if losses:
        result = priced(result.cells, losses)
    selection = select_cell(study.ledger(), result, study.declared()) if optimal else None
    if as_json:
        value: dict[str, Any] = {"declared": losses is not None, **result.model_dump(mode="json")}
        if grid:
            value["grid"] = _scenarios(result)
        if selection:
            value["optimal"] = selection.model_dump(mode="json")
        print_json(value)
        return
    from darkcurrent.reports.risk_tables import break_even_words, grid_table, risk_table, selection_words
    from darkcurrent.reports.terminal import print_table

    terminal = console()
    print_table(risk_table(result, declared=losses is not None), terminal)
    if not any(cell.rates for cell in result.cells):
        say("No cell has a risk: the table says why.")
    if words := break_even_words(result):
        _print("Break-evens, one loss at a time", words)
    if grid and any(cell.grid for cell in result.cells):
        print_table(grid_table(result), terminal)
    if selection:
        _print("The cell of least risk", selection_words(selection))


def _print(title: str, lines: list[str]) -> None:
    typer.echo(f"\n{title}")
    for line in lines:
        typer.echo(f"- {printable(line)}")


def _scenarios(result: RiskResult) -> list[dict[str, Any]]:
    from darkcurrent.analysis import known_rates
    from darkcurrent.risk import PAPER_GRID, risk

    rates = {(cell.configuration, cell.criterion): known_rates(cell) for cell in result.cells}
    return [
        {
            "losses": asdict(losses),
            "risks": [
                {"configuration": key[0], "criterion": key[1], "risk": risk(own, losses) if own else None}
                for key, own in rates.items()
            ],
        }
        for losses in PAPER_GRID
    ]
