"""How far a campaign is; always derived from its journal, never from a flag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from darkcurrent.capture.reading import JournalSummary
from darkcurrent.records import Event, Terminal
from darkcurrent.verdicts import Contract, parse_verdict

__all__ = [
    "OPEN",
    "CampaignState",
    "Progress",
    "campaign_state",
    "gives_no_verdict",
    "reads_invalid",
    "state_of_counts",
]

CampaignState = Literal[
    "NOT STARTED",
    "INTERRUPTED",
    "COMPLETE",
    "PARTIAL_HOLD_TRANSPORT",
    "PARTIAL_HOLD_MODEL",
    "PARTIAL_HOLD_DEADLINE",
    "HELD_EARLY",
]
"""How far a campaign is. Only NOT STARTED and INTERRUPTED go on when `run` is called again.

COMPLETE                every call has its end.
PARTIAL_HOLD_TRANSPORT  a request failed, or calls whose end is unknown are all that is left.
PARTIAL_HOLD_MODEL      a model answered that is not declared.
PARTIAL_HOLD_DEADLINE   the declared time is over.
HELD_EARLY              it was ended before its last call, which makes it HOLD: by the ceiling of invalid
                        answers, by a ceiling on tokens or cost that the rest would not fit under, or by a person.
"""

OPEN: frozenset[CampaignState] = frozenset({"NOT STARTED", "INTERRUPTED"})
"""The states that go on when `run` is called again."""


def campaign_state(summary: JournalSummary | None, scheduled: int) -> CampaignState:
    """Derive the state of a campaign from its journal; no flag says it."""
    if summary is None:
        return "NOT STARTED"
    return state_of_counts(
        began=bool(summary.events),
        stopped=summary.stopped,
        terminals=len(summary.terminals),
        ambiguous=len(summary.ambiguous),
        scheduled=scheduled,
    )


def state_of_counts(
    *, began: bool, stopped: Event | None, terminals: int, ambiguous: int, scheduled: int
) -> CampaignState:
    """Derive the state of a campaign from what its journal counts."""
    if not began:
        return "NOT STARTED"
    if stopped is not None:
        state: CampaignState = stopped.detail["state"]
        return state
    if terminals == scheduled:
        return "COMPLETE"
    # Every call was sent and some answer is lost for good: there is nothing to go on with.
    return "PARTIAL_HOLD_TRANSPORT" if terminals + ambiguous == scheduled else "INTERRUPTED"


def reads_invalid(terminal: Terminal, contract: Contract) -> bool:
    """Say whether no verdict comes out of a terminal under a contract."""
    return terminal.reason is not None or gives_no_verdict(
        terminal.text, terminal.finish, terminal.reasoning, contract
    )


def gives_no_verdict(text: str | None, finish: str | None, reasoning: bool, contract: Contract) -> bool:
    """Say whether a reply that came has no verdict under a contract."""
    return parse_verdict(text, contract, finish, reasoning_present=reasoning).value is None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a campaign is, for people; `waiting_seconds` says how long a service that refuses is left alone."""

    done: int
    total: int
    invalid: int
    ambiguous: int
    waiting_seconds: float = 0.0
