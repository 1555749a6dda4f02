"""Which rows are drawn: a matter of hashes, declared limits and earlier studies, and of nothing that a judge said.

Everything here gives the same bytes on every machine: places are SHA-256 digests, strata are ordered by code point,
numbers are whole, and the normal form of a prompt does not depend on the Unicode tables of the Python at hand.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from darkcurrent.canonical import digest, digest_text
from darkcurrent.errors import BatteryError
from darkcurrent.protocol.freeze import Frozen, load_frozen
from darkcurrent.records import Refusal

__all__ = [
    "NORMAL_FORM",
    "NOT_DRAWN",
    "Candidate",
    "Draw",
    "Excluded",
    "cluster_of",
    "draw",
    "earlier_study",
    "excluded_by",
]

NOT_DRAWN = "eligible, and not drawn: enough rows of its stratum come before it"
"""The reason of a row that only the hash ranking left out."""

NORMAL_FORM = (
    "NFKC, case folding, format characters and U+200B removed, runs of white space as one space, none at the ends; a character "
    "that Unicode 3.2 does not know stands as it is"
)
_UNICODE = unicodedata.ucd_3_2_0
"""The one table of characters that every Python has alike. What was assigned in it never changes its normal form."""


@dataclass(frozen=True)
class Candidate:
    """A row that satisfies the source's own rule.

    Attributes
    ----------
    matched : bool
        Whether the row has everything that a drawn row has; where not, it stands outside the draw and is taken
        for what it has.
    """

    id: str
    stratum: str
    prompt: str
    matched: bool = True


@dataclass(frozen=True)
class Excluded:
    """What earlier studies used: item id, or cluster of the prompt, to the name of the study."""

    ids: dict[str, str] = field(default_factory=dict)
    clusters: dict[str, str] = field(default_factory=dict)
    receipts: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Draw:
    """What was drawn.

    Attributes
    ----------
    places : dict of str to int
        Candidate id to its place in the hash order of its stratum, from 1, strata one after the other; 0 for a
        row outside the draw.
    eligible : dict of str to int
        Stratum to the number of matched rows that could have been drawn.
    refusals : tuple of Refusal
        One for each candidate that was not drawn.
    """

    places: dict[str, int]
    eligible: dict[str, int]
    refusals: tuple[Refusal, ...]


def cluster_of(prompt: str) -> str:
    """Return the digest of a prompt's normal form: prompts that differ only in how they are written share it.

    The form is `NORMAL_FORM`. It finds copies of a prompt; it does not find paraphrases.
    """
    runs = groupby(prompt, key=lambda character: _UNICODE.category(character) != "Cn")
    folded = "".join(
        unicodedata.normalize("NFKC", "".join(run)).casefold() if known else "".join(run)
        for known, run in runs
    )
    kept = "".join(
        character for character in folded if _UNICODE.category(character) != "Cf" and character != "\u200b"
    )
    return digest_text(" ".join(kept.split()))


def draw(candidates: Sequence[Candidate], seed: int, limit: int | None, excluded: Excluded) -> Draw:
    """Draw the first rows of each stratum in the order of their hashes.

    Rows of earlier studies and rows with their prompts are refused first. Of the rows that share a normalised prompt,
    in whatever stratum, the first in hash order stays.

    Parameters
    ----------
    candidates : sequence of Candidate
        In any order; their ids are unique.
    seed : int
        Changes the order and nothing else.
    limit : int or None
        The most rows of a stratum; None stands for all.
    """
    refused: dict[str, str] = {}
    clusters: dict[str, str] = {}
    eligible: dict[str, int] = {}
    places: dict[str, int] = {}
    rank = {one.id: digest({"draw": seed, "row": one.id}) for one in candidates}
    # A row that stands outside the draw never takes the place of one within.
    for one in sorted(candidates, key=lambda one: (not one.matched, rank[one.id], one.id)):
        cluster = cluster_of(one.prompt)
        if one.id in excluded.ids:
            refused[one.id] = f"the study `{excluded.ids[one.id]}` has an item of this id"
        elif cluster in excluded.clusters:
            refused[one.id] = f"the study `{excluded.clusters[cluster]}` has its normalised prompt"
        elif cluster in clusters:
            refused[one.id] = "a row that comes before it has its normalised prompt"
        else:
            clusters[cluster] = one.id
    order = sorted(candidates, key=lambda one: (one.stratum, rank[one.id], one.id))
    for one in order:
        if one.id in refused:
            continue
        count = eligible.get(one.stratum, 0)
        if not one.matched:
            places[one.id] = 0
            continue
        eligible[one.stratum] = count + 1
        if limit is not None and count >= limit:
            refused[one.id] = NOT_DRAWN
        else:
            places[one.id] = count + 1
    refusals = tuple(
        Refusal(where=one.id, stratum=one.stratum, arm=None, reason=refused[one.id])
        for one in order
        if one.id in refused
    )
    return Draw(places, eligible, refusals)


def earlier_study(folder: Path, path: str, key: str) -> Frozen:
    """Return the frozen files of an earlier study, every byte checked.

    Parameters
    ----------
    folder : Path
        This study's folder, which `path` is relative to.
    key : str
        Where the protocol names the path, for errors.

    Raises
    ------
    UsageError
        Where there is no frozen study.
    IntegrityError
        Where a file of it is not what was frozen.
    """
    place = folder / path
    if (place / "imported").exists():
        raise BatteryError(
            f"`{key}` names {place}, which holds imported verdicts and no frozen items: name a study that was frozen here."
        )
    if not (place / "frozen").exists():
        raise BatteryError(
            f"`{key}` names {place}, which is no frozen study: name its folder, relative to this study's, or freeze "
            "that study first."
        )
    return load_frozen(place / "frozen")


def excluded_by(paths: Iterable[str], folder: Path) -> Excluded:
    """Return what the studies in these folders used: every item's id, and the cluster of every prompt."""
    excluded = Excluded()
    for path in paths:
        frozen = earlier_study(folder, path, "battery.exclude")
        name = frozen.protocol.study.name
        found = {cluster_of(frozen.texts[item.prompt]) for item in frozen.items}
        for item in frozen.items:
            excluded.ids.setdefault(item.id, name)
        for cluster in found:
            excluded.clusters.setdefault(cluster, name)
        receipt = {
            "study": name,
            "study_digest": frozen.study_digest,
            "items": len(frozen.items),
            "clusters": len(found),
        }
        excluded = Excluded(excluded.ids, excluded.clusters, (*excluded.receipts, receipt))
    return excluded
