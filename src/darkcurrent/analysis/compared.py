"""The same calls in two studies, verdict by verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from darkcurrent.analysis.frames import count
from darkcurrent.descriptive import by_kind
from darkcurrent.ledger import winner_of_slot
from darkcurrent.patterns import pair_patterns
from darkcurrent.results import ArmComparison, CallChange, CellComparison, CellName

__all__ = ["SHOWN", "ComparedCell", "compare_cells"]

SHOWN = ("rubric", "prompt", "text_a", "text_b", "text_c")
"""Columns beside those of every ledger: the digests of what a call showed; null where it is not on record."""

_KEY = ["item", "arm", "null_stratum", "step", "context", "repetition", "first", "second"]


@dataclass(frozen=True)
class ComparedCell:
    """A cell and its calls.

    Attributes
    ----------
    calls : polars.DataFrame
        Its rows of the ledger, with the columns of `SHOWN`.
    prompts : str
        What `prompt` is the digest of; two kinds cannot be compared.
    configuration_digest : str or None
        None where the configuration is not on record.
    """

    name: CellName
    calls: pl.DataFrame
    prompts: str
    configuration_digest: str | None


def compare_cells(base: ComparedCell, other: ComparedCell) -> CellComparison:
    """Compare the calls that showed the same texts of the same item in the same slots.

    Descriptive: how often a verdict changes, and into what. It tests nothing, and a change says nothing of its cause.
    """
    by_text = not any(cell.calls[name].has_nulls() for cell in (base, other) for name in ("text_a", "text_b"))
    own, its = (_keyed(cell.calls, by_text) for cell in (base, other))
    left_out: dict[str, int] = {
        f"asked more than once in study {cell.name.number}": cell.calls.height - kept.height
        for cell, kept in ((base, own), (other, its))
    }
    known = pl.col("item").is_in(its["item"].unique().implode())
    alone = own.join(its, on=_KEY, how="anti", nulls_equal=True)
    left_out[f"of items that study {other.name.number} did not ask"] = alone.filter(~known).height
    left_out["of items in both, with other texts, arms or orders"] = alone.filter(known).height
    left_out[f"only in study {other.name.number}"] = its.join(
        own, on=_KEY, how="anti", nulls_equal=True
    ).height
    shared = own.join(its, on=_KEY, nulls_equal=True, suffix="_other", maintain_order="left")
    checked = {"text_c": "another third text"}
    if base.name.criterion == other.name.criterion:  # whoever names two criteria wants them compared
        checked["rubric"] = "another rubric under the same name"
    if base.prompts == other.prompts:
        checked["prompt"] = "another prompt"
    for column, reason in checked.items():
        same = (pl.col(column) == pl.col(f"{column}_other")).fill_null(value=True)
        left_out[reason] = shared.filter(~same).height
        shared = shared.filter(same)
    ended = (pl.col("ending") == "terminal") & (pl.col("ending_other") == "terminal")
    left_out["without an ending in one of the studies"] = shared.filter(~ended).height
    shared = shared.filter(ended).with_columns(
        before=_said(pl.col("value")), after=_said(pl.col("value_other"))
    )
    pairs = _pairs(shared)
    valid = shared.filter(pl.col("value").is_not_null(), pl.col("value_other").is_not_null())
    return CellComparison(
        base=base.name,
        other=other.name,
        shared=shared.height,
        reproduced=_same(shared),
        valid=valid.height,
        reproduced_valid=_same(valid),
        arms=_arms(shared, pairs),
        changes=list(_changes(shared)),
        pattern_changes=list(_changes(pairs)),
        not_compared={reason: calls for reason, calls in left_out.items() if calls},
        notes=list(_notes(base, other, shared, by_text)),
    )


def _keyed(calls: pl.DataFrame, by_text: bool) -> pl.DataFrame:
    """Return the calls whose key no other has, with what stood in the slots: texts, or else their names."""
    first, second = ("text_a", "text_b") if by_text else ("slot_a", "slot_b")
    keyed = calls.with_columns(first=pl.col(first), second=pl.col(second))
    return keyed.filter(pl.len().over(_KEY) == 1)


def _said(value: pl.Expr) -> pl.Expr:
    """Map a slot to what stood in it; both studies had the same there."""
    target, forward = pl.col("target"), pl.col("order") == "AB"
    chosen = pl.when(value == "A").then("slot_a").otherwise("slot_b")
    return (
        pl.when(value.is_null())
        .then(pl.lit("invalid"))
        .when(value == "tie")
        .then(pl.lit("tie"))
        .when(pl.col("arm") == "clone")
        .then(pl.when(value == "A").then(pl.lit("first")).otherwise(pl.lit("second")))
        .when(target.is_not_null())
        .then(pl.when(chosen == target).then(pl.lit("target")).otherwise(pl.lit("other")))
        .otherwise(pl.when((value == "A") == forward).then(pl.lit("u")).otherwise(pl.lit("v")))
    )


def _pairs(shared: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs whose two orders are shared, with their pattern in either study (`before`, `after`)."""
    theirs = shared.with_columns(value=pl.col("value_other")).with_columns(winner=winner_of_slot())
    before, after = pair_patterns(shared), pair_patterns(theirs)  # the same pairs in the same order
    return before.with_columns(
        before=pl.col("pattern"), after=after["pattern"], order=pl.lit(None, dtype=pl.String)
    ).filter(pl.col("pattern") != "incomplete")


def _same(calls: pl.DataFrame) -> int:
    return count(calls["before"] == calls["after"])


def _arms(shared: pl.DataFrame, pairs: pl.DataFrame) -> dict[str, ArmComparison]:
    of_pairs = by_kind(pairs)
    return {
        kind: ArmComparison(
            calls=calls.height,
            reproduced=_same(calls),
            transitions=_transitions(calls),
            pairs=of_pairs[kind].height if kind in of_pairs else 0,
            patterns=_transitions(of_pairs[kind]) if kind in of_pairs else {},
        )
        for kind, calls in by_kind(shared).items()
    }


def _transitions(frame: pl.DataFrame) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for before, after, times in frame.group_by("before", "after").len().sort("before", "after").iter_rows():
        found.setdefault(before, {})[after] = times
    return found


def _changes(frame: pl.DataFrame) -> Iterator[CallChange]:
    for kind, calls in by_kind(frame.filter(pl.col("before") != pl.col("after"))).items():
        for row in (
            calls.sort("item", "order").select("item", "order", "before", "after").iter_rows(named=True)
        ):
            yield CallChange(kind=kind, **row)


def _notes(base: ComparedCell, other: ComparedCell, shared: pl.DataFrame, by_text: bool) -> Iterator[str]:
    for cell in (base, other):
        if cell.name.state == "HOLD":
            yield f"study {cell.name.number} is HOLD here: its verdicts are counted, and nothing is concluded of them"
    if not by_text:
        yield "texts are not on record in both studies: calls are matched by the names of item and texts"
    if base.prompts != other.prompts:
        yield "prompts are on record in different forms and were not compared"
    if shared.height and (shared["rubric"].null_count() or shared["rubric_other"].null_count()):
        yield "rubrics are not on record in both studies and were not compared"
    if count(shared["rubric"] != shared["rubric_other"]):
        yield "the rubrics differ, as the criteria that were named do"
    digests = base.configuration_digest, other.configuration_digest
    if None in digests:
        yield "configurations are not on record in both studies and were not compared"
    elif digests[0] != digests[1]:
        yield "the configurations have different digests: a change may be one of the judge"
    moved = count(
        (shared["target"] == shared["slot_a"]) != (shared["target_other"] == shared["slot_a_other"])
    )
    if moved:
        yield f"{moved} calls have another target in study {other.name.number}: the first study's is used"
