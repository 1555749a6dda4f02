"""`darkcurrent freeze`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from darkcurrent.cli.common import Folder, Json, print_json, say, study_of

if TYPE_CHECKING:
    from darkcurrent.protocol import Frozen

__all__ = ["command"]


def command(
    folder: Folder,
    timestamp: Annotated[
        str | None,
        typer.Option(
            "--timestamp",
            metavar="URL",
            help="Have this time-stamp authority (RFC 3161) put its time on the study digest; also for a study that is "
            "frozen and has made no call yet.",
        ),
    ] = None,
    authorities: Annotated[
        Path | None,
        typer.Option(
            "--timestamp-ca", metavar="PEM", help="The certificates to trust for it, instead of the system's."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Fix protocol, items, rubrics, schedule and configurations under one digest, before the first call."""
    study = study_of(folder)
    if timestamp is None or not study.is_frozen:
        study.freeze()
    found = _summary(study.frozen)
    if timestamp is not None:
        found["commitment"] = study.stamp(timestamp, authorities).model_dump(mode="json")
    if as_json:
        print_json(found)
        return
    items = f"{found['items']} item{'' if found['items'] == 1 else 's'}"
    say(f"Frozen: {items}, {found['refused']} refused, {found['flagged']} flagged.")
    if found["refused"]:
        say(f"  What was refused and why: {study.frozen.folder / 'refusals.jsonl'}")
    for name, count in found["calls"].items():
        say(f"  {name}: {count} calls")
    for note in found["notes"]:
        say(f"note: {note}")
    say(f"Study digest {found['study_digest']}")
    if timestamp is not None:
        say(f"Stamped by {found['commitment']['authority']} at {found['commitment']['at']}.")
    say(f"Next: darkcurrent doctor {folder}, then darkcurrent run {folder}")


def _summary(frozen: Frozen) -> dict[str, Any]:
    """Return what was frozen, as counts."""
    return {
        "study_digest": frozen.study_digest,
        "items": len(frozen.items),
        "refused": len(frozen.refusals),
        "flagged": sum(bool(item.flags) for item in frozen.items),
        "calls": {c.name: len(frozen.schedule(c.name)) for c in frozen.protocol.configuration},
        "notes": _notes(frozen),
    }


def _notes(frozen: Frozen) -> list[str]:
    """Return what a person would rather know before the first call than after the last one."""
    from darkcurrent.gates import HOLM_LEVEL
    from darkcurrent.stats import clone_smallest_n

    protocol = frozen.protocol
    threshold = protocol.gates.clone_threshold
    criterion = next(iter(protocol.criteria))
    calls = frozen.schedule(protocol.configuration[0].name)
    clones = sum(call.null_stratum == "core" and call.criterion == criterion for call in calls)
    if threshold is None or clones == 0:
        return []
    cells = len(protocol.criteria)
    if protocol.gates.clone_family == "study":
        cells *= len(protocol.configuration)
    needed = clone_smallest_n(0, threshold, cells, alpha=HOLM_LEVEL)
    if clones >= needed:
        return []
    return [
        f"no judge can pass the clone gate: with {cells} cell{'' if cells == 1 else 's'} in the family it takes {needed} "
        f"clones that are all tied, and the battery has {clones}. Take more items, or fewer cells in a study."
    ]
