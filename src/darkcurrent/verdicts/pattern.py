"""The contract `regex`: free text that a declared pattern derives, matched in linear time by RE2."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass, field
from typing import Any, Final

from darkcurrent.errors import MissingExtraError
from darkcurrent.verdicts.contract import Labels, LabelTable, label_table, plain_labels
from darkcurrent.verdicts.diagnosis import FREE_TEXT_TESTS, explain
from darkcurrent.verdicts.text_contracts import FreeText
from darkcurrent.verdicts.verdict import Verdict, invalid

__all__ = ["Regex"]

# RE2's time is proportional to pattern size times text size, and its memory bound is what bounds the compiled
# pattern. With this bound the worst pattern that was found costs 21 microseconds per character
# (design/contracts.md).
_MAX_MEMORY: Final = 1 << 17
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Regex(FreeText):
    r"""Free text that a declared RE2 pattern matches from its first character to its last.

    Parameters
    ----------
    pattern : str
        RE2 syntax (no back-references, no look-around) with exactly one capturing group, which holds the
        verdict; write other groups as ``(?:...)``. A pattern such as ``(?s).*\[\[(A|B)\]\].*`` accepts a text
        with several verdicts and takes the last: it takes what was declared.
    labels : dict of str to list of str
        For each of A, B and tie the captured words that mean it. Upper and lower case matter.

    Notes
    -----
    ::

        answer  = a text of the pattern's language, whose group is one of the labels

    Reasoning before the answer is described in `FreeText`. Surrogates that stand alone are matched as U+FFFD.
    Needs the extra `regex` (google-re2), since no bound on Python's own `re` is sound.
    """

    name = "regex"
    pattern: str
    labels: Labels = field(default_factory=plain_labels)
    _engine: Any = field(init=False, repr=False, compare=False)
    _table: LabelTable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_engine", self._compile())
        object.__setattr__(self, "_table", label_table(self, self.labels, (str,)))

    def _compile(self) -> Any:
        if not isinstance(self.pattern, str) or _SURROGATE.search(self.pattern):
            raise self.refuse("pattern", "give a pattern as Unicode text")
        try:
            re2 = importlib.import_module("re2")
        except ImportError as error:
            raise MissingExtraError("The contract regex", "regex") from error
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MAX_MEMORY
        try:
            engine = re2.compile(self.pattern, options)
        except re2.error as error:
            message = error.args[0]
            detail = message.decode("utf-8", "replace") if isinstance(message, bytes) else message
            raise self.refuse("pattern", f"RE2 does not accept it: {detail}") from error
        if engine.groups != 1:
            raise self.refuse("pattern", f"it needs exactly one capturing group and has {engine.groups}")
        return engine

    def read_answer(self, answer: str) -> Verdict:
        match = self._engine.fullmatch(_SURROGATE.sub("\ufffd", answer))
        if match is None or match[1] is None:
            return explain(answer, FREE_TEXT_TESTS, "no-verdict")
        return self._table.get((str, match[1])) or invalid("wrong-value")
