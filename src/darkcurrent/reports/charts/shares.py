"""What was said, in shares: patterns over both orders, verdicts on the target, and why there was none."""

from __future__ import annotations

from typing import Any

from darkcurrent.patterns import PATTERNS
from darkcurrent.reports.charts.frame import Figure, Rows, dressed, stack
from darkcurrent.reports.charts.palette import Palette
from darkcurrent.reports.labels import cell_labels, labels
from darkcurrent.results import Analysis, CellResult

__all__ = ["invalid_figures", "pattern_figures", "verdict_figures"]

_MOST_REASONS = 6


def pattern_figures(analysis: Analysis, palette: Palette) -> list[Figure]:
    """Return one chart for each arm that was shown in both orders."""
    colors = [palette.pale, palette.blue, palette.orange, palette.yellow, palette.purple, palette.grey]
    kinds = dict(zip(_PATTERN_NAMES.values(), colors, strict=True))
    cells = _evaluated(analysis)
    names = cell_labels(cells)
    arms = dict.fromkeys(arm for cell in cells for arm in cell.patterns)
    figures = []
    for arm in arms:
        counted = {
            label: {name: cell.patterns[arm].get(pattern, 0) for pattern, name in _PATTERN_NAMES.items()}
            for label, cell in zip(names, cells, strict=True)
            if arm in cell.patterns
        }
        figures.append(
            _figure(f"patterns-{arm}", f"Both orders together: {arm}", counted, kinds, "pairs", palette)
        )
    return figures


_PATTERN_NAMES: dict[str, str] = dict(
    zip(PATTERNS, ("tie twice", "same text", "same slot", "one tie", "invalid", "incomplete"), strict=True)
)


def verdict_figures(analysis: Analysis, palette: Palette) -> list[Figure]:
    """Return one chart of what each cell said where there was a target."""
    kinds = {"correct": palette.blue, "tie": palette.pale, "wrong": palette.orange, "invalid": palette.purple}
    cells = _evaluated(analysis)
    counted = {
        label: cell.signal.verdicts.model_dump()
        for label, cell in zip(cell_labels(cells), cells, strict=True)
        if cell.signal.items
    }
    if not counted:
        return []
    return [_figure("verdicts", "What was said where there was a target", counted, kinds, "calls", palette)]


def invalid_figures(analysis: Analysis, palette: Palette) -> list[Figure]:
    """Return one chart of the reasons for which a campaign's calls gave no verdict."""
    campaigns = [campaign for campaign in analysis.campaigns if campaign.invalid]
    if not campaigns:
        return []
    totals: dict[str, int] = {}
    for campaign in campaigns:
        for reason, count in campaign.invalid_by_reason.items():
            totals[reason] = totals.get(reason, 0) + count
    common = sorted(totals, key=lambda reason: -totals[reason])[:_MOST_REASONS]
    colors = [palette.purple, palette.orange, palette.blue, palette.yellow, palette.green, palette.grey]
    reasons = dict(zip(common, labels(common), strict=True))
    kinds = dict(zip(reasons.values(), colors, strict=False))
    if len(totals) > len(common):
        kinds["other reasons"] = palette.soft
    kinds["valid"] = palette.pale
    counted = {}
    for name, campaign in zip(labels([each.configuration for each in campaigns]), campaigns, strict=True):
        found = {label: campaign.invalid_by_reason.get(reason, 0) for reason, label in reasons.items()}
        others = campaign.invalid - sum(found.values())
        counted[name] = {**found, "other reasons": others, "valid": campaign.terminal - campaign.invalid}
    return [_figure("invalid", "Why calls gave no verdict", counted, kinds, "calls that ended", palette)]


def _evaluated(analysis: Analysis) -> list[CellResult]:
    """Return the cells that are drawn: the counts of a held campaign stand in the tables, and are compared with nothing."""
    return [cell for cell in analysis.cells if cell.state != "HOLD"]


def _figure(
    name: str,
    title: str,
    counted: dict[str, dict[str, int]],
    kinds: dict[str, str],
    unit: str,
    palette: Palette,
) -> Figure:
    values: Rows = []
    for label, counts in counted.items():
        total = sum(counts.values())
        values += [
            _part(label, kind, counts[kind], total, order)
            for order, kind in enumerate(kinds)
            if counts.get(kind)
        ]
    chart = stack(values, list(counted), kinds, f"share of {unit}")
    return Figure(name, title, dressed(chart, palette))


def _part(label: str, kind: str, count: int, total: int, order: int) -> dict[str, Any]:
    text = f"{label}: {kind} {count} of {total}"
    return {"label": label, "kind": kind, "share": count / total, "order": order, "text": text}
