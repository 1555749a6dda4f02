"""The ten tasks, as their file states them, and the texts of each level."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["LEVELS", "Element", "Task", "load_tasks"]

LEVELS = range(6)
"""How many of the five elements a text states."""


@dataclass(frozen=True)
class Element:
    """One required element of a task.

    Attributes
    ----------
    requirement : str
        The element in words, as the request names it.
    marker : str
        A word that stands in each sentence of `said` and in no other sentence of the task.
    said : tuple of str
        The sentence that states the element, in two wordings.
    other : tuple of str
        What stands in its place where a text lacks it, in two wordings.
    """

    requirement: str
    marker: str
    said: tuple[str, str]
    other: tuple[str, str]


@dataclass(frozen=True)
class Task:
    """One request with its five elements in their fixed order."""

    name: str
    request: str
    elements: tuple[Element, ...]

    @property
    def prompt(self) -> str:
        """The request as the judge reads it, with the checklist."""
        points = "\n".join(
            f"{number}. {element.requirement}" for number, element in enumerate(self.elements, start=1)
        )
        return f"{self.request} These points are required:\n{points}"

    def sentences(self, level: int, wording: int) -> tuple[str, ...]:
        """Return the sentences of a text: the first `level` elements, and something else for each of the others."""
        return tuple(
            (element.said if number < level else element.other)[wording]
            for number, element in enumerate(self.elements)
        )

    def text(self, level: int, wording: int = 0) -> str:
        """Return the text of a level in the first or the second wording."""
        return " ".join(self.sentences(level, wording))


@cache
def load_tasks() -> tuple[Task, ...]:
    """Return the bundled tasks, in the order of their file."""
    table = tomllib.loads(files(__package__).joinpath("tasks.toml").read_text(encoding="utf-8"))
    return tuple(
        Task(
            name=task["name"],
            request=task["request"],
            elements=tuple(
                Element(
                    requirement=element["requirement"],
                    marker=element["marker"],
                    said=tuple(element["said"]),
                    other=tuple(element["other"]),
                )
                for element in task["element"]
            ),
        )
        for task in table["task"]
    )
