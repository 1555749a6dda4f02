"""Numbers as they are shown."""

from __future__ import annotations

__all__ = ["interval", "number", "share"]


def number(value: float | None, digits: int = 3) -> str:
    """Return a number without its leading zero, in the manner of the field; a dash where there is none."""
    if value is None:
        return "–"
    if 0 < abs(value) < 10**-digits:
        mantissa, _, exponent = f"{value:.1e}".partition("e")
        return f"{mantissa}e{int(exponent)}"
    shown = f"{value:.{digits}f}"
    return shown.replace("0.", ".", 1) if abs(value) < 1 and float(shown) != 0 else shown


def interval(bounds: tuple[float, float] | None, digits: int = 3) -> str:
    """Return a two-sided interval; a dash where there is none."""
    return "–" if bounds is None else f"[{number(bounds[0], digits)}, {number(bounds[1], digits)}]"


def share(count: int, total: int) -> str:
    """Return a count out of a total."""
    return f"{count}/{total}"
