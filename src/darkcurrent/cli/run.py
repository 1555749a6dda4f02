"""`darkcurrent run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from darkcurrent.cli.common import Folder, Json, only_talk, print_json, say, study_of
from darkcurrent.errors import CaptureError, DarkcurrentError, UsageError
from darkcurrent.printable import printable

if TYPE_CHECKING:
    from darkcurrent.capture import Glance

__all__ = ["command", "run_all", "run_all_on_cluster"]

_STOPPED = {"PARTIAL_HOLD_TRANSPORT", "PARTIAL_HOLD_MODEL", "PARTIAL_HOLD_DEADLINE"}
_OVER = {"COMPLETE", "HELD_EARLY", *_STOPPED}


def run_all(folder: Path, names: list[str] | None = None) -> tuple[dict[str, str], CaptureError | None]:
    """Capture what is missing of each configuration, one after the other.

    A campaign that stops does not keep the others from running.

    Returns
    -------
    tuple
        The states by name, and the first error that kept a campaign from ending.
    """
    from darkcurrent.auditing.progress import progress
    from darkcurrent.capture import glance

    study = study_of(folder)
    if study.protocol_was_edited():
        say(f"note: {study.protocol_path} was edited after freezing; the frozen protocol counts.")
    for name in names or []:
        study.configuration(name)  # an unknown name is an error before the first call
    states: dict[str, str] = {}
    first: CaptureError | None = None
    for name in names or [configuration.name for configuration in study.frozen.protocol.configuration]:
        before = glance(folder, study.frozen, name)
        if before.state in _OVER:
            study.state(name)  # follows the journal's chain, which a glance does not
            say(f"{name}: nothing to do, the campaign is {before.state}{_why(before)}.")
            states[name] = before.state
            continue
        if before.state == "INTERRUPTED":
            _tell_ambiguous(name, before.ambiguous)
        try:
            with only_talk(), progress(name) as show:
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
        first = first or _tell_end(name, glance(folder, study.frozen, name))
    return states, first


def _tell_end(name: str, after: Glance) -> CaptureError | None:
    """Tell how a campaign ended; return the error that it is where no call of it was answered."""
    _tell(name, after)
    if not after.ended or after.unanswered < after.ended:
        return None
    return CaptureError(
        f"{name}: not one of {after.ended} calls was answered; of the last one: {after.unanswered_why}. Mend the judge "
        "and freeze a new study."
    )


def _why(now: Glance) -> str:
    return f" ({printable(now.why)})" if now.why else ""


def _tell(name: str, now: Glance) -> None:
    ended = f"{now.ended} of {now.scheduled} calls ended, {now.invalid} of them invalid"
    say(f"{name}: {now.state}, {ended}, in {now.seconds} s{_why(now)}.")
    if now.refusals:
        say(f"{name}: requests that were refused without an answer: {now.refusals}; each is in the journal.")
    _tell_ambiguous(name, now.ambiguous)


def _tell_ambiguous(name: str, count: int) -> None:
    if count:
        calls, they = ("1 call was", "it is") if count == 1 else (f"{count} calls were", "they are")
        say(
            f"{name}: {calls} sent and {'its' if count == 1 else 'their'} end is unknown; {they} never sent again, "
            "and the campaign will be HOLD."
        )


def run_all_on_cluster(
    folder: Path, address: str, names: list[str] | None = None
) -> tuple[dict[str, str], DarkcurrentError | None]:
    """Capture what is missing of each configuration on the nodes of a Ray cluster, all at the same time.

    Returns
    -------
    tuple
        As `run_all`.
    """
    from darkcurrent.auditing.progress import progress
    from darkcurrent.capture import glance

    study = study_of(folder)
    if study.protocol_was_edited():
        say(f"note: {study.protocol_path} was edited after freezing; the frozen protocol counts.")
    declared = [each.name for each in study.frozen.protocol.configuration]
    configurations = [study.configuration(name) for name in dict.fromkeys(names or declared)]
    from darkcurrent.executors.driver import run_on_cluster
    from darkcurrent.executors.ray import RayExecutor

    with RayExecutor(address) as cluster:
        try:
            with progress("cluster") as show:
                states, error = run_on_cluster(folder, study.frozen, configurations, cluster, say, show)
        except KeyboardInterrupt:
            say(f"Interrupted. To go on: darkcurrent run {folder} --executor ray --address {address}")
            raise
    for each in configurations:
        found = _tell_end(each.name, glance(folder, study.frozen, each.name))
        error = error or found
    return dict(states), error


def command(
    folder: Folder,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="Only this configuration; may be repeated."),
    ] = None,
    executor: Annotated[
        Literal["local", "ray"],
        typer.Option(
            "--executor", help="Where the calls are sent from: this machine, or the nodes of a Ray cluster."
        ),
    ] = "local",
    address: Annotated[
        str | None,
        typer.Option(
            "--address", metavar="HOST:PORT", help="Of the Ray cluster; without it, the one of this machine."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Ask what is scheduled, each call once; goes on where it stopped."""
    states: dict[str, str]
    error: DarkcurrentError | None
    if executor == "ray":
        states, error = run_all_on_cluster(folder, "auto" if address is None else address, only)
    elif address is not None:
        raise UsageError("--address is that of a cluster: give it with --executor ray.")
    else:
        states, error = run_all(folder, only)
    if as_json:
        print_json(states)
    if error is not None:
        raise error
    stopped = [name for name, state in states.items() if state in _STOPPED]
    if stopped:
        raise CaptureError(
            f"The capture of {', '.join(stopped)} stopped for good: what was recorded is kept and will be HOLD; "
            f"`darkcurrent status {folder}` says why, and to ask again, freeze a new study in another folder."
        )
