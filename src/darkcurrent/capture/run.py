"""A campaign as a person starts it: one writer, an opened backend, its identity checked, Ctrl-C understood."""

from __future__ import annotations

import asyncio
import os
import platform
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from darkcurrent._version import __version__
from darkcurrent.capture.asking import now
from darkcurrent.capture.campaign import Campaign
from darkcurrent.capture.journal import Journal
from darkcurrent.capture.limits import Budget
from darkcurrent.capture.lock import journal_path, only_writer
from darkcurrent.capture.reading import check_header, read_journal
from darkcurrent.capture.rows import Row
from darkcurrent.capture.service import changed_meanwhile, check_identity, identify, said_of, same_service
from darkcurrent.capture.state import OPEN, CampaignState, Progress, campaign_state, reads_invalid
from darkcurrent.errors import UsageError
from darkcurrent.judges import Identity, Witness, check_artifacts, open_judge, served_names
from darkcurrent.protocol.configurations import Configuration, HttpConfiguration
from darkcurrent.protocol.freeze import Frozen
from darkcurrent.records import Event, Terminal
from darkcurrent.schedules import Shard, divide
from darkcurrent.verdicts import contract_of

__all__ = [
    "capture_locked",
    "close_campaign",
    "header_of",
    "run_campaign",
]


def run_campaign(
    study: Path,
    frozen: Frozen,
    configuration: Configuration,
    on_progress: Callable[[Progress], None],
    function: Callable[..., Any] | None = None,
) -> CampaignState:
    """Capture what is missing of a campaign; return the state that it is in then.

    Parameters
    ----------
    function : callable, optional
        The judge itself, for a configuration of the backend `callable`.

    Raises
    ------
    JournalLockedError
        Where another process captures this campaign.
    CaptureError
        Where the backend does not answer before the first call, or the journal cannot be written.
    ModelMismatchError
        Where a local artifact or the list of served models is not what was declared.
    IntegrityError
        Where the journal was edited or belongs to another study.
    KeyboardInterrupt
        After Ctrl-C, once what was in flight has been written down.
    """
    with only_writer(study, configuration.name):
        return capture_locked(study, frozen, configuration, on_progress, function=function)


def capture_locked(
    study: Path,
    frozen: Frozen,
    configuration: Configuration,
    on_progress: Callable[[Progress], None],
    shard: Shard | None = None,
    function: Callable[..., Any] | None = None,
) -> CampaignState:
    """Do what `run_campaign` does, for who holds the campaign's lock already.

    Parameters
    ----------
    shard : Shard or None
        The part of the campaign that is meant; None is the whole of it, here.
    function : callable, optional
        See `run_campaign`.
    """
    calls = whole = frozen.schedule(configuration.name)
    if shard is not None:
        calls = divide(whole, shard.of, frozen.protocol.schedule.kind)[shard]
    path = journal_path(study, configuration.name)
    contract = contract_of(configuration)
    invalid = 0
    witness = Witness.of(configuration)

    def visit(row: Row) -> None:
        nonlocal invalid
        if isinstance(row, Terminal):
            invalid += reads_invalid(row, contract)
            witness.remember(row)

    header = header_of(frozen, configuration, shard)
    # The journal is opened for writing only with an opened backend: a service that is down leaves no trace.
    before = read_journal(path, visit) if path.exists() else None
    if before is not None:
        check_header(path, before.header, header)
    state = campaign_state(before, len(calls))
    if state not in OPEN:
        return state
    if before is not None and before.handed_out:
        raise UsageError(
            f"configuration `{configuration.name}` was handed out to a cluster: go on with "
            f"`darkcurrent run {study} --executor ray`, or end it with `darkcurrent close {study}`."
        )
    check_artifacts(configuration, frozen.configurations[configuration.name]["artifacts"], study)
    table = frozen.protocol.capture
    judge = open_judge(configuration, study, table.in_flight, table.max_reply_bytes, witness, function)

    async def capture() -> CampaignState:
        async with judge:
            who = await identify(configuration, judge)
            check_identity(configuration, who)
            journal = Journal.open(path, header)
            try:
                same_service(configuration, journal.summary.events, who)
                campaign = Campaign(
                    calls,
                    frozen.texts,
                    judge,
                    journal,
                    table,
                    served_names(configuration),
                    lambda terminal: reads_invalid(terminal, contract),
                    # What is allowed is a share of the whole campaign, whichever part of it this is.
                    frozen.protocol.gates.invalid_ceiling * len(whole) / len(calls),
                    invalid,
                    on_progress,
                    frozen.protocol.schedule.seed,
                    _budget(frozen, configuration, len(calls) / len(whole)),
                )
                with _pausing(campaign) as interrupted:
                    state = await campaign.run(_opened(who, shard))
                if campaign.stopped is None and (changed := await changed_meanwhile(judge, who)):
                    why = f"{said_of(changed)} changed while the campaign ran: not all answers are the same judge's"
                    campaign.stop("PARTIAL_HOLD_MODEL", why)
                    state = campaign_state(journal.summary, len(calls))
                if interrupted():
                    raise KeyboardInterrupt
                return state
            finally:
                journal.close()

    return asyncio.run(capture())


def close_campaign(study: Path, frozen: Frozen, configuration: Configuration, reason: str) -> CampaignState:
    """End a campaign before its last call: what is missing stays missing, and the campaign is HOLD.

    Parameters
    ----------
    reason : str
        Kept in the journal and shown wherever the campaign is.

    Returns
    -------
    CampaignState
        HELD_EARLY; or the state in which the campaign had ended before, and nothing is changed then.

    Raises
    ------
    UsageError
        Where there is no reason.
    JournalLockedError
        Where another process captures this campaign.
    CaptureError
        Where the journal cannot be written.
    IntegrityError
        Where the journal was edited or belongs to another study.
    """
    if not reason.strip():
        raise UsageError("A campaign is closed for a reason: say it with --reason.")
    path = journal_path(study, configuration.name)
    with (
        only_writer(study, configuration.name),
        closing(Journal.open(path, header_of(frozen, configuration))) as journal,
    ):
        scheduled = len(frozen.schedule(configuration.name))
        if campaign_state(journal.summary, scheduled) in OPEN:
            detail = {"state": "HELD_EARLY", "why": f"closed by a person: {reason}"}
            journal.commit(
                [Event(at=now(), elapsed_ms=journal.summary.elapsed_ms, kind="stopped", detail=detail)]
            )
        return campaign_state(journal.summary, scheduled)


def header_of(frozen: Frozen, configuration: Configuration, shard: Shard | None = None) -> dict[str, Any]:
    """Return what the journal of a campaign, or of a shard of it, belongs to."""
    whole = {
        "study": frozen.study_digest,
        "configuration": configuration.name,
        "identity": frozen.configurations[configuration.name]["digest"],
    }
    return whole if shard is None else {**whole, "shard": shard.number, "shards": shard.of}


def _budget(frozen: Frozen, configuration: Configuration, share: float) -> Budget | None:
    """Return the ceilings of a share of a campaign; None where none is declared, or there are no tokens to count."""
    table = frozen.protocol.capture
    if (table.max_tokens is None and table.max_cost is None) or not isinstance(
        configuration, HttpConfiguration
    ):
        return None
    divided = table.model_copy(
        update={
            "max_tokens": None if table.max_tokens is None else int(table.max_tokens * share),
            "max_cost": None if table.max_cost is None else table.max_cost * share,
        }
    )
    return Budget(divided, table.prices.get(configuration.name), configuration.decoder.max_tokens)


def _opened(identity: Identity, shard: Shard | None) -> dict[str, object]:
    part = {} if shard is None else {"shard": shard.number, "shards": shard.of}
    return {
        **part,
        "pid": os.getpid(),
        "host": platform.node(),
        "darkcurrent": __version__,
        "python": platform.python_version(),
        "basis": identity.basis,
        "identity": identity.facts,
    }


@contextmanager
def _pausing(campaign: Campaign) -> Iterator[Callable[[], bool]]:
    """Make the first Ctrl-C (on a node: that the driver cancels) drain what is in flight, and a second one stop at once.

    A request to end and a closed terminal mean the same: what is in flight would be lost for good otherwise, and
    the campaign HOLD.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False  # Python gives signals to the main thread alone
        return
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    pressed = 0

    def press() -> None:
        nonlocal pressed
        pressed += 1
        campaign.pause()
        if pressed > 1:
            task.cancel()

    endings = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    heard = [number for number in endings if signal.getsignal(number) is not signal.SIG_IGN]  # nohup
    for number in heard:
        loop.add_signal_handler(number, press)
    try:
        yield lambda: pressed > 0
    except asyncio.CancelledError as error:
        if pressed > 1:
            raise KeyboardInterrupt from error
        raise
    finally:
        for number in heard:
            loop.remove_signal_handler(number)
