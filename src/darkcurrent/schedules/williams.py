"""Williams squares: sequences in which every treatment falls on every period, and follows every other, equally often."""

from __future__ import annotations

__all__ = ["williams"]


def williams(treatments: int) -> tuple[tuple[int, ...], ...]:
    """Return the sequences of a Williams design.

    Parameters
    ----------
    treatments : int
        How many there are, 1 or more.

    Returns
    -------
    tuple of tuple of int
        For an even number (and for 1) as many sequences as treatments. An odd number needs twice as many: the
        square and its mirror. The sequences of a square are shifts of its first one.

    Notes
    -----
    The first sequence goes 0, 1, m - 1, 2, m - 2, ...: its steps are all different modulo m, so that the shifts
    bring every ordered pair of neighbours once. For an odd m each step comes twice in the square or not at all,
    and the mirror brings the others. Source: Williams, E. J. (1949). Experimental designs balanced for the
    estimation of residual effects of treatments. Australian Journal of Scientific Research A 2, 149-168.

    Examples
    --------
    >>> williams(4)
    ((0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1))
    """
    first = [0]
    for step in range(1, treatments):
        first.append((step + 1) // 2 if step % 2 else treatments - step // 2)
    square = tuple(tuple((place + shift) % treatments for place in first) for shift in range(treatments))
    mirrored = tuple(row[::-1] for row in square)
    return square if treatments % 2 == 0 or treatments == 1 else square + mirrored
