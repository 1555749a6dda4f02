"""One request: sent once, within what is left of its time, and what becomes of it as a record."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from math import ceil

from darkcurrent.capture.limits import Pacing, is_refusal
from darkcurrent.judges.base import Judge, Reply, RequestFailed
from darkcurrent.protocol.model import CaptureTable
from darkcurrent.records import RequestRefusal, Terminal

__all__ = ["Asker", "Ending", "now"]

Ending = Terminal | RequestRefusal


class Asker:
    """Asks a judge and says how each request ended.

    Parameters
    ----------
    served : tuple of str
        The names that a reply may carry.
    pacing : Pacing
        Is told of every refusal.
    refusals : mapping
        Call to how often it was refused so far.
    elapsed_ms : callable
        The campaign's own time.
    """

    def __init__(
        self,
        judge: Judge,
        table: CaptureTable,
        served: tuple[str, ...],
        pacing: Pacing,
        refusals: Mapping[str, int],
        elapsed_ms: Callable[[], int],
    ) -> None:
        self._judge = judge
        self._table = table
        self._served = served
        self._pacing = pacing
        self._refusals = refusals
        self._elapsed_ms = elapsed_ms

    async def ask(self, call_id: str, request: bytes) -> Ending:
        """Send a call once; return the record of how that ended."""
        left = self._table.deadline_minutes * 60 - self._elapsed_ms() / 1000
        timeout = min(self._table.timeout_seconds, max(left, 0.001))
        started = time.perf_counter()
        try:
            reply = await self._judge.ask(request, timeout)
        except RequestFailed as failure:
            if self._table.on_rate_limit == "wait" and is_refusal(failure):
                return self._refused(call_id, failure)
            raised = failure.reason == "function-raised"
            return Terminal(
                call_id=call_id,
                at=now(),
                elapsed_ms=self._elapsed_ms(),
                # A callable that raises has had its say on this call; the next one may well be answered.
                status="refused" if raised else "failed",
                # A time-out that the deadline cut short says nothing of the service.
                reason="judge-raised"
                if raised
                else "deadline"
                if failure.reason == "timeout" and timeout < self._table.timeout_seconds
                else "transport",
                detail=f"{failure.reason}: {failure.detail}",
                http_status=failure.http_status,
                latency_ms=_ms_since(started),
                body=failure.body,
            )
        return self._answered(call_id, reply, _ms_since(started))

    def _refused(self, call_id: str, failure: RequestFailed) -> RequestRefusal:
        number = self._refusals.get(call_id, 0) + 1
        return RequestRefusal(
            call_id=call_id,
            number=number,
            at=now(),
            elapsed_ms=self._elapsed_ms(),
            reason=failure.reason,
            detail=failure.detail,
            http_status=failure.http_status,
            retry_after=failure.retry_after,
            wait_ms=ceil(self._pacing.refused(call_id, number, failure.retry_after) * 1000),
        )

    def _answered(self, call_id: str, reply: Reply, latency_ms: float) -> Terminal:
        reason = detail = None
        if reply.refused:
            said = f": {reply.said}" if reply.said else ""
            reason, detail = "request-refused", f"the server answered HTTP {reply.http_status}{said}"
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
        elif reply.objection is not None:
            reason, detail = "mismatched-model", reply.objection
        return Terminal(
            call_id=call_id,
            at=now(),
            elapsed_ms=self._elapsed_ms(),
            status="refused" if reply.refused else "answered",
            reason=reason,
            detail=detail,
            http_status=reply.http_status,
            text=reply.text,
            finish=reply.finish,
            served_model=reply.served_model,
            fingerprint=reply.fingerprint,
            gateway=reply.gateway,
            reasoning=reply.reasoning,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            latency_ms=latency_ms,
            body=reply.body,
        )


def now() -> str:
    """Return the time of day, for people."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _ms_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
