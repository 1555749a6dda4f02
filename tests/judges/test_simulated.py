"""Simulated judges: what is planted comes out, and every fault is the fault that it is called."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.canonical import digest_text
from darkcurrent.errors import UsageError
from darkcurrent.judges import open_judge
from darkcurrent.judges.base import RequestFailed
from darkcurrent.judges.render import render_messages
from darkcurrent.judges.simulated import FAULTS, Faults, Key, Properties, SimulatedJudge, SimulatedServer
from darkcurrent.judges.simulated.judge import Truth, texts_of
from darkcurrent.patterns import classify
from darkcurrent.protocol.configurations import OpenAIChatConfiguration
from darkcurrent.study import Study
from support.studies import command, program, study_with

texts = st.text(st.characters(exclude_categories=()), max_size=20)


@given(texts, texts, texts)
def test_a_rendered_prompt_is_recognised(prompt, a, b):
    (_, user) = render_messages("rubric", prompt, a, b)
    assert texts_of(user["content"]) == (prompt, a, b)
    assert texts_of(f"<|system|>rubric<|user|>{user['content']}<|end|>") == (prompt, a, b)


@given(texts, texts, texts, texts)
def test_a_third_candidate_is_recognised(prompt, a, b, c):
    (_, user) = render_messages("rubric", prompt, a, b, c)
    assert texts_of(f"{user['content']}<|end|>") == (prompt, a, b, c)


def judged(properties, calls, key=None):
    judge = SimulatedJudge(properties, key)
    return Counter(json.loads(judge.answer("rubric", *call))["winner"] for call in calls)


CLONES = [(f"p{n}", "same", "same") for n in range(4000)]
PAIRS = [(f"p{n}", f"a{n}", f"b{n}") for n in range(4000)]


def key_of(pairs, target="A", stratum="s"):
    return Key({tuple(map(digest_text, pair)): Truth(target, stratum) for pair in pairs})


def test_habits():
    assert judged(Properties(habit="tie"), PAIRS + CLONES) == {"tie": 8000}
    assert judged(Properties(habit="first"), PAIRS + CLONES) == {"A": 8000}
    for habit in ("stable", "one-sided"):
        assert judged(Properties(habit=habit), CLONES) == {"tie": 4000}
    stable, sided = (SimulatedJudge(Properties(habit=habit)) for habit in ("stable", "one-sided"))
    swap = {"A": "B", "B": "A"}
    for prompt, a, b in PAIRS[:300]:
        forward, reverse = (
            json.loads(stable.answer("r", prompt, *two))["winner"] for two in ((a, b), (b, a))
        )
        assert reverse == swap[forward], "the same text in both orders"
        orders = [json.loads(sided.answer("r", prompt, *two))["winner"] for two in ((a, b), (b, a))]
        assert sorted(orders) == ["A", "tie"]
    assert 0.45 < judged(Properties(habit="stable"), PAIRS)["A"] / 4000 < 0.55


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.2, 1.0])
def test_the_dark_current_is_the_planted_one(rate):
    found = judged(Properties(dark_current=rate), CLONES)
    assert abs(1 - found["tie"] / 4000 - rate) < 0.02
    assert abs(found["A"] - found["B"]) <= 0.12 * 4000 * rate
    # A pair without a target has nothing to choose either.
    same = judged(Properties(dark_current=rate), PAIRS, key_of(PAIRS, target=None))
    assert abs(1 - same["tie"] / 4000 - rate) < 0.02


@pytest.mark.parametrize("rate", [0.0, 0.6, 0.9, 1.0])
def test_the_utility_is_the_planted_one(rate):
    found = judged(Properties(utility=rate), PAIRS, key_of(PAIRS, "B"))
    assert abs(found["B"] / 4000 - rate) < 0.025
    assert abs(found["tie"] - found["A"]) <= 0.12 * 4000 * max(1 - rate, 0.01)


def test_a_stratum_may_be_weak():
    properties = Properties(utility=0.9, weak={"hard": 0.2})
    assert abs(judged(properties, PAIRS, key_of(PAIRS, "A", "hard"))["A"] / 4000 - 0.2) < 0.025
    assert abs(judged(properties, PAIRS, key_of(PAIRS, "A", "easy"))["A"] / 4000 - 0.9) < 0.025


def steps_key(step, target="A"):
    return Key({tuple(map(digest_text, pair)): Truth(target, "hard", step) for pair in PAIRS})


def test_a_step_has_a_utility_of_its_own_before_its_stratum():
    properties = Properties(weak={"hard": 0.9}, steps={"gap-1": 0.3}, ties=1.0)
    found = judged(properties, PAIRS, steps_key("gap-1"))
    assert abs(found["A"] / 4000 - 0.3) < 0.025
    assert found["B"] == 0
    assert abs(judged(properties, PAIRS, steps_key("gap-2"))["A"] / 4000 - 0.9) < 0.025


def test_patterns_of_pairs_without_a_target_are_the_planted_ones():
    planted = {"stable": 0.45, "position": 0.3, "one-sided": 0.15}
    pairs = PAIRS + [(prompt, b, a) for prompt, a, b in PAIRS]
    judge = SimulatedJudge(Properties(patterns=planted), key_of(pairs, target=None))
    found, winners = Counter(), Counter()
    for prompt, a, b in PAIRS:
        forward, reverse = (json.loads(judge.answer("r", prompt, *two))["winner"] for two in ((a, b), (b, a)))
        winners[forward] += 1
        found[
            classify({"A": "u", "B": "v"}.get(forward, "tie"), {"A": "v", "B": "u"}.get(reverse, "tie"))
        ] += 1
    assert all(abs(found[pattern] / 4000 - share) < 0.025 for pattern, share in planted.items())
    assert abs(found["tie"] / 4000 - 0.1) < 0.02
    assert abs(winners["A"] - winners["B"]) < 200


def test_a_third_candidate_changes_what_is_planted_for_it_and_nothing_else():
    beside = [(*pair, "third") for pair in PAIRS]
    key = Key({tuple(map(digest_text, call)): Truth("A", "s") for call in PAIRS + beside})

    def verdicts(properties, calls):
        return [SimulatedJudge(properties, key).answer("r", *call) for call in calls]

    calm = Properties(utility=0.5, fenced=0.1)
    assert verdicts(calm, beside) == verdicts(calm, PAIRS)
    planted = Properties(utility=0.5, present={"utility": 0.9})
    assert verdicts(planted, PAIRS) == verdicts(Properties(utility=0.5), PAIRS)
    assert verdicts(planted, beside) == verdicts(Properties(utility=0.9), PAIRS)


def test_a_criterion_may_be_judged_otherwise():
    key = Key(
        {tuple(map(digest_text, pair)): Truth("A", "s") for pair in PAIRS}, {digest_text("strict"): "severe"}
    )
    judge = SimulatedJudge(Properties(criteria={"severe": {"utility": 0.0, "ties": 1.0}}), key)
    assert {judge.answer("lenient", *pair) for pair in PAIRS[:50]} == {'{"winner":"A"}'}
    assert {judge.answer("strict", *pair) for pair in PAIRS[:50]} == {'{"winner":"tie"}'}


def test_answers_depend_on_the_request_and_the_seed_alone():
    def answers(seed):
        judge = SimulatedJudge(Properties(utility=0.5, dark_current=0.5, fenced=1 / 3, seed=seed))
        return [judge.answer("r", *call) for call in PAIRS[:500] + CLONES[:500]]

    assert answers(1) == answers(1)
    assert answers(1) != answers(2)
    fenced = sum(answer.startswith("```json\n") for answer in answers(1))
    assert 280 < fenced < 390


def test_what_is_planted_must_be_a_share():
    for wrong in (
        {"utility": 1.5},
        {"dark_current": -0.1},
        {"habit": "wise"},
        {"weak": {"s": 2.0}},
        {"other": 1},
        {"patterns": {"stable": 0.6, "position": 0.6}},
        {"present": {"patterns": {"stable": 0.6, "position": 0.6}}},
        {"criteria": {"strict": {"habit": "tie"}}},
    ):
        with pytest.raises(ValueError):
            Properties.model_validate(wrong)
    with pytest.raises(ValueError, match="more than 1 together"):
        Faults(shares={"500": 0.6, "hang": 0.6})


def ask(server, prompts, timeout=5.0):
    """Ask a server as a campaign does; return replies and failures."""

    async def talk():
        configuration = OpenAIChatConfiguration(
            name="judge", backend="openai-chat", model="simulated", base_url=server.url, fingerprint="any"
        )
        async with open_judge(configuration, Path()) as judge:
            assert (await judge.identify()).facts["served"] == ["simulated"]
            found = []
            for prompt in prompts:
                try:
                    found.append(await judge.ask(judge.request_bytes("r", prompt, "a", "b"), timeout))
                except RequestFailed as failure:
                    found.append(failure)
            return found

    return asyncio.run(talk())


OUTCOMES = {
    "429": ("http-429", "planted refusal"),
    "429-retry-after": ("http-429", "planted refusal"),
    "503": ("http-503", "planted refusal"),
    "500": ("http-500", "planted error"),
    "reset-before": ("connection-lost", "reset by peer"),
    "reset-middle": ("connection-lost", "Not enough data"),
    "hang": ("timeout", "no whole reply within"),
    "truncated-json": ("unreadable-reply", "JSONDecodeError"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_what_it_is_called(fault):
    plain = SimulatedJudge().answer("r", "p", "a", "b")
    faults = Faults(shares={fault: 1.0}, retry_after="Sun, 01 Mar 2026 12:00:00 GMT", drip_seconds=0.3)
    with SimulatedServer(faults=faults) as server:
        (found,) = ask(server, ["p"], timeout=0.5 if fault == "hang" else 10.0)
        refused = fault in ("429", "429-retry-after", "503")
        assert server.requests == 1
        assert server.observed.total() == (0 if refused else 1)
    if fault in OUTCOMES:
        reason, says = OUTCOMES[fault]
        assert found.reason == reason
        assert says in found.detail
        assert found.retry_after == (faults.retry_after if fault == "429-retry-after" else None)
        return
    expected = {"empty": "", "reasoning": None, "fences": f"```json\n{plain}\n```"}
    assert found.text == expected.get(fault, plain)
    assert found.reasoning == (fault == "reasoning")
    assert found.served_model == ("simulated-another" if fault == "wrong-model" else "simulated")
    assert json.loads(found.body)["id"] == ("simulated-0" if fault == "identical-ids" else "simulated-1")
    assert (found.prompt_tokens > 0, found.completion_tokens > 0) == (True, fault != "empty")


def test_a_drip_is_slow_and_latency_is_waited():
    for faults, least in (
        (Faults(shares={"slow-drip": 1.0}, drip_seconds=0.4), 0.4),
        (Faults(latency=0.3), 0.3),
    ):
        with SimulatedServer(faults=faults) as server:
            begun = time.monotonic()
            ask(server, ["p"])
            assert time.monotonic() - begun >= least


def test_shares_are_kept_and_each_request_draws_anew():
    faults = Faults(shares={"429": 0.3, "500": 0.2}, seed=5)
    with SimulatedServer(faults=faults) as server:
        found = ask(server, [f"p{n}" for n in range(200)] + ["p0"] * 30)
    kinds = Counter(getattr(outcome, "reason", "reply") for outcome in found)
    assert 45 <= kinds["http-429"] <= 95
    assert 25 <= kinds["http-500"] <= 70
    assert len({getattr(outcome, "reason", "reply") for outcome in found[200:]}) == 3


def test_other_requests_have_plain_answers():
    async def talk(url):
        async with aiohttp.ClientSession() as session:

            async def post(path, body):
                async with session.post(url + path, data=body) as response:
                    return response.status, await response.json()

            yes = await post(
                "/completions",
                json.dumps(
                    {
                        "model": "m",
                        "prompt": "<request>\np\n</request>\n\n<answer_A>\na\n</answer_A>\n\n<answer_B>\na\n</answer_B>",
                    }
                ),
            )
            no = await post(
                "/chat/completions", json.dumps({"messages": [{"role": "user", "content": "Hello?"}]})
            )
            bad = [await post("/chat/completions", body) for body in ("{", "[]", "{}", '{"messages": 3}')]
            async with session.get(url + "/nothing") as response:
                missing = response.status
            async with session.get(url.removesuffix("/v1") + "/simulated") as response:
                account = await response.json()
            return yes, no, bad, missing, account

    with SimulatedServer() as server:
        yes, no, bad, missing, account = asyncio.run(talk(server.url))
    assert yes[0] == 200
    assert yes[1]["choices"][0]["text"] == '{"winner":"tie"}'
    assert no[1]["choices"][0]["message"]["content"] == "There are no two answers in this request."
    assert [status for status, _ in bad] == [400] * 4
    assert missing == 404
    assert sum(account["asked"].values()) == 6
    assert account["refused"] == {}


def test_a_port_that_is_taken_is_a_clear_error():
    with SimulatedServer() as server, pytest.raises(UsageError, match="choose another --port"):
        SimulatedServer(port=int(server.url.split(":")[2].removesuffix("/v1"))).__enter__()


# ------------------------------------------------------------------ as a backend, and as a program


def test_the_backend_knows_its_study_and_its_answers_come_out_of_the_analysis(tmp_path):
    configuration = 'backend = "simulated"\nproperties = { dark_current = 0.5, utility = 0.5, seed = 4 }'
    study = study_with(tmp_path, configuration, items=120)
    assert study.run("judge") == "COMPLETE"
    analysis = study.analyze()
    (campaign,) = analysis.campaigns
    assert campaign.served_models == ["simulated"]
    (cell,) = analysis.cells
    assert 40 <= cell.clone["core"].adverse <= 80
    assert 0.4 <= cell.signal.mean <= 0.6
    perfect = study_with(tmp_path / "perfect", 'backend = "simulated"', items=80)
    perfect.run("judge")
    assert perfect.analyze().cells[0].joint == "both gates pass"


@pytest.fixture
def serving(tmp_path):
    """A simulated judge as a program, which knows a study."""
    study_with(tmp_path / "key", 'backend = "simulated"', items=8)
    arguments = (
        "simulate",
        "--study",
        tmp_path / "key",
        "--json",
        "--model",
        "planted-1",
        "--fault",
        "429=0.3",
    )
    with subprocess.Popen(
        command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        lines = [child.stdout.readline() for _ in range(4)]
        yield child, json.loads("".join(lines))
        child.kill()


def test_simulate_serves_until_ctrl_c(tmp_path, serving):
    child, told = serving
    configuration = f'backend = "openai-chat"\nmodel = "planted-1"\nbase_url = "{told["base_url"]}"'
    study = study_with(tmp_path / "study", configuration, 'on_rate_limit = "wait"', items=8)
    assert study.run("judge") == "COMPLETE"
    (cell,) = study.analyze().cells
    assert (cell.clone["core"].adverse, cell.signal.mean) == (0, 1.0)
    child.send_signal(signal.SIGINT)
    _, talk = child.communicate(timeout=10)
    assert child.returncode == 0
    assert "A simulated judge: no model, planted answers." in talk
    assert "Traceback" not in talk


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--fault", "gremlins=0.1"], "Faults are 429, 429-retry-after"),
        (["--fault", "500"], "is not NAME=SHARE"),
        (["--fault", "500=often"], "is not NAME=SHARE"),
        (["--utility", "2"], "utility"),
        (["--habit", "wise"], "habit"),
        (["--study", "nowhere"], "There is no study in nowhere"),
    ],
)
def test_simulate_says_what_cannot_be_planted(arguments, says):
    ended = program("simulate", *arguments)
    assert ended.returncode == 2
    assert says in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_simulated_configuration_is_frozen_as_one(tmp_path):
    study_with(tmp_path, 'backend = "simulated"\nproperties = { habit = "tie" }', items=3)
    declared = Study(tmp_path).frozen.configurations["judge"]["declared"]
    assert declared["backend"] == "simulated"
    assert declared["properties"]["habit"] == "tie"
    shown = program("doctor", tmp_path)
    assert shown.returncode == 0
    assert "planted: " in shown.stdout
