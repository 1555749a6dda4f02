"""Families of lists that add up or count."""

from __future__ import annotations

from textwrap import dedent

from darkcurrent.batteries.finite_code.family import Case, edit, lists_in_words, lists_up_to, main_fault

__all__ = ["capped_counter", "most_frequent"]

# The possible moves, the longest list, and the start. The cap is one less than the largest sum, so that a
# single list goes beyond it.
_COUNTERS: tuple[tuple[tuple[int, ...], int, int], ...] = (
    ((-2, -1, 0, 1, 2), 4, 2), ((-4, -1, 1, 2), 4, 4), ((-4, -3, -2, -1, 0, 1, 2, 3), 3, 3),
    ((-2, 1, 2), 5, 2), ((-3, -1, 0, 1, 2), 4, 3), ((-5, -3, 2, 3), 4, 6),
    ((-3, -2, -1, 0, 1, 2, 3), 3, 2), ((-5, -1, 2, 3), 4, 5), ((-4, -2, 1, 2, 3), 4, 4),
    ((-6, -4, -2, 1, 2, 3, 4, 5), 3, 4), ((-5, -3, -2, -1, 1, 2, 3, 4), 3, 3), ((-5, -3, 0, 3, 4), 4, 5),
)  # fmt: skip


def capped_counter(setting: int) -> Case:
    """Add moves to a counter that is kept between 0 and a cap."""
    moves, length, start = _COUNTERS[setting]
    cap = start + length * max(moves) - 1
    reference = dedent(f"""\
        def solve(moves):
            level = {start}
            for move in moves:
                level = max(level + move, 0)
                level = min(level, {cap})
            return level
        """)
    equivalent = dedent(f"""\
        def solve(moves):
            level = {start}
            for move in moves:
                if move > {cap} - level:
                    level = {cap}
                elif level + move < 0:
                    level = 0
                else:
                    level += move
            return level
        """)

    def specify(steps: list[int]) -> int:
        allowed = frozenset(range(cap + 1))
        level = start
        for step in steps:
            for _ in range(abs(step)):
                after = level + (1 if step > 0 else -1)
                level = after if after in allowed else level
        return level

    at_the_end = (
        ("level = max(level + move, 0)", "level += move"),
        ("    return level", "    return max(level, 0)"),
    )
    mistakes = (
        ("last entry left out", ("in moves:", "in moves[:-1]:")),
        ("bound ignored", ("max(level + move, 0)", "level + move")),
        ("first entry left out", ("in moves:", "in moves[1:]:")),
        ("off by one in a bound", ("max(level + move, 0)", "max(level + move, 1)")),
    )
    return Case(
        family="capped-counter",
        setting=setting,
        signature="solve(moves)",
        task=(
            f"A counter starts at {start}, and the moves are added to it one after the other. Right after "
            f"each move, a counter below 0 is set to 0 and a counter above {cap} is set to {cap}. The "
            f"function returns the final counter, which for an empty list is {start}."
        ),
        valid=lists_in_words(length, moves),
        domain=lists_up_to(length, moves),
        specify=specify,
        reference=reference,
        equivalent=equivalent,
        faults={
            "faulty": main_fault(reference, setting, *mistakes),
            "faulty-50": edit(reference, "wrong start", (f"level = {start}\n", f"level = {start - 1}\n")),
            "faulty-10": edit(reference, "bound applied at the end only", *at_the_end),
            "faulty-1": edit(reference, "off by one in a bound", (f"(level, {cap})", f"(level, {cap - 1})")),
            "faulty-single": edit(
                reference, "off by one in a bound", (f"(level, {cap})", f"(level, {cap + 1})")
            ),
        },
    )


# The values, the longest list, and what the empty list gives.
_FREQUENT: tuple[tuple[tuple[int, ...], int, int], ...] = (
    ((0, 1, 2, 3, 4), 4, -1), ((1, 2, 3, 4), 4, 0), ((0, 1, 2), 5, -2), ((2, 3, 5, 7, 11), 4, -1),
    ((-1, 0, 1, 2), 4, 9), ((3, 6, 9), 5, -3), ((-2, -1, 0, 1, 2), 4, 5), ((10, 20, 30, 40), 4, 5),
    ((4, 5, 8), 5, -5), ((1, 3, 4, 6, 8), 4, -5), ((-4, -2, 2, 4), 4, 0), ((-3, 0, 3), 5, 7),
)  # fmt: skip


def most_frequent(setting: int) -> Case:
    """Return the most frequent value of a list, with a tie-break."""
    values, length, empty = _FREQUENT[setting]
    smallest = setting % 2 == 0
    order = "sorted(set(values))" if smallest else "sorted(set(values), reverse=True)"
    reversed_order = "sorted(set(values), reverse=True)" if smallest else "sorted(set(values))"
    reference = dedent(f"""\
        def solve(values):
            best = {empty}
            most = 0
            for value in {order}:
                count = values.count(value)
                if count > most:
                    best = value
                    most = count
            return best
        """)
    equivalent = dedent(f"""\
        def solve(values):
            counts = {{}}
            for value in values:
                counts[value] = counts.get(value, 0) + 1
            if not counts:
                return {empty}
            top = max(counts.values())
            return {"min" if smallest else "max"}(v for v in counts if counts[v] == top)
        """)

    def specify(entries: list[int]) -> int:
        pick = min if smallest else max
        for times in range(len(entries), 0, -1):
            often = [value for value in values if entries.count(value) >= times]
            if often:
                return pick(often)
        return empty

    short = length == 4
    mistakes = (
        ("wrong tie-break", (order, reversed_order)),
        ("last entry left out", ("values.count(value)", "values[:-1].count(value)")),
        ("order of appearance breaks ties", (order, "values")),
        ("wrong first count", ("most = 0", "most = 1")),
    )
    return Case(
        family="most-frequent",
        setting=setting,
        signature="solve(values)",
        task=(
            "It returns the value that occurs most often in the list. If several values tie for the highest "
            f"count, the {'smallest' if smallest else 'largest'} of them is returned. For an empty list the "
            f"function returns {empty}."
        ),
        valid=lists_in_words(length, values),
        domain=lists_up_to(length, values),
        specify=specify,
        reference=reference,
        equivalent=equivalent,
        faults={
            "faulty": main_fault(reference, setting, *mistakes),
            "faulty-50": edit(reference, "first value left out", (order, f"{order}[1:]")),
            "faulty-10": (
                edit(reference, "count raised by one only", ("most = count", "most += 1"))
                if short
                else edit(
                    reference, "overflow of a count", ("values.count(value)", "values.count(value) % 4")
                )
            ),
            "faulty-1": edit(
                reference, "overflow of a count", ("values.count(value)", f"values.count(value) % {length}")
            ),
            "faulty-single": edit(
                reference, "wrong empty case", (f"best = {empty}\n", f"best = {empty + 1}\n")
            ),
        },
    )
