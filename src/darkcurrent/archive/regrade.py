"""An archive's analysis against what its tables say: first every count, then every bound, p and gate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from darkcurrent.archive.closed_forms import close, holm_adjusted, is_upper_bound, lower_tail
from darkcurrent.archive.layout import ANALYSIS
from darkcurrent.errors import IntegrityError

__all__ = ["REPLAY_ONLY", "check_bounds", "check_counts"]

REPLAY_ONLY: Final[dict[str, set[str]]] = {
    "Analysis": {"tests", "risk", "contrasts"},
    "CampaignResult": {
        "latency_ms_median",
        "reasons",
        "capture",
        "stopped",
        "basis",
        "deviations",
        "timeline",
    },
    "ContractReading": {"evaluable", "sentence"},
    "CellResult": {"retest"},
    "CloneResult": {"reason"},
    "SignalResult": {"degenerate", "caveat", "remark", "reason", "macro", "nested"},
    "NullPairsResult": {"rate", "false_preference", "scs", "pfp", "osc", "certified", "reason"},
    "StepResult": {"sensitivity", "interval", "reason"},
    "LadderResult": {"smallest_75", "reason"},
    "ContextResult": {
        *("absent", "present", "difference", "interval", "drawn_interval", "degenerate", "remark", "reason"),
    },
}
"""Fields that `verify` does not compute a second time; `replay` alone compares them."""

_ASIDE: Final = ("scores", "contexts")
"""Counts that means and states follow from; an analysis does not show them."""

_TABLES: Final = (
    *("patterns", "invalid_by_reason", "gates", "method", "battery", "flagged"),
    *("clone", "calls", "steps", "context"),
)
"""Objects whose keys are data."""

_LEVEL: Final = 0.05
"""What a Holm-adjusted p may be at most: the same rule as in `gates`, written down a second time."""


def check_counts(analysis: Mapping[str, Any], counts: Mapping[str, Any], public: Mapping[str, Any]) -> int:
    """Compare every count of an analysis with that of the tables; return how many there are.

    Raises
    ------
    IntegrityError
        Where one differs; it names the field.
    """
    declared = {"gates": public["gates"], "method": public["analysis"], "study": public["study"]}
    battery = {key: value for key, value in public["battery"].items() if key != "arms"}
    due = {**declared, "battery": battery, **counts}
    return _compare(analysis, due, "")


def _compare(found: Any, due: Any, place: str) -> int:
    if isinstance(due, Mapping):
        keys = [key for key in due if key not in _ASIDE]
        if not isinstance(found, Mapping) or (_is_table(place) and found.keys() != due.keys()):
            raise _differs(place, found, due)
        return sum(_compare(found.get(key), due[key], f"{place}.{key}" if place else key) for key in keys)
    if isinstance(due, list):
        if not isinstance(found, list) or len(found) != len(due):
            raise _differs(place, found, due)
        return sum(
            _compare(*pair, f"{place}[{index}]") for index, pair in enumerate(zip(found, due, strict=True))
        )
    if found != due or isinstance(found, bool) != isinstance(due, bool):
        raise _differs(place, found, due)
    return 1


def _is_table(place: str) -> bool:
    """Say whether an object's keys are data, so that a key more or less is a difference."""
    return place.rpartition(".")[2] in _TABLES


def _differs(place: str, found: Any, due: Any) -> IntegrityError:
    return IntegrityError(
        f"{ANALYSIS}: {place or 'the whole'} is {_short(found)} there, and the tables give {_short(due)}."
    )


def _short(value: Any) -> str:
    shown = ascii(value)
    return shown if len(shown) <= 100 else f"{shown[:97]}..."


def check_bounds(
    analysis: Mapping[str, Any],
    counts: Mapping[str, Any],
    public: Mapping[str, Any],
    states: Mapping[str, str | None],
) -> int:
    """Compute states, means, bounds, p-values and gates a second time; return of how many campaigns and cells.

    Parameters
    ----------
    states : mapping
        Configuration to the state in which its journal says that it was stopped; None where it says none.

    Raises
    ------
    IntegrityError
        Where one differs; it names the field.
    """
    gates = public["gates"]
    held = {}
    for index, campaign in enumerate(counts["campaigns"]):
        name = campaign["configuration"]
        held[name] = _is_held(campaign, counts, gates["invalid_ceiling"], states[name])
        due = "HOLD" if held[name] else "COMPLETE"
        if analysis["campaigns"][index]["state"] != due:
            raise _differs(f"campaigns[{index}].state", analysis["campaigns"][index]["state"], due)
    whole = {"HOLD" if each else "COMPLETE" for each in held.values()}
    if analysis["state"] != (whole.pop() if len(whole) == 1 else "PARTIAL"):
        raise _differs("state", analysis["state"], "that of its campaigns")
    tails = _tails(counts["cells"], held, gates)
    for index, (cell, due) in enumerate(zip(analysis["cells"], counts["cells"], strict=True)):
        place = f"cells[{index}]"
        is_held = held[due["configuration"]]
        clone = _check_clones(
            cell["clone"], due["clone"], tails[index], is_held, gates["clone_threshold"], place
        )
        signal = _check_signal(cell["signal"], due["signal"], is_held, public, f"{place}.signal")
        _check_contexts(cell["context"], due["contexts"], is_held, f"{place}.context")
        joint = _joint(clone, signal)
        for key, value in (("state", "HOLD" if is_held else "EVALUATED"), ("joint", joint)):
            if cell[key] != value:
                raise _differs(f"{place}.{key}", cell[key], value)
    return len(held) + len(counts["cells"])


def _is_held(
    campaign: Mapping[str, Any], counts: Mapping[str, Any], ceiling: float, stopped: str | None
) -> bool:
    incomplete = sum(
        patterns["incomplete"]
        for cell in counts["cells"]
        if cell["configuration"] == campaign["configuration"]
        for patterns in cell["patterns"].values()
    )
    return bool(
        campaign["scheduled"] == 0
        or campaign["invalid"] > ceiling * campaign["scheduled"]
        or campaign["missing"]
        or campaign["ambiguous"]
        or incomplete
        or campaign["invalid_by_reason"].get("mismatched-model")
        or stopped == "PARTIAL_HOLD_MODEL"
    )


def _tails(
    cells: Sequence[Mapping[str, Any]], held: Mapping[str, bool], gates: Mapping[str, Any]
) -> list[tuple[float | None, float | None]]:
    """Return the p and the adjusted p of every cell's core clones."""
    threshold = gates["clone_threshold"]
    raw: list[float | None] = []
    for cell in cells:
        core = cell["clone"]["core"]
        graded = threshold is not None and core["n"] and not held[cell["configuration"]]
        raw.append(lower_tail(core["adverse"], core["n"], threshold) if graded else None)
    if gates["clone_family"] == "study":
        return list(zip(raw, holm_adjusted(raw), strict=True))
    adjusted: list[float | None] = [None] * len(cells)
    for name in held:
        family = [index for index, cell in enumerate(cells) if cell["configuration"] == name]
        for index, value in zip(family, holm_adjusted([raw[index] for index in family]), strict=True):
            adjusted[index] = value
    return list(zip(raw, adjusted, strict=True))


def _check_clones(
    found: Mapping[str, Any],
    due: Mapping[str, Any],
    tails: tuple[float | None, float | None],
    held: bool,
    threshold: float | None,
    place: str,
) -> str:
    for stratum, counts in due.items():
        clone, where = found[stratum], f"{place}.clone.{stratum}"
        inferred = stratum == "core" and counts["n"] and not held
        for key, value in zip(("p", "p_holm"), tails if stratum == "core" else (None, None), strict=True):
            if not close(clone[key], value):
                raise _differs(f"{where}.{key}", clone[key], value)
        upper = clone["upper"]
        if inferred and (upper is None or not is_upper_bound(upper, counts["adverse"], counts["n"])):
            raise _differs(f"{where}.upper", upper, "another bound")
        if not inferred and upper is not None:
            raise _differs(f"{where}.upper", upper, None)
        gate = "HOLD" if held else "NOT GRADED"
        if inferred and threshold is not None:
            passes = clone["p_holm"] <= _LEVEL and upper <= threshold
            gate = "PASS" if passes else "MISS"
            if close(clone["p_holm"], _LEVEL) or close(upper, threshold):
                continue  # rounding hides on which side it lies; `replay` knows
        if clone["gate"] != gate:
            raise _differs(f"{where}.gate", clone["gate"], gate)
    gate_of_core: str = found["core"]["gate"]
    return gate_of_core


def _check_signal(
    found: Mapping[str, Any], due: Mapping[str, Any], held: bool, public: Mapping[str, Any], place: str
) -> str:
    scores = due["scores"]
    threshold = public["gates"]["utility_threshold"]
    gate = "HOLD" if held else "NOT GRADED"
    if held or not due["items"]:
        for key in ("mean", "lower", "interval"):
            if found[key] is not None:
                raise _differs(f"{place}.{key}", found[key], None)
        if found["strata"] or found["bounds"]:
            raise _differs(f"{place}.strata", found["strata"], {})
    else:
        sums = {name: sum(Fraction(hits, calls) for _, hits, calls in rows) for name, rows in scores.items()}
        sizes = {name: sum(items for items, _, _ in rows) for name, rows in scores.items()}
        if found["strata"].keys() != sizes.keys():
            raise _differs(f"{place}.strata", sorted(found["strata"]), sorted(sizes))
        for name, stratum in found["strata"].items():
            if stratum["items"] != sizes[name] or not close(stratum["mean"], float(sums[name] / sizes[name])):
                raise _differs(f"{place}.strata.{name}", stratum, float(sums[name] / sizes[name]))
        if public["analysis"]["weights"] == "equal":
            mean = sum((sums[name] / sizes[name] for name in sizes), Fraction(0)) / len(sizes)
        else:
            mean = sum(sums.values(), Fraction(0)) / sum(sizes.values())
        if not close(found["mean"], float(mean)):
            raise _differs(f"{place}.mean", found["mean"], float(mean))
        _check_resampling(found, place)
        if threshold is not None:
            gate = "PASS" if found["lower"] >= threshold else "MISS"
            if close(found["lower"], threshold) and found["gate"] in ("PASS", "MISS"):
                gate = found["gate"]  # rounding hides on which side it lies; `replay` knows
    if found["gate"] != gate:
        raise _differs(f"{place}.gate", found["gate"], gate)
    return gate


def _check_resampling(found: Mapping[str, Any], place: str) -> None:
    """Check what can be checked of resampled bounds without resampling; `replay` computes them again."""
    mean, lower, interval, bounds = (found[key] for key in ("mean", "lower", "interval", "bounds"))
    given = [lower, *(interval or []), *(bound for bound in bounds.values() if bound is not None)]
    if lower is None or interval is None or len(interval) != 2:
        raise _differs(f"{place}.lower", lower, "a bound and an interval")
    if not all(isinstance(each, int | float) and math.isfinite(each) and 0 <= each <= 1 for each in given):
        raise _differs(f"{place}.bounds", given, "numbers from 0 to 1")
    if not interval[0] <= lower <= interval[1] or any(
        bound is not None and bound > mean + 1e-9 for bound in bounds.values()
    ):
        raise _differs(
            f"{place}.bounds", [*given, mean], "lower bounds inside the interval and below the mean"
        )
    if bounds.keys() != {"exact", "monte-carlo", "conservative"} or found["method"] not in (
        "exact",
        "monte-carlo",
    ):
        raise _differs(f"{place}.method", found["method"], "exact or monte-carlo")
    if bounds["exact"] != (lower if found["method"] == "exact" else None):
        raise _differs(f"{place}.bounds.exact", bounds["exact"], lower)


def _check_contexts(found: Mapping[str, Any], due: Mapping[str, Any], held: bool, place: str) -> None:
    for arm, counts in due.items():
        for key in ("adverse", "changed"):
            wanted = None if held else counts[key]
            if found[arm][key] != wanted:
                raise _differs(f"{place}.{arm}.{key}", found[arm][key], wanted)


def _joint(clone: str, signal: str) -> str:
    if "HOLD" in (clone, signal):
        return "HOLD"
    if "NOT GRADED" in (clone, signal):
        return "NOT GRADED"
    return {
        ("PASS", "PASS"): "both gates pass",
        ("PASS", "MISS"): "clone gate only",
        ("MISS", "PASS"): "utility gate only",
        ("MISS", "MISS"): "neither gate",
    }[clone, signal]
