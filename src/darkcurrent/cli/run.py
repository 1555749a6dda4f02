"""`darkcurrent run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from darkcurrent.cli.common import Folder, Json, print_json, progress, say, study_of
from darkcurrent.errors import CaptureError

if TYPE_CHECKING:
    from darkcurrent.study import Study

__all__ = ["command", "run_all"]

_FINAL = "PARTIAL_HOLD"


def run_all(folder: Path, names: list[str] | None = None) -> tuple[dict[str, str], CaptureError | None]:
    """Capture what is missing of each configuration, one after the other.

    A campaign that stops does not keep the others from running.

    Returns
    -------
    tuple
        The states by name, and the first error that kept a campaign from ending.
    """
    study = study_of(folder)
    if study.protocol_was_edited():
        say(f"note: {study.protocol_path} was edited after freezing; the frozen protocol counts.")
    for name in names or []:
        study.configuration(name)  # an unknown name is an error before the first call
    states: dict[str, str] = {}
    first: CaptureError | None = None
    for name in names or [configuration.name for configuration in study.frozen.protocol.configuration]:
        states[name], summary, _ = study.state(name)
        if states[name] not in ("NOT STARTED", "INTERRUPTED"):
            say(f"{name}: nothing to do, the campaign is {states[name]}.")
            continue
        if summary is not None:
            _tell_ambiguous(name, len(summary.ambiguous))
        try:
            with progress(name) as show:
                states[name] = study.run(name, show)
        except CaptureError as error:
            first = first or error
            say(f"{name}: {error}")
            states[name] = study.state(name)[0]
            continue
        except KeyboardInterrupt:
            _tell(study, name)
            say(f"Interrupted. To go on: darkcurrent run {folder}")
            raise
        _tell(study, name)
    return states, first


def _tell(study: Study, name: str) -> None:
    state, summary, scheduled = study.state(name)
    assert summary is not None
    why = next((f" ({event.detail['why']})" for event in summary.events if event.kind == "stopped"), "")
    ended = f"{len(summary.terminals)} of {scheduled} calls ended, {study.invalid(name)} of them invalid"
    say(f"{name}: {state}, {ended}, in {summary.elapsed_ms / 1000:.1f} s{why}.")
    _tell_ambiguous(name, len(summary.ambiguous))


def _tell_ambiguous(name: str, count: int) -> None:
    if count:
        calls, they = ("1 call was", "it is") if count == 1 else (f"{count} calls were", "they are")
        say(
            f"{name}: {calls} sent and {'its' if count == 1 else 'their'} end is unknown; {they} never sent again, "
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
    states, error = run_all(folder, only)
    if as_json:
        print_json(states)
    if error is not None:
        raise error
    stopped = [name for name, state in states.items() if state.startswith(_FINAL)]
    if stopped:
        raise CaptureError(
            f"The capture of {', '.join(stopped)} stopped for good: what was recorded is kept and will be HOLD; "
            f"`darkcurrent status {folder}` says why, and to ask again, freeze a new study in another folder."
        )
