"""From recorded calls to a ledger: which verdict counts, and where record and reply disagree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import polars as pl

from darkcurrent.batteries.edges import null_stratum_of
from darkcurrent.batteries.rows import shown
from darkcurrent.canonical import digest, digest_text
from darkcurrent.errors import BatteryError, UsageError
from darkcurrent.importers.observation import Observation
from darkcurrent.ledger import SCHEMA, winner_of_slot
from darkcurrent.records import NullStratum
from darkcurrent.verdicts import Contract, Verdict, invalid, parse_verdict
from darkcurrent.verdicts.diagnosis import is_error_text
from darkcurrent.verdicts.verdict import LABELS

__all__ = ["COLUMNS", "Counted", "Reading", "read_observations"]

Counted = Literal["recorded", "contract"]
"""Whose verdict counts: the recorded label, or what the declared contract reads in the reply."""

COLUMNS: dict[str, Any] = {
    **{name: kind for name, kind in SCHEMA.items() if not name.startswith("as:")},
    **dict.fromkeys(
        ("where", "recorded", "recorded_as", "reply", "prompt", "text_first", "text_second"), pl.String
    ),
}
"""The columns of an imported ledger: those of every ledger, and what only recorded data has.

where : file and row.
recorded : the slot that the recorded label means; null where it means none.
recorded_as : the label as it stands in the file; null where there is none.
reply, prompt, text_first, text_second : digests of texts.
"""

_SURROGATE = re.compile("[\ud800-\udfff]")

_TAIL = 160
"""So much of a reply's end is shown beside a disagreement."""


class _AnyText(Contract):
    """Whether there is an answer at all that a recorded label may stand for."""

    name = "any-text"

    def read(self, text: str) -> Verdict:
        return invalid("error-text") if is_error_text(text) else LABELS["tie"]


_ANY_TEXT = _AnyText()


class _Call(NamedTuple):
    """How one call was read: what counts, and what stands beside it."""

    verdict: Verdict
    read: Verdict | None


@dataclass
class Reading:
    """The ledger of recorded calls, the texts by digest, and the comparison of labels and replies.

    Attributes
    ----------
    compared : int
        Calls with a recorded label and a kept reply.
    disagreements : list of dict
        Those of them in which the two do not say the same.
    mirrored : dict
        By order: calls in which both name a slot, and those of them in which it is not the same one. Where most are
        mirrored in one order, the declared coding is wrong.
    """

    ledger: pl.DataFrame
    texts: dict[str, str]
    compared: int
    disagreements: list[dict[str, Any]]
    mirrored: dict[str, tuple[int, int]]


def read_observations(
    observations: Sequence[Observation], contract: Contract | None, counted: Counted
) -> Reading:
    """Read recorded calls.

    Parameters
    ----------
    observations : sequence of Observation
        What an importer found.
    contract : Contract or None
        What the replies are read under. Without one, a label is still contradicted by a reply that no label can stand
        for: an empty, cut, filtered one, or an error message.
    counted : {"recorded", "contract"}
        Whose verdict counts.

    Raises
    ------
    UsageError
        Where there is nothing that could count.
    BatteryError
        Where rows of one item contradict each other in gold label or texts.
    """
    if not observations:
        raise UsageError("The files hold no recorded call: give files of this format.")
    _check_items(observations)
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    texts: dict[str, str] = {}
    disagreements: list[dict[str, Any]] = []
    both, mirrored, compared = Counter[str](), Counter[str](), 0
    seen: Counter[tuple[str, ...]] = Counter()

    def keep(text: str | None) -> str | None:
        if text is None:
            return None
        key = digest_text(text)
        texts[key] = text
        return key

    for position, one in enumerate(observations):
        call = _read(one, contract, counted)
        key = (one.judge, one.criterion, one.item, one.order, str(one.repetition))
        seen[key] += 1
        reply = keep(one.reply)
        row = {
            "call_id": digest([*key, seen[key]]),
            "position": position,
            "block": 0,
            **_scheduled(one),
            "ending": "missing" if one.failure == "missing" else "terminal",
            "status": _status(one),
            "finish": one.finish,
            "served_model": one.served_model,
            "reasoning": one.reasoning,
            "value": call.verdict.value,
            "reason": call.verdict.reason,
            "kept": one.kept,
            "where": one.where,
            "recorded": one.label.value if one.label else None,
            "recorded_as": one.label.written if one.label else None,
            "reply": reply,
            "prompt": keep(one.prompt),
            "text_first": keep(one.texts[0] if one.texts else None),
            "text_second": keep(one.texts[1] if one.texts else None),
        }
        for name, values in columns.items():
            values.append(row.get(name))
        if one.label is None or call.read is None:
            continue
        compared += 1
        if one.label.value in ("A", "B") and call.read.value in ("A", "B"):
            both[one.order] += 1
            mirrored[one.order] += one.label.value != call.read.value
        if not _agree(one, call.read, contract):
            disagreements.append(_disagreement(one, call, reply))
    ledger = pl.DataFrame(columns, schema=COLUMNS).with_columns(winner=winner_of_slot())
    found = {order: (both[order], mirrored[order]) for order in ("AB", "BA")}
    return Reading(ledger, texts, compared, disagreements, found)


def _read(one: Observation, contract: Contract | None, counted: Counted) -> _Call:
    if one.failure is not None:
        return _Call(invalid(one.failure), None)
    obstacle = read = None
    if one.kept:
        obstacle = parse_verdict(one.reply, _ANY_TEXT, one.finish, reasoning_present=one.reasoning).reason
        read = parse_verdict(one.reply, contract or _ANY_TEXT, one.finish, reasoning_present=one.reasoning)
    if counted == "contract":
        if read is None or contract is None:
            raise UsageError(
                f"{one.where} has no reply to read, so that its recorded label must count: use --count recorded."
            )
        return _Call(read, read)
    if one.label is None:
        raise UsageError(
            f"{one.where} has no recorded label, so that a contract must count: use --count contract."
        )
    if one.label.value is None:
        reason = obstacle or (read.reason if read else None) or "recorded-invalid"
        return _Call(invalid(reason), read)
    return _Call(invalid(obstacle) if obstacle else LABELS[one.label.value], read)


def _agree(one: Observation, read: Verdict, contract: Contract | None) -> bool:
    """Say whether label and reply say the same; without a contract, only an obstacle can contradict a label."""
    assert one.label is not None
    if contract is None:
        return one.label.value is None or read.reason is None
    return one.label.value == read.value


def _disagreement(one: Observation, call: _Call, reply: str | None) -> dict[str, Any]:
    assert one.label is not None
    assert call.read is not None
    return {
        "where": one.where,
        "judge": one.judge,
        "criterion": one.criterion,
        "item": one.item,
        "order": one.order,
        "repetition": one.repetition,
        "recorded_as": one.label.written,
        "recorded": one.label.value,
        "read": call.read.value,
        "reason": call.read.reason,
        "counted": call.verdict.value,
        "reply": reply,
        "reply_ends": (one.reply or "")[-_TAIL:],
    }


def _scheduled(one: Observation) -> dict[str, Any]:
    """Return the columns that a schedule would have given."""
    shared = {
        "configuration": one.judge,
        "criterion": one.criterion,
        "item": one.item,
        "stratum": one.stratum,
        "cluster": one.cluster or one.item,
        "repetition": one.repetition,
    }
    if _identical(one):
        return {
            **shared,
            "arm": "clone",
            "null_stratum": _null_stratum(one),
            "order": "IDENTICAL",
            "slot_a": one.first,
            "slot_b": one.first,
            "target": None,
        }
    target = {"first": one.first, "second": one.second}.get(one.gold or "")
    slots = (one.first, one.second) if one.order == "AB" else (one.second, one.first)
    return {
        **shared,
        "arm": "unlabelled" if target is None else "signal",
        "null_stratum": None,
        "order": one.order,
        "slot_a": slots[0],
        "slot_b": slots[1],
        "target": target,
    }


def _status(one: Observation) -> str | None:
    statuses = {None: "answered", "missing": None, "request-refused": "refused"}
    return statuses.get(one.failure, "failed")


def _identical(one: Observation) -> bool:
    return one.identical or (one.texts is not None and one.texts[0] == one.texts[1])


def _null_stratum(one: Observation) -> NullStratum:
    """Return the null stratum of two candidates that are one text: nobody scheduled them, so they are never `core`."""
    edge = null_stratum_of(one.texts[0]) if one.texts else "core"
    return "natural" if edge == "core" else edge


def _check_items(observations: Sequence[Observation]) -> None:
    """Refuse rows of one item that contradict each other: the coding is not what the importer takes it for."""
    seen: dict[str, Observation] = {}
    for one in observations:
        for name in (
            one.judge,
            one.criterion,
            one.item,
            one.stratum,
            one.cluster,
            one.finish,
            one.served_model,
        ):
            if name is not None and not name.isascii() and _SURROGATE.search(name):
                raise BatteryError(
                    f"{one.where}: the name {shown(name)} holds a lone surrogate: names need valid Unicode (replies do not)."
                )
        other = seen.setdefault(one.item, one)
        if one.first == one.second:
            raise BatteryError(
                f"{one.where}: both texts of item {one.item} are called {one.first}: name them apart."
            )
        if one.gold != other.gold:
            raise BatteryError(
                f"{one.where} calls {one.gold} the better text of item {one.item}, and {other.where} calls "
                f"{other.gold}: the gold label does not have the declared coding (slot or mapped back), or the item's "
                "name is not unique."
            )
        if (one.texts is None) != (other.texts is None) or (one.texts and one.texts != other.texts):
            raise BatteryError(
                f"{one.where} has other texts for item {one.item} than {other.where}: the texts do not have the "
                "declared coding (by content or by slot), or the item's name is not unique."
            )
