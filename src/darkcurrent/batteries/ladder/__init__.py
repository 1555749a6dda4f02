"""Ten tasks of five required elements each: texts that state none of them, one, and so on up to all five.

A text of level q states the first q elements, so that a higher level holds all that a lower one holds and more.
Two wordings of each level give pairs that differ in their surface and not in the checklist (gap 0).
"""

from __future__ import annotations

from darkcurrent.batteries.ladder.battery import build

__all__ = ["build"]
