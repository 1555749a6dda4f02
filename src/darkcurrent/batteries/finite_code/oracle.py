"""A judge that knows the answer: it runs the two programs. The positive control of a whole study."""

from __future__ import annotations

from functools import cache

from darkcurrent.batteries.finite_code.catalogue import cases
from darkcurrent.batteries.finite_code.family import Case
from darkcurrent.batteries.finite_code.programs import agrees, load, outcomes
from darkcurrent.canonical import digest_text
from darkcurrent.errors import BatteryError

__all__ = ["judge"]


def judge(prompt: str, a: str, b: str, c: str | None = None) -> str:
    """Return which of two bundled programs is right on more of the declared inputs: "A", "B" or "tie".

    A blank text is right on no input. A text is only ever run if it is one of the programs that this package
    bundles for this very prompt, which its digest tells: what somebody else wrote is data and never runs.

    Parameters
    ----------
    prompt : str
        The prompt of an item, exactly as the battery has it.
    a, b : str
        The texts in slots A and B.
    c : str, optional
        A third candidate that cannot win; it changes nothing.

    Raises
    ------
    BatteryError
        Where the prompt, or a text that is not blank, is not bundled.
    """
    case = _by_prompt().get(digest_text(prompt))
    if case is None:
        raise BatteryError(
            "The finite-code oracle does not know this prompt; give it only items of the battery finite-code."
        )
    right_a, right_b = _right(case, a, "A"), _right(case, b, "B")
    if right_a == right_b:
        return "tie"
    return "A" if right_a > right_b else "B"


@cache
def _by_prompt() -> dict[str, Case]:
    return {digest_text(case.prompt): case for case in cases()}


def _right(case: Case, text: str, slot: str) -> int:
    if not text.strip():
        return 0
    known = digest_text(text)
    if known not in {digest_text(source) for source in case.sources.values()}:
        raise BatteryError(
            f"The text in slot {slot} is not a bundled program of {case.id}, so the finite-code oracle does "
            "not run it; give it only candidate texts of that item."
        )
    return _count_right(case.id, known)


@cache
def _count_right(item: str, source: str) -> int:
    case = next(case for case in _by_prompt().values() if case.id == item)
    text = next(text for text in case.sources.values() if digest_text(text) == source)
    expected = outcomes(case.specify, case.domain)
    given = outcomes(load(text), case.domain)
    return sum(agrees(answer, right) for answer, right in zip(given, expected, strict=True))
