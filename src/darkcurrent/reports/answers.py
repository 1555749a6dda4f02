"""Each cell's three answers, and what a person may change where one of them is no."""

from __future__ import annotations

from dataclasses import dataclass

from darkcurrent.gates import HOLM_LEVEL, Gate
from darkcurrent.printable import shortened
from darkcurrent.reports.words import (
    campaign_of,
    declared,
    family_size,
    held_words,
    null_words,
    number,
    recorded_words,
    share,
    utility_words,
)
from darkcurrent.results import Analysis, CampaignResult, CellResult
from darkcurrent.stats import clone_smallest_n

__all__ = ["Answer", "CellAnswers", "answers", "hidden_strata", "summary"]


@dataclass(frozen=True)
class Answer:
    """The answer to one of the three questions.

    Attributes
    ----------
    gate : str
        Its gate; that of the first question is `PASS` where the campaign may be evaluated.
    count : str
        The number that decides, in short.
    sentence : str
        The same in plain words.
    """

    gate: Gate
    count: str
    sentence: str


@dataclass(frozen=True)
class CellAnswers:
    """A cell with its answers: eligible verdicts, invented preferences, the target; and what to change."""

    cell: CellResult
    valid: Answer
    null: Answer
    utility: Answer
    advice: str


def answers(analysis: Analysis) -> list[CellAnswers]:
    """Return the answers of every cell."""
    return [
        CellAnswers(
            cell,
            _valid(analysis, cell),
            _null(analysis, cell),
            _utility(analysis, cell),
            _advice(analysis, cell),
        )
        for cell in analysis.cells
    ]


def summary(analysis: Analysis) -> str:
    """Say in one sentence how many cells pass."""
    total = len(analysis.cells)
    cells = "1 cell" if total == 1 else f"{total} cells"
    if analysis.state == "NOT GRADED":
        return f"Recorded verdicts: {cells} described, none graded."
    if not any(campaign.terminal for campaign in analysis.campaigns):
        return f"Nothing is captured yet: {cells} declared, none evaluated."
    passed = sum(cell.joint == "both gates pass" for cell in analysis.cells)
    held = sum(cell.joint == "HOLD" for cell in analysis.cells)
    ungraded = sum(cell.joint == "NOT GRADED" for cell in analysis.cells)
    if ungraded + held == total and ungraded:
        text = f"{ungraded} of {cells} described and not graded: a threshold or an arm is missing"
    else:
        text = f"{passed} of {cells} {'passes' if passed == 1 else 'pass'} both gates"
        text += f"; {ungraded} not graded" if ungraded else ""
    text += f"; {held} on HOLD, not evaluated" if held else ""
    return text + "."


def hidden_strata(cell: CellResult, analysis: Analysis) -> list[str]:
    """Return the strata whose mean lies below the threshold that the cell as a whole reaches, weakest first."""
    threshold = analysis.gates["utility_threshold"]
    if cell.signal.gate != "PASS" or threshold is None:
        return []
    weak = [(stratum.mean, name) for name, stratum in cell.signal.strata.items() if stratum.mean < threshold]
    return [name for _, name in sorted(weak)]


def _valid(analysis: Analysis, cell: CellResult) -> Answer:
    campaign = campaign_of(analysis, cell)
    count = f"{share(campaign.terminal - campaign.invalid, campaign.scheduled)} valid"
    if cell.state == "HOLD":
        return Answer("HOLD", count, held_words(campaign))
    if cell.state == "NOT GRADED":
        return Answer("NOT GRADED", count, recorded_words(campaign))
    if campaign.invalid == 0:
        said = f"All {campaign.scheduled} calls gave a valid verdict."
    else:
        ceiling = f"{analysis.gates['invalid_ceiling']:.3g}"
        said = f"{campaign.invalid} of {campaign.scheduled} calls gave no valid verdict, within the ceiling of {ceiling}."
    return Answer("PASS", count, said)


def _null(analysis: Analysis, cell: CellResult) -> Answer:
    core = cell.clone["core"]
    if cell.state == "HOLD":
        return Answer("HOLD", "–", "Not evaluated.")
    if core.n == 0:
        return Answer("NOT GRADED", "–", "No identical texts were shown.")
    return Answer(
        core.gate, f"{share(core.adverse, core.n)} [≤ {number(core.upper)}]", null_words(cell, analysis)
    )


def _utility(analysis: Analysis, cell: CellResult) -> Answer:
    signal = cell.signal
    if cell.state == "HOLD":
        return Answer("HOLD", "–", "Not evaluated.")
    if signal.mean is None:
        return Answer("NOT GRADED", "–", f"{(signal.reason or 'nothing to grade').capitalize()}.")
    hidden = hidden_strata(cell, analysis)
    said = utility_words(cell, analysis)
    if hidden:
        weakest = hidden[0]
        others = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
        said += (
            f" The pass hides “{shortened(weakest, 40)}”{others}: its mean is {number(signal.strata[weakest].mean)}, "
            f"below {declared(analysis.gates['utility_threshold'])}."
        )
    return Answer(signal.gate, f"{number(signal.mean)} [≥ {number(signal.lower)}]", said)


def _advice(analysis: Analysis, cell: CellResult) -> str:
    campaign = campaign_of(analysis, cell)
    if cell.state == "HOLD":
        return _after_hold(campaign)
    parts = []
    if cell.state != "NOT GRADED" and cell.joint == "NOT GRADED":
        parts.append("Declare both thresholds, and show both arms, in a new study.")
    if cell.clone["core"].gate == "MISS":
        parts.append(_after_null(analysis, cell))
    if cell.signal.gate == "MISS":
        parts.append(_after_utility(cell))
    hidden = hidden_strata(cell, analysis)
    if hidden:
        parts.append(
            f"Do not use it on “{shortened(hidden[0], 40)}” alone, nor where such items are frequent."
        )
    return " ".join(parts)


def _after_hold(campaign: CampaignResult) -> str:
    if campaign.terminal == 0 and campaign.stopped is None:
        return "Capture it with “darkcurrent run”."
    if campaign.missing and campaign.stopped is None:
        return "Capture what is missing: “darkcurrent run” goes on where it stopped."
    if campaign.missing or campaign.ambiguous:
        return "Remove what stopped the capture, and begin a new study: what is missing here stays missing."
    evaluable = [reading.contract for reading in campaign.sensitivity if reading.sentence]
    if evaluable:
        return (
            f"Make the judge keep to the declared form, or declare the contract “{evaluable[0]}” in a new study: its "
            "default options read these replies."
        )
    return "Make the judge keep to the declared form (rubric, decoder or model) and begin a new study."


def _after_null(analysis: Analysis, cell: CellResult) -> str:
    core, threshold = cell.clone["core"], analysis.gates["clone_threshold"]
    if core.adverse == 0:
        needed = clone_smallest_n(0, threshold, family_size(cell, analysis), alpha=HOLM_LEVEL)
        return f"Show more identical pairs: at least {needed} in each cell, or declare fewer cells."
    if core.invalid > core.a + core.b:
        return (
            "Find out why identical texts get no valid verdict; the table of invalid answers has the reasons."
        )
    if max(core.a, core.b) >= 0.8 * core.adverse and core.adverse > 2:
        return (
            "It leans to one slot where nothing is to choose: ask in both orders and count only what agrees, say in the "
            "rubric that a tie is allowed, or use another judge."
        )
    return "Say in the rubric when a tie is right, or use another judge."


def _after_utility(cell: CellResult) -> str:
    verdicts, places = cell.signal.verdicts, cell.signal.places
    first, second = (
        places[place].success / places[place].n if places[place].n else 0 for place in ("first", "second")
    )
    if abs(first - second) >= 0.2:
        return "Its choice depends on the place of the text: ask in both orders and count only what agrees, or use another judge."
    if verdicts.tie > verdicts.wrong:
        return "Most misses are ties: a less strict criterion may choose more often, and be wrong more often too."
    return "Most misses are wrong choices: use another judge or another rubric for these items."
