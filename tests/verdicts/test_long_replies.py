"""No text makes reading long: every contract is linear in the length of the reply."""

from __future__ import annotations

import time

import pytest

from darkcurrent.verdicts import get_contract, parse_verdict, read_under_every

LENGTH = 100_000
# What makes careless readers backtrack, recurse or start over.
UNITS = [
    *("[", "{", '{"a":', '{"', '"', '{"a" "', '"\\', '{"a":1},', '{"a":1}', "[[", "[[A", "[[x]]", "]"),
    *(
        "```",
        "```\n",
        "``` \n \n",
        "~~~{",
        "<think>",
        "</think>",
        "<think></think>",
        " ",
        "\n",
        "\r\n ",
        "1 ",
        "9",
    ),
    *(
        "A",
        "a.",
        "Error",
        "Error:",
        "sorry ",
        "I'm sorry, ",
        "as an AI ",
        "\ud800",
        "\ufeff",
        "\x00",
        "\u2028",
    ),
]
STARTS = ["", '{"winner":"', '{"winner":', '{"a":[']


@pytest.mark.parametrize("start", STARTS)
def test_long_texts_are_read_in_linear_time(start: str) -> None:
    regex = get_contract("regex", pattern=r"(?s).*Output \((A|B|tie)\).*")
    for unit in UNITS:
        text = start + unit * (LENGTH // len(unit))
        began = time.process_time()
        read = [*read_under_every(text).values(), parse_verdict(text, regex)]
        took = time.process_time() - began
        assert took < 0.5, unit  # seven contracts; measured: a fifth of this at most
        assert {verdict.value for verdict in read} <= {None}, unit
