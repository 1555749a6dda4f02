"""Kill campaigns of 300 calls again and again, and look at what is left: `python -m support.torture DIR KILLS [GROUP]`.

The campaign runs in a child made by `fork`; this process, which has one thread, waits until the child has
acknowledged so many calls, then a random moment more, and kills it with SIGKILL. The server is a process of its
own, which keeps account of what it was asked. All moments come from a seed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from darkcurrent.capture import campaign_state, journal_path, limits, read_journal
from darkcurrent.capture.journal import Journal
from darkcurrent.judges import openai_chat, transport
from darkcurrent.records import Intent, Terminal
from darkcurrent.study import Study
from support.crash_points import kill_at
from support.studies import command, program, study_with

__all__ = ["CALLS", "GROUPS", "Account", "account_of", "serving", "torture"]

_LOADED = (openai_chat, transport)
"""Loaded here once, and not again in each child."""

CALLS = 300
_KILLS_PER_CAMPAIGN = 20


@dataclass
class Account:
    """What was done to campaigns, and what was wrong afterwards: an empty list, if all is well."""

    in_flight: int
    faults: bool
    campaigns: int = 0
    kills: int = 0
    ambiguous: int = 0
    refusals: int = 0
    complete: int = 0
    requests: int = 0
    wrong: list[str] = field(default_factory=list)

    def expect(self, holds: bool, what: str) -> None:
        """Take note of what does not hold."""
        if not holds:
            self.wrong.append(f"campaign {self.campaigns}, kill {self.kills}: {what}")


@contextmanager
def serving(*options: object) -> Iterator[str]:
    """Run `darkcurrent simulate`; yield its base address."""
    arguments = command("simulate", "--model", "planted-1", *options)
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def torture(
    folder: Path, url: str, account: Account, kills: int, seed: int, *, boundaries: bool = False
) -> None:
    """Kill campaigns until there were so many kills; each campaign is brought to its end and looked at.

    With `boundaries` the child kills itself before, within or after its third commit, so that the kills walk
    through the commits of a campaign; otherwise it is killed from outside at random moments.
    """
    draw = random.Random(seed)
    wanted = kills
    while account.kills < wanted:
        account.campaigns += 1
        study = _study(
            folder / f"{account.in_flight}-{account.faults}-{account.campaigns}", url, account, draw
        )
        acknowledged = 0
        for kill in range(CALLS if boundaries else _KILLS_PER_CAMPAIGN):
            if account.kills == wanted:
                break
            if boundaries:
                ended, said = _run(study, None, 0.0, (("before", "within", "after")[kill % 3], 3))
            else:
                until = acknowledged + draw.randint(0, 2 * CALLS // _KILLS_PER_CAMPAIGN)
                ended, said = _run(study, until, draw.uniform(0, 0.004), None)
            if ended == 0:
                break
            account.expect(ended == -signal.SIGKILL, f"the child ended with {ended}")
            account.kills += 1
            before, acknowledged = acknowledged, max(acknowledged, said)
            _look_after_a_kill(study, account, acknowledged, kill + 1)
            account.expect(acknowledged >= before, "acknowledged calls went back")
        ended, _ = _run(study, None, 0.0, None)
        account.expect(ended == 0, f"the last run ended with {ended}")
        _look_at_the_end(study, url, account)
        shutil.rmtree(study.folder)


def _study(folder: Path, url: str, account: Account, draw: random.Random) -> Study:
    # A model name of its own gives each campaign requests of its own, whatever it is that serves.
    name = f"asked-{account.in_flight}-{account.campaigns}-{draw.randrange(10**9)}"
    configuration = (
        f'backend = "openai-chat"\nmodel = "{name}"\naccepted_models = ["planted-1"]\nbase_url = "{url}"'
    )
    capture = f'in_flight = {account.in_flight}\non_rate_limit = "{"wait" if account.faults else "stop"}"'
    return study_with(folder, configuration, capture, items=CALLS // 3)


def _run(study: Study, until: int | None, moment: float, boundary: tuple[str, int] | None) -> tuple[int, int]:
    """Capture in a child, and kill it once it has acknowledged `until` calls; return its end and what it said last."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _end_with(lambda: _capture(study, writing, boundary))
    os.close(writing)
    said = 0
    with os.fdopen(reading) as lines:
        for line in lines:
            said = int(line)
            if until is not None and said >= until:
                time.sleep(moment)
                os.kill(child, signal.SIGKILL)
                until = None
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def _end_with(work: Callable[[], object]) -> None:
    try:
        work()
    except BaseException as error:  # noqa: BLE001 - whatever it is, this process ends here
        os.write(2, f"{error!r}\n".encode())
        os._exit(1)
    os._exit(0)


def _capture(study: Study, acknowledge: int, boundary: tuple[str, int] | None) -> None:
    limits._FIRST_SECONDS = 0.002  # a refusal is not waited for in earnest
    if os.environ.get("TORTURE_SYNC") != "1":
        # The system outlives the process and keeps what was written, so that no kill waits for the disk.
        opened = Journal.open.__func__  # type: ignore[attr-defined]

        def open_without_sync(cls: type[Journal], *arguments: Any) -> Journal:
            journal: Journal = opened(cls, *arguments)
            journal._connection.execute("PRAGMA synchronous = OFF")
            return journal

        Journal.open = classmethod(open_without_sync)  # type: ignore[assignment, method-assign]
    if boundary is not None:
        kill_at(*boundary)
    study.run("judge", lambda progress: os.write(acknowledge, f"{progress.done}\n".encode()))


def _look_after_a_kill(study: Study, account: Account, acknowledged: int, kills: int) -> None:
    path = journal_path(study.folder, "judge")
    if not path.exists():
        account.expect(acknowledged == 0, "a journal with acknowledged calls is gone")
        return
    with closing(sqlite3.connect(path)) as connection:
        account.expect(connection.execute("PRAGMA integrity_check").fetchone() == ("ok",), "integrity_check")
    summary = read_journal(path)  # follows the chain
    account.expect(len(summary.terminals) >= acknowledged, "an acknowledged terminal is lost")
    account.expect(
        len(summary.ambiguous) <= kills * account.in_flight, "more ambiguous calls than were in flight"
    )


def _look_at_the_end(study: Study, url: str, account: Account) -> None:
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/simulated", timeout=30) as answer:
        served = json.load(answer)
    rows: list[Any] = []
    summary = read_journal(journal_path(study.folder, "judge"), rows.append)
    intents = {row.request_sha256: row.call_id for row in rows if isinstance(row, Intent)}
    answered = {row.call_id for row in rows if isinstance(row, Terminal) and row.status == "answered"}
    asked = {sha256: count for sha256, count in served["asked"].items() if sha256 in intents}
    observed = {sha256: count - served["refused"].get(sha256, 0) for sha256, count in asked.items()}
    account.expect(max(observed.values()) == 1, "a call was observed twice")
    account.expect(
        summary.terminals == answered, "a call ended without an answer, on a server without faults"
    )
    lost = {intents[sha256] for sha256, count in observed.items() if count} - answered
    account.expect(lost <= summary.ambiguous, "an answer that the server gave is lost, and not as ambiguous")
    scheduled = {call.call_id for call in study.frozen.schedule("judge")}
    account.expect(
        summary.terminals | summary.ambiguous == scheduled, "a scheduled call has neither end nor intent"
    )
    account.expect(not summary.terminals & summary.ambiguous, "a call is both")
    refusals = sum(served["refused"].get(sha256, 0) for sha256 in asked)
    account.expect(sum(summary.refusals.values()) <= refusals, "a refusal that the server did not give")
    state = "PARTIAL_HOLD_TRANSPORT" if summary.ambiguous else "COMPLETE"
    account.expect(campaign_state(summary, CALLS) == state, "the state does not tell of the ambiguous calls")
    if account.campaigns == 1:
        # In a process of its own: this one stays without threads.
        (campaign,) = json.loads(program("analyze", study.folder, "--json").stdout)["campaigns"]
        account.expect(
            campaign["ambiguous"] == len(summary.ambiguous), "the analysis counts other ambiguous calls"
        )
        account.expect(
            (campaign["state"] == "HOLD") == bool(summary.ambiguous), "ambiguous calls are no HOLD"
        )
    account.ambiguous += len(summary.ambiguous)
    account.refusals += sum(summary.refusals.values())
    account.complete += not summary.ambiguous
    account.requests += sum(asked.values())


GROUPS: dict[str, tuple[int, bool, bool]] = {
    "one in flight": (1, False, False),
    "sixteen in flight": (16, False, False),
    "one in flight, at commits": (1, False, True),
    "sixteen in flight, at commits": (16, False, True),
    "four in flight, some refused": (4, True, False),
}
"""Name to requests in flight, whether the server refuses some, and whether the kills are at commits."""


def account_of(name: str, folder: Path, kills: int) -> Account:
    """Kill the campaigns of a group."""
    in_flight, faults, boundaries = GROUPS[name]
    account = Account(in_flight, faults)
    refusals = ("--fault", "429=0.1", "--fault", "429-retry-after=0.1", "--retry-after", "0")
    with serving(*(refusals if faults else ())) as url:
        torture(folder, url, account, kills, seed=list(GROUPS).index(name), boundaries=boundaries)
    return account


def main() -> None:
    """Print an account per group, one group where its name is given; end with 1 if anything was wrong."""
    folder, kills = Path(sys.argv[1]), int(sys.argv[2])
    wrong = False
    for name in sys.argv[3:] or GROUPS:
        begun = time.monotonic()
        account = account_of(name, folder, kills)
        seconds = round(time.monotonic() - begun, 1)
        print(json.dumps({"group": name, "seconds": seconds, **asdict(account)}), flush=True)  # noqa: T201
        wrong |= bool(account.wrong)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
