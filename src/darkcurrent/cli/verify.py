"""`darkcurrent verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from darkcurrent.cli.common import Json, print_json, say, study_of
from darkcurrent.errors import IntegrityError

if TYPE_CHECKING:
    from darkcurrent.archive.verify import Verified

__all__ = ["Bag", "command", "facts_of", "refuse"]

Bag = Annotated[Path, typer.Argument(metavar="BAG", help="An archive: a folder, a .zip or a .tar.zst.")]


def command(
    bag: Bag,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="DIR",
            help="The study that it was made of: build every request and read every reply again.",
        ),
    ] = None,
    authorities: Annotated[
        Path | None,
        typer.Option(
            "--timestamp-ca",
            metavar="PEM",
            help="The certificates that you trust for its time stamp, instead of those that it brings.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check an archive: checksums, schemas, joins, counts by SQL, bounds by a second implementation."""
    from darkcurrent.archive.verify import verify

    study = None if against is None else study_of(against)
    try:
        found = verify(bag, study, authorities)
    except IntegrityError as error:
        refuse(error, as_json)
        raise
    if as_json:
        print_json({"ok": True, **facts_of(found)})
        return
    for what, count in found.checks.items():
        say(f"  {count:>9}  {what}")
    calls = found.calls
    say(
        f"{calls['scheduled']} scheduled calls: {calls['terminal']} with one intent and one terminal, "
        f"{calls['ambiguous']} ambiguous, {calls['missing']} never sent."
    )
    say(found.commitment)
    say(f"Study digest  {found.study_digest}")
    say(f"{bag} is whole.")


def facts_of(found: Verified) -> dict[str, Any]:
    """Return what was found, as JSON values."""
    return {
        "study": found.study,
        "study_digest": found.study_digest,
        "result_sha256": found.result_sha256,
        "commitment": found.commitment,
        "calls": found.calls,
        "checks": found.checks,
    }


def refuse(error: IntegrityError, as_json: bool) -> None:
    """Say on stdout too why an archive is refused, where a program reads it."""
    if as_json:
        print_json({"ok": False, "reason": str(error)})
