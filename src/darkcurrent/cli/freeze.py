"""`darkcurrent freeze`."""

from __future__ import annotations

from darkcurrent.cli.common import Folder, Json, print_json, say, study_of

__all__ = ["command", "summary"]


def summary(folder: Folder) -> dict[str, object]:
    """Return what was frozen, as counts."""
    frozen = study_of(folder).frozen
    return {
        "study_digest": frozen.study_digest,
        "items": len(frozen.items),
        "refused": len(frozen.refusals),
        "flagged": sum(bool(item.flags) for item in frozen.items),
        "calls": {c.name: len(frozen.schedule(c.name)) for c in frozen.protocol.configuration},
    }


def command(folder: Folder, as_json: Json = False) -> None:
    """Fix protocol, items, rubrics, schedule and configurations under one digest, before the first call."""
    study_of(folder).freeze()
    found = summary(folder)
    if as_json:
        print_json(found)
        return
    say(f"Frozen: {found['items']} items ({found['refused']} refusals, {found['flagged']} flagged).")
    calls = found["calls"]
    assert isinstance(calls, dict)
    for name, count in calls.items():
        say(f"  {name}: {count} calls")
    say(f"Study digest {found['study_digest']}")
    say(f"Next: darkcurrent doctor {folder}, then darkcurrent run {folder}")
