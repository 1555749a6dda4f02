"""What each section of the page says in one or two lines."""

from __future__ import annotations

from collections.abc import Callable

from darkcurrent.gates import HOLM_LEVEL
from darkcurrent.reports.answers import hidden_strata
from darkcurrent.reports.labels import MOST_CHARTS, cell_labels, shown
from darkcurrent.reports.prices import priced_cells, ranking
from darkcurrent.reports.words import declared, number, share
from darkcurrent.results import Analysis, CellResult, Timeline
from darkcurrent.risk import Losses

__all__ = ["readings", "trades"]


def readings(analysis: Analysis) -> dict[str, str]:
    """Return the reading of each section by its key; a section of an arm that was not shown has none."""
    said = {key: say(analysis) for key, say in _READINGS.items()}
    return {key: text for key, text in said.items() if text}


def _null(analysis: Analysis) -> str:
    graded = [cell for cell in analysis.cells if cell.clone["core"].gate in ("PASS", "MISS")]
    missed = [cell for cell in graded if cell.clone["core"].gate == "MISS"]
    text = "A judge that sees one text twice has nothing to prefer. "
    if not graded:
        return text + "No cell is graded here."
    threshold = declared(analysis.gates["clone_threshold"])
    text += f"{len(graded) - len(missed)} of {_cells(len(graded))} graded can exclude a rate of {threshold} (dashed line)"
    return text + (f"; not {_names(analysis, missed)}." if missed else ".")


def _utility(analysis: Analysis) -> str:
    graded = [cell for cell in analysis.cells if cell.signal.gate in ("PASS", "MISS")]
    if not graded:
        shown_cells = [cell for cell in analysis.cells if cell.signal.mean is not None]
        return (
            "No threshold is declared: the shares are described only."
            if shown_cells
            else "No cell is graded here."
        )
    passed = [cell for cell in graded if cell.signal.gate == "PASS"]
    hiding = [cell for cell in passed if hidden_strata(cell, analysis)]
    threshold = declared(analysis.gates["utility_threshold"])
    reach, own = ("reaches", "its") if len(passed) == 1 else ("reach", "their")
    text = f"{len(passed)} of {_cells(len(graded))} graded {reach} {threshold} (dashed line) with {own} lower bound."
    if hiding:
        text += (
            f" {_names(analysis, hiding)}: the pass of the whole hides at least one stratum below {threshold}, marked with a "
            "red diamond. A mean over few items may lie below by chance; it is described, not tested."
        )
    several = sum(len(cell.signal.strata) > 1 for cell in analysis.cells)
    if several > MOST_CHARTS:
        text += f" Strata are drawn for {MOST_CHARTS} of {several} cells, those that hide one first; the table has all."
    return text


def _patterns(analysis: Analysis) -> str:
    worst, most = None, 0.0
    for cell in analysis.cells:
        for counts in cell.patterns.values() if cell.state != "HOLD" else ():
            total = sum(counts.values()) - counts.get("incomplete", 0)
            if total and counts["position"] / total > most:
                worst, most = (cell, counts["position"], total), counts["position"] / total
    text = "What the two orders of a pair say together: a judge that reads the texts chooses the same text twice. "
    if worst is None:
        return text + "No pair of an evaluated cell got the same slot twice."
    cell, count, total = worst
    return (
        text
        + f"The same slot twice, whatever stood there: most often {_names(analysis, [cell])}, {share(count, total)} pairs."
    )


def _verdicts(analysis: Analysis) -> str:
    said = trades(analysis)
    return (
        " ".join(said)
        if said
        else "A tie, a wrong and an invalid answer are no success, and they cost differently."
    )


def trades(analysis: Analysis) -> list[str]:
    """Say for each judge what each later criterion trades against the first one, in calls with a target."""
    found = []
    by_judge: dict[str, list[CellResult]] = {}
    for cell in analysis.cells:
        if cell.state != "HOLD" and cell.signal.items:
            by_judge.setdefault(cell.configuration, []).append(cell)
    for name, (first, *others) in by_judge.items():
        for other in others:
            before, after = first.signal.verdicts, other.signal.verdicts
            changes = [
                f"{getattr(after, kind) - getattr(before, kind):+d} {kind}"
                for kind in ("correct", "tie", "wrong", "invalid")
                if getattr(after, kind) != getattr(before, kind)
            ]
            what = ", ".join(changes) or "nothing changes"
            found.append(
                f"{shown(name, 40)}, “{shown(other.criterion, 40)}” instead of “{shown(first.criterion, 40)}”: {what}."
            )
    return found


def _equivalent(analysis: Analysis) -> str:
    found = [(cell, cell.equivalent) for cell in analysis.cells if cell.equivalent is not None]
    if not found:
        return ""
    text = "Two different texts of which neither is better are to be tied. "
    rated = [
        (pairs.rate, cell, pairs) for cell, pairs in found if pairs.rate is not None and cell.state != "HOLD"
    ]
    if not rated:
        return text + "No cell was evaluated."
    _, cell, pairs = max(rated, key=lambda each: each[0])
    proof = (
        f"What proves that they are equal: {pairs.certified}."
        if pairs.certified
        else "Nothing proves that they are equal."
    )
    if pairs.adverse == 0:
        return f"{text}All were tied in both orders. {proof}"
    return f"{text}Not tied most often: {_names(analysis, [cell])}, {share(pairs.adverse, pairs.pairs)} pairs. {proof}"


def _ladder(analysis: Analysis) -> str:
    found = [(cell, cell.ladder) for cell in analysis.cells if cell.ladder is not None]
    if not found:
        return ""
    seen: dict[str, list[CellResult]] = {}
    for cell, ladder in found:
        if cell.state != "HOLD":
            seen.setdefault(ladder.smallest_75 or "none", []).append(cell)
    said = [f"{step}: {_names(analysis, cells)}" for step, cells in sorted(seen.items())]
    text = "Contrasts of known size, the hardest first; a tie is a miss. Hardest step with a share of .75 or more: "
    return text + ("; ".join(said) or "no cell was evaluated") + "."


def _context(analysis: Analysis) -> str:
    found = [
        (abs(one.difference), cell, arm, one)
        for cell in analysis.cells
        for arm, one in cell.context.items()
        if one.difference is not None and cell.state != "HOLD"
    ]
    if not any(cell.context for cell in analysis.cells):
        return ""
    text = "The same two texts, without and with a third one that cannot win: no gate. "
    if not found:
        return text + "No cell was evaluated."
    _, cell, arm, one = max(found, key=lambda each: each[0])
    return text + (
        f"The share of successes moves most for {_names(analysis, [cell])} ({arm}): {number(one.absent)} to "
        f"{number(one.present)}."
    )


def _tests(analysis: Analysis) -> str:
    if not analysis.tests:
        return ""
    found = [(family.configuration, test) for family in analysis.tests for test in family.tests]
    if not found:
        return f"No randomization test: {'; '.join(dict.fromkeys(str(family.reason) for family in analysis.tests))}."
    rejected = [(name, test) for name, test in found if test.p_holm is not None and test.p_holm <= HOLM_LEVEL]
    listed = "; ".join(
        f"{shown(name, 40)}, {test.contrast}: {number(test.statistic)}, Holm p {number(test.p_holm)}"
        for name, test in rejected[:6]
    )
    text = f"{len(rejected)} of {_count(len(found), 'contrast')} {'has' if len(rejected) == 1 else 'have'} a Holm-adjusted p of "
    text += f"{declared(HOLM_LEVEL)} or less" + (f" ({listed})." if listed else ".")
    return f"{text} What no p shows stands among the limits below."


def _invalid(analysis: Analysis) -> str:
    said = []
    for campaign in analysis.campaigns:
        if campaign.invalid:
            reason = next(iter(campaign.invalid_by_reason))
            calls = share(campaign.invalid, campaign.terminal)
            text = f"{shown(campaign.configuration, 40)}: {calls} calls, most often “{shown(reason, 40)}”"
            others = [
                reading.contract
                for reading in campaign.sensitivity
                if reading.accepted > reading.replies - campaign.invalid
            ]
            said.append(
                text
                + (
                    f"; {' and '.join(f'“{each}”' for each in others[:2])} would have read more."
                    if others
                    else "."
                )
            )
    if not any(campaign.terminal for campaign in analysis.campaigns):
        return "Nothing is captured yet."
    return " ".join(said) or "Every call that ended gave a valid verdict."


def _time(analysis: Analysis) -> str:
    lines = [campaign for campaign in analysis.campaigns if campaign.timeline and campaign.terminal]
    if not lines:
        return "Nothing is captured, or nobody knows in which order."
    text = (
        "The schedule mixes items, arms and orders, so that a judge that stays the same shows level bands; a step or a "
        "slope is drift. "
    )
    drifts = [(abs(_drift(campaign.timeline)), campaign) for campaign in lines if campaign.timeline]
    drift, campaign = max(drifts, key=lambda pair: pair[0])
    return text + (
        "From the first half to the second, the share of ties moves most for "
        f"{shown(campaign.configuration, 40)}: by {number(drift)}."
    )


def _drift(timeline: Timeline) -> float:
    """Return by how much the share of ties changes from the first half of the bins to the second."""
    half = (len(timeline.calls) + 1) // 2
    shares = []
    for part in (slice(None, half), slice(half, None)):
        ended = sum(timeline.calls[part]) - sum(timeline.unended[part])
        shares.append(sum(timeline.tie[part]) / ended if ended else None)
    return 0.0 if None in shares else shares[1] - shares[0]  # type: ignore[operator]


def _risk(analysis: Analysis) -> str:
    cells = priced_cells(analysis)
    if not cells:
        return "No cell was evaluated on both identical texts and targets: no risk can be said."
    (_, best, least), *others = ranking(cells, Losses(**analysis.risk.losses.model_dump()))
    text = f"At the losses set at first, {best} costs {number(least)} in each call"
    text += f", the least; next {others[0][1]}, {number(others[0][2])}." if others else "."
    return text + " Set your own losses; the page computes at once and keeps them in its link."


def _provenance(analysis: Analysis) -> str:
    verified = sum(campaign.basis == "verified digest" for campaign in analysis.campaigns)
    stated = sum(campaign.basis == "service's declaration" for campaign in analysis.campaigns)
    found = sum(len(campaign.deviations) for campaign in analysis.campaigns)
    if not verified + stated:
        return "Nobody was asked yet." if analysis.state != "NOT GRADED" else "What was read, by its digests."
    judges = _count(len(analysis.campaigns), "configuration")
    text = (
        f"Of {judges}, {verified} answered with verified bytes and {stated} by their service's declaration."
    )
    return text + (f" {_count(found, 'deviation')} in the capture." if found else "")


def _cells(count: int) -> str:
    return _count(count, "cell")


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _names(analysis: Analysis, cells: list[CellResult]) -> str:
    names = dict(zip(map(id, analysis.cells), cell_labels(analysis.cells, 60), strict=True))
    listed = [names[id(cell)] for cell in cells]
    return ", ".join(listed[:4]) + (f" and {len(listed) - 4} more" if len(listed) > 4 else "")


_READINGS: dict[str, Callable[[Analysis], str]] = {
    "null": _null,
    "utility": _utility,
    "patterns": _patterns,
    "verdicts": _verdicts,
    "equivalent": _equivalent,
    "ladder": _ladder,
    "context": _context,
    "tests": _tests,
    "invalid": _invalid,
    "time": _time,
    "risk": _risk,
    "provenance": _provenance,
}
