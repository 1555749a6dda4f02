"""A judge whose properties are planted: what it would say to a request."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from darkcurrent.canonical import digest_text, text_bytes
from darkcurrent.protocol.freeze import Frozen, load_frozen
from darkcurrent.protocol.planted import Properties

__all__ = ["MODEL", "Key", "SimulatedJudge", "Truth", "texts_of"]

MODEL = "simulated"
"""The name that it serves under, unless another one is asked for."""

Slot = Literal["A", "B"]
Texts = tuple[str, ...]
"""Prompt, first and second answer, and the third candidate where one is shown."""

# The form of `render_messages`; a text that holds the tags itself may be read wrongly.
_PROMPT = re.compile(
    "<request>\n(.*?)\n</request>\n\n<answer_A>\n(.*?)\n</answer_A>\n\n<answer_B>\n(.*?)\n</answer_B>"
    "(?:\n\n<not_eligible_C>\n(.*?)\n</not_eligible_C>)?",
    re.DOTALL,
)


def texts_of(prompt: str) -> Texts | None:
    """Return what a rendered prompt shows; None where it is none."""
    found = _PROMPT.search(prompt)
    return tuple(text for text in found.groups() if text is not None) if found else None


@dataclass(frozen=True, slots=True)
class Truth:
    """Which slot holds the target (None where nothing is to choose), the item's stratum, and the step of a ladder."""

    target: Slot | None
    stratum: str
    step: str | None = None


class Key:
    """What a simulated judge knows of a study: for each call, by the digests of its texts, the right answer."""

    def __init__(
        self,
        truths: Mapping[tuple[str, ...], Truth] | None = None,
        criteria: Mapping[str, str] | None = None,
    ) -> None:
        self._truths = dict(truths or {})
        self._criteria = dict(criteria or {})

    @classmethod
    def of(cls, frozen: Frozen) -> Key:
        """Return the key of a frozen study."""
        calls = [
            call
            for configuration in frozen.protocol.configuration
            for call in frozen.schedule(configuration.name)
        ]
        return cls(
            {
                call.shown[1:]: Truth(
                    {call.slot_a: "A", call.slot_b: "B"}.get(call.target) if call.target else None,  # type: ignore[arg-type]
                    call.stratum,
                    call.step,
                )
                for call in calls
            },
            {call.rubric: call.criterion for call in calls},
        )

    @classmethod
    def of_folder(cls, study: Path) -> Key:
        """Return the key of a study's folder; an empty one where it is not frozen yet."""
        return cls.of(load_frozen(study / "frozen")) if (study / "frozen").exists() else cls()

    def truth(self, texts: Texts) -> Truth | None:
        """Return what is right; None where the key does not know these texts."""
        return self._truths.get(tuple(map(digest_text, texts)))

    def criterion(self, rubric: str) -> str | None:
        """Return the name of a rubric's criterion; None where the key does not know it."""
        return self._criteria.get(digest_text(rubric))


class SimulatedJudge:
    """Answers by its planted properties.

    Parameters
    ----------
    properties : Properties
        What is planted.
    key : Key, optional
        What the right answers are. Where it does not know, the judge's own taste is right.
    """

    def __init__(self, properties: Properties | None = None, key: Key | None = None) -> None:
        self.properties = properties or Properties()
        self._key = key or Key()

    def answer(self, rubric: str, prompt: str, a: str, b: str, c: str | None = None) -> str:
        """Return the text of a reply."""
        texts = (prompt, a, b) if c is None else (prompt, a, b, c)
        verdict = self._verdict(rubric, texts)
        content = json.dumps({"winner": verdict}, separators=(",", ":"))
        fenced = self._unit("fenced", rubric, prompt, a, b) < self.properties.fenced
        return f"```json\n{content}\n```" if fenced else content

    def _verdict(self, rubric: str, texts: Texts) -> Literal["A", "B", "tie"]:
        a, b = texts[1:3]
        habit = self.properties.habit
        if habit == "tie":
            return "tie"
        if habit == "first":
            return "A"
        if habit == "fair":
            return self._fair(rubric, texts)
        if a == b:
            return "tie"
        return "tie" if habit == "one-sided" and self._taste(a, b) == "B" else self._taste(a, b)

    def _fair(self, rubric: str, texts: Texts) -> Literal["A", "B", "tie"]:
        _, a, b = pair = texts[:3]  # what is drawn does not depend on a third candidate
        truth = self._key.truth(texts) or Truth(self._taste(a, b) if a != b else None, "")
        planted = self.properties.under(self._key.criterion(rubric), present=len(texts) > len(pair))
        if truth.target is None and a != b and planted.patterns:
            return self._by_pattern(rubric, pair, planted)
        if truth.target is None or a == b:
            if self._unit("dark", rubric, *pair) >= planted.dark_current:
                return "tie"
            return "A" if self._unit("slot", rubric, *pair) < 0.5 else "B"
        utility = planted.steps.get(truth.step or "", planted.weak.get(truth.stratum, planted.utility))
        if self._unit("right", rubric, *pair) < utility:
            return truth.target
        if self._unit("miss", rubric, *pair) < planted.ties:
            return "tie"
        return "B" if truth.target == "A" else "A"

    def _by_pattern(self, rubric: str, pair: Texts, planted: Properties) -> Literal["A", "B", "tie"]:
        """Draw for both orders of a pair at once, so that they say together what is planted."""
        prompt, a, b = pair
        unordered = (rubric, prompt, *sorted((a, b)))
        forward = a < b
        one, drawn = self._unit("which", *unordered) < 0.5, self._unit("pattern", *unordered)
        for pattern, share in planted.patterns.items():
            drawn -= share
            if drawn < 0:
                if pattern == "position":
                    return "A" if one else "B"
                if pattern == "one-sided" and forward != (self._unit("when", *unordered) < 0.5):
                    return "tie"
                return "A" if one == forward else "B"
        return "tie"

    def _taste(self, a: str, b: str) -> Slot:
        return "A" if self._unit("taste", a) > self._unit("taste", b) else "B"

    def _unit(self, purpose: str, *texts: str) -> float:
        """Return a number in [0, 1) that depends on the seed, a purpose and some texts, and on nothing else."""
        found = hashlib.sha256(f"{self.properties.seed}:{purpose}".encode())
        for text in texts:
            data = text_bytes(text)
            found.update(f":{len(data)}:".encode())
            found.update(data)
        return int.from_bytes(found.digest()[:6]) / 2**48
