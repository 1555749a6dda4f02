"""Every table of an archive, column by column: the allow-list of what may leave a study.

A column that is not listed here cannot be written, and a value that does not fit its column is refused on the way
out and on the way in. The JSON schemas in `schemas/` are made from this list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from darkcurrent.ledger import READINGS, SCHEMA
from darkcurrent.records import Call, Event, Intent, Item, Record, Terminal

__all__ = ["FORMAT", "NAME", "TABLES", "WORD", "Column", "check_allow_list", "row_schema"]

FORMAT: Final = "darkcurrent/archive/1"
"""The version of the format: files, columns, and the meaning of each."""

_DIGEST = r"^[0-9a-f]{64}$"
NAME = r"^(?:/?[^/\x00-\x1f\x7f])+/?$"
_FILE_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
WORD = r"^[A-Za-z0-9](?:/?[A-Za-z0-9._:+@-])*$"
_WORDS = r"^[A-Za-z0-9._+ -]*$"
_CODE = r"^[a-z][a-z0-9-]{0,40}$"
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\+00:00$"

Kind = Literal["string", "integer", "number", "boolean"]


@dataclass(frozen=True)
class Column:
    """What a column holds, and which values it may have.

    Attributes
    ----------
    what : str
        For a stranger, in one line.
    pattern : str or None
        For strings: what the whole value must match. RE2 and ECMAScript read it alike.
    values : tuple of str
        For strings: the only values, where there is a closed list.
    longest : int
        For strings, in characters.
    """

    what: str
    kind: Kind = "string"
    pattern: str | None = None
    values: tuple[str, ...] = ()
    nullable: bool = False
    longest: int = 200


def _digest(what: str, nullable: bool = False) -> Column:
    return Column(what, pattern=_DIGEST, nullable=nullable)


def _name(what: str, nullable: bool = False) -> Column:
    return Column(what, pattern=NAME, nullable=nullable)


def _word(what: str) -> Column:
    return Column(f"{what}; `sha256:` and a digest where it is no single word", pattern=WORD, nullable=True)


def _count(what: str, nullable: bool = False) -> Column:
    return Column(what, kind="integer", nullable=nullable)


_VERDICT = ("A", "B", "tie")
_CALL_ID = _digest("the call: the hash of everything that defines the request")
_CONFIGURATION = Column("whose call it is", pattern=_FILE_NAME)
_SEQ = _count("number of the row in the configuration's journal, from 1")
_AT = Column("time of day in UTC, for people", pattern=_TIME)
_ELAPSED = _count("the campaign's own time, in milliseconds over all its runs")

TABLES: Final[dict[str, dict[str, Column]]] = {
    "items": {
        "number": _count("place of the item in the frozen battery, from 0"),
        "id": _name("the item"),
        "stratum": _name("subset or family that resampling stays within"),
        "cluster": _name("items that depend on each other share one"),
        "prompt": _digest("the prompt"),
        "prompt_characters": _count("length of the prompt in code points"),
        "prompt_bytes": _count("length of the prompt in UTF-8"),
        "flags": Column("what a reader should know of its texts, in words", pattern=r"^[a-z -]*$"),
        "nested": Column(
            "the parts of the items, chosen before the first call, that it is in", pattern=_WORDS
        ),
    },
    "candidates": {
        "item": _name("the item"),
        "role": _name("who the text is, e.g. chosen"),
        "sha256": _digest("the text"),
        "characters": _count("its length in code points"),
        "bytes": _count("its length in UTF-8"),
    },
    "schedule": {
        "call_id": _CALL_ID,
        "position": _count("place in dispatch order, from 0"),
        "block": _count("temporal block"),
        "configuration": _CONFIGURATION,
        "criterion": Column("the named rubric", pattern=_FILE_NAME),
        "item": _name("the item"),
        "stratum": _name("its stratum"),
        "cluster": _name("its cluster"),
        "arm": Column("what is shown", pattern=_CODE),
        "null_stratum": Column("which kind of clone", pattern=_CODE, nullable=True),
        "order": Column(
            "order of the two texts; a clone has none", pattern=NAME, values=("AB", "BA", "IDENTICAL")
        ),
        "slot_a": _name("role of the text in slot A"),
        "slot_b": _name("role of the text in slot B"),
        "target": _name("role that a useful judge chooses; null where a tie is right", nullable=True),
        "rubric": _digest("the rubric"),
        "prompt": _digest("the prompt"),
        "text_a": _digest("the text in slot A"),
        "text_b": _digest("the text in slot B"),
        "step": _name("step of a ladder", nullable=True),
        "context": Column("whether a third candidate is shown", values=("absent", "present"), nullable=True),
        "third": _name("role of the third candidate", nullable=True),
        "text_c": _digest("the third candidate's text", nullable=True),
    },
    "intents": {
        "call_id": _CALL_ID,
        "configuration": _CONFIGURATION,
        "seq": _SEQ,
        "at": _AT,
        "elapsed_ms": _ELAPSED,
        "request_sha256": _digest("the exact bytes that were sent"),
        "refusals": _count("how often the service refused it without an observation"),
        "retries": _count("how often it was then sent again"),
    },
    "terminals": {
        "call_id": _CALL_ID,
        "configuration": _CONFIGURATION,
        "seq": _SEQ,
        "at": _AT,
        "elapsed_ms": _ELAPSED,
        "status": Column("how the call ended", values=("answered", "refused", "failed")),
        "http_status": _count("status of the reply", nullable=True),
        "finish": _word("why the server stopped"),
        "served_model": _word("name that the reply carries"),
        "fingerprint": _word("system fingerprint that the reply carries"),
        "reasoning": Column("whether the reply had reasoning apart from its content", kind="boolean"),
        "prompt_tokens": _count("tokens read, as reported", nullable=True),
        "completion_tokens": _count("tokens written, as reported", nullable=True),
        "latency_ms": Column("from sending to the last byte", kind="number", nullable=True),
        "response_sha256": _digest("the bytes that came"),
        "text_sha256": _digest("the answer's content; null where there was none", nullable=True),
        "kept": Column("whether there is a reply that can be read again", kind="boolean"),
        "value": Column("the verdict under the declared contract", values=_VERDICT, nullable=True),
        "reason": Column("why there is none", pattern=_CODE, nullable=True),
        **{
            column: Column(
                f"what the contract `{name}`, with its default options, reads in the kept reply",
                values=_VERDICT,
                nullable=True,
            )
            for name, column in READINGS.items()
        },
    },
    "events": {
        "configuration": _CONFIGURATION,
        "seq": _SEQ,
        "at": _AT,
        "elapsed_ms": _ELAPSED,
        "kind": Column("what happened to the campaign", values=("opened", "stopped", "paused", "handed-out")),
        "state": Column("state that the campaign ended in", pattern=r"^[A-Z_]{1,40}$", nullable=True),
        "darkcurrent": _word("version that opened the campaign"),
        "python": _word("version of Python that it ran on"),
        "machine": _count(
            "number of the machine, in the order in which the campaign met them, from 1", nullable=True
        ),
        "basis": Column(
            "whether who answers is a verified digest or a service's declaration",
            values=("verified digest", "service's declaration"),
            nullable=True,
        ),
    },
}
"""Table to its columns, in the order of the file."""

_LEFT_BEHIND: Final[dict[type[Record], set[str]]] = {
    Call: set(),
    Intent: set(),
    Terminal: {"detail", "text", "gateway", "body"},  # the digests of `text` and `body` are columns
    Event: {"detail"},  # of it, only state, basis, versions and a number for the machine are columns
    Item: {"texts", "facts"},  # the candidates have a table
}
_TABLE_OF: Final[dict[type[Record], str]] = {
    Call: "schedule",
    Intent: "intents",
    Terminal: "terminals",
    Event: "events",
    Item: "items",
}
_DERIVED: Final = {"ending", "winner", "repetition"}
"""Columns of the ledger that follow from others."""


def check_allow_list() -> None:
    """Make sure that every field of every record, and every column of the ledger, is listed: to leave, or to stay.

    Raises
    ------
    AssertionError
        Where a field was added and nobody has said whether it may leave.
    """
    for kind, table in _TABLE_OF.items():
        unknown = kind.model_fields.keys() - TABLES[table].keys() - _LEFT_BEHIND[kind]
        assert not unknown, (
            f"archive/columns.py does not say whether {kind.__name__}.{min(unknown)} may leave a study"
        )
    unknown = SCHEMA.keys() - TABLES["schedule"].keys() - TABLES["terminals"].keys() - _DERIVED
    assert not unknown, (
        f"archive/columns.py does not say whether the ledger's `{min(unknown)}` may leave a study"
    )


def row_schema(table: str) -> dict[str, Any]:
    """Return the JSON schema of one row of a table."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{FORMAT}/{table}",
        "type": "object",
        "properties": {name: _property(column) for name, column in TABLES[table].items()},
        "required": list(TABLES[table]),
        "additionalProperties": False,
    }


def _property(column: Column) -> dict[str, Any]:
    described: dict[str, Any] = {
        "description": column.what,
        "type": [column.kind, "null"] if column.nullable else column.kind,
    }
    if column.values:
        described["enum"] = [*column.values, *([None] if column.nullable else [])]
    elif column.kind == "string":
        described |= {"pattern": column.pattern, "maxLength": column.longest}
    elif column.kind in ("integer", "number"):
        described["minimum"] = 0
    return described
