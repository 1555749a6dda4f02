"""Calls, tokens, cost and time of each campaign."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from darkcurrent.errors import ProtocolError
from darkcurrent.planning.tokens import ANSWER_TOKENS, RULE, by_rule, by_tokenizer, prompt_bytes
from darkcurrent.protocol import Protocol
from darkcurrent.protocol.configurations import Configuration, HttpConfiguration, Name
from darkcurrent.protocol.model import Price
from darkcurrent.records import Call

__all__ = ["CampaignPlan", "Prices", "load_prices", "plan_campaigns"]

Prices = Mapping[str, Price]
"""Configuration to what a million of its tokens cost."""


@dataclass(frozen=True)
class CampaignPlan:
    """What one configuration's campaign takes.

    Attributes
    ----------
    arms : dict
        Arm to calls.
    prompt_tokens, completion_tokens : int or None
        Estimated; None where the backend has no tokens.
    most_tokens : int or None
        What no campaign can exceed: a token is at least one byte of the request's texts, and an answer has at most
        the decoder's `max_tokens`. It does not count what a chat template adds.
    counted : str or None
        How the prompt's tokens were found.
    cost, most_cost : float or None
        The same two in the currency of the prices; None without a price.
    seconds : float or None
        At the given rate; None without one.
    """

    configuration: str
    calls: int
    arms: dict[str, int]
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    most_tokens: int | None = None
    counted: str | None = None
    cost: float | None = None
    most_cost: float | None = None
    seconds: float | None = None


def plan_campaigns(
    protocol: Protocol,
    schedules: Mapping[str, Sequence[Call]],
    texts: dict[str, str],
    folder: Path,
    *,
    prices: Prices,
    rate: float | None = None,
    answer_tokens: int = ANSWER_TOKENS,
    tokenize: bool = False,
) -> list[CampaignPlan]:
    """Say of each configuration what its campaign takes.

    Parameters
    ----------
    schedules : mapping
        Configuration to its calls.
    texts : dict
        Every text by its digest.
    prices : mapping
        What a million tokens cost, by configuration.
    rate : float, optional
        Calls per second of one campaign, above 0.
    answer_tokens : int
        Tokens of an answer, 1 or more; never more than the decoder's `max_tokens`.
    tokenize : bool
        Whether servers that have a tokenizer are asked.
    """
    return [
        _campaign(
            configuration, schedules[configuration.name], texts, folder, prices, rate, answer_tokens, tokenize
        )
        for configuration in protocol.configuration
    ]


def _campaign(
    configuration: Configuration,
    calls: Sequence[Call],
    texts: dict[str, str],
    folder: Path,
    prices: Prices,
    rate: float | None,
    answer_tokens: int,
    tokenize: bool,
) -> CampaignPlan:
    name = configuration.name
    arms = dict(Counter(str(call.arm) for call in calls))
    seconds = None if rate is None else len(calls) / rate
    if not isinstance(configuration, HttpConfiguration):
        return CampaignPlan(name, len(calls), arms, seconds=seconds)
    sizes = [prompt_bytes(configuration, call, texts) for call in calls]
    if tokenize:
        prompt, counted = by_tokenizer(configuration, calls, texts, folder)
    else:
        prompt, counted = sum(by_rule(configuration, size) for size in sizes), RULE
    longest = configuration.decoder.max_tokens
    completion, most_completion = min(answer_tokens, longest) * len(calls), longest * len(calls)
    price = prices.get(name)
    return CampaignPlan(
        name,
        len(calls),
        arms,
        prompt_tokens=prompt,
        completion_tokens=completion,
        most_tokens=sum(sizes) + most_completion,
        counted=counted,
        cost=None if price is None else _cost(price, prompt, completion),
        most_cost=None if price is None else _cost(price, sum(sizes), most_completion),
        seconds=seconds,
    )


def _cost(price: Price, prompt: int, completion: int) -> float:
    return (prompt * price.prompt + completion * price.completion) / 1e6


def load_prices(path: Path) -> dict[str, Price]:
    """Read a table of prices: a TOML file with `NAME = { prompt = 0.15, completion = 0.60 }` for each configuration.

    Raises
    ------
    ProtocolError
        Where it cannot be read, or holds something else.
    """
    try:
        data = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ProtocolError(
            f"The prices {path} cannot be read ({error.strerror}): check the name."
        ) from error
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"The prices {path} are not valid TOML: {error}.") from error
    try:
        # In JSON's mode a whole number is a number too, as it is in a protocol.
        return TypeAdapter(dict[Name, Price]).validate_python(
            {name: _floats(value) for name, value in data.items()}
        )
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "[key]")
        raise ProtocolError(
            f"{path}: `{place}`: {first['msg'][0].lower()}{first['msg'][1:]}; a price is "
            "`{ prompt = 0.15, completion = 0.60 }`."
        ) from error


def _floats(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {
        key: float(one) if isinstance(one, int) and not isinstance(one, bool) else one
        for key, one in value.items()
    }
