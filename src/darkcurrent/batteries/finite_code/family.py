"""What one item of the battery is made of: a task in words, its finite domain, and the candidate programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from darkcurrent.errors import BatteryError
from darkcurrent.records import Step

__all__ = [
    "RUNGS",
    "SETTINGS",
    "Argument",
    "Case",
    "Fault",
    "edit",
    "lists_in_words",
    "lists_up_to",
    "main_fault",
    "rows",
]

Argument = int | tuple[int, ...]
"""One argument of a program; a tuple stands for a list, which each call gets as a fresh one."""

SETTINGS = range(12)
"""The parameter settings of every family."""

RUNGS: dict[Step, tuple[float, float]] = {
    "faulty-50": (0.33, 0.67),
    "faulty-10": (0.05, 0.16),
    "faulty-1": (0.005, 0.02),
    "faulty-single": (0.0, 1.0),
}
"""The roles of the difficulty ladder, easiest first, with the band that the measured share must lie in.

The last one is held to a single input instead, whatever share that is.
"""


@dataclass(frozen=True)
class Fault:
    """A faulty program and what is wrong with it.

    Attributes
    ----------
    kind : str
        The kind in a few words, e.g. "wrong tie-break".
    source : str
        The program text.
    """

    kind: str
    source: str


@dataclass(frozen=True)
class Case:
    """One family at one setting, before anything has been run.

    Attributes
    ----------
    family, setting : str, int
        Which template, and the index of its parameters in `SETTINGS`.
    signature : str
        How the program is called, e.g. ``solve(x)``.
    task : str
        The specification in words, as the judge reads it.
    valid : str
        The domain in words: what follows "Valid inputs:".
    domain : tuple of tuple
        Every declared input, as the arguments of one call.
    specify : callable
        The specification as a Python function, written by another route than the two correct programs. It is
        what all programs are compared with.
    reference, equivalent : str
        Two correct programs that differ in their syntax.
    faults : dict of str to Fault
        Role to faulty program: `faulty` and the roles of `RUNGS`.
    """

    family: str
    setting: int
    signature: str
    task: str
    valid: str
    domain: tuple[tuple[Argument, ...], ...]
    specify: Callable[..., object]
    reference: str
    equivalent: str
    faults: dict[str, Fault]

    @property
    def id(self) -> str:
        """The item's id, e.g. ``interval-clip/03``."""
        return f"{self.family}/{self.setting:02d}"

    @property
    def prompt(self) -> str:
        """The request that the judge reads."""
        return (
            f"Write a Python function `{self.signature}`. {self.task}\n"
            f"Valid inputs: {self.valid}. What the function does on any other input does not matter."
        )

    @property
    def sources(self) -> dict[str, str]:
        """Role to program text, the correct ones first."""
        faulty = {role: fault.source for role, fault in self.faults.items()}
        return {"reference": self.reference, "equivalent": self.equivalent, **faulty}


def edit(source: str, kind: str, *changes: tuple[str, str]) -> Fault:
    """Return the program with some passages exchanged: a fault in the style of the program it came from.

    Raises
    ------
    BatteryError
        Where a passage does not stand in the program exactly once.
    """
    for old, new in changes:
        if source.count(old) != 1:
            raise BatteryError(
                f"The passage {old!r} stands {source.count(old)} times, not once, in:\n{source}"
            )
        source = source.replace(old, new)
    return Fault(kind, source)


def main_fault(reference: str, setting: int, *mistakes: tuple[str, tuple[str, str]]) -> Fault:
    """Return the fault of the role `faulty`: the settings take a family's mistakes by turns.

    The turn shifts after every round, so that no mistake is tied to even or to odd settings.
    """
    kind, change = mistakes[(setting + setting // len(mistakes)) % len(mistakes)]
    return edit(reference, kind, change)


def rows(low: int, high: int) -> tuple[tuple[Argument, ...], ...]:
    """Return the inputs of a program of one integer from `low` to `high`, both included."""
    return tuple((value,) for value in range(low, high + 1))


def lists_up_to(length: int, values: tuple[int, ...]) -> tuple[tuple[Argument, ...], ...]:
    """Return the inputs of a program of one list: all lists of up to `length` values."""
    return tuple((entries,) for size in range(length + 1) for entries in product(values, repeat=size))


def lists_in_words(length: int, values: tuple[int, ...]) -> str:
    """Describe the domain of `lists_up_to`."""
    return (
        f"every list of at most {length} entries, the empty list included, in which each entry is one of "
        f"{', '.join(map(str, values))}"
    )
