"""`darkcurrent simulate`."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Annotated

import typer

from darkcurrent.cli.common import Json, print_json, say
from darkcurrent.errors import UsageError

__all__ = ["command"]


def _shares(pairs: list[str] | None, option: str) -> dict[str, float]:
    """Read NAME=SHARE."""
    found = {}
    for pair in pairs or []:
        name, _, share = pair.rpartition("=")
        try:
            found[name] = float(share)
        except ValueError:
            name = ""
        if not name:
            raise UsageError(f"{option} {pair} is not NAME=SHARE: for example {option} 500=0.1.")
    return found


def command(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 0,
    study: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A frozen study whose right answers the judge knows."),
    ] = None,
    model: Annotated[str, typer.Option(metavar="NAME", help="The name it serves under.")] = "simulated",
    habit: Annotated[str, typer.Option(help="fair, tie, first, stable or one-sided.")] = "fair",
    dark_current: Annotated[
        float, typer.Option(metavar="SHARE", help="How often it chooses between identical texts.")
    ] = 0.0,
    utility: Annotated[float, typer.Option(metavar="SHARE", help="How often it chooses the target.")] = 1.0,
    weak: Annotated[
        list[str] | None, typer.Option(metavar="STRATUM=SHARE", help="Another utility; may be repeated.")
    ] = None,
    fenced: Annotated[float, typer.Option(metavar="SHARE", help="How often it fences its answer.")] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="Of everything planted.")] = 0,
    latency: Annotated[float, typer.Option(min=0.0, help="Seconds before every reply.")] = 0.0,
    fault: Annotated[
        list[str] | None, typer.Option(metavar="FAULT=SHARE", help="A planted fault; may be repeated.")
    ] = None,
    retry_after: Annotated[str, typer.Option(help="Of the fault 429-retry-after.")] = "1",
    as_json: Json = False,
) -> None:
    """Serve a simulated, OpenAI-compatible judge with planted properties and faults, until Ctrl-C."""
    from pydantic import ValidationError

    from darkcurrent.judges.simulated import FAULTS, Faults, Key, Properties, SimulatedJudge, SimulatedServer
    from darkcurrent.protocol import load_frozen

    try:
        properties = Properties.model_validate(
            {
                "habit": habit,
                "dark_current": dark_current,
                "utility": utility,
                "weak": _shares(weak, "--weak"),
                "fenced": fenced,
                "seed": seed,
            }
        )
        faults = Faults.model_validate(
            {
                "shares": _shares(fault, "--fault"),
                "latency": latency,
                "retry_after": retry_after,
                "seed": seed,
            }
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"This cannot be planted: {where}: {first['msg']}. Faults are {', '.join(FAULTS)}."
        ) from error
    key = Key.of(load_frozen(study / "frozen")) if study else Key()
    with SimulatedServer(SimulatedJudge(properties, key), faults, port=port, model=model) as server:
        if as_json:
            print_json({"base_url": server.url, "model": model})
        else:
            typer.echo(server.url)
        say(
            f"A simulated judge: no model, planted answers. base_url = {server.url}, model = {model}. Ctrl-C ends it."
        )
        ended = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: ended.set())
        ended.wait()
