"""Every bundled item, in the battery's order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from darkcurrent.batteries.finite_code.families_bounds import interval_clip, tiered_price
from darkcurrent.batteries.finite_code.families_division import residue_count, round_to_step
from darkcurrent.batteries.finite_code.families_order import longest_run, runner_up
from darkcurrent.batteries.finite_code.families_tallies import capped_counter, most_frequent
from darkcurrent.batteries.finite_code.family import SETTINGS, Case
from darkcurrent.errors import BatteryError

__all__ = ["FAMILIES", "cases"]

FAMILIES: dict[str, Callable[[int], Case]] = {
    "interval-clip": interval_clip,
    "tiered-price": tiered_price,
    "residue-count": residue_count,
    "round-to-step": round_to_step,
    "capped-counter": capped_counter,
    "most-frequent": most_frequent,
    "longest-run": longest_run,
    "runner-up": runner_up,
}
"""Name of a family to the function that gives its case at a setting."""


def cases(settings: Sequence[int] = SETTINGS) -> list[Case]:
    """Return the cases of all families at some settings: family by family, the settings as given.

    Raises
    ------
    BatteryError
        Where a setting does not exist or stands twice.
    """
    unknown = [setting for setting in settings if setting not in SETTINGS]
    if unknown or len(set(settings)) != len(settings):
        raise BatteryError(
            f"The settings {list(settings)} of finite-code cannot be used: name each of the settings "
            f"{SETTINGS.start} to {SETTINGS.stop - 1} at most once."
        )
    return [family(setting) for family in FAMILIES.values() for setting in settings]
