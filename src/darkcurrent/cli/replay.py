"""`darkcurrent replay`."""

from __future__ import annotations

from darkcurrent.cli.common import Json, console, print_json, say
from darkcurrent.cli.verify import Bag, facts_of, refuse
from darkcurrent.errors import IntegrityError

__all__ = ["command"]


def command(bag: Bag, as_json: Json = False) -> None:
    """Evaluate an archive again from its tables alone; the result must have the same digest, byte for byte."""
    from darkcurrent.archive.replay import replay

    try:
        found, analysis = replay(bag)
    except IntegrityError as error:
        refuse(error, as_json)
        raise
    if as_json:
        print_json(
            {"ok": True, **facts_of(found), "analysis": analysis.model_dump(mode="json", by_alias=True)}
        )
        return
    from darkcurrent.reports import terminal_report

    terminal_report(analysis, console(), full=False)
    say("")
    say(f"The same result, byte for byte: {found.result_sha256}")
