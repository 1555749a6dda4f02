"""Tables of the arms beside clones and signal pairs, and of parts of the items."""

from __future__ import annotations

from darkcurrent.printable import shortened
from darkcurrent.reports.numbers import interval, number, share
from darkcurrent.reports.table import Table, names
from darkcurrent.results import Analysis, NullPairsResult

__all__ = ["arm_tables"]

_CELL = ("configuration", "criterion")
_PARTS = ("RFP", "SCS", "PFP", "OSC")


def arm_tables(analysis: Analysis) -> list[Table]:
    """Return these tables in reading order, also those without rows."""
    return [
        _equivalent(analysis),
        _gap_0(analysis),
        _ladder(analysis),
        _context(analysis),
        _contrasts(analysis),
        _parts(analysis),
    ]


def _equivalent(analysis: Analysis) -> Table:
    rows = tuple(
        (*names(cell), *_null_pairs(pairs), pairs.certified or "nothing")
        for cell in analysis.cells
        for pairs in [cell.equivalent]
        if pairs is not None
    )
    note = (
        "Does it prefer one of two different texts that are equally good? EFP: pairs that are not tied in both orders. "
        "RFP = SCS + PFP + OSC/2: share of preferring calls, of valid pairs. Descriptive."
    )
    columns = (*_CELL, "EFP", "share", *_PARTS, "invalid", "what proves it")
    return Table("equivalent", "Equivalent texts", note, columns, rows)


def _gap_0(analysis: Analysis) -> Table:
    rows = tuple(
        (*names(cell), *_null_pairs(cell.ladder.gap_0))
        for cell in analysis.cells
        if cell.ladder is not None and cell.ladder.gap_0 is not None
    )
    note = (
        "One checklist in two wordings. RFP = SCS + PFP + OSC/2, shares of valid pairs: a preference in any call; for the "
        "same text, for the same slot, in one order only."
    )
    columns = (*_CELL, "not tied", "share", *_PARTS, "invalid")
    return Table("gap-0", "Ladder: no difference in the checklist", note, columns, rows)


def _null_pairs(pairs: NullPairsResult) -> tuple[str, ...]:
    return (
        share(pairs.adverse, pairs.pairs),
        *map(number, (pairs.rate, pairs.false_preference, pairs.scs, pairs.pfp, pairs.osc)),
        str(pairs.invalid),
    )


def _ladder(analysis: Analysis) -> Table:
    rows = tuple(
        (
            *names(cell),
            name,
            *map(str, (step.items, step.pairs)),
            share(step.success, step.calls),
            number(step.sensitivity),
            interval(step.interval),
            *map(str, (step.tie, step.wrong, step.invalid)),
        )
        for cell in analysis.cells
        if cell.ladder is not None
        for name, step in cell.ladder.steps.items()
    )
    note = (
        "How large must a contrast be to be seen? S: share of calls that choose the target, ties are misses. Hardest step "
        "first. Interval: items resampled, descriptive."
    )
    counts = ("items", "pairs", "chosen", "S", "95 % interval", "tie", "wrong", "invalid")
    return Table("ladder", "Ladder: contrasts of known size", note, (*_CELL, "step", *counts), rows, left=3)


def _context(analysis: Analysis) -> Table:
    rows = tuple(
        (
            *names(cell),
            arm,
            share(one.calls.ended, one.calls.scheduled),
            str(one.calls.invalid),
            "–" if one.adverse is None else share(one.adverse, one.items),
            "–" if one.changed is None else str(one.changed),
            *map(number, (one.absent, one.present, one.difference)),
            interval(one.interval),
        )
        for cell in analysis.cells
        for arm, one in cell.context.items()
    )
    note = (
        "Does a third text that cannot win change what is said of the other two? Adverse: another winner in either order, "
        "or an invalid answer. Success: a tie of equivalents, the target of signal pairs. Descriptive, no gate."
    )
    counts = ("calls", "invalid", "adverse", "changed", "absent", "present", "difference", "95 % interval")
    return Table("context", "Context", note, (*_CELL, "arm", *counts), rows, left=3)


def _contrasts(analysis: Analysis) -> Table:
    rows = tuple(
        (
            one.configuration,
            f"{one.criterion} − {one.base}",
            "/".join(filter(None, (one.arm, one.step, one.context))),
            str(one.items),
            number(one.ties),
            number(one.success),
        )
        for one in analysis.contrasts
    )
    note = (
        "What another criterion changes on the same items: mean differences of the shares of ties (tau) and of successes. "
        "Descriptive: the two were asked at other times."
    )
    columns = ("configuration", "criteria", "arm", "items", "ties", "success")
    return Table("contrasts", "Criteria compared", note, columns, rows, left=3)


def _parts(analysis: Analysis) -> Table:
    rows = []
    for cell in analysis.cells:
        signal = cell.signal
        if len(signal.strata) > 1 or signal.nested:
            whole = (str(signal.items), *map(number, (signal.mean, signal.macro, signal.lower)))
            rows.append((*names(cell), "all items", *whole))
        rows += [
            (
                *names(cell),
                shortened(name),
                str(part.items),
                *map(number, (part.mean, part.macro, part.lower)),
            )
            for name, part in signal.nested.items()
        ]
    note = (
        "Macro: the mean of the strata's means. Parts were chosen before the first call; no gate looks at a part or at a "
        "macro mean."
    )
    columns = (*_CELL, "items of", "items", "mean", "macro", "lower")
    return Table("parts", "Utility: macro means and parts", note, columns, tuple(rows), left=3)
