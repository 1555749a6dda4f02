"""How many tokens a prompt has: by the served tokenizer where it can be asked, and else by a stated rule."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from pathlib import Path

from darkcurrent.errors import CaptureError
from darkcurrent.judges import open_judge
from darkcurrent.judges.http import RawJudge
from darkcurrent.judges.render import fill_template, render_messages
from darkcurrent.protocol.configurations import Configuration, HttpConfiguration, RawConfiguration
from darkcurrent.records import Call

__all__ = [
    "ANSWER_TOKENS",
    "BYTES_PER_TOKEN",
    "ENVELOPE_TOKENS",
    "RULE",
    "by_rule",
    "by_tokenizer",
    "prompt_bytes",
]

BYTES_PER_TOKEN = 3.5
"""UTF-8 bytes of a prompt for each token of it.

Measured by `benchmarks/bench_tokens.py` on 468 prompts of program pairs, Auto-J and RewardBench 2: the medians were
3.6 to 4.6, and 5 % to 95 % of prompts lay between 3.0 and 5.5, with the tokenizers of Gemma 3 and OpenAI's o200k and
cl100k. So the rule rather counts too many; in scripts other than Latin it may count too few.
"""

ENVELOPE_TOKENS = 12
"""What a chat template adds to a system and a user message, about."""

ANSWER_TOKENS = 12
"""A verdict in a closed form, e.g. `{"winner":"tie"}` and its end, about; a judge that reasons writes far more."""

RULE = f"one token for every {BYTES_PER_TOKEN:g} bytes of UTF-8, and {ENVELOPE_TOKENS} for a chat template"

_COUNTED = 200
"""So many prompts at most are sent to a tokenizer; they lie evenly spread over the schedule."""


def prompt_bytes(configuration: HttpConfiguration, call: Call, texts: dict[str, str]) -> int:
    """Return how many bytes of UTF-8 a model reads of a call, without what a chat template adds."""
    rubric, *shown = (texts[key] for key in call.shown)
    system, user = (message["content"] for message in render_messages(rubric, *shown))
    whole = (
        fill_template(configuration.template, system, user)
        if isinstance(configuration, RawConfiguration)
        else system + user
    )
    return len(whole.encode("utf-8", "surrogatepass"))


def by_rule(configuration: HttpConfiguration, size: int) -> int:
    """Return the estimated tokens of a prompt of so many bytes."""
    envelope = 0 if isinstance(configuration, RawConfiguration) else ENVELOPE_TOKENS
    return envelope + math.ceil(size / BYTES_PER_TOKEN)


def by_tokenizer(
    configuration: Configuration, calls: Sequence[Call], texts: dict[str, str], folder: Path
) -> tuple[int, str]:
    """Ask the server that will judge how many tokens the prompts have; makes no judge call.

    Returns
    -------
    tuple
        The tokens of all prompts, and how they were counted; by the rule where the backend has no tokenizer or it
        does not answer, and then that says so.
    """
    assert isinstance(configuration, HttpConfiguration)
    sizes = [prompt_bytes(configuration, call, texts) for call in calls]
    ruled = sum(by_rule(configuration, size) for size in sizes)
    step = max(1, math.ceil(len(calls) / _COUNTED))
    asked = calls[::step]

    async def count() -> list[int | None] | None:
        judge = open_judge(configuration, folder)
        if not isinstance(judge, RawJudge) or judge.tokenizer is None:
            return None
        async with judge:
            return [
                await judge.count_tokens(judge.request_bytes(*(texts[key] for key in call.shown)))
                for call in asked
            ]

    try:
        counts = asyncio.run(count())
    except CaptureError as error:
        return ruled, f"{RULE}: the tokenizer does not answer ({error})"
    if counts is None:
        return ruled, f"{RULE}: this backend has no tokenizer to ask"
    known = [(found, size) for found, size in zip(counts, sizes[::step], strict=True) if found is not None]
    if not known:
        return ruled, f"{RULE}: the tokenizer refused every prompt"
    found, size = (sum(column) for column in zip(*known, strict=True))
    if len(known) == len(calls):
        return found, "counted by the served tokenizer"
    return (
        math.ceil(found * sum(sizes) / size),
        f"counted by the served tokenizer on {len(known)} of {len(calls)} prompts, the others by their bytes",
    )
