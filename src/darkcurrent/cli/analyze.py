"""`darkcurrent analyze`."""

from __future__ import annotations

from darkcurrent.cli.common import Folder, Json, console, print_json, say, study_of

__all__ = ["command"]


def command(folder: Folder, as_json: Json = False) -> None:
    """Evaluate what is captured, write analysis.json, and show the tables."""
    study = study_of(folder)
    for name in study.running():
        say(f"`{name}` is being captured right now: its calls in flight count as sent with an unknown end.")
    analysis = study.analyze()
    if as_json:
        print_json(analysis.model_dump(mode="json", by_alias=True))
        return
    from darkcurrent.reports import terminal_report

    terminal_report(analysis, console())
