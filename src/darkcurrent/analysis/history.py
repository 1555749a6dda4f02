"""What happened to a capture besides its calls."""

from __future__ import annotations

from darkcurrent.capture import JournalSummary

__all__ = ["deviations"]


def deviations(summary: JournalSummary) -> list[str]:
    """Return in plain words what a reader of the numbers should know of how they came about; empty where nothing was."""
    found = []
    opened = [event.detail for event in summary.events if event.kind == "opened"]
    if len(opened) > 1:
        found.append(f"captured in {len(opened)} runs")
    for key in ("darkcurrent", "python", "host"):
        values = list(dict.fromkeys(str(detail[key]) for detail in opened if key in detail))
        if len(values) > 1:
            found.append(f"`{key}` changed between runs: {', '.join(values)}")
    if summary.refusals:
        requests, calls = sum(summary.refusals.values()), len(summary.refusals)
        found.append(
            f"{_some(requests, 'request')} of {_some(calls, 'call')} refused without an observation, "
            f"{sum(summary.retries.values())} sent again"
        )
    if summary.stopped is not None:
        found.append(f"ended for good: {summary.stopped.detail.get('why', 'no reason is recorded')}")
    return found


def _some(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
