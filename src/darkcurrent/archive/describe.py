"""What an archive tells a stranger in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from darkcurrent.archive.layout import SOURCES
from darkcurrent.printable import printable

__all__ = ["datasheet", "readme"]

_README = """# {study}: an archive of an audit of LLM judges

This is a BagIt bag (RFC 8493, SHA-256 only) in the format `{format}`. It holds what a study asked and what came back, as
tables **without any text**: no prompt, no candidate, no rubric, no reply.{texts}

Check it, and compute every number again:

    pip install darkcurrent
    darkcurrent verify THIS_FOLDER     # checksums, joins, counts and bounds by a second way
    darkcurrent replay THIS_FOLDER     # the whole analysis again; its digest must be the one below

- study digest, fixed before the first call: `{study_digest}`
- digest of the result: `{result_sha256}`
- made with darkcurrent {version}

| file | holds |
|---|---|
| `data/report.html`, `data/report.md` | the report, for people |
| `data/analysis.json` | every number of it, rounded to seven digits (RFC 8785) |
| `data/archive.json` | this format's version, digests, versions of software, what was declared |
| `data/frozen/manifest.json` | the SHA-256 of every frozen file; the study digest is the digest of this table |
| `data/frozen/public.json` | thresholds, methods, criteria, configurations: one of the frozen files |
| `data/tables/*.parquet` | items, candidates, schedule, intents, terminals, events |
| `data/schemas/*.json` | a JSON schema of one row of each table, with what each column means |
| `data/datasheet.md` | what was collected, when, how, and what it must not be used for |

A digest of a short or known text can be found by trying: it proves a text, and does not hide one.
"""


def readme(facts: Mapping[str, Any]) -> str:
    """Return the first page that a stranger reads."""
    added = facts["declared"]["texts"]
    texts = ""
    if added:
        named = ", ".join(f"{source} ({_safe(licence)})" for source, licence in sorted(added.items()))
        texts = (
            f"\nThese texts were added on purpose, under the licence in brackets, in `data/texts/`: {named}."
        )
    return _README.format(**facts, version=facts["software"]["darkcurrent"], texts=texts)


def datasheet(facts: Mapping[str, Any], public: Mapping[str, Any], frames: Mapping[str, pl.DataFrame]) -> str:
    """Return the datasheet: motivation, composition, collection, uses, distribution."""
    declared, battery, rows = facts["declared"], public["battery"], facts["rows"]
    texts = declared["texts"]
    sources = declared["sources"] or ["not declared"]
    lines = [
        f"# Datasheet of {_safe(declared['title'] or facts['study'])}",
        "",
        "## Why it was made",
        "",
        "To find out whether LLM judges give valid verdicts, whether they prefer one of two identical texts, and whether they",
        "choose a declared target. The three are answered apart.",
        "",
        "## What is in it",
        "",
        f"- {battery['items']} items in {battery['strata']} strata from the source `{battery['source']}`; "
        f"{battery['refused']} rows or arms were refused.",
        f"- {rows['schedule']} scheduled calls of {len(public['configurations'])} configurations under "
        f"{len(public['criteria'])} criteria; "
        f"{rows['intents']} were sent and {rows['terminals']} have an end on record.",
        *(f"- {source}: {_added(source, texts)}" for source in SOURCES),
        "",
        "## How it was collected",
        "",
        f"- First call {_edge(frames, first=True)}, last {_edge(frames, first=False)}, by the clock of the machine.",
        *(
            f"- Configuration `{_safe(each['name'])}`: backend `{_safe(each['backend'])}`, contract `{_safe(each['contract'])}`."
            for each in public["configurations"]
        ),
        "- Every scheduled call was sent once, and what came back is counted, valid or not.",
        "",
        "## Where it comes from, as its maker declared",
        "",
        *(f"- Source: {_safe(source)}" for source in sources),
        f"- Licence of this archive: {_safe(declared['licence'] or 'not declared')}",
        "",
        "## What it is not for",
        "",
        "- It says nothing of items, configurations or rubrics that are not in it, and a passed gate is no certificate.",
        "- Digests are of texts that may be under the rights of others; they give no right to those texts.",
        "",
    ]
    return "\n".join(lines)


def _added(source: str, texts: Mapping[str, str]) -> str:
    return f"texts added, licence: {_safe(texts[source])}" if source in texts else "digests only"


def _edge(frames: Mapping[str, pl.DataFrame], *, first: bool) -> str:
    times = frames["intents"]["at"].sort()
    return "never" if times.is_empty() else str(times[0 if first else -1])


def _safe(text: str) -> str:
    """Return words of a person in one line that no reader takes for markup."""
    return "".join(
        f"\\{sign}" if sign in "\\`*_[]<>|#&~!" else sign for sign in printable(text).replace("\n", " ")
    )
