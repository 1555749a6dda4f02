"""`darkcurrent status`."""

from __future__ import annotations

from darkcurrent.cli.common import Folder, Json, console, print_json, study_of

__all__ = ["command"]


def command(folder: Folder, as_json: Json = False) -> None:
    """Show how far each campaign is."""
    found = {
        name: {
            "state": state,
            "scheduled": scheduled,
            "ended": len(summary.terminals) if summary else 0,
            "ambiguous": len(summary.ambiguous) if summary else 0,
            "seconds": round(summary.elapsed_ms / 1000, 1) if summary else 0,
            "why": next((event.detail["why"] for event in summary.events if event.kind == "stopped"), None)
            if summary
            else None,
        }
        for name, (state, summary, scheduled) in study_of(folder).states().items()
    }
    if as_json:
        print_json(found)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table("configuration", "state", "ended", "ambiguous", "seconds", "why", box=None, pad_edge=False)
    for name, row in found.items():
        ended = f"{row['ended']}/{row['scheduled']}"
        cells = (name, row["state"], ended, row["ambiguous"], row["seconds"], row["why"] or "")
        table.add_row(*(Text(str(cell)) for cell in cells))
    console().print(table)
