"""One configuration's calls, from the schedule to the journal.

The loop writes what has ended and what is about to be sent in one transaction, and only then sends. So nothing
leaves before its intent is on disk, and with several calls in flight they share the cost of a commit.
"""

from __future__ import annotations

import asyncio
import time
from bisect import insort
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Literal

from darkcurrent.canonical import digest_bytes
from darkcurrent.capture.asking import Asker, Ending, now
from darkcurrent.capture.journal import Journal
from darkcurrent.capture.limits import Budget, Pacing
from darkcurrent.capture.rows import Row
from darkcurrent.capture.state import CampaignState, Progress, campaign_state
from darkcurrent.judges.base import Judge
from darkcurrent.protocol.model import CaptureTable
from darkcurrent.records import Call, Event, Intent, RequestRefusal, Retry, Terminal

__all__ = ["Campaign"]

Sending = Intent | Retry


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
    seed : int
        Of the jitter in the waits after refusals.
    budget : Budget or None
        The ceilings on tokens and cost, where some are declared.
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
        seed: int = 0,
        budget: Budget | None = None,
    ) -> None:
        self._calls = calls
        self._texts = texts
        self._judge = judge
        self._journal = journal
        self._table = table
        self._is_invalid = is_invalid
        self._invalid_allowed = invalid_ceiling * len(calls)
        self._on_progress = on_progress
        self._pacing = Pacing(seed)
        self._refusals = dict(journal.summary.refusals)
        self._asker = Asker(judge, table, served, self._pacing, self._refusals, self._elapsed_ms)
        self._budget = budget
        self._invalid = invalid_before
        self._ambiguous = len(journal.summary.ambiguous)
        self._spent_ms = journal.summary.elapsed_ms
        self._started = time.monotonic()
        self._stop: Event | None = None
        self._stop_written = False
        self._ended: list[Ending] = []
        """What is not on disk yet."""
        self._writer = ThreadPoolExecutor(1) if table.in_flight > 1 else None
        self._pause = False
        self._news = asyncio.Event()
        """A call has ended, or a person wants a pause."""

    def pause(self) -> None:
        """Send nothing more; wait for what is in flight. The campaign can go on later."""
        self._pause = True
        self._news.set()

    @property
    def stopped(self) -> Event | None:
        """What ended the campaign for good."""
        return self._stop

    def stop(self, state: CampaignState, why: str) -> None:
        """End the campaign for good, after its last call of this run."""
        self._end(state, why)
        assert self._stop is not None
        self._journal.commit([self._stop])

    async def run(self, opened: dict[str, object]) -> CampaignState:
        """Go through the schedule; return the state that the campaign is in then.

        Parameters
        ----------
        opened : dict
            What is known of this run (process, versions, identity), kept in the journal.
        """
        self._journal.commit([self._event("opened", dict(opened))])
        self._charge_earlier_runs()
        self._report()
        try:
            for block in self._blocks():
                await self._run_block(block)
                if self._stop or self._pause:
                    break
        finally:
            if self._writer is not None:
                self._writer.shutdown()
        if self._pause and not self._stop:
            self._journal.commit([self._event("paused", {})])
        return campaign_state(self._journal.summary, len(self._calls))

    def _charge_earlier_runs(self) -> None:
        """Count what was used before: as reported, and where it was not, as much as it can have been."""
        if self._budget is None:
            return
        summary = self._journal.summary
        self._budget.charge(summary.prompt_tokens, summary.completion_tokens)
        unknown = summary.unmetered | summary.ambiguous
        for call in self._calls:
            if call.call_id in unknown:
                self._budget.set_aside(call.call_id, self._request(call))

    def _blocks(self) -> Iterable[list[Call]]:
        """Yield what is still to be sent, the next call last, block by block: one begins when the one before has ended."""
        sent = self._journal.summary.intents - self._journal.summary.refused
        blocks: dict[int, list[Call]] = {}
        for call in reversed(self._calls):
            if call.call_id not in sent:
                blocks.setdefault(call.block, []).append(call)
        return (blocks[number] for number in sorted(blocks))

    async def _run_block(self, waiting: list[Call]) -> None:
        flying: dict[asyncio.Task[Ending], Call] = {}
        try:
            while True:
                left = self._pacing.seconds_left()  # taken before the requests: where it is 0, they are sent
                requests = self._next_requests(waiting, len(flying))
                await self._write_down([sent for _, sent, _ in requests])
                for call, sent, request in requests:
                    flying[asyncio.create_task(self._ask(sent.call_id, request))] = call
                self._report()
                if not flying and (not waiting or self._stop or self._pause):
                    return
                await self._wait_for_news(left if waiting else 0.0)
                for task in [task for task in flying if task.done()]:
                    ending = task.result()
                    self._ended.append(ending)
                    call = flying.pop(task)
                    if isinstance(ending, RequestRefusal):
                        insort(waiting, call, key=lambda call: -call.position)
                    self._look_at(ending)
        except BaseException as error:
            # Answers that are here, or still come, are written down whatever went wrong. Only a second Ctrl-C
            # (a cancellation) does not wait for those that are on their way.
            try:
                if flying and not isinstance(error, asyncio.CancelledError):
                    await asyncio.wait(flying)
            finally:
                late = [task.result() for task in flying if task.done() and not _went_wrong(task)]
                self._ended += late
                await self._write_down([])
                for ending in late:
                    self._look_at(ending)
                await self._write_down([])
            raise
        finally:
            for task in flying:
                task.cancel()
            await asyncio.gather(*flying, return_exceptions=True)

    async def _wait_for_news(self, left: float) -> None:
        """Wait until a call ends, a person wants a pause, or a service that refused may be asked again."""
        if left:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), left)
        else:
            await self._news.wait()
        self._news.clear()

    async def _write_down(self, sent: list[Sending]) -> None:
        """Commit how calls ended, that the campaign stops (with the terminal that caused it), and what is sent next.

        With several calls in flight this is done in a thread: replies come in while the disk is waited for.
        """
        stop = [self._stop] if self._stop and not self._stop_written else []
        rows = [*self._ended, *stop, *sent]
        if self._writer is None or not rows:
            self._commit(rows)
            return
        writing = asyncio.get_running_loop().run_in_executor(self._writer, self._commit, rows)
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            # What is being written is written; only then may anything else be.
            while not writing.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([writing])
            raise

    def _commit(self, rows: list[Row]) -> None:
        self._journal.commit(rows)
        self._ended.clear()
        self._stop_written = self._stop_written or any(row is self._stop for row in rows)

    def _next_requests(self, waiting: list[Call], flying: int) -> list[tuple[Call, Sending, bytes]]:
        requests: list[tuple[Call, Sending, bytes]] = []
        room = self._pacing.room(self._table.in_flight, flying)
        while waiting and len(requests) < room and not self._pause:
            self._look_at_clock()  # time counts only against what is still to be sent
            if self._stop:
                break
            call = waiting[-1]
            request = self._request(call)
            if self._budget is not None:
                excess = self._budget.exceeded_by(request)
                if excess and not flying and not requests:
                    self._end("HELD_EARLY", excess)
                if excess:
                    break  # what is in flight may turn out to have used less than was set aside for it
                self._budget.set_aside(call.call_id, request)
            waiting.pop()
            requests.append((call, self._sending(call.call_id, request), request))
        return requests

    def _request(self, call: Call) -> bytes:
        return self._judge.request_bytes(*(self._texts[key] for key in call.shown))

    def _sending(self, call_id: str, request: bytes) -> Sending:
        """Return the record that a call is about to be sent: for the first time, or after its last refusal."""
        number = self._refusals.get(call_id)
        if number is not None:
            return Retry(call_id=call_id, number=number, at=now(), elapsed_ms=self._elapsed_ms())
        return Intent(
            call_id=call_id, at=now(), elapsed_ms=self._elapsed_ms(), request_sha256=digest_bytes(request)
        )

    async def _ask(self, call_id: str, request: bytes) -> Ending:
        try:
            return await self._asker.ask(call_id, request)
        finally:
            self._news.set()

    def _look_at(self, ending: Ending) -> None:
        """Decide whether the campaign has to stop because of how a call ended."""
        if isinstance(ending, RequestRefusal):
            self._look_at_refusal(ending)
        else:
            self._look_at_terminal(ending)

    def _look_at_refusal(self, refusal: RequestRefusal) -> None:
        self._refusals[refusal.call_id] = refusal.number
        if self._budget is not None:
            self._budget.release(refusal.call_id)
        left_ms = self._table.deadline_minutes * 60_000 - self._elapsed_ms()
        if refusal.wait_ms >= left_ms:
            self._end(
                "PARTIAL_HOLD_DEADLINE",
                f"the service refused ({refusal.reason}) and may be asked again in {refusal.wait_ms / 1000:.3g} s; "
                f"the deadline leaves {max(left_ms, 0) / 1000:.3g} s",
            )

    def _look_at_terminal(self, terminal: Terminal) -> None:
        self._pacing.accepted()
        if self._budget is not None:
            self._budget.settle(terminal)
        self._invalid += self._is_invalid(terminal)
        if terminal.status == "failed":
            self._look_at_clock()
            self._end("PARTIAL_HOLD_TRANSPORT", str(terminal.detail))
        elif terminal.reason == "mismatched-model":
            self._end("PARTIAL_HOLD_MODEL", str(terminal.detail))
        elif self._table.stop_when_held and self._invalid > self._invalid_allowed:
            # A request that no server would take is a fault of the protocol: say what the server said.
            last = f"; in the last one {terminal.detail}" if terminal.status == "refused" else ""
            self._end(
                "HELD_EARLY",
                f"{self._invalid} invalid answers; {len(self._calls)} calls allow {int(self._invalid_allowed)}{last}",
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
        return Event(at=now(), elapsed_ms=self._elapsed_ms(), kind=kind, detail=detail)

    def _report(self) -> None:
        """Show how far the campaign is: only what is on disk counts as done."""
        done = len(self._journal.summary.terminals)
        waiting = self._pacing.seconds_left()
        self._on_progress(Progress(done, len(self._calls), self._invalid, self._ambiguous, waiting))


def _went_wrong(task: asyncio.Task[Ending]) -> bool:
    return task.cancelled() or task.exception() is not None
