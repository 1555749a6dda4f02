"""`darkcurrent status`."""

from __future__ import annotations

from darkcurrent.cli.common import Folder, Json, console, print_json, study_of
from darkcurrent.printable import printable

__all__ = ["command"]


def command(folder: Folder, as_json: Json = False) -> None:
    """Show how far each campaign is, by counting its journal; only `run` and `analyze` check that nobody edited it."""
    from dataclasses import asdict

    from darkcurrent.capture import glance
    from darkcurrent.protocol import load_frozen

    path = folder / "frozen"
    # The whole study is loaded only to say why there is nothing to count: its tables would take a second.
    frozen = load_frozen(path) if path.exists() else study_of(folder).frozen
    found = {
        configuration.name: asdict(glance(folder, frozen, configuration.name))
        for configuration in frozen.protocol.configuration
    }
    if as_json:
        print_json(found)
        return
    from rich.table import Table
    from rich.text import Text

    columns = ("invalid", "ambiguous", "refusals", "seconds")
    table = Table("configuration", "state", "ended", *columns, "why", box=None, pad_edge=False)
    for name, row in found.items():
        counts = (f"{row['ended']}/{row['scheduled']}", *(row[key] for key in columns))
        cells = (name, row["state"], *counts, printable(row["why"] or ""))
        table.add_row(*(Text(str(cell)) for cell in cells))
    console().print(table)
