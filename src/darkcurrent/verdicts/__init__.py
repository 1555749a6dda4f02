"""How a reply is read: the declared form of an answer, and the reason when a reply has not got it.

A contract never repairs a reply, never takes the last or the first match of several, and never raises on one.
"""

from __future__ import annotations

from darkcurrent.verdicts.contract import Contract
from darkcurrent.verdicts.reading import (
    CONTRACTS,
    PLAIN_CONTRACTS,
    contract_of,
    get_contract,
    is_plain,
    parse_verdict,
)
from darkcurrent.verdicts.reasons import REASONS
from darkcurrent.verdicts.sensitivity import read_under_every
from darkcurrent.verdicts.verdict import Verdict, invalid

__all__ = [
    "CONTRACTS",
    "PLAIN_CONTRACTS",
    "REASONS",
    "Contract",
    "Verdict",
    "contract_of",
    "get_contract",
    "invalid",
    "is_plain",
    "parse_verdict",
    "read_under_every",
]
