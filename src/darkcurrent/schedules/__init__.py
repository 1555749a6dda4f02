"""From comparisons to calls in a fixed order. Nothing here can see a verdict."""

from __future__ import annotations

from collections.abc import Iterable

from darkcurrent.canonical import digest_text
from darkcurrent.protocol.model import ScheduleTable
from darkcurrent.records import Battery, Call
from darkcurrent.schedules.asked import Plan, calls_of
from darkcurrent.schedules.assignment import ArmAssignment, StoredAssignment
from darkcurrent.schedules.balance import Balance, balance_report
from darkcurrent.schedules.carryover import carryover
from darkcurrent.schedules.crossover import crossover
from darkcurrent.schedules.faults import refuse_unfit
from darkcurrent.schedules.hashed import hashed
from darkcurrent.schedules.shards import Shard, divide
from darkcurrent.schedules.shuffled import shuffled

__all__ = [
    "ArmAssignment",
    "Balance",
    "Plan",
    "Shard",
    "StoredAssignment",
    "balance_report",
    "calls_of",
    "divide",
    "plan",
    "refuse_unfit",
]

_KINDS = {"hash": hashed, "shuffle": shuffled, "crossover": crossover, "carryover": carryover}


def plan(table: ScheduleTable, battery: Battery, criteria: Iterable[str]) -> Plan:
    """Return the order of the calls that a protocol declares, the same for every configuration."""
    return _KINDS[table.kind](battery, criteria, table.seed)


def preview_of(table: ScheduleTable, battery: Battery, criteria: Iterable[str]) -> tuple[Call, ...]:
    """Return the calls as they would be made, for looking at their order alone: nobody is asked under these ids."""
    nobody = digest_text("")
    return calls_of(plan(table, battery, criteria), battery, dict.fromkeys(criteria, nobody), "", nobody)
