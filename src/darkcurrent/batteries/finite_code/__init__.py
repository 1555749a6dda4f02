"""Items whose truth is decided by running programs on a finite domain.

Eight families of small tasks, twelve settings each. An item declares every valid input, and carries a
reference program, an equivalent one, a faulty one and a ladder of subtler faults; `build` runs all of them on
every input and compares them with a specification that was written by another route. `judge` answers from
such runs: the positive control of a whole study.
"""

from __future__ import annotations

from darkcurrent.batteries.finite_code.battery import build
from darkcurrent.batteries.finite_code.oracle import judge

__all__ = ["build", "judge"]
