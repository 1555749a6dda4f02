"""Families of one integer that lies below, between or above bounds."""

from __future__ import annotations

from textwrap import dedent

from darkcurrent.batteries.finite_code.family import Case, edit, main_fault, rows

__all__ = ["interval_clip", "tiered_price"]

# The bounds. Of the domain, about half lies beyond one bound and a tenth beyond the other (by turns), so
# that each branch is a rung of the ladder.
_INTERVALS = (
    (-108, 107), (12, 223), (-250, -39), (-64, 143), (5, 228), (-180, 31),
    (-31, 188), (40, 251), (-222, -11), (-97, 118), (3, 206), (-151, 56),
)  # fmt: skip


def interval_clip(setting: int) -> Case:
    """Limit a number to an interval."""
    low, high = _INTERVALS[setting]
    width = high - low + 1
    upper_half = setting % 2 == 0
    below, above = (width // 4, width * 5 // 4) if upper_half else (width * 5 // 4, width // 4)
    reference = dedent(f"""\
        def solve(x):
            if x < {low}:
                return {low}
            if x > {high}:
                return {high}
            return x
        """)
    equivalent = dedent(f"""\
        def solve(x):
            excess = x - {high}
            shortage = {low} - x
            if excess > 0:
                x -= excess
            elif shortage > 0:
                x += shortage
            return x
        """)
    near, far = (high, low) if upper_half else (low, high)
    beyond, outward = (">", 1) if upper_half else ("<", -1)
    late = (below + width + above) // 100
    mistakes = (
        ("off by one in a bound", (f"return {near}\n", f"return {near - outward}\n")),
        ("wrong branch", (f"return {far}\n", f"return {near}\n")),
        ("bound ignored", (f"return {near}\n", "return x\n")),
        ("off by one in a bound", (f"return {far}\n", f"return {far + outward}\n")),
    )
    return Case(
        family="interval-clip",
        setting=setting,
        signature="solve(x)",
        task=(
            f"It limits the integer x to the interval from {low} to {high}, both ends included: a number "
            f"inside the interval is returned unchanged, a smaller one gives {low}, and a larger one gives "
            f"{high}."
        ),
        valid=f"every integer x from {low - below} to {high + above}",
        domain=rows(low - below, high + above),
        specify=lambda x: sorted((low, x, high))[1],
        reference=reference,
        equivalent=equivalent,
        faults={
            "faulty": main_fault(reference, setting, *mistakes),
            "faulty-50": edit(reference, "wrong branch", (f"return {near}\n", f"return {far}\n")),
            "faulty-10": edit(reference, "bound ignored", (f"return {far}\n", "return x\n")),
            "faulty-1": edit(
                reference,
                "bound applied late",
                (f"x {beyond} {near}:", f"x {beyond} {near + outward * late}:"),
            ),
            "faulty-single": edit(
                reference,
                "off by one in a comparison",
                (f"x {beyond} {near}:", f"x {beyond} {near + outward}:"),
            ),
        },
    )


# Largest order, the two tier limits, the three prices, the order size that the extra turns on, the extra. The
# extra is a surcharge on small orders in even settings and a rebate on large ones in odd settings.
_PRICES = (
    (540, 60, 270, 9, 7, 4, 55, 25), (520, 45, 250, 12, 9, 7, 470, 150), (560, 80, 290, 8, 5, 3, 58, 30),
    (500, 90, 245, 15, 11, 8, 448, 90), (580, 40, 300, 6, 5, 2, 60, 18), (545, 120, 280, 11, 6, 5, 492, 75),
    (530, 75, 255, 20, 14, 9, 50, 64), (550, 100, 260, 7, 4, 3, 494, 110), (510, 50, 240, 13, 8, 6, 48, 40),
    (570, 110, 295, 10, 8, 5, 512, 200), (535, 65, 275, 17, 13, 12, 52, 35), (555, 85, 285, 5, 3, 2, 500, 60),
)  # fmt: skip


def tiered_price(setting: int) -> Case:
    """Add up the price of an order at three rates, with an extra for its size."""
    largest, first, second, price, lower, lowest, size, extra = _PRICES[setting]
    surcharge = setting % 2 == 0
    condition, sign = (f"0 < units < {size}", "+") if surcharge else (f"units >= {size}", "-")
    reference = dedent(f"""\
        def solve(units):
            cost = min(units, {first}) * {price}
            if units > {first}:
                cost += (min(units, {second}) - {first}) * {lower}
            if units > {second}:
                cost += (units - {second}) * {lowest}
            if {condition}:
                cost {sign}= {extra}
            return cost
        """)
    when = f"1 <= units <= {size - 1}" if surcharge else f"units > {size - 1}"
    equivalent = dedent(f"""\
        def solve(units):
            extra = {sign if sign == "-" else ""}{extra} if {when} else 0
            if units <= {first}:
                return units * {price} + extra
            if units <= {second}:
                return {first * price} + (units - {first}) * {lower} + extra
            return {first * price + (second - first) * lower} + (units - {second}) * {lowest} + extra
        """)

    def specify(units: int) -> int:
        rates = [price] * first + [lower] * (second - first) + [lowest] * (largest - second)
        if surcharge:
            return sum(rates[:units]) + (extra if units in range(1, size) else 0)
        return sum(rates[:units]) - (0 if units < size else extra)

    late = size + 5 if surcharge else size + 6
    condition_late = condition.replace(str(size), str(late))
    condition_next = condition.replace(f"< {size}", f"<= {size}").replace(">=", ">")
    if setting % 4 == 2:
        condition_next = condition.replace("0 <", "0 <=")
    mistakes = (
        ("off by one in a tier limit", (f"min(units, {first})", f"min(units, {first + 1})")),
        ("bound ignored", (f"(min(units, {second}) - {first})", f"(units - {first})")),
        ("wrong branch", (f"cost += (units - {second}) * {lowest}", f"cost = units * {lowest}")),
        ("extra replaces the price", (f"cost {sign}= {extra}", f"cost = {extra}")),
    )
    words = (
        f"An order of at least 1 and fewer than {size} units costs {extra} more"
        if surcharge
        else f"An order of {size} units or more costs {extra} less"
    )
    return Case(
        family="tiered-price",
        setting=setting,
        signature="solve(units)",
        task=(
            f"It returns the price of an order. The first {first} units cost {price} each, units beyond "
            f"{first} up to unit {second} cost {lower} each, and all units beyond {second} cost {lowest} "
            f"each. {words}. An order of 0 units costs 0."
        ),
        valid=f"every integer units from 0 to {largest}",
        domain=rows(0, largest),
        specify=specify,
        reference=reference,
        equivalent=equivalent,
        faults={
            "faulty": main_fault(reference, setting, *mistakes),
            "faulty-50": edit(reference, "wrong rate", (f"- {second}) * {lowest}", f"- {second}) * {lower}")),
            "faulty-10": edit(
                reference,
                "wrong sign",
                (f"cost {sign}= {extra}", f"cost {'-' if surcharge else '+'}= {extra}"),
            ),
            "faulty-1": edit(reference, "bound applied late", (condition, condition_late)),
            "faulty-single": edit(
                reference,
                "wrong empty case" if setting % 4 == 2 else "off by one in a comparison",
                (condition, condition_next),
            ),
        },
    )
