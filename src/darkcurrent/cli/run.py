"""`darkcurrent run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from darkcurrent.cli.common import Folder, Json, print_json, progress, say, study_of
from darkcurrent.errors import CaptureError, DarkcurrentError

if TYPE_CHECKING:
    from darkcurrent.capture import Glance

__all__ = ["command", "run_all"]

_STOPPED = {"PARTIAL_HOLD_TRANSPORT", "PARTIAL_HOLD_MODEL", "PARTIAL_HOLD_DEADLINE"}
_OVER = {"COMPLETE", "HELD_EARLY", *_STOPPED}


def run_all(folder: Path, names: list[str] | None = None) -> dict[str, str]:
    """Capture what is missing of each configuration, one after the other; return their states.

    A campaign that stops does not keep the others from running. The first error is raised at the end.
    """
    from darkcurrent.capture import glance, summary_of

    study = study_of(folder)
    if study.protocol_was_edited():
        say(f"note: {study.protocol_path} was edited after freezing; the frozen protocol counts.")
    for name in names or []:
        study.configuration(name)  # an unknown name is an error before the first call
    states: dict[str, str] = {}
    first: DarkcurrentError | None = None
    for name in names or [configuration.name for configuration in study.frozen.protocol.configuration]:
        before = glance(folder, study.frozen, name)
        if before.state in _OVER:
            summary_of(folder, name)  # follows the journal's chain, which a glance does not
            say(f"{name}: nothing to do, the campaign is {before.state}{_why(before)}.")
            states[name] = before.state
            continue
        try:
            with progress(name) as show:
                states[name] = study.run(name, show)
        except CaptureError as error:
            first = first or error
            say(f"{name}: {error}")
            states[name] = glance(folder, study.frozen, name).state
            continue
        except KeyboardInterrupt:
            _tell(name, glance(folder, study.frozen, name))
            say(f"Interrupted. To go on: darkcurrent run {folder}")
            raise
        _tell(name, glance(folder, study.frozen, name))
    if first is not None:
        raise first
    return states


def _why(now: Glance) -> str:
    return f" ({now.why})" if now.why else ""


def _tell(name: str, now: Glance) -> None:
    say(f"{name}: {now.state}, {now.ended} of {now.scheduled} calls ended in {now.seconds} s{_why(now)}.")
    if now.refusals:
        say(f"{name}: {now.refusals} requests were refused without an answer; each is in the journal.")
    if now.ambiguous:
        say(
            f"{name}: {now.ambiguous} calls were sent and their end is unknown; they are never sent again, "
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
    stopped = [name for name, state in states.items() if state in _STOPPED]
    if stopped:
        raise CaptureError(
            f"The capture of {', '.join(stopped)} stopped for good: what was recorded is kept and will be HOLD; "
            f"see `darkcurrent status {folder}`."
        )
