"""`darkcurrent status`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from darkcurrent.cli.common import Folder, Json, console, print_json, study_of
from darkcurrent.printable import printable

if TYPE_CHECKING:
    from darkcurrent.study import Study

__all__ = ["command"]


def command(folder: Folder, as_json: Json = False) -> None:
    """Show how far each campaign is."""
    study = study_of(folder)
    found = {
        configuration.name: _row(study, configuration.name)
        for configuration in study.frozen.protocol.configuration
    }
    if as_json:
        print_json(found)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(
        "configuration", "state", "ended", "invalid", "ambiguous", "seconds", "why", box=None, pad_edge=False
    )
    for name, row in found.items():
        ended = f"{row['ended']}/{row['scheduled']}"
        counts = (ended, row["invalid"], row["ambiguous"], row["seconds"])
        cells = (name, row["state"], *counts, printable(row["why"] or ""))
        table.add_row(*(Text(str(cell)) for cell in cells))
    console().print(table)


def _row(study: Study, name: str) -> dict[str, Any]:
    state, summary, scheduled = study.state(name)
    events = summary.events if summary else []
    return {
        "state": state,
        "scheduled": scheduled,
        "ended": len(summary.terminals) if summary else 0,
        "invalid": study.invalid(name),
        "ambiguous": len(summary.ambiguous) if summary else 0,
        "seconds": round(summary.elapsed_ms / 1000, 1) if summary else 0,
        "why": next((event.detail["why"] for event in events if event.kind == "stopped"), None),
    }
