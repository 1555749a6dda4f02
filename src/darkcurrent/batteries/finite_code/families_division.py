"""Families of integers that turn on division and its rest."""

from __future__ import annotations

from textwrap import dedent

from darkcurrent.batteries.finite_code.family import Case, edit, main_fault, rows

__all__ = ["residue_count", "round_to_step"]

# The lowest end of a range, how many ends there are, the divisor and the remainder.
_RESIDUES = (
    (-12, 24, 5, 0), (1, 24, 5, 2), (-8, 23, 5, 4), (3, 22, 5, 3), (-20, 24, 4, 1), (0, 25, 5, 1),
    (10, 24, 4, 3), (-15, 23, 4, 0), (-5, 25, 4, 2), (7, 25, 6, 5), (-23, 22, 6, 1), (-11, 24, 6, 4),
)  # fmt: skip


def residue_count(setting: int) -> Case:
    """Count the integers of a range that leave a remainder."""
    low, ends, divisor, remainder = _RESIDUES[setting]
    high = low + ends - 1
    reference = dedent(f"""\
        def solve(a, b):
            if a > b:
                return 0
            count = 0
            for n in range(a, b + 1):
                if n % {divisor} == {remainder}:
                    count += 1
            return count
        """)
    equivalent = dedent(f"""\
        def solve(a, b):
            count = 0
            if a <= b:
                upper = (b - {remainder}) // {divisor}
                lower = (a - {remainder + 1}) // {divisor}
                count = upper - lower
            return count
        """)
    hits = frozenset(quotient * divisor + remainder for quotient in range(-100, 100))
    other = (remainder + 1) % divisor
    mistakes = (
        ("off by one in a range", ("range(a, b + 1)", "range(a + 1, b + 1)")),
        ("wrong remainder", (f"== {remainder}:", f"== {other}:")),
        ("wrong empty case", ("        return 0\n", "        return 1\n")),
        ("wrong quantity", ("count += 1", "count += n")),
    )
    return Case(
        family="residue-count",
        setting=setting,
        signature="solve(a, b)",
        task=(
            f"It counts the integers n with a <= n <= b that leave the remainder {remainder} when divided by "
            f"{divisor}; remainders run from 0 to {divisor - 1}, for negative n as well. If a is greater "
            "than b, the range is empty and the count is 0."
        ),
        valid=f"all pairs of integers a and b, each from {low} to {high}, in either order",
        domain=tuple((a, b) for a in range(low, high + 1) for b in range(low, high + 1)),
        specify=lambda a, b: len(hits.intersection(range(a, b + 1))),
        reference=reference,
        equivalent=equivalent,
        faults={
            "faulty": main_fault(reference, setting, *mistakes),
            "faulty-50": edit(reference, "wrong empty case", ("        return 0\n", "        a, b = b, a\n")),
            "faulty-10": edit(reference, "off by one in a range", ("range(a, b + 1)", "range(a, b)")),
            "faulty-1": edit(reference, "range of one taken for empty", ("if a > b:", "if a >= b:")),
            "faulty-single": edit(
                reference, "longest range refused", ("if a > b:", f"if a > b or b - a > {ends - 2}:")
            ),
        },
    )


# The step, and the ends of the domain. A number half-way goes away from zero in even settings, else to it.
_STEPS = (
    (10, -270, 270), (10, -300, 235), (8, -240, 239), (12, -260, 310), (12, -333, 252), (8, -220, 250),
    (16, -325, 318), (14, -310, 290), (14, -280, 320), (16, -351, 286), (18, -361, 307), (18, -337, 330),
)  # fmt: skip


def round_to_step(setting: int) -> Case:
    """Round a number to the nearest multiple of a step."""
    step, low, high = _STEPS[setting]
    away = setting % 2 == 0
    half = step // 2
    test = f"2 * rest {'>=' if away else '>'} {step}"
    reference = dedent(f"""\
        def solve(x):
            size = abs(x)
            steps, rest = divmod(size, {step})
            if {test}:
                steps += 1
            result = steps * {step}
            if x < 0:
                result = -result
            return result
        """)
    shift = half if away else half - 1
    equivalent = dedent(f"""\
        def solve(x):
            if x >= 0:
                rounded = (x + {shift}) // {step} * {step}
            else:
                rounded = -(({shift} - x) // {step} * {step})
            return rounded
        """)

    def specify(x: int) -> int:
        floor = x - x % step
        if x - floor == floor + step - x:
            return max(floor, floor + step, key=abs) if away else min(floor, floor + step, key=abs)
        return min(floor, floor + step, key=lambda multiple: abs(multiple - x))

    smallest = half if away else half + 1
    mistakes = (
        ("rest ignored", (test, "rest > 0")),
        ("off by one in a comparison", (test, test.replace(str(step), str(step - 2 if away else step + 2)))),
        ("sign ignored", ("size = abs(x)", "size = x")),
        ("off by one step", ("steps += 1", "steps += 2")),
    )
    return Case(
        family="round-to-step",
        setting=setting,
        signature="solve(x)",
        task=(
            f"It rounds the integer x, which may be negative, to the nearest multiple of {step} and returns "
            "that multiple. A number exactly half-way between two multiples goes to the one "
            f"{'farther from' if away else 'nearer to'} zero."
        ),
        valid=f"every integer x from {low} to {high}",
        domain=rows(low, high),
        specify=specify,
        reference=reference,
        equivalent=equivalent,
        faults={
            "faulty": main_fault(reference, setting, *mistakes),
            "faulty-50": edit(reference, "rest not doubled", (test, test.replace("2 * ", ""))),
            "faulty-10": edit(
                reference, "wrong tie-break", (test, f"2 * rest {'>' if away else '>='} {step}")
            ),
            "faulty-1": edit(reference, "sign lost near zero", ("if x < 0:", f"if x <= -{step}:")),
            "faulty-single": edit(
                reference, "off by one in a comparison", ("if x < 0:", f"if x < -{smallest}:")
            ),
        },
    )
