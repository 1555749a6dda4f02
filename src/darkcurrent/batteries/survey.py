"""What a battery took and what it refused, counted by stratum: the table of `battery check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from darkcurrent.batteries.select import NOT_DRAWN
from darkcurrent.records import Item, Refusal

__all__ = ["survey"]


def survey(
    items: Iterable[Item], refusals: Iterable[Refusal], arms: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Count rows by stratum.

    Parameters
    ----------
    arms : sequence of str
        Those that the protocol declares: a row whose only arm is refused is refused itself.

    Returns
    -------
    dict
        Stratum, in order of code points, to `rows`, `eligible` (taken, or left out by the hash ranking alone), `taken`,
        `refused` (reason to number of rows) and `arms_refused` (arm to reason to number of items that were taken without
        it).
    """
    taken = Counter(item.stratum for item in items)
    whole: dict[str, Counter[str]] = {}
    partly: dict[str, dict[str, Counter[str]]] = {}
    for one in refusals:
        if one.arm is None or tuple(arms) == (one.arm,):
            whole.setdefault(one.stratum, Counter())[one.reason] += 1
        else:
            partly.setdefault(one.stratum, {}).setdefault(one.arm, Counter())[one.reason] += 1
    return {
        stratum: {
            "rows": taken[stratum] + sum(whole.get(stratum, Counter()).values()),
            "eligible": taken[stratum] + whole.get(stratum, Counter())[NOT_DRAWN],
            "taken": taken[stratum],
            "refused": _sorted(whole.get(stratum, Counter())),
            "arms_refused": {arm: _sorted(counts) for arm, counts in sorted(partly.get(stratum, {}).items())},
        }
        for stratum in sorted({*taken, *whole, *partly})
    }


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
