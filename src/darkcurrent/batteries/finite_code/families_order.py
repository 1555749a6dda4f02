"""Families of lists that turn on the order of entries or of values."""

from __future__ import annotations

from textwrap import dedent

from darkcurrent.batteries.finite_code.family import Case, edit, lists_in_words, lists_up_to, main_fault

__all__ = ["longest_run", "runner_up"]

# The values, the longest list, and what the empty list gives.
_RUNS: tuple[tuple[tuple[int, ...], int, int], ...] = (
    ((0, 1, 2, 3, 4), 4, -1), ((1, 2, 3, 4), 4, -1), ((0, 1, 2), 5, -2), ((1, 2, 4, 8, 16), 4, -2),
    ((-2, 0, 2, 4), 4, 9), ((1, 5, 9), 5, 9), ((3, 4, 5, 6, 7), 4, -5), ((-1, 0, 1, 2), 4, -5),
    ((-1, 0, 1), 5, 7), ((-2, -1, 0, 1, 2), 4, 7), ((2, 3, 5, 7), 4, 4), ((6, 7, 8), 5, 5),
)  # fmt: skip


def longest_run(setting: int) -> Case:
    """Find where the longest run of equal neighbours begins."""
    values, length, empty = _RUNS[setting]
    earliest = setting % 2 == 0
    better, other = (">", ">=") if earliest else (">=", ">")
    reference = dedent(f"""\
        def solve(values):
            best = {empty}
            longest = 0
            start = 0
            for index, value in enumerate(values):
                if value != values[start]:
                    start = index
                if index + 1 - start {better} longest:
                    longest = index + 1 - start
                    best = start
            return best
        """)
    equivalent = dedent(f"""\
        def solve(values):
            best, longest, left = {empty}, 0, 0
            while left < len(values):
                right = left
                while right < len(values) and values[right] == values[left]:
                    right += 1
                if right - left {better} longest:
                    best, longest = left, right - left
                left = right
            return best
        """)

    def specify(entries: list[int]) -> int:
        for size in range(len(entries), 0, -1):
            starts = [i for i in range(len(entries) + 1 - size) if len(set(entries[i : i + size])) == 1]
            if starts:
                return starts[0] if earliest else starts[-1]
        return empty

    mistakes = (
        ("end returned for the start", ("best = start", "best = index")),
        ("only a rise ends a run", ("value != values[start]", "value > values[start]")),
        ("off by one in a start", ("            start = index\n", "            start = index + 1\n")),
        ("compared with the wrong entry", ("!= values[start]", "!= values[start - 1]")),
    )
    # Which slip shows how often depends on the tie-break.
    if earliest:
        tenth = edit(
            reference, "last entry left out", ("enumerate(values)", f"enumerate(values[:{length - 1}])")
        )
        refused = ("return best", f"return best if longest < {length} else {empty}")
        hundredth = edit(reference, "longest run refused", refused)
    else:
        tenth = (
            edit(reference, "long run misplaced", ("best = start", "best = start if longest < 3 else index"))
            if length == 4
            else edit(reference, "overflow of a count", (">= longest", ">= longest % 3"))
        )
        hundredth = edit(reference, "first entry left out", ("if index + 1", "if index > 0 and index + 1"))
    return Case(
        family="longest-run",
        setting=setting,
        signature="solve(values)",
        task=(
            "A run is a stretch of neighbouring entries that are all equal; a single entry is a run of "
            "length 1. The function returns the index, counted from 0, at which the longest run begins. If "
            f"several runs tie for the longest, the {'first' if earliest else 'last'} of them counts. For an "
            f"empty list it returns {empty}."
        ),
        valid=lists_in_words(length, values),
        domain=lists_up_to(length, values),
        specify=specify,
        reference=reference,
        equivalent=equivalent,
        faults={
            "faulty": main_fault(reference, setting, *mistakes),
            "faulty-50": edit(
                reference, "wrong tie-break", (f"start {better} longest", f"start {other} longest")
            ),
            "faulty-10": tenth,
            "faulty-1": hundredth,
            "faulty-single": edit(
                reference, "wrong empty case", (f"best = {empty}\n", f"best = {empty + 1}\n")
            ),
        },
    )


# The values, the longest list, and what the empty list gives.
_RUNNERS: tuple[tuple[tuple[int, ...], int, int], ...] = (
    ((0, 1, 2, 3, 4), 4, -1), ((1, 2, 3, 4), 4, 0), ((0, 1, 2, 3, 4, 5, 6, 7), 3, -2),
    ((2, 3, 4, 5, 6, 7, 8), 3, -1), ((-2, -1, 0, 1, 2), 4, 9), ((5, 6, 7, 8), 4, 2),
    ((1, 2, 3, 4, 5, 6, 7), 3, 0), ((-3, -2, -1, 0, 1, 2, 3, 4), 3, 8), ((-1, 0, 1, 2), 4, 7),
    ((3, 4, 5, 6, 7), 4, -5), ((-6, -5, -4, -3, -2, -1, 0), 3, 1), ((-4, -3, -2, -1), 4, 5),
)  # fmt: skip


def runner_up(setting: int) -> Case:
    """Return the second largest or second smallest distinct value of a list."""
    values, length, empty = _RUNNERS[setting]
    largest = setting % 2 == 0
    beats, loses, word, sign = (">", "<", "largest", "+") if largest else ("<", ">", "smallest", "-")
    reference = dedent(f"""\
        def solve(values):
            if not values:
                return {empty}
            top = second = None
            for value in values:
                if top is None or value {beats} top:
                    second = top
                    top = value
                elif value {loses} top and (second is None or value {beats} second):
                    second = value
            return top if second is None else second
        """)
    equivalent = dedent(f"""\
        def solve(values):
            if len(values) == 0:
                return {empty}
            distinct = sorted(set(values){", reverse=True" if largest else ""})
            if len(distinct) == 1:
                return distinct[0]
            return distinct[1]
        """)

    def specify(entries: list[int]) -> int:
        if entries == []:
            return empty
        for value in entries:
            better = {entry for entry in entries if (entry > value if largest else entry < value)}
            if len(better) == 1:
                return value
        return entries[0]

    mistakes = (
        ("first entry left out", ("in values:", "in values[1:]:")),
        ("duplicates counted", (f"value {loses} top and ", "")),
        ("displaced value lost", ("            second = top\n", "            second = None\n")),
        ("first candidate kept", (f"(second is None or value {beats} second)", "second is None")),
    )
    comparison = f"or value {beats} second"
    half = (
        edit(reference, "wrong comparison", (comparison, f"or value {loses} second"))
        if length == 4
        else edit(reference, "last entry left out", ("in values:", "in values[:-1]:"))
    )
    return Case(
        family="runner-up",
        setting=setting,
        signature="solve(values)",
        task=(
            f"It returns the second {word} of the different values in the list: a value that occurs several "
            "times counts once. If all entries are equal, that value is returned. For an empty list the "
            f"function returns {empty}."
        ),
        valid=lists_in_words(length, values),
        domain=lists_up_to(length, values),
        specify=specify,
        reference=reference,
        equivalent=equivalent,
        faults={
            "faulty": main_fault(reference, setting, *mistakes),
            "faulty-50": half,
            "faulty-10": edit(
                reference, "off by one in a comparison", (comparison, f"{comparison} {sign} 1")
            ),
            "faulty-1": edit(
                reference, "list of one taken for empty", ("if not values:", "if len(values) < 2:")
            ),
            "faulty-single": edit(
                reference, "wrong empty case", (f"return {empty}\n", f"return {empty + 1}\n")
            ),
        },
    )
