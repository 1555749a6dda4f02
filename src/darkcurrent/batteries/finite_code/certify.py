"""The proof, input by input, that a case's correct programs are correct and its faulty ones are not."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from darkcurrent.batteries.finite_code.family import RUNGS, Case
from darkcurrent.batteries.finite_code.programs import Raised, agrees, load, outcomes
from darkcurrent.canonical import digest, digest_text
from darkcurrent.errors import BatteryError

__all__ = ["CORRECT", "certify", "totals"]

CORRECT = ("reference", "equivalent")
"""The roles that must agree with the specification everywhere."""


def certify(case: Case) -> dict[str, Any]:
    """Run every program of a case on every declared input, and compare with the specification.

    The result holds for the declared inputs only; it says nothing of any other input.

    Returns
    -------
    dict
        The receipt of one item, JSON values only: `inputs`, `pairs` (programs times inputs), the digests of
        the prompt, the domain, the expected answers and each program, and for each role its
        `disagreements`: how many, how many of each kind (`value` or the exception's name), and the first.

    Raises
    ------
    BatteryError
        Where a correct program disagrees with the specification on any input, a faulty one on none, the
        ladder's shares lie outside their bands or do not fall, or two programs have the same text.
    """
    expected = outcomes(case.specify, case.domain)
    for arguments, answer in zip(case.domain, expected, strict=True):
        if isinstance(answer, Raised):
            raise BatteryError(
                f"{case.id}: the specification itself fails on {_show(arguments)} ({answer.kind})."
            )
    disagreements: dict[str, dict[str, Any]] = {}
    for role, source in case.sources.items():
        given = outcomes(load(source), case.domain)
        kinds: dict[str, int] = {}
        first: dict[str, Any] | None = None
        for arguments, answer, right in zip(case.domain, given, expected, strict=True):
            if agrees(answer, right):
                continue
            kind = answer.kind if isinstance(answer, Raised) else "value"
            kinds[kind] = kinds.get(kind, 0) + 1
            if first is None:
                first = {"input": _show(arguments), "expected": repr(right), "given": repr(answer)}
        if role in CORRECT and first is not None:
            raise BatteryError(
                f"{case.id}: the {role} program must agree with the specification on every input, but on "
                f"{first['input']} it gives {first['given']} where {first['expected']} is right; correct it."
            )
        if role not in CORRECT and first is None:
            raise BatteryError(
                f"{case.id}: the {role} program agrees with the specification on all {len(case.domain)} "
                f"inputs, from {_show(case.domain[0])} on; a faulty program must differ somewhere."
            )
        disagreements[role] = {"count": sum(kinds.values()), "kinds": kinds, "first": first}
    _check_ladder(case, {role: entry["count"] for role, entry in disagreements.items()})
    digests = {role: digest_text(source) for role, source in case.sources.items()}
    if len(set(digests.values())) != len(digests):
        raise BatteryError(f"{case.id}: two of its programs have the same text; each role needs its own.")
    return {
        "inputs": len(case.domain),
        "pairs": len(case.domain) * len(digests),
        "prompt": digest_text(case.prompt),
        "domain": digest(case.domain),
        "expected": digest(expected),
        "sources": digests,
        "disagreements": disagreements,
    }


def totals(items: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Add up the receipts of items: items, inputs, pairs and disagreements by role."""
    roles = ("faulty", *RUNGS)
    return {
        "items": len(items),
        "inputs": sum(item["inputs"] for item in items.values()),
        "pairs": sum(item["pairs"] for item in items.values()),
        "disagreements": {
            role: sum(item["disagreements"][role]["count"] for item in items.values())
            for role in (*CORRECT, *roles)
        },
    }


def _check_ladder(case: Case, counts: dict[str, int]) -> None:
    for role, (least, most) in RUNGS.items():
        share = counts[role] / len(case.domain)
        if not least <= share <= most:
            raise BatteryError(
                f"{case.id}: {role} shows on {share:.4f} of the inputs, not {least} to {most}."
            )
    ladder = [counts[role] for role in RUNGS]
    if ladder[-1] != 1 or any(here <= after for here, after in pairwise(ladder)):
        raise BatteryError(
            f"{case.id}: the ladder shows on {ladder} inputs; the counts must fall to exactly 1."
        )


def _show(arguments: tuple[Any, ...]) -> str:
    return ", ".join(repr(list(value)) if isinstance(value, tuple) else repr(value) for value in arguments)
