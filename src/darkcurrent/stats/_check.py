"""The validators that the statistics share."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from darkcurrent.errors import StatsInputError

__all__ = ["check_choice", "check_count", "check_proportion", "check_scores", "check_strata"]


def check_count(value: object, name: str, least: int = 0) -> int:
    """Return ``value`` as an int that is ``least`` or more.

    Raises
    ------
    StatsInputError
        If it is not a whole number (``2.0`` is none) or is below ``least``.
    """
    try:
        count = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise StatsInputError(f"{name} must be a whole number, and {value!r} is not.") from None
    if count < least:
        raise StatsInputError(f"{name} must be {least} or more, and it is {count}.")
    return count


def check_proportion(value: object, name: str) -> float:
    """Return ``value`` as a float strictly between 0 and 1.

    Raises
    ------
    StatsInputError
        If it is not a number, or lies outside.
    """
    try:
        proportion = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise StatsInputError(f"{name} must be a number, and {value!r} is not.") from None
    if not 0.0 < proportion < 1.0:
        raise StatsInputError(f"{name} must lie strictly between 0 and 1, and it is {proportion}.")
    return proportion


def check_choice(value: object, name: str, choices: Sequence[str]) -> str:
    """Return ``value`` if it is one of ``choices``.

    Raises
    ------
    StatsInputError
        If it is not.
    """
    if value not in choices:
        raise StatsInputError(f"{name} must be one of {', '.join(choices)}, and it is {value!r}.")
    return str(value)


def check_scores(values: Any, name: str = "scores") -> npt.NDArray[np.float64]:
    """Return ``values`` as a one-dimensional array of finite floats.

    Raises
    ------
    StatsInputError
        If a value is missing, not finite or not a number, or the shape has not one dimension.
    """
    try:
        scores = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise StatsInputError(f"{name} must be a list of numbers without gaps.") from None
    if scores.ndim != 1:
        raise StatsInputError(f"{name} must have one dimension, and it has {scores.ndim}.")
    if not np.isfinite(scores).all():
        where = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise StatsInputError(
            f"{name}[{where}] is {scores[where]}: score a missing or invalid answer before calling."
        )
    return scores


def check_strata(strata: Any, n: int) -> tuple[tuple[str, ...], npt.NDArray[np.intp]]:
    """Return the names of the strata in sorted order, and the stratum's index of every item.

    ``None`` puts all items into one stratum named ``all``. Labels are compared as text, so that the order
    of strata, and with it every result, does not depend on the order of rows.

    Raises
    ------
    StatsInputError
        If there is not one label per item.
    """
    if strata is None:
        return ("all",), np.zeros(n, dtype=np.intp)
    try:
        labels = [str(label) for label in strata]
    except TypeError:
        raise StatsInputError(f"strata must hold one label per score, and {strata!r} is no list.") from None
    if len(labels) != n:
        raise StatsInputError(f"strata must hold one label per score: {len(labels)} labels, {n} scores.")
    names = tuple(sorted(set(labels)))
    index = {name: position for position, name in enumerate(names)}
    return names, np.fromiter(map(index.__getitem__, labels), dtype=np.intp, count=n)
