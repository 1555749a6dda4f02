"""Numbers and texts as they are shown, and each cell in one plain sentence."""

from __future__ import annotations

from darkcurrent.gates import HOLM_LEVEL
from darkcurrent.patterns import PATTERNS
from darkcurrent.printable import shortened
from darkcurrent.results import Analysis, CampaignResult, CellResult
from darkcurrent.stats import clone_smallest_n

__all__ = ["campaign_of", "cell_sentences", "commitment_words", "declared", "limits", "number", "share"]


def number(value: float | None, digits: int = 3) -> str:
    """Return a number without its leading zero, in the manner of the field; a dash where there is none."""
    if value is None:
        return "–"
    if 0 < abs(value) < 10**-digits:
        mantissa, _, exponent = f"{value:.1e}".partition("e")
        return f"{mantissa}e{int(exponent)}"
    shown = f"{value:.{digits}f}"
    return shown.replace("0.", ".", 1) if abs(value) < 1 and float(shown) != 0 else shown


def declared(threshold: float | None) -> str:
    """Return a threshold with all the digits that it was declared with."""
    return "–" if threshold is None else f"{threshold:g}".removeprefix("0")


def _beside(value: float, threshold: float) -> str:
    """Return a number with as many digits as it takes to see on which side of a threshold it lies."""
    digits = 3
    while value != threshold and digits < 15 and round(value, digits) == threshold:
        digits += 1
    return number(value, digits)


def share(count: int, total: int) -> str:
    """Return a count out of a total."""
    return f"{count}/{total}"


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
        early = f"; capture: {campaign.capture}" if campaign.capture != "COMPLETE" else ""
        others = "".join(f"; {reading.sentence}" for reading in campaign.sensitivity if reading.sentence)
        why = f" ({shortened(campaign.stopped, 160)})" if campaign.stopped else ""
        return f"Not evaluated: {'; '.join(campaign.reasons)}{early}{why}{others}."
    parts = [_null_words(cell, analysis), _utility_words(cell, analysis)]
    if cell.state == "NOT GRADED":
        parts = [_recorded_words(campaign), _natural_words(cell), *parts, _pattern_words(cell)]
    said = " ".join(part for part in parts if part)
    return said or "Nothing to grade: the battery shows neither clones nor targets."


def _recorded_words(campaign: CampaignResult) -> str:
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


def _null_words(cell: CellResult, analysis: Analysis) -> str:
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
            family = _family(cell, analysis)
            needed = clone_smallest_n(0, threshold, family, alpha=HOLM_LEVEL)
            text += f": with {family} cells no judge passes on fewer than {needed} pairs"
    return f" ({text})"


def _family(cell: CellResult, analysis: Analysis) -> int:
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


def _utility_words(cell: CellResult, analysis: Analysis) -> str:
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


def limits(analysis: Analysis) -> list[str]:
    """Return what the numbers are conditional on and do not show."""
    weights = "the declared strata, each weighted " + (
        "equally" if analysis.method["weights"] == "equal" else "by its items"
    )
    recorded = [
        "Nothing was fixed before these verdicts were seen: which items, judges and prompts are on record, and which "
        "are not, is the choice of whoever recorded them. No number here is a gate.",
    ]
    return [
        *(recorded if analysis.state == "NOT GRADED" else []),
        "The clone bound and its p hold under independent items with one common rate; they are marginal, and the p is "
        "Holm-adjusted over the declared family.",
        f"The utility bound describes resampling of these items within {weights}; it says nothing about items of another kind.",
        "A gate that is missed is no proof of a defect, and a gate that is passed is no certificate for another configuration, "
        "rubric or set of items.",
        "HOLD means that nothing was evaluated, not that the judge is bad.",
    ]
