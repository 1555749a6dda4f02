"""Order-canonical accounting: what the two orders of a pair say together.

On valid complete pairs, the share of calls with a preference is exactly
SCS + PFP + OSC / 2 (the shares of `stable`, `position` and `one-sided` pairs): a stable or position pair has two
calls with a preference, a one-sided pair has one, a tie pair none.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

__all__ = ["PATTERNS", "Pattern", "Winner", "classify", "pair_patterns"]

Pattern = Literal["tie", "stable", "position", "one-sided", "invalid", "incomplete"]
Winner = Literal["u", "v", "tie"] | None

PATTERNS: tuple[Pattern, ...] = ("tie", "stable", "position", "one-sided", "invalid", "incomplete")
"""In the order in which they are shown."""


_PAIR = ("configuration", "criterion", "arm", "step", "context", "item", "stratum", "repetition")


def classify(forward: Winner, reverse: Winner) -> Pattern:
    """Name what two orders of one pair say together.

    Parameters
    ----------
    forward, reverse : {"u", "v", "tie"} or None
        Canonical winners of the calls in order AB (u in slot A) and BA (v in slot A): which *content* won.
        None is an invalid answer.

    Returns
    -------
    str
        `tie` (both tie), `stable` (one content twice), `position` (one slot twice, so that the contents differ),
        `one-sided` (one tie, one preference), or `invalid` (either is).

    Raises
    ------
    ValueError
        For any other word.

    Examples
    --------
    >>> classify("u", "u"), classify("u", "v"), classify("tie", "v"), classify(None, "tie")
    ('stable', 'position', 'one-sided', 'invalid')
    """
    for winner in (forward, reverse):
        if winner not in ("u", "v", "tie", None):
            raise ValueError(f"a canonical winner is 'u', 'v', 'tie' or None, not {winner!r}")
    if forward is None or reverse is None:
        return "invalid"
    if forward == reverse:
        return "tie" if forward == "tie" else "stable"
    return "one-sided" if "tie" in (forward, reverse) else "position"


def pair_patterns(ledger: pl.DataFrame) -> pl.DataFrame:
    """Name what the two orders say for each pair of a ledger.

    Parameters
    ----------
    ledger : polars.DataFrame
        One row per scheduled call, as `Audit.outcomes` or `Study.ledger()` gives it.

    Returns
    -------
    polars.DataFrame
        One row per pair: cell, arm, step, context, item, stratum, repetition, `pattern`, and `preferences`, which
        counts its calls that chose a slot (0 to 2).

    Notes
    -----
    Clones, whose orders do not differ, are not pairs. An item that was asked several times has a pair for each
    repetition, and one for each context. A pair whose orders are not exactly one `AB` and one
    `BA` call, with swapped slots and both with an ending, is `incomplete`.

    Examples
    --------
    >>> import darkcurrent
    >>> pairs = [{"prompt": "Is 2 even?", "chosen": "yes", "rejected": "no"}]
    >>> audit = darkcurrent.audit(lambda prompt, a, b: "A", pairs, journal=None)
    >>> pair_patterns(audit.outcomes).select("item", "pattern", "preferences").rows()
    [('row-00000', 'position', 2)]
    """
    keys = [*_PAIR, "left", "right"]
    u_first = pl.col("order") == "AB"
    return (
        ledger.filter(pl.col("arm") != "clone")
        .with_columns(
            left=pl.when(u_first).then("slot_a").otherwise("slot_b"),
            right=pl.when(u_first).then("slot_b").otherwise("slot_a"),
            ended=pl.col("ending") == "terminal",
        )
        .group_by(keys, maintain_order=True)
        .agg(
            forward=pl.col("winner").filter(u_first).first(),
            reverse=pl.col("winner").filter(~u_first).first(),
            complete=(u_first.sum() == 1) & ((~u_first).sum() == 1) & pl.col("ended").all(),
            invalid=pl.col("winner").is_null().any(),
            preferences=pl.col("value").is_in(["A", "B"]).sum(),
        )
        .with_columns(
            pattern=pl.when(~pl.col("complete"))
            .then(pl.lit("incomplete"))
            .when(pl.col("invalid"))
            .then(pl.lit("invalid"))
            .when(pl.col("forward") == pl.col("reverse"))
            .then(pl.when(pl.col("forward") == "tie").then(pl.lit("tie")).otherwise(pl.lit("stable")))
            .when((pl.col("forward") == "tie") | (pl.col("reverse") == "tie"))
            .then(pl.lit("one-sided"))
            .otherwise(pl.lit("position"))
        )
        .select(*_PAIR, "pattern", "preferences")
    )
