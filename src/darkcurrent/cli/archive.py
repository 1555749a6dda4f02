"""`darkcurrent archive`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from darkcurrent.cli.common import Folder, Json, print_json, say, study_of
from darkcurrent.errors import UsageError

__all__ = ["command"]


def command(
    folder: Folder,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="BAG", help="A new folder, or a file that ends with .zip or .tar.zst."
        ),
    ],
    title: Annotated[str | None, typer.Option("--title", help="What the archive is called.")] = None,
    licence: Annotated[str | None, typer.Option("--licence", help="The licence of the archive.")] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source", metavar="TEXT", help="Where the items come from, with their licence; may be repeated."
        ),
    ] = None,
    with_texts: Annotated[
        list[str] | None,
        typer.Option(
            "--with-texts",
            metavar="SOURCE=LICENCE",
            help="Add the texts of a source (items, rubrics, replies) under a licence that allows it; may be repeated. "
            "Without this no text leaves.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write an archive that anybody can check: tables without texts, digests, analysis and report."""
    from darkcurrent.archive.pack import Declaration, pack

    declaration = Declaration(
        title=title,
        licence=licence,
        sources=tuple(source or ()),
        texts=dict(map(_with_licence, with_texts or ())),
    )
    facts = pack(study_of(folder), output, declaration)
    if as_json:
        print_json(facts)
        return
    rows = facts["rows"]
    say(f"Wrote {output}: {rows['schedule']} scheduled calls, {rows['terminals']} with an end.")
    say(f"Texts in it: {', '.join(sorted(declaration.texts)) or 'none'}.")
    say(f"Study digest  {facts['study_digest']}")
    say(f"Result digest {facts['result_sha256']}")
    say(f"Next: darkcurrent verify {output}, then darkcurrent replay {output}")


def _with_licence(wish: str) -> tuple[str, str]:
    source, _, licence = wish.partition("=")
    if not licence:
        raise UsageError(f"Texts leave only under a licence: write --with-texts {source}=LICENCE.")
    return source, licence
