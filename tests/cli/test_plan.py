"""`darkcurrent plan`: every number against one that was computed in another way."""

from __future__ import annotations

import json
import re

import pytest

from darkcurrent.planning.tokens import BYTES_PER_TOKEN, ENVELOPE_TOKENS
from darkcurrent.stats import clone_power, utility_power
from darkcurrent.study import Study
from support.backends import TEMPLATE, PathServer

PROTOCOL = """format = 1
[study]
name = "planned"
[battery]
source = "pairs"
path = "pairs.jsonl"
[criteria.neutral]
rubric = "neutral"
[criteria.strict]
rubric = "strict"
[[configuration]]
name = "paid"
backend = "openai-chat"
base_url = "http://127.0.0.1:1/v1"
model = "m"
decoder = { max_tokens = 100 }
[[configuration]]
name = "free"
backend = "simulated"
[schedule]
seed = 1
[gates]
clone_threshold = 0.05
utility_threshold = 0.75
"""


@pytest.fixture
def folder(tmp_path):
    rows = [{"id": f"i{n}", "prompt": f"p{n}", "chosen": "g\u00fct", "rejected": "bad"} for n in range(100)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "protocol.toml").write_text(PROTOCOL)
    return tmp_path


@pytest.fixture
def plan(program, folder):
    """Return what the program says in JSON."""

    def planned(*arguments):
        outcome = program("plan", folder, *arguments, "--json")
        assert outcome.code == 0, outcome.err
        return outcome.json()

    return planned


def test_calls_tokens_cost_and_time_before_freezing(plan, folder):
    found = plan("--price-in", 2, "--price-out", 10, "--rate", 0.5, "--answer-tokens", 20)
    assert found["frozen"] is False
    assert [path.name for path in sorted(folder.iterdir())] == ["pairs.jsonl", "protocol.toml"]
    paid, free = found["campaigns"]
    assert (
        (paid["calls"], paid["arms"]) == (600, {"clone": 200, "signal": 400}) == (free["calls"], free["arms"])
    )
    assert (free["prompt_tokens"], free["cost"]) == (None, None)
    # The same from the frozen study's own texts, by the bytes of what is really sent.
    study = Study(folder)
    study.freeze()
    from darkcurrent.judges import open_judge

    configuration = study.configuration("paid")
    judge = open_judge(configuration, folder)
    sizes = []
    for call in study.frozen.schedule("paid"):
        sent = json.loads(judge.request_bytes(*(study.frozen.texts[key] for key in call.shown)))
        sizes.append(sum(len(message["content"].encode()) for message in sent["messages"]))
    tokens = sum(ENVELOPE_TOKENS + -(-size // BYTES_PER_TOKEN) for size in sizes)
    assert paid["prompt_tokens"] == tokens
    assert paid["completion_tokens"] == 600 * 20
    assert paid["most_tokens"] == sum(sizes) + 600 * 100
    assert paid["cost"] == pytest.approx((tokens * 2 + 600 * 20 * 10) / 1e6)
    assert paid["most_cost"] == pytest.approx((sum(sizes) * 2 + 600 * 100 * 10) / 1e6)
    assert paid["seconds"] == 1200
    assert found["total"]["calls"] == 1200
    again = plan("--price-in", 2, "--price-out", 10, "--rate", 0.5, "--answer-tokens", 20)
    assert again == {**found, "frozen": True}


def test_an_answer_is_never_estimated_longer_than_it_can_be(plan):
    assert plan("--answer-tokens", 5000)["campaigns"][0]["completion_tokens"] == 600 * 100


def test_the_chances_are_those_of_the_declared_gates(plan):
    found = plan("--true-adverse", 0.003, "--true-utility", 0.83, "--correlation", 0.5)
    cell = found["cell"]
    assert (cell["clones"], cell["signals"], cell["strata"], cell["family"]) == (100, 100, 1, 4)
    assert cell["clone"]["0.003"] == clone_power(100, [0.003], 0.05, 4).power[0]
    assert cell["utility"]["0.83"] == utility_power(100, [0.83], 0.5, 0.75).power[0]
    assert (cell["clone_allowed"], cell["clone_smallest"]) == (0, 86)
    assert found["supposed"] == {"adverse": 0.003, "utility": 0.83, "correlation": 0.5}


def test_the_tables_name_each_column_and_count_what_is_one(program, folder):
    found = program("plan", folder).out
    heads = [head.strip() for head in re.split(r"  +", found.strip().splitlines()[0].strip())]
    assert len(set(heads)) == len(heads)
    assert {"answer tokens", "most tokens", "most cost"} <= set(heads)
    assert "Null: 100 clones, 4 cells in the family" in found
    assert "100 items in 1 stratum (" in found
    text = (folder / "protocol.toml").read_text()
    start, end = text.index('[[configuration]]\nname = "free"'), text.index("[schedule]")
    (folder / "protocol.toml").write_text(
        (text[:start] + text[end:]).replace('[criteria.strict]\nrubric = "strict"\n', "")
    )
    assert "Null: 100 clones, 1 cell in the family" in program("plan", folder).out


def test_no_threshold_no_chance(program, plan, folder):
    text = (folder / "protocol.toml").read_text()
    (folder / "protocol.toml").write_text(text.replace("clone_threshold = 0.05\n", ""))
    found = plan()
    assert (found["cell"]["clone"], found["cell"]["clone_smallest"]) == ({}, None)
    assert found["cell"]["utility"]
    assert "--budget needs both thresholds" in program("plan", folder, "--budget", 300).error(2)


def test_a_battery_that_is_too_small_is_said_to_be(plan, folder):
    text = (folder / "pairs.jsonl").read_text().splitlines(keepends=True)
    (folder / "pairs.jsonl").write_text("".join(text[:85]))
    notes = plan()["notes"]
    assert "no judge can pass the clone gate with 85 clones: it takes 86" in notes


def test_a_budget_is_shared_in_each_cell(program, plan, folder):
    found = plan("--budget", 500, "--true-adverse", 0.002)["budget"]
    assert found["calls"] == 500
    assert found["cell_calls"] == found["cell_clones"] + 2 * found["cell_signals"] <= 250
    shown = program("plan", folder, "--budget", 500, "--true-adverse", 0.002).out
    assert f"{found['cell_clones']} clones and {found['cell_signals']} contrasts in both orders" in shown


def test_prices_come_from_a_file_or_the_protocol(plan, folder):
    prices = folder / "prices.toml"
    prices.write_text("paid = { prompt = 1, completion = 0.5 }\n")
    found = plan("--prices", prices)["campaigns"][0]
    assert found["cost"] == pytest.approx((found["prompt_tokens"] + found["completion_tokens"] * 0.5) / 1e6)
    with (folder / "protocol.toml").open("a") as file:
        file.write("[capture.prices]\npaid = { prompt = 1, completion = 0.5 }\n")
    assert plan()["campaigns"][0]["cost"] == found["cost"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("paid = 3", "a price is `{ prompt = 0.15, completion = 0.60 }`"),
        ("paid = { prompt = -1, completion = 1 }", "`paid.prompt`"),
        ("paid = { prompt = true, completion = 1 }", "`paid.prompt`"),
        ("other = { prompt = 1, completion = 1 }", "a price of `other`, which is no configuration"),
        ("paid = {", "not valid TOML"),
    ],
)
def test_prices_that_are_none(program, folder, text, said):
    (folder / "prices.toml").write_text(text)
    assert said in program("plan", folder, "--prices", folder / "prices.toml").error(2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--price-in", 1], "--price-in and --price-out go together"),
        (["--price-in", 1, "--price-out", 1, "--prices", "x"], "exclude each other"),
        (["--rate", 0], "--rate is 0"),
        (["--rate", "inf"], "--rate is inf"),
        (["--prices", "absent.toml"], "cannot be read"),
        (["--budget", 70], "too few to pass both gates"),
    ],
)
def test_what_cannot_be_used_is_a_usage_error(program, folder, arguments, said):
    assert said in program("plan", folder, *arguments).error(2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--price-in", "nan", "--price-out", 1],
        ["--true-adverse", "nan"],
        ["--true-utility", 1.5],
        ["--budget", 0],
    ],
)
def test_a_number_out_of_its_range_is_a_usage_error(program, folder, arguments):
    outcome = program("plan", folder, *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert arguments[0] in outcome.err


def test_a_campaign_longer_than_its_deadline_is_said(plan, folder):
    notes = plan("--rate", 0.01)["notes"]
    assert "paid: 16 h 40 min is more than `capture.deadline_minutes` allows" in notes


def raw(folder, url):
    keys = f'backend = "vllm-raw"\nbase_url = "{url}"\ntemplate = {json.dumps(TEMPLATE)}'
    text = PROTOCOL.replace('backend = "openai-chat"\nbase_url = "http://127.0.0.1:1/v1"', keys)
    (folder / "protocol.toml").write_text(text)


def test_a_served_tokenizer_is_asked_and_nothing_else(plan, folder):
    with PathServer({"/tokenize": lambda sent: {"count": len(sent["prompt"].encode()) // 2}}) as server:
        raw(folder, server.url)
        found = plan("--tokenize")["campaigns"][0]
        assert len(server.bodies("/tokenize")) == 200
        assert {path for path, _ in server.asked} == {"/tokenize"}
    assert found["counted"] == (
        "counted by the served tokenizer on 200 of 600 prompts, the others by their bytes"
    )
    ruled = plan()["campaigns"][0]["prompt_tokens"]
    assert found["prompt_tokens"] == pytest.approx(ruled * BYTES_PER_TOKEN / 2, rel=0.02)


def test_a_tokenizer_that_does_not_answer_leaves_the_rule(plan, folder):
    raw(folder, "http://127.0.0.1:1")
    found, ruled = (plan(*flag)["campaigns"][0] for flag in (["--tokenize"], []))
    assert found["prompt_tokens"] == ruled["prompt_tokens"]
    assert "the tokenizer does not answer (" in found["counted"]
