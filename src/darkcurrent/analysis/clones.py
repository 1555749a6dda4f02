"""The null: does a cell prefer one of two identical texts?"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from darkcurrent.analysis.frames import Key, count, of
from darkcurrent.declared import Declared
from darkcurrent.gates import HELD, Gate, clone_gate
from darkcurrent.records import NullStratum
from darkcurrent.results import CloneResult
from darkcurrent.stats import clone_tail, clopper_pearson_upper, holm

__all__ = ["evaluate_clones"]

_NULL_STRATA: tuple[NullStratum, ...] = ("core", "edge-empty", "edge-whitespace")


def evaluate_clones(
    ledger: pl.DataFrame, keys: Sequence[Key], held: set[str], declared: Declared
) -> dict[Key, dict[NullStratum, CloneResult]]:
    """Grade the null of every cell. A cell that is HOLD stays in its family, so that it makes no other one's p smaller."""
    gates = declared.gates
    found = set(ledger["null_stratum"].drop_nulls().unique())
    strata: tuple[NullStratum, ...] = (*_NULL_STRATA, "natural") if "natural" in found else _NULL_STRATA
    counts = {
        (configuration, criterion, stratum): _clone_counts(
            of(ledger, configuration=configuration, criterion=criterion, null_stratum=stratum)
        )
        for configuration, criterion in keys
        for stratum in strata
    }
    tails: dict[Key, float | None] = {}
    for key in keys:
        n, adverse = counts[*key, "core"]["n"], counts[*key, "core"]["adverse"]
        graded = key[0] not in held and n > 0 and gates.clone_threshold is not None
        tails[key] = (
            clone_tail(adverse, n, gates.clone_threshold) if graded and gates.clone_threshold else None
        )
    adjusted: dict[Key, float | None] = {}
    for family in _families(keys, gates.clone_family):
        adjusted |= dict(zip(family, holm([tails[key] for key in family]), strict=True))
    results: dict[Key, dict[NullStratum, CloneResult]] = {}
    for key in keys:
        results[key] = {
            stratum: _clone(
                stratum,
                counts[*key, stratum],
                tails[key],
                adjusted[key],
                key[0] in held,
                declared,
            )
            for stratum in strata
        }
    return results


def _clone_counts(calls: pl.DataFrame) -> dict[str, int]:
    ended = calls.filter(pl.col("ending") == "terminal")
    a, b = (count(ended["value"] == slot) for slot in "AB")
    invalid = ended["value"].null_count()
    adverse = ended.filter(pl.col("value").ne_missing("tie"))
    items, adverse_items = (frame["item"].n_unique() for frame in (ended, adverse))
    return {"n": items, "adverse": adverse_items, "a": a, "b": b, "invalid": invalid}


def _clone(
    stratum: NullStratum,
    counts: dict[str, int],
    p: float | None,
    p_holm: float | None,
    held: bool,
    declared: Declared,
) -> CloneResult:
    threshold = declared.gates.clone_threshold
    gate: Gate = "HOLD" if held else "NOT GRADED"
    if held:
        return CloneResult(**counts, gate=gate, reason=HELD)
    if counts["n"] == 0:
        return CloneResult(**counts, gate=gate, reason=declared.ungraded or "no such clone is in the battery")
    if stratum.startswith("edge-"):
        return CloneResult(
            **counts,
            gate=gate,
            reason="edge clones are a stress test of the pipeline; no rate is inferred from them",
        )
    upper = clopper_pearson_upper(counts["adverse"], counts["n"])
    gate = clone_gate(p_holm, upper, threshold)
    undeclared = declared.ungraded or "no `gates.clone_threshold` is declared"
    reason = undeclared if threshold is None else None
    return CloneResult(**counts, upper=upper, p=p, p_holm=p_holm, gate=gate, reason=reason)


def _families(keys: Sequence[Key], kind: str) -> list[list[Key]]:
    if kind == "study":
        return [list(keys)]
    names = dict.fromkeys(configuration for configuration, _ in keys)
    return [[key for key in keys if key[0] == name] for name in names]
