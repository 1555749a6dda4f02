"""What every contract is: a declared form, its options, and one way of reading."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from darkcurrent.errors import UsageError
from darkcurrent.verdicts.verdict import LABELS, Verdict

__all__ = ["Contract", "LabelTable", "Labels", "label_table", "plain_labels"]

Labels = Mapping[str, list[str | int]]
"""For each of A, B and tie, the words of the judge that mean it."""

LabelTable = dict[tuple[type, object], Verdict]
"""(type, word) to the verdict that the word means; `True` equals 1 in Python and not in JSON."""


@dataclass(frozen=True)
class Contract(ABC):
    """The declared form of a valid answer. It says what a text means and never changes the text.

    The fields of a contract are its options, with the names they have in a protocol. Making one with a value
    that cannot be used raises `UsageError`.
    """

    name: ClassVar[str]

    @abstractmethod
    def read(self, text: str) -> Verdict:
        """Read a reply that has at least one character which is no white space; never raises."""

    def declaration(self) -> dict[str, Any]:
        """Return the name and all options, defaults included: what a configuration's digest covers."""
        return {"name": self.name, **{option.name: getattr(self, option.name) for option in self.options()}}

    @classmethod
    def options(cls) -> list[dataclasses.Field[Any]]:
        """Return what can be declared."""
        return [field for field in dataclasses.fields(cls) if field.init]

    def refuse(self, option: str, problem: str) -> UsageError:
        """Make the error for an option whose value cannot be used."""
        return UsageError(f"Contract {self.name}, option {option!r}: {problem}.")


def plain_labels() -> Labels:
    """Return the labels that every contract has unless others are declared: A, B and tie themselves."""
    return {label: [label] for label in ("A", "B", "tie")}


def label_table(contract: Contract, labels: object, kinds: tuple[type, ...]) -> LabelTable:
    """Check the option `labels` and turn it round.

    Raises
    ------
    UsageError
        If a key is none of A, B and tie, A or B has no word, a word has another type than `kinds`, or a word
        means two things.
    """
    if not isinstance(labels, Mapping):
        raise contract.refuse("labels", "give a table of the keys A, B and, if the judge may tie, tie")
    for label in ("A", "B"):
        if not labels.get(label):
            raise contract.refuse("labels", f"list at least one word that means {label}")
    table: LabelTable = {}
    for label, words in labels.items():
        if label not in LABELS:
            raise contract.refuse("labels", f"{label!r} is no verdict, use the keys A, B and tie")
        if not isinstance(words, list):
            raise contract.refuse("labels", f"{label} needs a list of words")
        for word in words:
            if type(word) not in kinds:
                allowed = " or ".join(kind.__name__ for kind in kinds)
                raise contract.refuse("labels", f"{word!r} of {label} must be of type {allowed}")
            if (type(word), word) in table:
                raise contract.refuse("labels", f"{word!r} stands twice, a word has one meaning")
            table[type(word), word] = LABELS[label]
    return table
