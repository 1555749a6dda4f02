"""Kill a campaign at every commit boundary, for real, and say what is left: `python -m support.crash_points DIR`.

Each case is a child process, made by `fork`, that ends itself by SIGKILL before, within or after its n-th commit.
The judge lives in the same process; what it is asked is appended to a file, which outlives it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from darkcurrent.capture import campaign_state, read_journal
from darkcurrent.capture.campaign import Campaign
from darkcurrent.capture.journal import Journal
from darkcurrent.protocol.model import CaptureTable
from support.judges import MODEL, ScriptedJudge, reply
from support.studies import make_calls

HEADER = {"study": "s" * 64, "configuration": "judge", "identity": "i" * 64}
CALLS, TEXTS = make_calls(5, blocks=2)


def capture(folder: Path, in_flight: int, kill: tuple[str, int] | None) -> None:
    """Go through the schedule in this process; write every request to `asked`, every shown count to `shown`."""
    if kill:
        kill_at(*kill)
    asked, shown = (
        os.open(folder / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT) for name in ("asked", "shown")
    )

    async def answer(prompt: str) -> Any:
        await asyncio.sleep(int(prompt[-1]) % 3 * 0.001)
        return reply()

    def script(prompt: str) -> Any:
        os.write(asked, f"{prompt}\n".encode())
        return answer(prompt)

    async def run() -> None:
        with closing(Journal.open(folder / "journal" / "judge.sqlite", HEADER)) as opened:
            # The system outlives the process and keeps what was written, so that no case waits for the disk.
            opened._connection.execute("PRAGMA synchronous = OFF")
            table = CaptureTable(in_flight=in_flight)
            campaign = Campaign(
                CALLS,
                TEXTS,
                ScriptedJudge(script),
                opened,
                table,
                (MODEL,),
                lambda terminal: False,
                0.01,
                0,
                lambda progress: os.write(shown, f"{progress.done}\n".encode()),
            )
            await campaign.run({"identity": {}})

    asyncio.run(run())


def kill_at(moment: str, number: int) -> None:
    """Have this process end itself by SIGKILL before, within or after its n-th commit."""
    commit, append, count = Journal.commit, Journal._append, 0

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def killing_commit(self: Journal, rows: Any) -> None:
        nonlocal count
        if rows:
            count += 1
        if rows and count == number and moment == "before":
            die()
        commit(self, rows)
        if rows and count == number and moment == "after":
            die()

    def killing_append(*arguments: Any) -> str:
        chain = append(*arguments)
        if count == number and moment == "within":
            die()
        return chain

    Journal.commit = killing_commit  # type: ignore[method-assign]
    Journal._append = killing_append  # type: ignore[method-assign]


def in_child(folder: Path, in_flight: int, kill: tuple[str, int] | None) -> int:
    """Return how the child ended: 0 or minus the signal."""
    child = os.fork()
    if child == 0:
        try:
            capture(folder, in_flight, kill)
        except BaseException as error:  # noqa: BLE001 - whatever it is, this process ends here
            sys.stderr.write(f"{error!r}\n")
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def look(folder: Path) -> dict[str, Any]:
    """Return what is left in a folder."""
    path = folder / "journal" / "judge.sqlite"
    prompts = {call.call_id: TEXTS[call.prompt] for call in CALLS}
    summary = read_journal(path) if path.exists() else None
    shown = (folder / "shown").read_text().split() if (folder / "shown").exists() else []
    return {
        "asked": (folder / "asked").read_text().splitlines() if (folder / "asked").exists() else [],
        "shown": max(map(int, shown), default=0),
        "terminals": sorted(prompts[key] for key in summary.terminals) if summary else [],
        "ambiguous": sorted(prompts[key] for key in summary.ambiguous) if summary else [],
        "state": campaign_state(summary, len(CALLS)),
    }


def main() -> None:
    """Try every boundary at one and at three calls in flight; print a line per case."""
    for in_flight in (1, 3):
        for moment in ("before", "within", "after"):
            for number in range(1, 100):
                folder = Path(sys.argv[1]) / f"{in_flight}-{moment}-{number}"
                folder.mkdir(parents=True)
                ended = in_child(folder, in_flight, (moment, number))
                killed = look(folder)
                again = in_child(folder, in_flight, None) if ended else 0
                case = {
                    "in_flight": in_flight,
                    "moment": moment,
                    "number": number,
                    "ended": ended,
                    "again": again,
                }
                print(json.dumps({**case, "killed": killed, "resumed": look(folder)}))  # noqa: T201
                if ended == 0:
                    break  # there are no more commits


if __name__ == "__main__":
    main()
