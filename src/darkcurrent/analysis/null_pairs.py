"""Pairs of two different texts of which neither is better: does a cell prefer one all the same?"""

from __future__ import annotations

from typing import Any

import polars as pl

from darkcurrent.analysis.frames import count
from darkcurrent.gates import HELD
from darkcurrent.results import NullPairsResult

__all__ = ["evaluate_null_pairs"]


def evaluate_null_pairs(
    calls: pl.DataFrame, patterns: pl.DataFrame, held: bool, certified: str | None, uncertified: str
) -> NullPairsResult | None:
    """Evaluate the pairs without a target of one cell and arm; None where there are none.

    Parameters
    ----------
    calls, patterns : polars.DataFrame
        Their rows of the ledger and of the patterns.
    certified, uncertified : str or None
        What proves that neither text is better, or else why nothing does.
    """
    if calls.is_empty():
        return None
    ended = calls.filter(pl.col("ending") == "terminal")
    pattern = patterns["pattern"]
    shown: dict[str, Any] = {
        "items": calls["item"].n_unique(),
        "pairs": patterns.height,
        "calls": ended.height,
        "adverse": count(pattern != "tie"),
        "invalid": ended["value"].null_count(),
        "valid_pairs": patterns.height - count(pattern.is_in(["invalid", "incomplete"])),
    }
    if held:
        return NullPairsResult(**shown, certified=certified, reason=HELD)
    of_valid: dict[str, Any] = {}
    if shown["valid_pairs"]:
        valid = patterns.filter(~pattern.is_in(["invalid", "incomplete"]))
        of_valid = {
            "false_preference": int(valid["preferences"].sum()) / (2 * valid.height),
            **{
                share: count(valid["pattern"] == name) / valid.height
                for share, name in (("scs", "stable"), ("pfp", "position"), ("osc", "one-sided"))
            },
        }
    return NullPairsResult(
        **shown,
        **of_valid,
        rate=shown["adverse"] / shown["pairs"],
        certified=certified,
        reason=None if certified else uncertified,
    )
