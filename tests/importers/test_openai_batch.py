"""OpenAI batch output: joined with its mapping, refused and expired requests kept, nothing dropped."""

from __future__ import annotations

import pytest

from darkcurrent.errors import BatteryError, UsageError
from darkcurrent.verdicts import get_contract
from support.imports import Imported, jsonl

CONTRACT = get_contract("sole-object")


def line(key, content='{"winner": "A"}', finish="stop", model="gpt-x", **message):
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": finish,
    }
    body = {"object": "chat.completion", "model": model, "choices": [choice]}
    return {"id": "b", "custom_id": key, "response": {"status_code": 200, "body": body}, "error": None}


def refused(key, status=400):
    response = {"status_code": status, "body": {"error": {"message": "too long"}}}
    return {"id": "b", "custom_id": key, "response": response, "error": None}


def expired(key, code="batch_expired"):
    return {"id": "b", "custom_id": key, "response": None, "error": {"code": code, "message": "no"}}


def mapping(tmp_path, *keys, **more):
    """Keys such as `one-AB`."""
    rows = [{"custom_id": key, "item": key.split("-")[0], "order": key.split("-")[1], **more} for key in keys]
    return jsonl(tmp_path / "mapping.jsonl", rows)


PAIRS = ("one-AB", "one-BA", "two-AB", "two-BA", "three-AB", "three-BA")


def test_replies_are_joined_and_nothing_is_dropped(tmp_path):
    output = jsonl(
        tmp_path / "out.jsonl",
        [
            line("one-BA", '{"winner": "B"}'),
            line("one-AB"),
            line("two-AB", '```{"winner": "A"}```'),
            refused("two-BA"),
        ],
    )
    errors = jsonl(tmp_path / "errors.jsonl", [expired("three-AB")])
    found = Imported(
        tmp_path / "s",
        "openai-batch",
        output,
        errors,
        mapping=mapping(tmp_path, *PAIRS, gold="first", stratum="maths"),
        contract=CONTRACT,
    )
    assert found.calls == [
        ("AB", "A", "first", None),
        ("BA", "B", "first", None),
        ("AB", None, None, "fenced"),
        ("BA", None, None, "request-refused"),
        ("AB", None, None, "missing"),
        ("BA", None, None, "missing"),
    ]
    campaign = found.analysis.campaigns[0]
    assert (campaign.configuration, campaign.terminal, campaign.missing, campaign.invalid) == (
        "gpt-x",
        4,
        2,
        2,
    )
    assert campaign.reasons[1] == "2 of 6 calls have no reply on record"
    assert campaign.served_models == ["gpt-x"]
    assert found.patterns("signal") == {"stable": 1, "invalid": 1, "incomplete": 1}
    # What is missing stays in the denominator: 2 of 6 calls chose the target.
    assert found.analysis.cells[0].signal.mean == pytest.approx(1 / 3)
    assert found.ledger["where"].to_list()[3:5] == ["out.jsonl:4", "errors.jsonl:1"]


@pytest.mark.parametrize(
    ("status", "reason"), [(400, "request-refused"), (429, "transport"), (500, "transport")]
)
def test_a_failed_request_has_the_reason_that_a_capture_would_give_it(tmp_path, status, reason):
    found = Imported(
        tmp_path / "s",
        "openai-batch",
        jsonl(tmp_path / "out.jsonl", [refused("one-AB", status), line("one-BA")]),
        mapping=mapping(tmp_path, "one-AB", "one-BA"),
        contract=CONTRACT,
    )
    assert found.calls[0] == ("AB", None, None, reason)


def test_every_request_missing_is_no_crash(tmp_path):
    output = jsonl(tmp_path / "out.jsonl", [expired("one-AB"), expired("one-BA", "batch_cancelled")])
    found = Imported(
        tmp_path / "s",
        "openai-batch",
        output,
        mapping=mapping(tmp_path, "one-AB", "one-BA", gold="first"),
        contract=CONTRACT,
    )
    assert found.analysis.campaigns[0].missing == 2
    assert found.analysis.cells[0].signal.mean == 0
    assert found.patterns("signal") == {"incomplete": 1}
    assert found.analysis.campaigns[0].configuration == "recorded"


def test_what_the_server_says_of_its_reply_counts(tmp_path):
    lines = [
        line("one-AB", finish="length"),
        line("one-BA", finish="content_filter"),
        line("two-AB", None, reasoning_content="hm"),
        line("three-AB", None, reasoning="hm"),
        line("two-BA", None),
    ]
    found = Imported(
        tmp_path / "s",
        "openai-batch",
        jsonl(tmp_path / "out.jsonl", lines),
        mapping=mapping(tmp_path, *PAIRS[:5]),
        contract=CONTRACT,
    )
    reasons = [reason for *_, reason in found.calls]
    assert reasons == ["truncated", "filtered", "reasoning-only", "empty", "reasoning-only"]


@pytest.mark.parametrize(
    ("lines", "keys", "message"),
    [
        (
            [line("one-AB"), line("one-AB")],
            PAIRS[:2],
            'out.jsonl:2 answers the `custom_id` "one-AB" as out.jsonl:1 does',
        ),
        (
            [line("one-AB")],
            ("one-AB", "one-AB"),
            'mapping.jsonl:2 names the `custom_id` "one-AB" a second time',
        ),
        ([line("other-AB")], PAIRS[:2], "out.jsonl:1 has a `custom_id` that"),
        ([{"custom_id": "one-AB", "response": None, "error": None}], PAIRS[:2], "out.jsonl:1 has neither"),
        ([{"custom_id": "one-AB"}], PAIRS[:2], "out.jsonl:1 has no `response`"),
        (
            [line("one-AB"), line("one-BA", model="other")],
            PAIRS[:2],
            "Several models answered (gpt-x, other)",
        ),
        ([line("one-AC")], ("one-AC",), 'out.jsonl:1: `order` is "AC", and neither'),
    ],
)
def test_bad_input_is_named(tmp_path, lines, keys, message):
    output = jsonl(tmp_path / "out.jsonl", lines)
    with pytest.raises(BatteryError) as caught:
        Imported(tmp_path / "s", "openai-batch", output, mapping=mapping(tmp_path, *keys), contract=CONTRACT)
    assert str(caught.value).startswith(message)


def test_several_choices_are_no_single_reply(tmp_path):
    double = line("one-AB")
    double["response"]["body"]["choices"] *= 2
    with pytest.raises(BatteryError, match=r"out\.jsonl:1 has not exactly one chat completion choice"):
        Imported(
            tmp_path / "s",
            "openai-batch",
            jsonl(tmp_path / "out.jsonl", [double]),
            mapping=mapping(tmp_path, "one-AB"),
            contract=CONTRACT,
        )


def test_a_mapping_is_needed_and_must_hold_rows_and_a_contract_must_be_declared(tmp_path):
    output = jsonl(tmp_path / "out.jsonl", [line("one-AB")])
    with pytest.raises(UsageError, match="openai-batch needs --mapping FILE"):
        Imported(tmp_path / "s", "openai-batch", output)
    with pytest.raises(BatteryError, match="has no rows"):
        Imported(tmp_path / "s", "openai-batch", output, mapping=jsonl(tmp_path / "m.jsonl", []))
    with pytest.raises(UsageError, match="say with --contract"):
        Imported(tmp_path / "s", "openai-batch", output, mapping=mapping(tmp_path, "one-AB"))
