"""How far a campaign is, by counting alone: quick on any journal, and beside a running campaign.

The chain is not followed here, so that a journal that was edited by hand may go unnoticed; `run`, `analyze` and
everything after them follow it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from darkcurrent.capture.lock import is_running, journal_path
from darkcurrent.capture.reading import check_header, open_read_only, read_header
from darkcurrent.capture.rows import TABLES, from_columns, text_of
from darkcurrent.capture.state import gives_no_verdict, state_of_counts
from darkcurrent.errors import IntegrityError
from darkcurrent.protocol.freeze import Frozen
from darkcurrent.records import Event
from darkcurrent.verdicts import contract_of

__all__ = ["Glance", "glance"]

_COUNTS = """
SELECT (SELECT count(*) FROM intent), (SELECT count(*) FROM terminal), (SELECT count(*) FROM refusal),
       (SELECT count(*) FROM retry)
"""
_USAGE = """
SELECT coalesce(sum(iif(completion_tokens IS NULL, NULL, prompt_tokens)), 0),
       coalesce(sum(iif(prompt_tokens IS NULL, NULL, completion_tokens)), 0),
       count(*) - count(prompt_tokens + completion_tokens)
FROM terminal
"""
# Replies that say the same are read once: many judges have only a few things to say.
_REPLIES = """
SELECT text, finish, reasoning, count(*) FROM terminal WHERE reason IS NULL GROUP BY text, finish, reasoning
"""
_REASONS = "SELECT count(*) FROM terminal WHERE reason IS NOT NULL"
_REFUSED = "SELECT count(*), detail, max(rowid) FROM terminal WHERE status = 'refused'"
_EVENTS = f"SELECT {', '.join(Event.model_fields)} FROM event ORDER BY rowid"  # noqa: S608 - names of our own
_LAST = "SELECT elapsed_ms FROM {table} ORDER BY rowid DESC LIMIT 1"


@dataclass(frozen=True, slots=True)
class Glance:
    """What a journal counts.

    Attributes
    ----------
    state : str
        The campaign's state; RUNNING where a process captures it and it is not over.
    invalid : int
        Calls that ended without a valid verdict.
    ambiguous : int
        Calls that were sent and have no end. While the campaign runs, those that are in flight are among them.
    waiting : int
        Calls whose last request was refused, and that may be sent again.
    refusals : int
        Requests that were refused without an observation.
    prompt_tokens, completion_tokens : int
        Sums over the calls that ended and report them.
    usage_unknown : int
        Calls that ended and do not report both.
    seconds : float
        The campaign's own time.
    why : str or None
        What ended it for good.
    unanswered : int
        Calls that ended alone without a reply: a server refused the request, or a callable raised.
    unanswered_why : str or None
        Why the last of them had none.
    """

    state: str
    scheduled: int
    ended: int = 0
    invalid: int = 0
    ambiguous: int = 0
    waiting: int = 0
    refusals: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usage_unknown: int = 0
    seconds: float = 0.0
    why: str | None = None
    unanswered: int = 0
    unanswered_why: str | None = None


def glance(study: Path, frozen: Frozen, configuration: str) -> Glance:
    """Count what the journal of a configuration holds.

    Raises
    ------
    IntegrityError
        Where the journal belongs to another study, or cannot be read as one.
    UsageError
        Where another version of darkcurrent wrote it.
    CaptureError
        Where it cannot be opened.
    """
    declared = {each.name: each for each in frozen.protocol.configuration}
    scheduled = frozen.read(f"schedule/{configuration}.jsonl").count(b"\n")
    contract = contract_of(declared[configuration])
    running = is_running(study, configuration)
    path = journal_path(study, configuration)
    if not path.exists():
        return Glance("RUNNING" if running else "NOT STARTED", scheduled)
    with open_read_only(path) as connection:
        header, _ = read_header(connection, path)
        check_header(
            path,
            header,
            {
                "study": frozen.study_digest,
                "configuration": configuration,
                "identity": frozen.configurations[configuration]["digest"],
            },
        )
        intents, terminals, refusals, retries = connection.execute(_COUNTS).fetchone()
        prompt, completion, unknown = connection.execute(_USAGE).fetchone()
        (invalid,) = connection.execute(_REASONS).fetchone()
        unanswered, unanswered_why, _ = connection.execute(_REFUSED).fetchone()
        for text, finish, reasoning, count in connection.execute(_REPLIES):
            reply = (text_of(text), text_of(finish), bool(reasoning))
            invalid += count * gives_no_verdict(*reply, contract)
        events = [_event(path, row) for row in connection.execute(_EVENTS)]
        last = [row[0] for table in TABLES for row in connection.execute(_LAST.format(table=table))]
    # Every request ends at most once, as a terminal or as a refusal.
    ambiguous = intents + retries - terminals - refusals
    stopped = next((event for event in events if event.kind == "stopped"), None)
    state: str = state_of_counts(
        began=bool(events), stopped=stopped, terminals=terminals, ambiguous=ambiguous, scheduled=scheduled
    )
    if running and stopped is None and terminals < scheduled:
        state = "RUNNING"
    return Glance(
        state,
        scheduled,
        ended=terminals,
        invalid=invalid,
        ambiguous=ambiguous,
        waiting=intents - terminals - ambiguous,
        refusals=refusals,
        prompt_tokens=prompt,
        completion_tokens=completion,
        usage_unknown=unknown,
        seconds=round(max(last, default=0) / 1000, 1),
        unanswered=unanswered,
        unanswered_why=text_of(unanswered_why),
        why=stopped.detail["why"] if stopped else None,
    )


def _event(path: Path, columns: tuple[str, int, str, str]) -> Event:
    try:
        return from_columns(Event, dict(zip(Event.model_fields, columns, strict=True)))
    except ValueError as error:
        raise IntegrityError(f"The journal {path} was edited: it holds a row that is no event.") from error
