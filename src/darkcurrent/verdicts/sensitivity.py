"""What every contract would have made of one reply: it describes a reply, and decides nothing."""

from __future__ import annotations

from darkcurrent.verdicts.reading import PLAIN_CONTRACTS, parse_verdict
from darkcurrent.verdicts.verdict import Verdict

__all__ = ["read_under_every"]


def read_under_every(
    text: str | None, finish_reason: str | None = "stop", *, reasoning_present: bool = False
) -> dict[str, Verdict]:
    """Read one reply under every contract that needs no declaration, each with its default options.

    Parameters
    ----------
    text, finish_reason, reasoning_present
        As for `parse_verdict`.

    Returns
    -------
    dict of str to Verdict
        By contract name, in the order of `CONTRACTS`; `regex` has no default pattern and is not among them.

    Notes
    -----
    A contract under which more replies are valid is not a better one: the judge was asked for the declared
    form, and a reply that only another contract reads is invalid. It shows what to declare next time.

    Examples
    --------
    >>> [name for name, verdict in read_under_every('{"winner":"A","why":"-"}').items() if verdict.value]
    ['json-field']
    """
    return {
        name: parse_verdict(text, contract, finish_reason, reasoning_present=reasoning_present)
        for name, contract in PLAIN_CONTRACTS.items()
    }
