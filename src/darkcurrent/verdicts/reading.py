"""The one door to the contracts: by name or by object, with what the server says of its reply."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from darkcurrent.errors import UsageError
from darkcurrent.protocol.configurations import ConfigurationBase
from darkcurrent.verdicts.contract import Contract
from darkcurrent.verdicts.json_contracts import JsonField, Legacy, SoleObject
from darkcurrent.verdicts.pattern import Regex
from darkcurrent.verdicts.text_contracts import Bracket, Label, ScorePair
from darkcurrent.verdicts.verdict import Verdict, invalid

__all__ = ["CONTRACTS", "PLAIN_CONTRACTS", "contract_of", "get_contract", "is_plain", "parse_verdict"]

CONTRACTS: Final[dict[str, type[Contract]]] = {
    kind.name: kind for kind in (SoleObject, Legacy, Label, Bracket, JsonField, ScorePair, Regex)
}
"""Every contract by the name it has in a protocol."""

# OpenAI and its kin, then Anthropic. Every other finish reason, and none, leaves the decision to the text: a
# server that reports nothing has not said that its reply is cut.
_CUT = ("length", "max_tokens")
_FILTERED = ("content_filter", "refusal")


def get_contract(name: str, **options: Any) -> Contract:
    """Make the contract `name` with its declared options.

    Parameters
    ----------
    name : str
        A key of `CONTRACTS`.
    **options
        What the contract declares, by the names of its fields; `docs/contracts.md` lists them.

    Raises
    ------
    UsageError
        If there is no such contract or option, a required option is missing, or a value cannot be used.

    Examples
    --------
    >>> get_contract("sole-object").read('{"winner":"A"}')
    Verdict(value='A', reason=None)
    """
    kind = CONTRACTS.get(name)
    if kind is None:
        raise UsageError(f"There is no contract {name!r}: declare one of {', '.join(CONTRACTS)}.")
    known = {option.name: option for option in kind.options()}
    for option in options.keys() - known.keys():
        names = ", ".join(known) or "none"
        raise UsageError(f"Contract {name} has no option {option!r}: remove it (its options: {names}).")
    for option, field in known.items():
        if option not in options and field.default is field.default_factory is dataclasses.MISSING:
            raise UsageError(f"Contract {name} needs the option {option!r}: declare it.")
    return kind(**options)


PLAIN_CONTRACTS: Final[dict[str, Contract]] = {
    name: get_contract(name) for name in CONTRACTS if name != Regex.name
}
"""Every contract that can do without options, with its defaults."""


def is_plain(contract: Contract) -> bool:
    """Say whether a contract has its default options, so that its name alone says what it is."""
    return PLAIN_CONTRACTS.get(contract.name) == contract


def contract_of(configuration: ConfigurationBase) -> Contract:
    """Make the contract that a configuration declares.

    Raises
    ------
    UsageError
        Where there is no such contract, or it cannot take the options.
    """
    return get_contract(configuration.contract, **configuration.contract_options)


def parse_verdict(
    text: str | None,
    contract: str | Contract = "sole-object",
    finish_reason: str | None = "stop",
    *,
    reasoning_present: bool = False,
) -> Verdict:
    """Read one reply under a contract.

    Parameters
    ----------
    text : str or None
        The content of the reply, exactly as it was served; None when the server sent null. Lone surrogates
        are allowed. Content that is not text (a list of parts, a number) is invalid with `wrong-type`.
    contract : str or Contract
        A contract, or the name of one whose options all have defaults.
    finish_reason : str or None
        Why the server stopped, in its own words. `length` (Anthropic: `max_tokens`) makes the reply
        `truncated` and `content_filter` (Anthropic: `refusal`) makes it `filtered`, even where the text looks
        whole. Any other word, and None for a server that reports none, leaves the decision to the text.
    reasoning_present : bool
        Whether the server sent reasoning apart from the content. It matters only when the content is empty.

    Returns
    -------
    Verdict
        `.value` is "A", "B", "tie" or None; `.reason` is None or a code of `REASONS`: the most specific true
        one in the order that stands there.

    Raises
    ------
    UsageError
        If `contract` is a name that does not exist or needs options. No reply makes it raise.

    Examples
    --------
    >>> parse_verdict(' {"winner": "tie"} ')
    Verdict(value='tie', reason=None)
    >>> parse_verdict('{"winner": "A"}', finish_reason="length").reason
    'truncated'
    """
    if isinstance(contract, str):
        contract = PLAIN_CONTRACTS.get(contract) or get_contract(contract)
    if finish_reason != "stop":
        if finish_reason in _FILTERED:
            return invalid("filtered")
        if finish_reason in _CUT:
            return invalid("truncated")
    if not text or not isinstance(text, str) or text.isspace():
        return _nothing_to_read(text, reasoning_present)
    return contract.read(text)


def _nothing_to_read(text: object, reasoning_present: bool) -> Verdict:
    if text is not None and not isinstance(text, str):
        return invalid("wrong-type")
    if reasoning_present:
        return invalid("reasoning-only")
    return invalid("whitespace" if text else "empty")
