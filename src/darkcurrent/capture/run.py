"""A campaign as a person starts it: one writer, an opened backend, its identity checked, Ctrl-C understood."""

from __future__ import annotations

import asyncio
import os
import platform
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from darkcurrent._version import __version__
from darkcurrent.capture.campaign import Campaign, CampaignState, Progress, campaign_state
from darkcurrent.capture.journal import Journal
from darkcurrent.capture.reading import JournalSummary, check_header, read_journal
from darkcurrent.capture.rows import Row
from darkcurrent.errors import CaptureError, JournalLockedError, ModelMismatchError
from darkcurrent.judges import Identity, local_artifacts, open_judge, served_names
from darkcurrent.judges.base import RequestFailed
from darkcurrent.protocol.freeze import Frozen
from darkcurrent.protocol.model import Configuration, FunctionConfiguration
from darkcurrent.records import Event, Terminal
from darkcurrent.verdicts import Contract, contract_of, parse_verdict

__all__ = ["check_identity", "journal_path", "reads_invalid", "run_campaign", "summary_of"]


def journal_path(study: Path, configuration: str) -> Path:
    """Return where the journal of a configuration lies."""
    return study / "journal" / f"{configuration}.sqlite"


def summary_of(study: Path, configuration: str) -> JournalSummary | None:
    """Return what the journal of a configuration says; None where nothing was captured yet."""
    path = journal_path(study, configuration)
    return read_journal(path) if path.exists() else None


def reads_invalid(terminal: Terminal, contract: Contract) -> bool:
    """Say whether no verdict comes out of a terminal under a contract."""
    if terminal.reason is not None:
        return True
    return (
        parse_verdict(terminal.text, contract, terminal.finish, reasoning_present=terminal.reasoning).value
        is None
    )


def check_identity(configuration: Configuration, identity: Identity) -> None:
    """Compare what a service says that it serves with the declared names.

    Raises
    ------
    ModelMismatchError
        Where the service lists its models and none of the declared names is among them.
    """
    served = identity.facts.get("served")
    # A list may hold the name that is asked for, and a reply the dated one that it stands for.
    declared = sorted({*served_names(configuration), *_asked_name(configuration)})
    if served and not set(served) & set(declared):
        raise ModelMismatchError(
            f"configuration `{configuration.name}`: the service lists {', '.join(map(str, served))}, and the protocol declares "
            f"{', '.join(declared)}: correct `model` or `accepted_models`."
        )


def _asked_name(configuration: Configuration) -> tuple[str, ...]:
    return () if isinstance(configuration, FunctionConfiguration) else (configuration.model,)


def run_campaign(
    study: Path, frozen: Frozen, configuration: Configuration, on_progress: Callable[[Progress], None]
) -> CampaignState:
    """Capture what is missing of a campaign; return the state that it is in then.

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
    calls = frozen.schedule(configuration.name)
    path = journal_path(study, configuration.name)
    identity = frozen.configurations[configuration.name]
    contract = contract_of(configuration)
    with _only_writer(study, configuration.name):
        invalid = 0

        def visit(row: Row) -> None:
            nonlocal invalid
            invalid += isinstance(row, Terminal) and reads_invalid(row, contract)

        header = {
            "study": frozen.study_digest,
            "configuration": configuration.name,
            "identity": identity["digest"],
        }
        # The journal is opened for writing only with an opened backend: a service that is down leaves no trace.
        before = read_journal(path, visit) if path.exists() else None
        if before is not None:
            check_header(path, before.header, header)
        state = campaign_state(before, len(calls))
        if state not in ("NOT STARTED", "INTERRUPTED"):
            return state
        _same_artifacts(configuration, identity["artifacts"], study)
        table = frozen.protocol.capture
        judge = open_judge(configuration, study, table.in_flight, table.max_reply_bytes)

        async def capture() -> CampaignState:
            async with judge:
                try:
                    who = await judge.identify()
                except RequestFailed as error:
                    error.args = (
                        f"configuration `{configuration.name}` cannot be reached ({error.detail}): nothing was sent.",
                    )
                    raise
                check_identity(configuration, who)
                journal = Journal.open(path, header)
                try:
                    _same_service(configuration, journal.summary.events, who)
                    campaign = Campaign(
                        calls,
                        frozen.texts,
                        judge,
                        journal,
                        table,
                        served_names(configuration),
                        lambda terminal: reads_invalid(terminal, contract),
                        frozen.protocol.gates.invalid_ceiling,
                        invalid,
                        on_progress,
                    )
                    with _pausing(campaign) as interrupted:
                        state = await campaign.run(_opened(who))
                    if interrupted():
                        raise KeyboardInterrupt
                    return state
                finally:
                    journal.close()

        return asyncio.run(capture())


def _opened(identity: Identity) -> dict[str, object]:
    return {
        "pid": os.getpid(),
        "host": platform.node(),
        "darkcurrent": __version__,
        "python": platform.python_version(),
        "basis": identity.basis,
        "identity": identity.facts,
    }


def _same_artifacts(configuration: Configuration, frozen: dict[str, str], study: Path) -> None:
    present = local_artifacts(configuration, study)
    for name, sha256 in frozen.items():
        if present.get(name) != sha256:
            raise ModelMismatchError(
                f"configuration `{configuration.name}`: the {name} file has changed since the study was frozen: put the frozen "
                "one back, or freeze a new study."
            )


def _same_service(configuration: Configuration, events: list[Event], identity: Identity) -> None:
    """Compare who answers with who answered when the campaign began."""
    first = next((event.detail["identity"] for event in events if event.kind == "opened"), None)
    if first is None:
        return
    # The list of served models may grow; that the declared one is in it is checked on its own.
    facts = (first.keys() | identity.facts.keys()) - {"served", "models_status"}
    changed = sorted(key for key in facts if first.get(key) != identity.facts.get(key))
    if changed:
        raise ModelMismatchError(
            f"configuration `{configuration.name}`: {', '.join(changed)} of the service changed since the campaign began: "
            "its answers would be those of another judge."
        )


@contextmanager
def _only_writer(study: Path, configuration: str) -> Iterator[None]:
    """Hold the campaign's lock, and say beside it who holds it; the system frees the lock whatever ends us."""
    path = journal_path(study, configuration)
    holder = path.with_suffix(".holder")
    with ExitStack() as held:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(FileLock(path.with_suffix(".lock"), timeout=0))
            since = datetime.now(UTC).isoformat(timespec="seconds")
            holder.write_text(f"process {os.getpid()} on {platform.node()}, since {since}", encoding="utf-8")
        except Timeout as error:
            who = f" ({holder.read_text(encoding='utf-8')})" if holder.exists() else ""
            raise JournalLockedError(
                f"configuration `{configuration}` is being captured by another process{who}: "
                "wait until it ends, or stop it."
            ) from error
        except OSError as error:
            raise CaptureError(
                f"{path.parent} cannot be written ({error.strerror}): make room or grant access, then run again."
            ) from error
        held.callback(holder.unlink, missing_ok=True)
        yield


@contextmanager
def _pausing(campaign: Campaign) -> Iterator[Callable[[], bool]]:
    """Make the first Ctrl-C drain what is in flight and a second one stop at once."""
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

    loop.add_signal_handler(signal.SIGINT, press)
    try:
        yield lambda: pressed > 0
    except asyncio.CancelledError as error:
        if pressed > 1:
            raise KeyboardInterrupt from error
        raise
    finally:
        loop.remove_signal_handler(signal.SIGINT)
