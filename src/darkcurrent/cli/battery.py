"""`darkcurrent battery check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from darkcurrent.cli.balance import print_balance
from darkcurrent.cli.common import Folder, Json, console, print_json, say, study_of
from darkcurrent.printable import printable

if TYPE_CHECKING:
    from rich.table import Table

    from darkcurrent.records import Call

__all__ = ["app"]

app = typer.Typer(help="Look at a study's items.", no_args_is_help=True)


@app.callback()
def _battery() -> None:
    """Look at a study's items."""


@app.command()
def check(folder: Folder, as_json: Json = False) -> None:
    """Show by stratum what was taken, what was refused and why, and what the schedule balances; before freezing, and after."""
    from darkcurrent.batteries import draft_battery
    from darkcurrent.batteries.survey import survey
    from darkcurrent.errors import BatteryError
    from darkcurrent.protocol import load_protocol
    from darkcurrent.schedules import balance_report, preview_of

    study = study_of(folder)
    problems: tuple[str, ...] = ()
    preview: tuple[Call, ...] = ()
    if study.is_frozen or study.is_imported:
        protocol, items, refusals = study.frozen.protocol, study.frozen.items, study.frozen.refusals
    else:
        protocol = load_protocol(study.protocol_path)
        battery = draft_battery(protocol, folder)
        items, refusals, problems = battery.items, battery.refusals, battery.shortfalls
        preview = preview_of(protocol.schedule, battery, protocol.criteria)
    strata = survey(items, refusals, protocol.battery.arms)
    calls = study.frozen.schedule(protocol.configuration[0].name) if study.is_frozen else preview
    balance = balance_report(calls, protocol.schedule.kind)
    if as_json:
        print_json(
            {
                "frozen": study.is_frozen,
                "strata": strata,
                "problems": list(problems),
                "schedule": balance.model_dump(mode="json"),
            }
        )
    else:
        console().print(_table(strata))
        print_balance(balance, console())
    for problem in problems[1:]:
        say(f"note: {problem}")
    for problem in problems[:1]:
        raise BatteryError(problem)


def _table(strata: dict[str, dict[str, Any]]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_footer=True)
    totals = {key: sum(found[key] for found in strata.values()) for key in ("rows", "eligible", "taken")}
    table.add_column("stratum", "all")
    for key, total in totals.items():
        table.add_column(key, str(total), justify="right")
    table.add_column("refused", overflow="fold")
    for stratum, found in strata.items():
        why = [f"{count} {reason}" for reason, count in found["refused"].items()]
        why += [
            f"{count} taken without {arm}: {reason}"
            for arm, reasons in found["arms_refused"].items()
            for reason, count in reasons.items()
        ]
        numbers = (str(found[key]) for key in totals)
        table.add_row(Text(printable(stratum)), *numbers, Text("\n".join(map(printable, why)) or "–"))
    return table
