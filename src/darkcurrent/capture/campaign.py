"""One configuration's calls, from the schedule to the journal.

The loop writes what has ended and what is about to be sent in one transaction, and only then sends. So nothing
leaves before its intent is on disk, and with several calls in flight they share the cost of a commit.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from darkcurrent.canonical import digest_bytes
from darkcurrent.capture.journal import Journal
from darkcurrent.capture.reading import JournalSummary
from darkcurrent.judges.base import Judge, Reply, RequestFailed
from darkcurrent.protocol.model import CaptureTable
from darkcurrent.records import Call, Event, Intent, Terminal

__all__ = ["Campaign", "CampaignState", "Progress", "campaign_state"]

CampaignState = Literal[
    "NOT STARTED",
    "INTERRUPTED",
    "COMPLETE",
    "PARTIAL_HOLD_TRANSPORT",
    "PARTIAL_HOLD_MODEL",
    "PARTIAL_HOLD_DEADLINE",
    "HELD_EARLY",
]
"""How far a campaign is. Only NOT STARTED and INTERRUPTED go on when `run` is called again."""


def campaign_state(summary: JournalSummary | None, scheduled: int) -> CampaignState:
    """Derive the state of a campaign from its journal; no flag says it."""
    if summary is None or not summary.events:
        return "NOT STARTED"
    for event in summary.events:
        if event.kind == "stopped":
            state: CampaignState = event.detail["state"]
            return state
    if len(summary.terminals) == scheduled:
        return "COMPLETE"
    # Every call was sent and some answer is lost for good: there is nothing to go on with.
    return "PARTIAL_HOLD_TRANSPORT" if len(summary.intents) == scheduled else "INTERRUPTED"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a campaign is, for people."""

    done: int
    total: int
    invalid: int
    ambiguous: int


class Campaign:
    """Asks what the schedule says and the journal does not have yet.

    Parameters
    ----------
    calls : sequence of Call
        The whole schedule, in dispatch order.
    texts : dict
        Every text by its digest.
    judge : Judge
        An opened backend.
    served : tuple of str
        The names that a reply may carry.
    is_invalid : callable
        Says of a terminal whether the declared contract reads no verdict from it.
    invalid_ceiling : float
        The share of scheduled calls that may be invalid; used only with `stop_when_held`.
    invalid_before : int
        How many invalid answers the journal holds already.
    """

    def __init__(
        self,
        calls: tuple[Call, ...],
        texts: dict[str, str],
        judge: Judge,
        journal: Journal,
        table: CaptureTable,
        served: tuple[str, ...],
        is_invalid: Callable[[Terminal], bool],
        invalid_ceiling: float,
        invalid_before: int = 0,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self._calls = calls
        self._texts = texts
        self._judge = judge
        self._journal = journal
        self._table = table
        self._served = served
        self._is_invalid = is_invalid
        self._invalid_allowed = invalid_ceiling * len(calls)
        self._on_progress = on_progress
        self._invalid = invalid_before
        self._ambiguous = len(journal.summary.ambiguous)
        self._spent_ms = journal.summary.elapsed_ms
        self._started = time.monotonic()
        self._stop: Event | None = None
        self._stop_written = False
        self._pause = False

    def pause(self) -> None:
        """Send nothing more; wait for what is in flight. The campaign can go on later."""
        self._pause = True

    async def run(self, opened: dict[str, object]) -> CampaignState:
        """Go through the schedule; return the state that the campaign is in then.

        Parameters
        ----------
        opened : dict
            What is known of this run (process, versions, identity), kept in the journal.
        """
        self._journal.commit([self._event("opened", dict(opened))])
        self._report()
        for block in self._blocks():
            await self._run_block(block)
            if self._stop or self._pause:
                break
        if self._pause and not self._stop:
            self._journal.commit([self._event("paused", {})])
        return campaign_state(self._journal.summary, len(self._calls))

    def _blocks(self) -> Iterable[deque[Call]]:
        """Yield what is still to be sent, block by block: a block begins when the one before it has ended."""
        blocks: dict[int, deque[Call]] = {}
        for call in self._calls:
            if call.call_id not in self._journal.summary.intents:
                blocks.setdefault(call.block, deque()).append(call)
        return (blocks[number] for number in sorted(blocks))

    async def _run_block(self, waiting: deque[Call]) -> None:
        flying: set[asyncio.Task[Terminal]] = set()
        ended: list[Terminal] = []
        try:
            while True:
                requests = self._next_requests(waiting, self._table.in_flight - len(flying))
                self._write_down(ended, [intent for intent, _ in requests])
                ended = []
                flying |= {
                    asyncio.create_task(self._ask(intent.call_id, request)) for intent, request in requests
                }
                self._report()
                if not flying:
                    return
                done, _ = await asyncio.wait(flying, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    ended.append(task.result())
                    flying.remove(task)
                    self._look_at(ended[-1])
        except BaseException as error:
            # Answers that are here, or still come, are written down whatever went wrong. Only a second Ctrl-C
            # (a cancellation) does not wait for those that are on their way.
            try:
                if flying and not isinstance(error, asyncio.CancelledError):
                    await asyncio.wait(flying)
            finally:
                late = [task.result() for task in flying if task.done() and not _went_wrong(task)]
                self._write_down([*ended, *late], [])
                for terminal in late:
                    self._look_at(terminal)
                self._write_down([], [])
            raise
        finally:
            for task in flying:
                task.cancel()
            await asyncio.gather(*flying, return_exceptions=True)

    def _write_down(self, ended: list[Terminal], intents: list[Intent]) -> None:
        """Commit how calls ended, that the campaign stops (with the terminal that caused it), and what is sent next."""
        stop = [self._stop] if self._stop and not self._stop_written else []
        self._journal.commit([*ended, *stop, *intents])
        self._stop_written = self._stop is not None

    def _next_requests(self, waiting: deque[Call], room: int) -> list[tuple[Intent, bytes]]:
        requests: list[tuple[Intent, bytes]] = []
        while waiting and len(requests) < room and not self._pause:
            self._look_at_clock()  # time counts only against what is still to be sent
            if self._stop:
                break
            call = waiting.popleft()
            request = self._judge.request_bytes(
                *(self._texts[key] for key in (call.rubric, call.prompt, call.text_a, call.text_b))
            )
            intent = Intent(
                call_id=call.call_id,
                at=_now(),
                elapsed_ms=self._elapsed_ms(),
                request_sha256=digest_bytes(request),
            )
            requests.append((intent, request))
        return requests

    async def _ask(self, call_id: str, request: bytes) -> Terminal:
        left = self._table.deadline_minutes * 60 - self._elapsed_ms() / 1000
        timeout = min(self._table.timeout_seconds, max(left, 0.001))
        started = time.perf_counter()
        try:
            reply = await self._judge.ask(request, timeout)
        except RequestFailed as failure:
            return Terminal(
                call_id=call_id,
                at=_now(),
                elapsed_ms=self._elapsed_ms(),
                status="failed",
                # A time-out that the deadline cut short says nothing of the service.
                reason="deadline"
                if failure.reason == "timeout" and timeout < self._table.timeout_seconds
                else "transport",
                detail=f"{failure.reason}: {failure.detail}",
                http_status=failure.http_status,
                latency_ms=_ms_since(started),
                body=failure.body,
            )
        return self._answered(call_id, reply, _ms_since(started))

    def _answered(self, call_id: str, reply: Reply, latency_ms: float) -> Terminal:
        reason = detail = None
        if reply.refused:
            reason, detail = "request-refused", f"the server answered HTTP {reply.http_status}"
        elif reply.oversize:
            reason, detail = (
                "reply-too-large",
                f"the reply is longer than {self._table.max_reply_bytes} bytes and was cut off",
            )
        elif reply.served_model not in self._served:
            named = "no model" if reply.served_model is None else ascii(reply.served_model)
            reason, detail = (
                "mismatched-model",
                f"the reply names {named}, declared are {', '.join(self._served)}",
            )
        return Terminal(
            call_id=call_id,
            at=_now(),
            elapsed_ms=self._elapsed_ms(),
            status="refused" if reply.refused else "answered",
            reason=reason,
            detail=detail,
            http_status=reply.http_status,
            text=reply.text,
            finish=reply.finish,
            served_model=reply.served_model,
            fingerprint=reply.fingerprint,
            reasoning=reply.reasoning,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            latency_ms=latency_ms,
            body=reply.body,
        )

    def _look_at(self, terminal: Terminal) -> None:
        """Decide whether the campaign has to stop because of how a call ended."""
        self._invalid += self._is_invalid(terminal)
        if terminal.status == "failed":
            self._look_at_clock()
            self._end("PARTIAL_HOLD_TRANSPORT", str(terminal.detail))
        elif terminal.reason == "mismatched-model":
            self._end("PARTIAL_HOLD_MODEL", str(terminal.detail))
        elif self._table.stop_when_held and self._invalid > self._invalid_allowed:
            self._end(
                "HELD_EARLY",
                f"{self._invalid} invalid answers; {len(self._calls)} calls allow {int(self._invalid_allowed)}",
            )

    def _look_at_clock(self) -> None:
        if self._elapsed_ms() >= self._table.deadline_minutes * 60_000:
            self._end(
                "PARTIAL_HOLD_DEADLINE", f"the deadline of {self._table.deadline_minutes:g} minutes is over"
            )

    def _end(self, state: CampaignState, why: str) -> None:
        if self._stop is None:
            self._stop = self._event("stopped", {"state": state, "why": why})

    def _elapsed_ms(self) -> int:
        return self._spent_ms + int((time.monotonic() - self._started) * 1000)

    def _event(self, kind: Literal["opened", "stopped", "paused"], detail: dict[str, object]) -> Event:
        return Event(at=_now(), elapsed_ms=self._elapsed_ms(), kind=kind, detail=detail)

    def _report(self) -> None:
        """Show how far the campaign is: only what is on disk counts as done."""
        done = len(self._journal.summary.terminals)
        self._on_progress(Progress(done, len(self._calls), self._invalid, self._ambiguous))


def _went_wrong(task: asyncio.Task[Terminal]) -> bool:
    return task.cancelled() or task.exception() is not None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _ms_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
