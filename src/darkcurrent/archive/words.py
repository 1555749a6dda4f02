"""What stands in an archive in the place of words that a server or a person chose."""

from __future__ import annotations

import re
from typing import Final, overload

from darkcurrent.archive.columns import WORD
from darkcurrent.canonical import digest_text
from darkcurrent.protocol.public import has_address

__all__ = ["NOT_HERE", "server_word"]

NOT_HERE: Final = "the journal says why; an archive does not repeat it"
"""Stands for a free text of a journal."""

_WORD: Final = re.compile(WORD)


@overload
def server_word(value: str) -> str: ...
@overload
def server_word(value: None) -> None: ...
def server_word(value: str | None) -> str | None:
    """Return a name that a server chose where it is one short word and no address, else its digest."""
    if value is None or (len(value) <= 120 and _WORD.fullmatch(value) and not has_address(value)):
        return value
    return f"sha256:{digest_text(value)}"
