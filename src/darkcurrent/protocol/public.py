"""The part of a frozen study that may be shown to anybody: `frozen/public.json`.

It is written at freezing and stands in the manifest, so that the study digest covers it: whoever holds an archive
without texts can still check thresholds, methods and identities against the digest that was fixed before the first
call. What may stand in it is listed here field by field; a field that nobody listed is an error, never a leak.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel

from darkcurrent.canonical import digest_text
from darkcurrent.protocol.model import Protocol
from darkcurrent.records import Item

__all__ = ["PUBLIC_FILE", "battery_counts", "has_address", "public_view", "word_or_digest"]

PUBLIC_FILE = "public.json"

_FORMAT = "darkcurrent/public/1"

_WORD = re.compile(r"[A-Za-z0-9](?:/?[A-Za-z0-9._:+@-])*")
"""A name of a model, an option, a checkpoint: no blank, and no `//` of an address."""

_ADDRESS = re.compile(
    r"(?:^|[/@])[A-Za-z0-9.-]+:[0-9]{2,5}(?:/|$)|(?:^|[^0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?:[^0-9.]|$)"
)
"""A host with its port, or an IPv4 address; what else names a host looks like any other word."""

_SHOWN: Final = "shown"
_HASHED: Final = "hashed"
_KEPT_BACK: Final = "kept back"

CONFIGURATION_FIELDS: Final[dict[str, str]] = {
    "name": _SHOWN,
    "backend": _SHOWN,
    "contract": _SHOWN,
    "contract_options": _SHOWN,
    "model": _SHOWN,
    "accepted_models": _SHOWN,
    "fingerprint": _SHOWN,
    "decoder": _SHOWN,
    "context": _SHOWN,
    "threads": _SHOWN,
    "cache_prompt": _SHOWN,
    "callable": _SHOWN,
    "described": _SHOWN,
    "source_sha256": _SHOWN,
    "properties": _SHOWN,
    "template": _HASHED,  # it is part of every prompt
    "base_url": _KEPT_BACK,
    "api_key_env": _KEPT_BACK,
    "ca_file": _KEPT_BACK,
    "model_path": _KEPT_BACK,
}
"""What becomes of each key of a configuration."""

PROTOCOL_FIELDS: Final[dict[str, str]] = {
    "schedule": _SHOWN,
    "capture": _SHOWN,
    "gates": _SHOWN,
    "analysis": _SHOWN,
    # These are shown in a form of their own, see `public_view`.
    "format": _KEPT_BACK,
    "study": _KEPT_BACK,
    "battery": _KEPT_BACK,
    "criteria": _KEPT_BACK,
    "configuration": _KEPT_BACK,
}
"""What becomes of each table of a protocol."""


def battery_counts(source: str, items: Sequence[Item], refused: int) -> dict[str, Any]:
    """Return what is shown of a battery, in counts."""
    flags = [flag for item in items for flag in item.flags]
    return {
        "source": source,
        "items": len(items),
        "strata": len({item.stratum for item in items}),
        "refused": refused,
        "flagged": {flag: flags.count(flag) for flag in sorted(set(flags))},
    }


def public_view(
    protocol: Protocol, configurations: Mapping[str, Mapping[str, Any]], items: Sequence[Item], refused: int
) -> dict[str, Any]:
    """Return what may be shown of a study: no text, address, path, or name of a secret.

    Parameters
    ----------
    protocol : Protocol
        What is declared.
    configurations : mapping
        Configuration name to its frozen identity: `{"digest", "artifacts", "rendering", ...}`.
    items : sequence of Item
        The battery's items, which are only counted.
    refused : int
        How many rows or arms were not taken.
    """
    return {
        "format": _FORMAT,
        "study": protocol.study.name,
        "criteria": [
            # A rubric that ships with the package is public; a file of one's own is a prompt.
            {"name": name, "rubric": criterion.rubric}
            for name, criterion in protocol.criteria.items()
        ],
        "configurations": [
            {
                **_shown(configuration, CONFIGURATION_FIELDS, f"configuration `{configuration.name}`"),
                "digest": identity["digest"],
                "artifacts": word_or_digest(identity.get("artifacts", {})),
                "rendering": word_or_digest(identity.get("rendering")),
            }
            for configuration in protocol.configuration
            for identity in [configurations[configuration.name]]
        ],
        "battery": {
            **battery_counts(protocol.battery.source, items, refused),
            "arms": list(protocol.battery.arms),
        },
        **_shown(protocol, PROTOCOL_FIELDS, "the protocol"),
    }


def _shown(table: BaseModel, fields: Mapping[str, str], where: str) -> dict[str, Any]:
    shown = {}
    for name, value in table.model_dump(mode="json").items():
        assert name in fields, f"{where}: nobody has said whether `{name}` may be shown in public.json"
        if name == "decoder":
            # Of `extra` nobody knows what a word is: a host, a route or a key can be one.
            value = {**value, "extra": word_or_digest(value["extra"], words=False)}
        if fields[name] == _SHOWN:
            shown[name] = word_or_digest(value)
        elif fields[name] == _HASHED:
            shown[name] = {"sha256": digest_text(value)}
    return shown


def word_or_digest(value: Any, *, words: bool = True) -> Any:
    """Return a JSON value in which every string that is no mere word is replaced by `{"sha256": ...}`.

    Numbers, truth values and null stay. A key of an object that is no word becomes its digest too. Without `words`,
    every string but a key is replaced.
    """
    if isinstance(value, str):
        return value if words and _is_word(value) else {"sha256": digest_text(value)}
    if isinstance(value, Mapping):
        return {
            key if _is_word(key) else digest_text(key): word_or_digest(each, words=words)
            for key, each in value.items()
        }
    if isinstance(value, Iterable):
        return [word_or_digest(each, words=words) for each in value]
    return value


def _is_word(text: str) -> bool:
    return len(text) <= 120 and _WORD.fullmatch(text) is not None and not has_address(text)


def has_address(text: str) -> bool:
    """Say whether a word holds what is plainly the address of a machine."""
    return _ADDRESS.search(text) is not None
