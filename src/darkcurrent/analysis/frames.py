"""Small expressions that every part of an analysis uses."""

from __future__ import annotations

from typing import Any

import polars as pl

__all__ = ["Key", "count", "not_drawn", "of", "rounded", "success", "total"]

Key = tuple[str, str]
"""A cell: configuration and criterion."""


_MOST_DRAWN = 200_000_000


def not_drawn(items: int, draws: int) -> str | None:
    """Say why the bounds are not drawn as well; None where they are.

    A draw takes an item for each item. From 10,000 items on, at 20,000 draws, this would take most of the time, and
    shows nothing that the exact law does not.
    """
    if items * draws <= _MOST_DRAWN:
        return None
    return f"Not drawn as well: {draws:,} draws of {items:,} items would be more than {_MOST_DRAWN:,}."


def of(frame: pl.DataFrame, **values: str) -> pl.DataFrame:
    """Return the rows in which each named column has the given value."""
    return frame.filter([pl.col(name) == value for name, value in values.items()])


def success() -> pl.Expr:
    """Say of each call whether it is right: it chose the target, or tied where there is none."""
    right = pl.coalesce("target", pl.lit("tie"))
    return (pl.col("winner") == right).fill_null(value=False)


def count(flags: pl.Series) -> int:
    """Count what is true; null is not."""
    return int(flags.sum())


def total(counts: pl.Series) -> int | None:
    """Sum what is known; None where nothing is."""
    return int(counts.sum()) if counts.null_count() < counts.len() else None


def rounded(value: Any) -> float | None:
    """Round for people; None stays None."""
    return None if value is None else round(float(value), 3)
