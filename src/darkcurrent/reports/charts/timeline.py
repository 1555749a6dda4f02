"""A campaign along its schedule: what it said and how long it took, so that drift shows."""

from __future__ import annotations

import altair as alt

from darkcurrent.reports.charts.frame import WIDTH, Figure, Rows, dressed, rows
from darkcurrent.reports.charts.palette import Palette
from darkcurrent.reports.labels import MOST_CHARTS, labels
from darkcurrent.results import Analysis, Timeline

__all__ = ["timeline_figures"]


def timeline_figures(analysis: Analysis, palette: Palette) -> list[Figure]:
    """Return one chart for each campaign that was captured on a schedule."""
    campaigns = [campaign for campaign in analysis.campaigns if campaign.timeline and campaign.terminal]
    campaigns = campaigns[:MOST_CHARTS]
    names = labels([campaign.configuration for campaign in campaigns], 40)
    return [
        Figure(
            f"time-{index}",
            f"{name}: along the schedule",
            dressed(_panels(campaign.timeline, palette), palette),
        )
        for index, (name, campaign) in enumerate(zip(names, campaigns, strict=True))
        if campaign.timeline
    ]


def _panels(timeline: Timeline, palette: Palette) -> alt.VConcatChart:
    kinds = {
        "tie": palette.pale,
        "first slot": palette.blue,
        "second slot": palette.orange,
        "invalid": palette.purple,
        "no ending": palette.grey,
    }
    counts = (timeline.tie, timeline.a, timeline.b, timeline.invalid, timeline.unended)
    said: Rows = []
    took: Rows = []
    start = 0
    for index, calls in enumerate(timeline.calls):
        end = start + calls
        where = f"calls {start + 1} to {end}"
        low = 0
        for kind, found in zip(kinds, counts, strict=True):
            if found[index]:
                high = low + found[index]
                text = f"{where}: {kind} {found[index]}"
                said.append(
                    {
                        "start": start,
                        "end": end,
                        "low": low / calls,
                        "high": high / calls,
                        "kind": kind,
                        "text": text,
                    }
                )
                low = high
        latency, refused = timeline.latency_ms[index], timeline.refused[index]
        if latency is not None:
            seconds = latency / 1000
            text = f"{where}: median {seconds:.3g} s" + (f", {refused} refusals" if refused else "")
            took.append({"middle": (start + end) / 2, "seconds": seconds, "refused": refused, "text": text})
        start = end
    x = alt.Scale(domain=[0, start], nice=False)
    verdicts = (
        alt.Chart(rows(said))
        .mark_rect(stroke=None)
        .encode(
            x=alt.X(
                "start:Q", scale=x, title=None if took else "call", axis=alt.Axis(tickCount=4, format="~d")
            ),
            x2="end:Q",
            y=alt.Y(
                "low:Q",
                title="verdicts",
                axis=alt.Axis(format="%", tickCount=3, minExtent=38),
                scale=alt.Scale(domain=[0, 1]),
            ),
            y2="high:Q",
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=list(kinds), range=list(kinds.values())),
                legend=alt.Legend(orient="top", columns=3, symbolType="square"),
            ),
            description=alt.Description("text:N"),
        )
        .properties(width=WIDTH + 50, height=90)
    )
    if not took:
        return alt.vconcat(verdicts)
    # Milliseconds where no bin took a second: few digits at the axis.
    unit, factor = ("s", 1) if max(each["seconds"] for each in took) >= 1 else ("ms", 1000)
    for each in took:
        each["latency"] = each["seconds"] * factor
    base = alt.Chart(rows(took)).encode(
        x=alt.X("middle:Q", scale=x, title="call", axis=alt.Axis(tickCount=4, format="~d")),
        y=alt.Y("latency:Q", title=f"median, {unit}", axis=alt.Axis(tickCount=3, format="~g", minExtent=38)),
    )
    refusals = (
        []
        if not any(timeline.refused)
        else [
            base.transform_filter("datum.refused > 0")
            .mark_point(shape="triangle-up", filled=True, size=60, color=palette.bad, opacity=1)
            .encode(description=alt.Description("text:N"))
        ]
    )
    latency_panel = alt.layer(
        base.mark_line(color=palette.soft, strokeWidth=1.5),
        base.mark_point(filled=True, size=14, color=palette.ink, opacity=1).encode(
            description=alt.Description("text:N")
        ),
        *refusals,
    ).properties(width=WIDTH + 50, height=70)
    return alt.vconcat(verdicts, latency_panel, spacing=8)
