"""The one call: `darkcurrent.audit`."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from darkcurrent.auditing.judge import Asked, asked_of
from darkcurrent.auditing.progress import progress
from darkcurrent.auditing.recorded import import_recorded
from darkcurrent.auditing.result import Audit
from darkcurrent.auditing.rows import is_rows
from darkcurrent.auditing.study import AUDITS, Inputs, freeze_in, freeze_new
from darkcurrent.capture import OPEN
from darkcurrent.errors import UsageError
from darkcurrent.printable import printable, shortened
from darkcurrent.study import Study

if TYPE_CHECKING:
    from darkcurrent.capture import Progress

__all__ = ["audit"]


def audit(
    judge: Any,
    pairs: Any,
    *,
    journal: str | Path | Literal["auto"] | None = "auto",
    name: str | None = None,
    criteria: str | Mapping[str, str] = "neutral",
    columns: Mapping[str, Any] | None = None,
    clone_threshold: float | None = 0.05,
    utility_threshold: float | None = 0.75,
    in_flight: int = 1,
    protocol: Mapping[str, Mapping[str, Any]] | None = None,
) -> Audit:
    """Audit a judge on pairs: does it answer, does it tie identical texts, does it choose the right one?

    Parameters
    ----------
    judge : callable, mapping, configuration, or recorded verdicts
        A callable `(prompt, a, b)`, also an asynchronous one, that returns `"A"`, `"B"` or `"tie"`; any other
        answer, and an exception, is invalid and counted. Or a `[[configuration]]` of a protocol, as a dict or as
        its model. Or verdicts that are recorded already, as a path, a list of dicts or a DataFrame with the columns
        `id`, `order` (`AB` where the chosen text stood in slot A, `BA`, or `IDENTICAL` where it stood in both) and
        `verdict` (`A`, `B`, `tie`, or null); these are counted and described, and never graded.
    pairs : path, list of dict, or DataFrame
        With `prompt`, `chosen`, `rejected` and, where there are any, `id`, `stratum` and `cluster`. A DataFrame may
        be one of polars or of pandas.
    journal : path, "auto" or None
        The study's folder. What is frozen there is never overwritten: the same call goes on where it stopped, or
        returns what is there; another one is an error. `"auto"` is a new folder in `darkcurrent-audits`, named on
        stderr; an interrupted audit of exactly the same is gone on with there, where the judge's bytes are known.
        None keeps nothing, so that an interruption loses every answer.
    name : str, optional
        What the judge is called in tables; its own name where it has one.
    criteria : str or mapping
        The name of a rubric that ships with darkcurrent, the text of one, or several by the names of their criteria.
        A callable is not shown it.
    columns : mapping, optional
        Where columns have other names: as `[battery.columns]` of a protocol.
    clone_threshold, utility_threshold : float or None
        What the gates ask for; None is not graded.
    in_flight : int
        Calls at the same time.
    protocol : mapping, optional
        Further keys of a protocol's tables, e.g. `{"capture": {"timeout_seconds": 30}, "schedule": {"seed": 7}}`.

    Returns
    -------
    Audit

    Raises
    ------
    UsageError
        Where an argument, a row or a file cannot be used.
    CaptureError
        Where an endpoint cannot be reached, or a journal cannot be written.
    KeyboardInterrupt
        After Ctrl-C, once what was in flight has been written down.

    Notes
    -----
    It writes the same files as the commands do, and every one of them can be used on the folder afterwards. Where an
    event loop runs already, as in a notebook, the capture runs in a thread with a loop of its own; an asynchronous
    judge is awaited there. The campaign ends early once more answers are invalid than may be: it is HOLD then. See
    `Audit` for what a passed gate does not show.

    Examples
    --------
    >>> import darkcurrent
    >>> pairs = [{"prompt": f"Is {n} even?", "chosen": "yes", "rejected": "no"} for n in range(0, 160, 2)]
    >>> def judge(prompt, a, b):
    ...     return "A" if a == "yes" else "B"
    >>> audit = darkcurrent.audit(judge, pairs, journal=None)
    >>> print("\\n".join(repr(audit).splitlines()[:4]))
    May this judge be used?
    configuration  criterion    valid           null  Holm p        utility  result
    ──────────────────────────────────────────────────────────────────────────────────────────
    judge          neutral    240/240  80/80 [1.000]   1.000  1.000 [1.000]  utility gate only
    """
    if is_rows(judge):
        return _recorded(judge, pairs, journal, columns or {}, name or "recorded")
    asked = asked_of(judge, name)
    gates = {"clone_threshold": clone_threshold, "utility_threshold": utility_threshold}
    tables: dict[str, dict[str, Any]] = {
        "schedule": {"seed": 1},
        "capture": {"in_flight": in_flight, "stop_when_held": True},
        "gates": {key: value for key, value in gates.items() if value is not None},
    }
    for key, value in (protocol or {}).items():
        if key in ("format", "configuration", "criteria"):
            raise UsageError(f"`protocol` may not hold `{key}`: the call itself says it.")
        tables.setdefault(key, {}).update(value)
    inputs = Inputs(asked.table, pairs, criteria, columns or {}, tables)
    if journal is None:
        with tempfile.TemporaryDirectory(prefix="darkcurrent-") as temporary:
            study = inputs.freeze(Path(temporary))
            _capture(study, asked)
            return Audit.of(study, kept=False)
    if journal == "auto":
        # What is not known by its bytes may have changed: its earlier answers are not taken for new ones.
        study = freeze_new(inputs, Path(AUDITS), resumes=asked.function is None)
        sys.stderr.write(
            f"darkcurrent: the audit is kept in {study.folder}; journal={str(study.folder)!r} goes on there.\n"
        )
    else:
        study = freeze_in(inputs, Path(journal))
    _capture(study, asked)
    return Audit.of(study, kept=True)


def _recorded(verdicts: Any, pairs: Any, journal: Any, columns: Mapping[str, Any], name: str) -> Audit:
    if isinstance(verdicts, str) and not Path(verdicts).suffix and not Path(verdicts).exists():
        raise UsageError(
            f"`judge` is the text {printable(shortened(verdicts, 60))!r}, and a text is the path of recorded verdicts: "
            'for a model give its configuration, e.g. {"backend": "ollama", "model": "qwen3:8b"}.'
        )
    if journal in (None, "auto"):  # nothing was asked that could be lost
        with tempfile.TemporaryDirectory(prefix="darkcurrent-") as temporary:
            return Audit.of(
                import_recorded(verdicts, pairs, columns, name, Path(temporary, name)), kept=False
            )
    return Audit.of(import_recorded(verdicts, pairs, columns, name, Path(journal)), kept=True)


def _capture(study: Study, asked: Asked) -> None:
    if study.state(asked.name)[0] not in OPEN:
        return
    with progress(asked.name) as show:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            study.run(asked.name, show, asked.function)
        else:
            _in_a_thread(lambda report: study.run(asked.name, report, asked.function), show)


class _Interrupted(Exception):
    """A person wants an end: what is in flight is waited for and written down."""


def _in_a_thread(
    run: Callable[[Callable[[Progress], None]], object], show: Callable[[Progress], None]
) -> None:
    """Run a capture beside the loop of this thread, which shows how far it is and hears Ctrl-C."""
    latest: list[Progress] = []
    failed: list[BaseException] = []
    # Python 3.11 takes a thread for ended whose `join` Ctrl-C interrupts, so that it is not waited for by that.
    ends, ended = threading.Event(), threading.Event()

    def report(state: Progress) -> None:
        latest[:] = [state]
        if ends.is_set():
            raise _Interrupted

    def work() -> None:
        try:
            run(report)
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            failed.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=work, name="darkcurrent", daemon=True)
    thread.start()
    task = asyncio.current_task()
    try:
        while not ended.wait(0.1):
            if latest:
                show(latest[0])
            if task is not None and task.cancelling():  # so `asyncio.run` hands on the first Ctrl-C
                raise asyncio.CancelledError
    except (KeyboardInterrupt, asyncio.CancelledError):
        ends.set()
        ended.wait()  # a second Ctrl-C does not wait
        raise
    if failed:
        raise failed[0]
    if latest:
        show(latest[0])
