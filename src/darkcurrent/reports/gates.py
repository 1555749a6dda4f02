"""What the gates say of each cell in one line: for people, for programs and for CI."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal
from xml.etree import ElementTree as ET

from darkcurrent.gates import Gate, Joint
from darkcurrent.printable import printable
from darkcurrent.reports.words import cell_sentences
from darkcurrent.results import Analysis

__all__ = ["FORMATS", "CellGate", "cell_gates", "exit_code", "with_changes"]

_STATES: dict[Joint, Gate] = {"both gates pass": "PASS", "HOLD": "HOLD", "NOT GRADED": "NOT GRADED"}
_MISSED, _HELD = 3, 4


@dataclass(frozen=True, slots=True)
class CellGate:
    """Both gates of one cell together.

    Attributes
    ----------
    configuration, criterion : str
        The cell.
    state : str
        `PASS` where both gates pass, `MISS` where one is missed, `HOLD`, `NOT GRADED`, or `STALE` where the judge is
        no longer the one that was audited.
    joint : str
        What was found, saying which gate.
    reason : str
        Why, in words.
    """

    configuration: str
    criterion: str
    state: Gate | Literal["STALE"]
    joint: Joint
    reason: str

    @property
    def name(self) -> str:
        """Configuration and criterion."""
        return f"{self.configuration} / {self.criterion}"

    def __str__(self) -> str:
        found = "STALE" if self.state == "STALE" else self.joint
        return printable(f"{self.name}: {found}. {self.reason}")


def cell_gates(analysis: Analysis) -> tuple[CellGate, ...]:
    """Return what the gates say of each cell, in the order of the cells."""
    return tuple(
        CellGate(cell.configuration, cell.criterion, _STATES.get(cell.joint, "MISS"), cell.joint, reason)
        for cell, (_, reason) in zip(analysis.cells, cell_sentences(analysis), strict=True)
    )


def with_changes(gates: Sequence[CellGate], changed: Mapping[str, Sequence[str]]) -> tuple[CellGate, ...]:
    """Call the cells of those configurations stale that are not what was audited.

    Parameters
    ----------
    changed : mapping
        Configuration to what changed.
    """
    return tuple(
        replace(
            one,
            state="STALE",
            reason=f"The judge is not the one that was audited: {'; '.join(what)} changed or cannot be used. Freeze and run a "
            f"new study. What was found: {one.reason}",
        )
        if (what := changed.get(one.configuration))
        else one
        for one in gates
    )


def exit_code(gates: Sequence[CellGate]) -> int:
    """Return 0 where every cell passes, 3 where a gate is missed, and 4 where a cell says nothing about the judge."""
    states = {one.state for one in gates}
    if not states or states & {"HOLD", "NOT GRADED", "STALE"}:
        return _HELD
    return _MISSED if "MISS" in states else 0


def _as_text(study: str, gates: Sequence[CellGate]) -> str:
    return "".join(f"{one}\n" for one in gates)


def _as_json(study: str, gates: Sequence[CellGate]) -> str:
    cells = [asdict(one) for one in gates]
    return json.dumps({"study": study, "exit": exit_code(gates), "cells": cells}, indent=1) + "\n"


def _as_junit(study: str, gates: Sequence[CellGate]) -> str:
    """Return JUnit's XML: a test per cell, a missed gate as a failure, what says nothing about the judge as an error.

    Attributes and order are those that the schemas of Jenkins and of Ant's JUnit task share.
    """
    missed = sum(one.state == "MISS" for one in gates)
    failed = sum(one.state not in ("PASS", "MISS") for one in gates)
    counts = {"tests": str(len(gates)), "failures": str(missed), "errors": str(failed)}
    root = ET.Element("testsuites")
    suite = ET.SubElement(
        root, "testsuite", {"name": printable(f"darkcurrent {study}"), **counts, "time": "0"}
    )
    for one in gates:
        names = {"classname": printable(one.configuration), "name": printable(one.criterion), "time": "0"}
        case = ET.SubElement(suite, "testcase", names)
        if one.state != "PASS":
            kind = "failure" if one.state == "MISS" else "error"
            told = ET.SubElement(
                case, kind, {"message": printable(f"{one.state}: {one.joint}"), "type": one.state}
            )
            told.text = printable(one.reason)
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _as_github(study: str, gates: Sequence[CellGate]) -> str:
    """Return one workflow command per cell; the form is that of GitHub's "Workflow commands for GitHub Actions"."""

    def data(text: str) -> str:
        return printable(text).replace("%", "%25")  # nothing printable is a line break

    lines = []
    for one in gates:
        kind = "notice" if one.state == "PASS" else "error"
        title = data(f"darkcurrent {one.state}: {one.name}").replace(":", "%3A").replace(",", "%2C")
        lines.append(f"::{kind} title={title}::{data(one.reason)}\n")
    return "".join(lines)


FORMATS: dict[str, Callable[[str, Sequence[CellGate]], str]] = {
    "text": _as_text,
    "json": _as_json,
    "junit": _as_junit,
    "github": _as_github,
}
"""Format to what writes it, from the study's name and its cells."""
