"""How far a campaign is: a bar on a terminal, a line in a notebook, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from darkcurrent.capture import Progress

__all__ = ["in_notebook", "progress"]

Show = "Callable[[Progress], None]"


def in_notebook() -> bool:
    """Say whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")


@contextmanager
def progress(name: str) -> Iterator[Callable[[Progress], None]]:
    """Give a function that shows done / total, invalid so far, calls per second and time left, where somebody looks."""
    from rich.console import Console

    if in_notebook():
        yield _line(name)
        return
    talk = Console(stderr=True)
    if not talk.is_terminal:
        yield lambda state: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("invalid {task.fields[invalid]}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=talk, transient=True) as bar:
        task = bar.add_task(name, total=None, invalid=0, rate="")

        def show(state: Progress) -> None:
            speed = bar.tasks[0].speed
            rate = f"{speed:.1f} calls/s" if speed else ""
            bar.update(task, total=state.total, completed=state.done, invalid=state.invalid, rate=rate)

        yield show


def _line(name: str) -> Callable[[Progress], None]:
    """Return a function that shows one line below the cell, always the same one."""
    from IPython.display import display

    shown = display({"text/plain": name}, raw=True, display_id=True)

    def show(state: Progress) -> None:
        text = f"{name}: {state.done} of {state.total} calls, {state.invalid} invalid"
        bar = f'<progress value="{state.done}" max="{state.total}"></progress> {escape(text)}'
        shown.update({"text/plain": text, "text/html": bar}, raw=True)

    return show
