"""Numbers and texts as they are shown, and each cell in one plain sentence."""

from __future__ import annotations

from typing import Any

from darkcurrent.gates import HOLM_LEVEL
from darkcurrent.patterns import PATTERNS
from darkcurrent.printable import shortened
from darkcurrent.reports.arm_words import arm_limits, arm_words
from darkcurrent.reports.numbers import interval, number, share
from darkcurrent.results import Analysis, CampaignResult, CellResult
from darkcurrent.stats import clone_smallest_n

__all__ = [
    "campaign_of",
    "cell_sentences",
    "commitment_words",
    "declared",
    "family_size",
    "held_words",
    "interval",
    "items_words",
    "limits",
    "null_words",
    "number",
    "recorded_words",
    "share",
    "simulated_words",
    "utility_words",
]


def declared(threshold: float | None) -> str:
    """Return a threshold with all the digits that it was declared with."""
    return "–" if threshold is None else f"{threshold:g}".removeprefix("0")


def _beside(value: float, threshold: float) -> str:
    """Return a number with as many digits as it takes to see on which side of a threshold it lies."""
    digits = 3
    while value != threshold and digits < 15 and round(value, digits) == threshold:
        digits += 1
    return number(value, digits)


def campaign_of(analysis: Analysis, cell: CellResult) -> CampaignResult:
    """Return the campaign that a cell belongs to."""
    return next(campaign for campaign in analysis.campaigns if campaign.configuration == cell.configuration)


def cell_sentences(analysis: Analysis) -> list[tuple[str, str]]:
    """Return for each cell its name and what it says in plain words."""
    return [
        (f"{cell.configuration} / {cell.criterion}", _sentence(analysis, cell)) for cell in analysis.cells
    ]


def _sentence(analysis: Analysis, cell: CellResult) -> str:
    campaign = campaign_of(analysis, cell)
    if cell.state == "HOLD":
        return held_words(campaign)
    parts = [null_words(cell, analysis), utility_words(cell, analysis)]
    if cell.state == "NOT GRADED":
        parts = [recorded_words(campaign), _natural_words(cell), *parts, _pattern_words(cell)]
    said = " ".join(part for part in (*parts, *arm_words(cell)) if part)
    return said or "Nothing to grade: the battery shows neither clones nor targets."


def held_words(campaign: CampaignResult) -> str:
    """Say why a campaign is HOLD."""
    early = f"; capture: {campaign.capture}" if campaign.capture != "COMPLETE" else ""
    others = "".join(f"; {reading.sentence}" for reading in campaign.sensitivity if reading.sentence)
    why = f" ({shortened(campaign.stopped, 160)})" if campaign.stopped else ""
    return f"Not evaluated: {'; '.join(campaign.reasons)}{early}{why}{others}."


def recorded_words(campaign: CampaignResult) -> str:
    """Say why recorded data are not graded, and how many replies gave a verdict."""
    rate = f" ({campaign.invalid / campaign.terminal:.1%})" if campaign.terminal else ""
    text = f"Not graded: {'; '.join(campaign.reasons)}. "
    return (
        f"{text}No valid verdict in {share(campaign.invalid, campaign.terminal)} replies of this judge{rate}."
    )


def _natural_words(cell: CellResult) -> str:
    natural = cell.clone.get("natural")
    if natural is None or natural.n == 0:
        return ""
    text = f"Did not tie on {share(natural.adverse, natural.n)} pairs that happen to be one text"
    return f"{text} (rate at most {number(natural.upper)})."


def _pattern_words(cell: CellResult) -> str:
    total = {pattern: sum(counts[pattern] for counts in cell.patterns.values()) for pattern in PATTERNS}
    complete = sum(total.values()) - total["incomplete"]
    if complete == 0:
        return "No pair was shown in both orders." if total["incomplete"] else ""
    return (
        f"Of {complete} pairs in both orders it chose the same text in {total['stable']}, the same slot in "
        f"{total['position']}, tied once in {total['one-sided']} and twice in {total['tie']}, and gave an invalid "
        f"answer in {total['invalid']}."
    )


def null_words(cell: CellResult, analysis: Analysis) -> str:
    """Say what a cell did with identical texts; nothing where it was shown none."""
    core = cell.clone["core"]
    if core.n == 0:
        return ""
    if core.adverse == 0:
        text = (
            f"Tied on all {core.n} pairs of identical texts"
            if core.n > 1
            else "Tied on its one identical pair"
        )
    else:
        said = []
        if core.a + core.b:
            slots = _which_slot(core.a, core.b)
            said.append(f"preferred one of two identical texts {core.a + core.b} of {core.n} times{slots}")
        if core.invalid:
            said.append(f"gave no valid verdict on {core.invalid} of {core.n} pairs of identical texts")
        text = " and ".join(said)
    return f"{text[0].upper()}{text[1:]}{_null_bound(cell, analysis)}."


def _null_bound(cell: CellResult, analysis: Analysis) -> str:
    """Say which of the clone gate's two conditions decides: the bound of this cell, or the p of the family."""
    core, threshold = cell.clone["core"], analysis.gates["clone_threshold"]
    if core.upper is None:
        return ""
    if threshold is None or core.p_holm is None:
        return f" (upper bound {number(core.upper)})"
    if core.upper > threshold:
        return f" (upper bound {_beside(core.upper, threshold)} is above {declared(threshold)})"
    text = f"upper bound {_beside(core.upper, threshold)} is within {declared(threshold)}"
    if core.p_holm > HOLM_LEVEL:
        text += (
            f", but the Holm-adjusted p {_beside(core.p_holm, HOLM_LEVEL)} is above {declared(HOLM_LEVEL)}"
        )
        if core.adverse == 0:
            family = family_size(cell, analysis)
            needed = clone_smallest_n(0, threshold, family, alpha=HOLM_LEVEL)
            text += f": with {family} cells no judge passes on fewer than {needed} pairs"
    return f" ({text})"


def family_size(cell: CellResult, analysis: Analysis) -> int:
    """Return the number of cells that Holm's adjustment of a cell runs over."""
    whole = analysis.gates["clone_family"] == "study"
    return sum(whole or other.configuration == cell.configuration for other in analysis.cells)


_DEGENERATE = (
    "within each stratum every item scored alike, so that the bound has no width, which is no certainty"
)


def _which_slot(a: int, b: int) -> str:
    most, slot = max((a, "the first"), (b, "the second"))
    if most == a + b:
        return f", always {slot}" if most > 1 else f", {slot}"
    return f", mostly {slot} ({most})" if most >= 0.8 * (a + b) else f", {a} the first and {b} the second"


def utility_words(cell: CellResult, analysis: Analysis) -> str:
    """Say how often a cell chose the target; nothing where it has no mean."""
    signal = cell.signal
    if signal.mean is None:
        return ""
    verdicts = signal.verdicts
    calls = verdicts.correct + verdicts.wrong + verdicts.tie + verdicts.invalid
    others = {"the wrong one": verdicts.wrong, "a tie": verdicts.tie, "invalid": verdicts.invalid}
    text = f"Chose the right text in {verdicts.correct} of {calls} calls"
    text += "".join(f", {name} in {count}" for name, count in others.items() if count)
    weighted = " over equal strata" if analysis.method["weights"] == "equal" else ""
    text += f" (mean{weighted} {number(signal.mean)}"
    threshold = analysis.gates["utility_threshold"]
    if signal.lower is not None and threshold is not None:
        verb = "reaches" if signal.lower >= threshold else "misses"
        text += f", lower bound {_beside(signal.lower, threshold)} {verb} {declared(threshold)}"
    elif signal.lower is not None:
        text += f", lower bound {number(signal.lower)}"
    text += ")"
    if signal.degenerate is not None:
        text += f"; {_DEGENERATE}"
    elif signal.remark is not None:
        text += f"; note: {signal.remark.removesuffix('.')}"
    first, second = signal.places["first"], signal.places["second"]
    if first.n and second.n and abs(first.success / first.n - second.success / second.n) >= 0.1:
        text += f"; by place: {share(first.success, first.n)} where it stood first"
        text += f", {share(second.success, second.n)} where second"
    return text + "."


def commitment_words(analysis: Analysis) -> str:
    """Say who vouches for when the study digest was fixed, and when that was."""
    commitment = analysis.commitment
    if commitment is None:
        return (
            "Locally frozen, no third party: when this digest was fixed is the word of whoever ran the study."
        )
    if commitment.authority is None:
        return (
            f"A time-stamp token lies beside the frozen files and was not checked here: {commitment.remark}"
        )
    return f"Stamped by {commitment.authority} at {commitment.at} (RFC 3161): the digest existed then."


def items_words(battery: dict[str, Any]) -> str:
    """Say how many items in how many strata there are."""
    items, strata = battery["items"], battery["strata"]
    return f"{items} {'item' if items == 1 else 'items'} in {strata} {'stratum' if strata == 1 else 'strata'}"


def simulated_words(analysis: Analysis) -> str | None:
    """Say which judges are none, but planted shares; None where all were asked."""
    planted = [each.configuration for each in analysis.campaigns if "planted" in (each.identity or {})]
    if not planted:
        return None
    who = "every judge here" if 1 < len(planted) == len(analysis.campaigns) else ", ".join(planted)
    return f"Simulated, with planted properties: {who}. Such numbers test the tool, and say nothing of any model."


def limits(analysis: Analysis) -> list[str]:
    """Return what the numbers are conditional on and do not show."""
    weights = "the declared strata, each weighted " + (
        "equally" if analysis.method["weights"] == "equal" else "by its items"
    )
    recorded = [
        "Nothing was fixed before these verdicts were seen: which items, judges and prompts are on record, and which "
        "are not, is the choice of whoever recorded them. No number here is a gate.",
    ]
    simulated = simulated_words(analysis)
    return [
        *([simulated] if simulated else []),
        *(recorded if analysis.state == "NOT GRADED" else []),
        "The clone bound and its p hold under independent items with one common rate; they are marginal, and the p is "
        "Holm-adjusted over the declared family.",
        f"The utility bound describes resampling of these items within {weights}; it says nothing about items of another kind.",
        "A gate that is missed is no proof of a defect, and a gate that is passed is no certificate for another configuration, "
        "rubric or set of items.",
        "The mean of a stratum is described and not tested; over few items it may lie below a threshold by chance.",
        "A risk is the loss of these observed rates under losses that you declare; it is no bound, and no promise for other "
        "calls.",
        *arm_limits(analysis),
        *dict.fromkeys(test.does_not_identify for family in analysis.tests for test in family.tests),
        "HOLD means that nothing was evaluated, not that the judge is bad.",
    ]
