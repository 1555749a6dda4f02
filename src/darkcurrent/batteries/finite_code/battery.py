"""The battery `finite-code`: small programming tasks whose candidates are checked on every valid input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from darkcurrent.batteries.finite_code.catalogue import cases
from darkcurrent.batteries.finite_code.certify import certify, totals
from darkcurrent.batteries.finite_code.family import RUNGS, SETTINGS, Case
from darkcurrent.canonical import digest_text
from darkcurrent.errors import BatteryError
from darkcurrent.records import ArmName, Battery, Comparison, Item

__all__ = ["build"]


def build(arms: tuple[ArmName, ...], settings: Sequence[int] = SETTINGS) -> Battery:
    """Build the battery, and prove it while doing so.

    Parameters
    ----------
    arms : tuple of ArmName
        `clone` compares the reference with itself, `signal` with the faulty program, `equivalent` with the
        other correct one, and `ladder` with the faults that show on about 50 %, 10 % and 1 % of the domain
        and on a single input, easiest first.
    settings : sequence of int
        Which of the settings 0 to 11 of each of the eight families to take.

    Returns
    -------
    Battery
        Items in a fixed order, whatever the arms. `facts` of an item hold the measured count and share of
        the domain on which each fault shows. `receipts["finite-code"]` is the oracle's receipt.

    Raises
    ------
    BatteryError
        Where an arm or a setting is unknown or stands twice, or where the oracle refutes a program.

    Notes
    -----
    The stratum of an item is its family, and its cluster is the item itself. Settings of a family are not
    independent draws from a population of tasks, but resampling within families is already conditional on the
    eight templates; with the family as its cluster, a stratum would hold one cluster and nothing to resample.
    """
    if set(arms) - set(get_args(ArmName)) or len(set(arms)) != len(arms):
        raise BatteryError(
            f"The arms {list(arms)} of finite-code cannot be used: name each of "
            f"{', '.join(get_args(ArmName))} at most once."
        )
    taken = cases(settings)
    receipts = {case.id: certify(case) for case in taken}
    texts = {digest_text(text): text for case in taken for text in (case.prompt, *case.sources.values())}
    return Battery(
        items=tuple(_item(case, receipts[case.id]) for case in taken),
        comparisons=tuple(
            comparison for case in taken for arm in arms for comparison in _comparisons(case.id, arm)
        ),
        texts=texts,
        receipts={"finite-code": {"items": receipts, "totals": totals(receipts)}},
    )


def _item(case: Case, receipt: dict[str, Any]) -> Item:
    faults = {
        role: {
            "kind": fault.kind,
            "count": receipt["disagreements"][role]["count"],
            "share": receipt["disagreements"][role]["count"] / receipt["inputs"],
        }
        for role, fault in case.faults.items()
    }
    return Item(
        id=case.id,
        stratum=case.family,
        cluster=case.id,
        prompt=receipt["prompt"],
        texts=receipt["sources"],
        facts={"family": case.family, "setting": case.setting, "inputs": receipt["inputs"], "faults": faults},
    )


def _comparisons(item: str, arm: ArmName) -> list[Comparison]:
    if arm == "clone":
        return [Comparison(item=item, arm=arm, u="reference", v="reference", null_stratum="core")]
    if arm == "equivalent":
        return [Comparison(item=item, arm=arm, u="reference", v="equivalent")]
    if arm == "signal":
        return [Comparison(item=item, arm=arm, u="reference", v="faulty", target="reference")]
    return [
        Comparison(item=item, arm=arm, u="reference", v=role, target="reference", step=role) for role in RUNGS
    ]
