"""`darkcurrent run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from darkcurrent.cli.common import Folder, Json, print_json, progress, say, study_of
from darkcurrent.errors import CaptureError, DarkcurrentError

if TYPE_CHECKING:
    from darkcurrent.study import Study

__all__ = ["command", "run_all"]

_FINAL = "PARTIAL_HOLD"


def run_all(folder: Path, names: list[str] | None = None) -> dict[str, str]:
    """Capture what is missing of each configuration, one after the other; return their states.

    A campaign that stops does not keep the others from running. The first error is raised at the end.
    """
    study = study_of(folder)
    if study.protocol_was_edited():
        say(f"note: {study.protocol_path} was edited after freezing; the frozen protocol counts.")
    for name in names or []:
        study.configuration(name)  # an unknown name is an error before the first call
    states: dict[str, str] = {}
    first: DarkcurrentError | None = None
    for name in names or [configuration.name for configuration in study.frozen.protocol.configuration]:
        before = study.states()[name][0]
        if before not in ("NOT STARTED", "INTERRUPTED"):
            say(f"{name}: nothing to do, the campaign is {before}.")
            states[name] = before
            continue
        try:
            with progress(name) as show:
                states[name] = study.run(name, show)
        except CaptureError as error:
            first = first or error
            say(f"{name}: {error}")
            states[name] = study.states()[name][0]
            continue
        except KeyboardInterrupt:
            _tell(study, name, study.states()[name][0])
            say(f"Interrupted. To go on: darkcurrent run {folder}")
            raise
        _tell(study, name, states[name])
    if first is not None:
        raise first
    return states


def _tell(study: Study, name: str, state: str) -> None:
    _, summary, scheduled = study.states()[name]
    assert summary is not None
    why = next((f" ({event.detail['why']})" for event in summary.events if event.kind == "stopped"), "")
    ended = f"{len(summary.terminals)} of {scheduled} calls ended in {summary.elapsed_ms / 1000:.1f} s"
    say(f"{name}: {state}, {ended}{why}.")
    if summary.ambiguous:
        say(
            f"{name}: {len(summary.ambiguous)} calls were sent and their end is unknown; they are never sent again, "
            "and the campaign will be HOLD."
        )


def command(
    folder: Folder,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="Only this configuration; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Ask what is scheduled, each call once; goes on where it stopped."""
    states = run_all(folder, only)
    if as_json:
        print_json(states)
    stopped = [name for name, state in states.items() if state.startswith(_FINAL)]
    if stopped:
        raise CaptureError(
            f"The capture of {', '.join(stopped)} stopped for good: what was recorded is kept and will be HOLD; "
            f"see `darkcurrent status {folder}`."
        )
