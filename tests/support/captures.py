"""A campaign without a server: a scripted judge, a journal of its own, and a clock that is moved by hand."""

from __future__ import annotations

import asyncio
from contextlib import closing

from darkcurrent.capture import campaign as campaign_module
from darkcurrent.capture import campaign_state, read_journal, reads_invalid
from darkcurrent.capture.campaign import Campaign
from darkcurrent.capture.journal import Journal
from darkcurrent.protocol.model import CaptureTable
from darkcurrent.records import Terminal
from support.judges import MODEL, ScriptedJudge
from support.studies import make_calls

__all__ = ["HEADER", "Capture", "Clock", "later", "pause_at", "prompt"]

HEADER = {"study": "s" * 64, "configuration": "judge", "identity": "i" * 64}


class Capture:
    """A campaign on a journal of its own, which several runs may go through."""

    def __init__(self, folder, count=6, blocks=1, judge=None, **table):
        self.path = folder / "study" / "journal" / "judge.sqlite"
        self.calls, self.texts = make_calls(count, blocks)
        self.judge = judge or ScriptedJudge()
        self.table = CaptureTable(**table)
        self.progress = []
        self.campaign = None

    def run(self, judge=None, ceiling=0.01, during=None, budget=None, seed=0):
        self.judge = judge or self.judge

        async def capture():
            with closing(Journal.open(self.path, HEADER)) as journal:
                # What is tested here does not depend on the disk.
                journal._connection.execute("PRAGMA synchronous = OFF")
                invalid = sum(reads_invalid(row, "sole-object") for row in self.rows(Terminal))
                self.campaign = Campaign(
                    self.calls,
                    self.texts,
                    self.judge,
                    journal,
                    self.table,
                    (MODEL,),
                    lambda terminal: reads_invalid(terminal, "sole-object"),
                    ceiling,
                    invalid,
                    self.progress.append,
                    seed,
                    budget,
                )
                if during:
                    during(self, journal)
                return await self.campaign.run({"identity": {}})

        return asyncio.run(capture())

    def rows(self, kind):
        found = []
        read_journal(self.path, lambda row: found.append(row) if isinstance(row, kind) else None)
        return found

    @property
    def summary(self):
        return read_journal(self.path)

    @property
    def state(self):
        return campaign_state(self.summary if self.path.exists() else None, len(self.calls))

    def prompts(self, call_ids):
        return {self.texts[call.prompt] for call in self.calls if call.call_id in call_ids}


def prompt(number):
    return f"prompt {number}"


async def later(ticks, outcome):
    for _ in range(ticks):
        await asyncio.sleep(0)
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def pause_at(capture, name):
    script = capture.judge._script

    def pausing(asked):
        if asked == name:
            capture.campaign.pause()
        return script(asked)

    capture.judge._script = pausing


class Clock:
    """A clock that is moved by hand; `time.monotonic` is one that nobody can set back."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(campaign_module.time, "monotonic", lambda: self.now)
