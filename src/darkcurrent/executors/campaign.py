"""A campaign whose shards are on the nodes of a cluster, as its driver knows it."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from darkcurrent.canonical import digest_bytes
from darkcurrent.capture import CampaignState, JournalSummary, campaign_state, journal_path, read_journal
from darkcurrent.capture.journal import Journal
from darkcurrent.capture.lock import only_writer
from darkcurrent.capture.merging import End, Part, hand_out, keep_part, merge, part_path, read_part
from darkcurrent.capture.reading import check_header
from darkcurrent.capture.rows import Row
from darkcurrent.capture.run import header_of
from darkcurrent.capture.state import OPEN
from darkcurrent.errors import UsageError
from darkcurrent.judges import Judge, request_writer
from darkcurrent.protocol.configurations import Configuration, FunctionConfiguration, HttpConfiguration
from darkcurrent.protocol.freeze import Frozen
from darkcurrent.records import Call
from darkcurrent.schedules import Shard, divide

__all__ = ["Distributed"]


class Distributed:
    """The driver's side of a campaign; a context, which holds the campaign's lock.

    What was handed out stands in the campaign's own journal, as intents, before a node hears of it.

    Attributes
    ----------
    name : str
        Of the configuration.
    shards : dict
        Each shard's calls.
    paused : bool
        Whether its tasks were told to end.
    """

    def __init__(self, study: Path, frozen: Frozen, configuration: Configuration) -> None:
        self._study = study
        self._frozen = frozen
        self._configuration = configuration
        self._calls = frozen.schedule(configuration.name)
        self._path = journal_path(study, configuration.name)
        self._held = ExitStack()
        self._journal: Journal | None = None
        self._before: JournalSummary | None = None
        self._parts: dict[Shard, Part] = {}
        self._beyond: dict[Shard, list[Row]] = {}
        """What a shard may have sent that no journal tells of."""
        self._changed = False
        self.name = configuration.name
        self.shards = divide(self._calls, frozen.protocol.capture.shards, frozen.protocol.schedule.kind)
        self.paused = False

    def __enter__(self) -> Self:
        with ExitStack() as held:
            held.enter_context(only_writer(self._study, self.name))
            self._read()
            self._held = held.pop_all()
        return self

    def __exit__(self, *exc: object) -> None:
        self._held.close()

    def _read(self) -> None:
        """Read what earlier runs left here."""
        if not self._path.exists():
            return
        before = self._before = read_journal(self._path)
        check_header(self._path, before.header, header_of(self._frozen, self._configuration))
        if before.events and not before.handed_out and self.state in OPEN:
            raise UsageError(
                f"configuration `{self.name}` was begun on this machine: go on with `darkcurrent run {self._study}` there."
            )
        for shard in filter(self.was_handed_out, self.shards):
            path = part_path(self._path, shard)
            if path.exists():
                self._parts[shard] = read_part(path, self._header(shard), self._ids(shard))
            if self._says_more(before, shard):
                self._beyond[shard] = self._rows(shard)

    def _says_more(self, journal: JournalSummary, shard: Shard) -> bool:
        """Say whether the campaign's journal has more of a shard as sent than the shard's own, as far as it is here."""
        known = self._parts[shard].summary if shard in self._parts else JournalSummary({})
        return any(
            (call in journal.intents and call not in known.intents)
            or journal.retries.get(call, 0) > known.retries.get(call, 0)
            for call in self._ids(shard)
        )

    @property
    def state(self) -> CampaignState:
        """The state by the journal here."""
        summary = self._journal.summary if self._journal else self._before
        return campaign_state(summary, len(self._calls))

    @property
    def goes_on(self) -> bool:
        """Whether something is left to send, or to collect."""
        over = self._before is not None and self._before.stopped is not None
        return not over and (self.state in OPEN or bool(self._beyond))

    @property
    def stopped(self) -> bool:
        """Whether a shard has ended the campaign for good."""
        return any(part.summary.stopped for part in self._parts.values())

    @property
    def scheduled(self) -> int:
        """How many calls the campaign has."""
        return len(self._calls)

    @property
    def collected_calls(self) -> int:
        """How many calls have ended, by what was collected."""
        return sum(map(self.collected_calls_of, self.shards))

    def collected_calls_of(self, shard: Shard) -> int:
        """Return how many calls of a shard have ended, by what was collected."""
        return len(self._parts[shard].summary.terminals) if shard in self._parts else 0

    def ambiguous_calls_of(self, shard: Shard) -> int:
        """Return how many calls of a shard may have been sent, and no journal tells."""
        return max(len(self._beyond.get(shard, ())) - 1, 0)

    def was_handed_out(self, shard: Shard) -> bool:
        """Say whether the journal here speaks of a shard, from an earlier run."""
        return self._before is not None and any(
            event.detail["shard"] == shard.number for event in self._before.handed_out
        )

    def is_over(self, shard: Shard) -> bool:
        """Say whether a shard has nothing left to send, by what was collected."""
        part = self._parts.get(shard)
        return part is not None and campaign_state(part.summary, len(self.shards[shard])) not in OPEN

    def end_of(self, shard: Shard) -> End | None:
        """Return where the collected journal of a shard ends."""
        return self._parts[shard].end if shard in self._parts else None

    @cached_property
    def study_files(self) -> dict[str, bytes]:
        """What of the study's folder a node needs besides what is frozen: a function's files, an authority's."""
        found: list[Path] = []
        if isinstance(self._configuration, FunctionConfiguration):
            from darkcurrent.judges.source import source_files

            found += source_files(self._configuration, self._study).values()
        elif isinstance(self._configuration, HttpConfiguration) and self._configuration.ca_file:
            found.append(self._study / self._configuration.ca_file)
        # One beside the folder (`../ca.pem`) has to be on the nodes as it is here: nothing is written outside of theirs.
        return {
            path.relative_to(self._study).as_posix(): path.read_bytes()
            for path in found
            if path.is_relative_to(self._study) and ".." not in path.relative_to(self._study).parts
        }

    def hand_out(self, shard: Shard) -> None:
        """Have it on disk that a shard may send from here on."""
        rows = self._rows(shard)
        self._opened().commit(rows)
        self._beyond[shard] = rows
        self._changed = True

    def take_back(self, shard: Shard) -> None:
        """Take in that a shard which was handed out never began, and never will."""
        del self._beyond[shard]

    def take(self, shard: Shard, journal: bytes) -> None:
        """Keep the journal of a shard, as its node has it now.

        Raises
        ------
        IntegrityError
            Where it is not a continuation of what is known.
        """
        path = part_path(self._path, shard)
        header, earlier = self._header(shard), self._parts.get(shard)
        self._parts[shard] = keep_part(journal, path, header, self._ids(shard), earlier)
        self._beyond.pop(shard, None)
        self._changed = True

    def merge(self) -> None:
        """Make the campaign's journal of what is known."""
        if self._changed:
            merge(self._opened(), self._configuration, self._parts, self._beyond)
            self._changed = False

    def _opened(self) -> Journal:
        if self._journal is None:
            self._journal = Journal.open(self._path, header_of(self._frozen, self._configuration))
            self._held.callback(self._journal.close)
        return self._journal

    def _rows(self, shard: Shard) -> list[Row]:
        known = self._parts[shard].summary if shard in self._parts else None
        elapsed_ms = known.elapsed_ms if known else 0
        return hand_out(shard, self.shards[shard], self._request_sha256, known, elapsed_ms)

    @cached_property
    def _writer(self) -> Judge:
        return request_writer(self._configuration, self._study)

    def _request_sha256(self, call: Call) -> str:
        return digest_bytes(self._writer.request_bytes(*(self._frozen.texts[key] for key in call.shown)))

    def _header(self, shard: Shard) -> dict[str, Any]:
        return header_of(self._frozen, self._configuration, shard)

    def _ids(self, shard: Shard) -> set[str]:
        return {call.call_id for call in self.shards[shard]}
