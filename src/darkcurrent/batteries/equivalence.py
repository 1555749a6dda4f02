"""Source `equivalence`: distinct answers that people called equivalent before any judge was asked.

No program can tell that two natural-language answers are equivalent, and a source's "both are correct" does not say it
(paper, appendix: 51 such pairs stay out of every estimate). So labels come from people, blinded, by a rule that the protocol
declares, and only pairs that reach it are shown to a judge.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from darkcurrent.batteries.chat import render_prompt
from darkcurrent.batteries.columns import answer_in, name_in, name_or, value_in
from darkcurrent.batteries.edges import null_stratum_of
from darkcurrent.batteries.rows import read_rows
from darkcurrent.batteries.sheets import (
    ANSWERS,
    Pair,
    Rating,
    look_alike,
    read_sheet,
    sheet_path,
    write_sheets,
)
from darkcurrent.canonical import digest_text
from darkcurrent.errors import BatteryError, MissingExtraError, UsageError
from darkcurrent.protocol.outside import EquivalenceBattery, LabelsTable
from darkcurrent.records import Battery, Comparison, Item, Refusal

__all__ = ["Labels", "krippendorff_alpha", "read_equivalence", "read_labels", "write_label_sheets"]

_REFUSED = {
    "all": "its raters do not all call it equivalent",
    "majority": "no majority of its raters calls it equivalent",
}


@dataclass(frozen=True)
class Labels:
    """What the raters said, and what follows.

    Attributes
    ----------
    alpha : float or None
        Krippendorff's alpha, nominal, over all labels; None where every label is the same word.
    admitted : frozenset of str
        The items that reach the declared rule, whatever alpha is.
    problem : str or None
        Why no pair may be used: agreement is too low, cannot be told, or no pair is admitted.
    """

    ratings: dict[str, Rating]
    alpha: float | None
    admitted: frozenset[str]
    problem: str | None


def krippendorff_alpha(labels: dict[str, dict[str, str]]) -> float | None:
    """Return Krippendorff's alpha for nominal labels.

    Parameters
    ----------
    labels : dict of str to dict
        Rater to item id to label; every rater labels every item.

    Returns
    -------
    float or None
        At most 1; 0 is agreement by chance. None where all labels are one word: nothing could have disagreed by
        chance, so that there is no scale.

    Raises
    ------
    MissingExtraError
        Where the library that computes it is not installed.

    Notes
    -----
    Krippendorff, Content Analysis (Sage), chapter on reliability. Alpha says how far labels depend on the pair rather than
    on who labels it; it does not say that the labels are right.
    """
    try:
        from nltk.metrics.agreement import AnnotationTask
    except ImportError as error:
        raise MissingExtraError("Krippendorff's alpha", "labels") from error
    triples = [(rater, item, label) for rater, said in labels.items() for item, label in said.items()]
    if len({label for *_, label in triples}) < 2:
        return None
    return float(AnnotationTask(data=triples).alpha())


def write_label_sheets(table: EquivalenceBattery, study: str, folder: Path) -> list[Path]:
    """Write the raters' sheets; return their paths.

    Raises
    ------
    UsageError
        Where a sheet exists already, or a journal: labels come before outcomes.
    """
    _before_outcomes(folder)
    labels = table.labels
    return write_sheets(_pairs(table, folder), study, table.seed, labels.raters, labels.question, folder)


def read_labels(table: EquivalenceBattery, study: str, folder: Path) -> tuple[list[Pair], Labels]:
    """Read every rater's sheet and apply the declared rule.

    Raises
    ------
    BatteryError
        Where a sheet is missing or cannot be read as it was written.
    UsageError
        Where a journal exists already: labels come before outcomes.
    """
    _before_outcomes(folder)
    rule = table.labels
    pairs = _pairs(table, folder)
    ratings = {
        rater: read_sheet(sheet_path(folder, rater), pairs, study, table.seed, rater, rule.question)
        for rater in rule.raters
    }
    votes = {pair.id: sum(one.labels[pair.id] == "equivalent" for one in ratings.values()) for pair in pairs}
    needed = len(ratings) if rule.admit == "all" else len(ratings) // 2 + 1
    admitted = frozenset(item for item, count in votes.items() if count >= needed)
    alpha = krippendorff_alpha({rater: one.labels for rater, one in ratings.items()})
    return pairs, Labels(ratings, alpha, admitted, _problem(rule, alpha, admitted))


def _problem(rule: LabelsTable, alpha: float | None, admitted: frozenset[str]) -> str | None:
    if alpha is None:
        return (
            "Every label of every rater is the same word, so that agreement beyond chance cannot be told: add pairs to the "
            "file that are plainly different, and label anew."
        )
    if alpha < rule.min_alpha:
        return (
            f"The raters' agreement is alpha = {alpha:.3f}, and `battery.labels.min_alpha` is {rule.min_alpha}: no pair is "
            "admitted; make the question clearer and have the pairs labelled anew."
        )
    if not admitted:
        return "No pair reaches the rule `battery.labels.admit`: bring other candidates."
    return None


def read_equivalence(table: EquivalenceBattery, study: str, folder: Path) -> Battery:
    """Return the pairs that the raters admitted; without labels, a battery that cannot be frozen.

    Raises
    ------
    BatteryError
        Where the file of candidates or a sheet cannot be used.
    UsageError
        Where a journal exists already.
    """
    raters = table.labels.raters
    missing = [rater for rater in raters if not sheet_path(folder, rater).exists()]
    if missing:
        _before_outcomes(folder)
        pairs = _pairs(table, folder)
        reason = "nobody has labelled it yet"
        return Battery(
            items=(),
            comparisons=(),
            texts={},
            refusals=tuple(
                Refusal(where=one.id, stratum=one.stratum, arm=None, reason=reason) for one in pairs
            ),
            shortfalls=(
                f"The arm `equivalent` is refused without labels, and {sheet_path(folder, missing[0])} is not there: write the "
                f"sheets with `darkcurrent label write {folder}` and have them filled in.",
            ),
        )
    pairs, labels = read_labels(table, study, folder)
    usable = labels.admitted if labels.problem is None else frozenset()
    taken = [pair for pair in pairs if pair.id in usable]
    texts: dict[str, str] = {}

    def keep(text: str) -> str:
        key = digest_text(text)
        texts[key] = text
        return key

    why = (
        _REFUSED[table.labels.admit]
        if labels.problem is None
        else "its raters' labels do not reach the declared rule"
    )
    return Battery(
        items=tuple(
            Item(
                id=pair.id,
                stratum=pair.stratum,
                cluster=pair.cluster,
                prompt=keep(pair.prompt),
                texts={"reference": keep(pair.first), "equivalent": keep(pair.second)},
                facts={"labels": {rater: one.labels[pair.id] for rater, one in labels.ratings.items()}},
            )
            for pair in taken
        ),
        comparisons=tuple(_comparison(pair, arm) for pair in taken for arm in table.arms),
        texts=texts,
        refusals=tuple(
            Refusal(where=pair.id, stratum=pair.stratum, arm=None, reason=why)
            for pair in pairs
            if pair.id not in usable
        ),
        receipts={"labels": _receipt(table.labels, labels)},
        shortfalls=(labels.problem,) if labels.problem else (),
    )


def _comparison(pair: Pair, arm: str) -> Comparison:
    if arm == "clone":
        stratum = null_stratum_of(pair.first)
        return Comparison(item=pair.id, arm="clone", u="reference", v="reference", null_stratum=stratum)
    return Comparison(item=pair.id, arm="equivalent", u="reference", v="equivalent")


def _receipt(rule: LabelsTable, labels: Labels) -> dict[str, Any]:
    return {
        "question": rule.question,
        "admit": rule.admit,
        "min_alpha": rule.min_alpha,
        # The last digits of a sum depend on the library's version, and a digest must not.
        "alpha": None if labels.alpha is None else round(labels.alpha, 6),
        "admitted": len(labels.admitted),
        "raters": {
            rater: {
                "sheet_sha256": one.sha256,
                "counts": {answer: Counter(one.labels.values())[answer] for answer in ANSWERS},
                "labels": one.labels,
            }
            for rater, one in labels.ratings.items()
        },
    }


def _before_outcomes(folder: Path) -> None:
    """Refuse labels where a judge may have been asked already: only the names of files are looked at."""
    # Journals of shards lie one folder deeper, and are there before the whole one is.
    journals = sorted((folder / "journal").rglob("*.sqlite"))
    if journals:
        raise UsageError(
            f"{journals[0]} exists: labels must be collected before any judge is asked about these items; start a new study "
            "in another folder with items that no judge has seen."
        )


def _pairs(table: EquivalenceBattery, folder: Path) -> list[Pair]:
    """Read the candidate pairs."""
    columns = table.columns
    pairs: dict[str, Pair] = {}
    places: dict[str, str] = {}
    for where, row in read_rows(folder / table.path):
        pair_id = name_in(row, columns.id, where, "id")
        if pair_id in pairs:
            raise BatteryError(
                f"{where} has the id `{pair_id}` of {places[pair_id]}: give each row its own id."
            )
        places[pair_id] = where
        first, second = (
            answer_in(row, columns.first, where, "first"),
            answer_in(row, columns.second, where, "second"),
        )
        if first == second:
            raise BatteryError(
                f"{where}: the two answers are the same text, so there is nothing to label: remove the row; a text is shown "
                "against itself by the arm `clone`."
            )
        if look_alike(first, second):
            raise BatteryError(
                f"{where}: the two answers differ in line ends or control characters alone, which no rater can see: remove the "
                "row, or make them alike in that."
            )
        pairs[pair_id] = Pair(
            pair_id,
            name_or(row, columns.stratum, where, "stratum", "all"),
            name_or(row, columns.cluster, where, "cluster", pair_id),
            render_prompt(value_in(row, columns.prompt, where, "prompt"), where),
            first,
            second,
        )
    if not pairs:
        raise BatteryError(f"{folder / table.path} holds no row: give the pairs that are to be labelled.")
    return list(pairs.values())
