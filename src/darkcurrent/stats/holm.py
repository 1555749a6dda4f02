"""Holm's adjustment over a declared family."""

from __future__ import annotations

from collections.abc import Iterable

from darkcurrent.errors import StatsInputError

__all__ = ["holm"]


def holm(pvalues: Iterable[float | None]) -> list[float | None]:
    """Adjust the p-values of one declared family by Holm's step-down method.

    Parameters
    ----------
    pvalues : iterable of float or None
        One entry for every member of the family, each in [0, 1]. None stands for a member without a
        p-value, such as a cell on HOLD: it stays in the family's size, so that a held cell never makes
        the others easier to pass.

    Returns
    -------
    list of float or None
        Adjusted p-values in the order given, each in [0, 1]; None where None was given.

    Raises
    ------
    StatsInputError
        If there is no list, or a p-value is not a number in [0, 1].

    Notes
    -----
    With m members and the p-values in ascending order, the adjusted value at rank i is the largest of
    min(1, (m - j + 1) p_(j)) over j <= i [1]_. A None is placed after all others. Rejecting where the
    adjusted value is at most alpha keeps the probability of any false rejection in the family at alpha or
    below, under any dependence, provided that each p-value is valid on its own.

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of
       Statistics 6, 65-70.

    Examples
    --------
    >>> holm([0.01, None, 0.04])
    [0.03, None, 0.08]
    """
    try:
        given = list(pvalues)
    except TypeError:
        raise StatsInputError(f"pvalues must be a list of p-values, and {pvalues!r} is none.") from None
    raw = [_check(value, place) for place, value in enumerate(given)]
    adjusted: list[float | None] = [None] * len(raw)
    largest = 0.0
    ranked = sorted((value, place) for place, value in enumerate(raw) if value is not None)
    for rank, (value, place) in enumerate(ranked):
        largest = max(largest, min(1.0, (len(raw) - rank) * value))
        adjusted[place] = largest
    return adjusted


def _check(value: object, place: int) -> float | None:
    if value is None:
        return None
    try:
        p = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        p = -1.0
    if not 0.0 <= p <= 1.0:
        raise StatsInputError(f"pvalues[{place}] must be None or a number from 0 to 1, and it is {value!r}.")
    return p
