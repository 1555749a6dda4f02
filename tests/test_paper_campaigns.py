"""Campaigns with the paper's own counts, through a real server, end in the paper's states and numbers.

The server is told for each call what to say, so that the counts of arXiv:2606.15610 come out: tables 3, 6 and 8 and the
events of its other campaigns. The texts are made up; only counts are the paper's.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from aiohttp import web

from darkcurrent.judges.simulated.judge import texts_of
from darkcurrent.protocol.model import Criterion
from darkcurrent.protocol.rubrics import rubric_text
from darkcurrent.study import Study
from support.server import ChatServer, completion

SUBSETS = ("Factuality", "Focus", "Math", "Precise IF", "Safety", "Ties")
PROTOCOL = """format = 1
[study]
name = "fresh"
[battery]
source = "pairs"
path = "pairs.jsonl"
columns = {{ stratum = "stratum" }}
[criteria.neutral]
rubric = "neutral"
[criteria.strict]
rubric = "strict"
{configurations}
[schedule]
seed = 2026100801
[capture]
in_flight = 32
{capture}
[gates]
clone_threshold = 0.05
utility_threshold = 0.75
"""
CONFIGURATION = """[[configuration]]
name = "{name}"
backend = "openai-chat"
base_url = "{url}"
model = "{name}"
"""
RUBRICS = {
    rubric_text(name, Criterion(rubric=name), None).strip(): name  # type: ignore[arg-type]
    for name in ("neutral", "strict")
}
FENCED = '```json\n{"winner":"A"}\n```'

Said = Callable[[str, str, str, int], str | web.StreamResponse]
"""From configuration, criterion, order (`IDENTICAL`, `AB` or `BA`) and the item's number to the answer's content."""


def asked(body: dict[str, Any]) -> tuple[str, str, str, int]:
    """Return which call of the study a request is."""
    system, user = (message["content"] for message in body["messages"])
    texts = texts_of(user)
    assert texts is not None
    prompt, a, b = texts
    order = "IDENTICAL" if a == b else "AB" if a.startswith("good") else "BA"
    return body["model"], RUBRICS[system.strip()], order, int(prompt.rpartition(" ")[2])


def served(said: Said) -> ChatServer:
    """Return a server that answers as it is told."""

    async def answer(request: web.Request, raw: bytes) -> web.StreamResponse:
        body = json.loads(raw)
        content = said(*asked(body))
        if isinstance(content, web.StreamResponse):
            return content
        return web.json_response(completion(content, model=body["model"]))

    return ChatServer(answer, models=())


def fresh(folder, url: str, names: Iterable[str], capture: str = "") -> Study:
    """Return a frozen study of 102 made-up items, 17 of each subset."""
    rows = [
        {
            "id": f"{n:03d}",
            "prompt": f"Question {n}",
            "chosen": f"good {n}",
            "rejected": f"bad {n}",
            "stratum": SUBSETS[n % 6],
        }
        for n in range(102)
    ]
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    configurations = "".join(CONFIGURATION.format(name=name, url=url) for name in names)
    text = PROTOCOL.format(configurations=configurations, capture=capture)
    (folder / "protocol.toml").write_text(text, encoding="utf-8")
    study = Study(folder)
    study.freeze()
    return study


def verdict(winner: str) -> str:
    return json.dumps({"winner": winner})


def letter(role: str, order: str) -> str:
    """Return the answer that chooses a role in an order."""
    return verdict(
        {"AB": {"chosen": "A", "rejected": "B"}, "BA": {"chosen": "B", "rejected": "A"}}[order][role]
    )


# (configuration, criterion): successes in AB and in BA; ties, wrong and invalid over both (tables 3 and 6, section 5).
TABLE_6 = {
    ("Qwen2.5-32B", "neutral"): ((89, 79), 1, 35, 0),
    ("Qwen2.5-32B", "strict"): ((47, 73), 67, 16, 1),
    # Success by order is not published for Qwen3.6; any split of the totals serves.
    ("Qwen3.6", "neutral"): ((89, 89), 3, 23, 0),
    ("Qwen3.6", "strict"): ((81, 81), 14, 28, 0),
}


def plan(cell: tuple[tuple[int, int], int, int, int]) -> dict[tuple[str, int], str]:
    """Return what is said to the item n in each order, so that the counts of a cell come out."""
    (ab, ba), ties, wrong, invalid = cell
    misses = ["tie"] * ties + ["rejected"] * wrong + ["invalid"] * invalid
    plan: dict[tuple[str, int], str] = {}
    for order, successes in (("AB", ab), ("BA", ba)):
        for n in range(102):
            plan[order, n] = "chosen" if n < successes else misses.pop(0)
    assert not misses
    return plan


def test_table_3_and_table_6(tmp_path):
    plans = {key: plan(cell) for key, cell in TABLE_6.items()}

    def said(configuration, criterion, order, n):
        if order == "IDENTICAL":
            return verdict("tie")
        role = plans[configuration, criterion][order, n]
        return {"tie": verdict("tie"), "invalid": "A"}.get(role) or letter(role, order)

    with served(said) as server:
        study = fresh(tmp_path, server.url, ["Qwen2.5-32B", "Qwen3.6"])
        assert [study.run(name) for name in ("Qwen2.5-32B", "Qwen3.6")] == ["COMPLETE"] * 2
        assert len(server.bodies) == 1224
    analysis = study.analyze()
    assert [(c.scheduled, c.terminal, c.invalid, c.state) for c in analysis.campaigns] == [
        (612, 612, 1, "COMPLETE"),
        (612, 612, 0, "COMPLETE"),
    ]
    printed = [
        (".824", 168, 1, 35, 0),
        (".588", 120, 67, 16, 1),
        (".873", 178, 3, 23, 0),
        (".794", 162, 14, 28, 0),
    ]
    for cell, (mean, *counts) in zip(analysis.cells, printed, strict=True):
        core, signal = cell.clone["core"], cell.signal
        assert (core.n, core.adverse, core.gate) == (102, 0, "PASS")
        assert f"{core.upper:.3f}" == "0.029"
        assert f"{core.p_holm:.3f}" == "0.021"
        assert f"0{mean}" == f"{signal.mean:.3f}"
        verdicts = signal.verdicts
        assert [verdicts.correct, verdicts.tie, verdicts.wrong, verdicts.invalid] == counts
    orders = {cell.criterion: cell.signal.orders for cell in analysis.cells[:2]}
    assert [orders["neutral"][o].success for o in ("AB", "BA")] == [89, 79]
    assert [orders["strict"][o].success for o in ("AB", "BA")] == [47, 73]
    # The strict arm of Qwen2.5 misses at any arrangement of the items: its mean is below the threshold.
    assert analysis.cells[1].joint == "clone gate only"


def test_table_8_211_fenced_answers_hold_the_campaign(tmp_path):
    fenced = {("neutral", "IDENTICAL"): 22, ("neutral", "AB"): 85, ("neutral", "BA"): 81}
    fenced |= {("strict", "IDENTICAL"): 0, ("strict", "AB"): 13, ("strict", "BA"): 10}

    def said(configuration, criterion, order, n):
        if n < fenced[criterion, order]:
            return FENCED
        return verdict("tie") if order == "IDENTICAL" else letter("chosen", order)

    with served(said) as server:
        study = fresh(tmp_path, server.url, ["devstral"])
        assert study.run("devstral") == "COMPLETE"
    analysis = study.analyze()
    (campaign,) = analysis.campaigns
    assert (campaign.terminal, campaign.invalid, campaign.state) == (612, 211, "HOLD")
    assert f"{campaign.invalid / campaign.scheduled:.2%}" == "34.48%"
    assert sum(campaign.invalid_by_reason.values()) == 211
    assert list(campaign.invalid_by_reason) == ["fenced"]
    legacy = next(one for one in campaign.sensitivity if one.contract == "legacy")
    assert (legacy.accepted, legacy.evaluable) == (401, False)
    # A held campaign keeps its counts and gives no bound, interval or gate.
    for cell, clones, signals in zip(analysis.cells, (22, 0), (166, 23), strict=True):
        assert cell.joint == "HOLD"
        assert (cell.clone["core"].invalid, cell.signal.verdicts.invalid) == (clones, signals)
        assert cell.clone["core"].upper is None
        assert cell.clone["core"].p_holm is None
        assert cell.signal.mean is None
        assert cell.signal.lower is None


def test_gpt_oss_33_of_612_invalid_is_held_whatever_its_utility(tmp_path):
    """Section 5: excluded after 33 invalid outputs despite .980 neutral success."""
    left = iter(range(10**6))

    def said(configuration, criterion, order, n):
        if criterion == "strict" and order != "IDENTICAL" and next(left) < 33:
            return ""
        return verdict("tie") if order == "IDENTICAL" else letter("chosen" if n < 100 else "rejected", order)

    with served(said) as server:
        study = fresh(tmp_path, server.url, ["gpt-oss"])
        study.run("gpt-oss")
    analysis = study.analyze()
    assert analysis.campaigns[0].invalid == 33
    assert {cell.joint for cell in analysis.cells} == {"HOLD"}
    assert analysis.cells[0].signal.verdicts.correct == 200
    assert analysis.cells[0].signal.mean is None


def test_table_5_two_of_102_is_not_certified_and_passes_utility(tmp_path):
    """Section 7: neutral gpt-oss has two clone preferences, both A; utility is reached (182 of 204)."""
    cells = {"neutral": plan(((91, 91), 12, 10, 0)), "strict": plan(((89, 88), 15, 12, 0))}

    def said(configuration, criterion, order, n):
        if order == "IDENTICAL":
            return verdict(
                "A" if configuration == "gpt-oss" and criterion == "neutral" and n in (3, 9) else "tie"
            )
        role = cells[criterion][order, n]
        return verdict("tie") if role == "tie" else letter(role, order)

    with served(said) as server:
        study = fresh(tmp_path, server.url, ["Qwen3.8", "gpt-oss"])
        for name in ("Qwen3.8", "gpt-oss"):
            study.run(name)
    joint = {(cell.configuration, cell.criterion): cell for cell in study.analyze().cells}
    held = joint["gpt-oss", "neutral"]
    assert held.joint == "utility gate only"
    core = held.clone["core"]
    assert (core.adverse, core.a, core.b, core.gate) == (2, 2, 0, "MISS")
    assert (f"{core.upper:.4f}", f"{core.p_holm:.4f}") == ("0.0604", "0.1103")
    for key in (("Qwen3.8", "neutral"), ("Qwen3.8", "strict"), ("gpt-oss", "strict")):
        core = joint[key].clone["core"]
        assert (f"{core.upper:.4f}", f"{core.p_holm:.4f}") == ("0.0289", "0.0214")
        assert joint[key].joint == "both gates pass"


def test_another_model_in_the_middle_stops_the_campaign(tmp_path):
    count = Counter()

    def said(configuration, criterion, order, n):
        count["asked"] += 1
        if count["asked"] == 100:
            return web.json_response(completion(verdict("tie"), model="a-replacement"))
        return verdict("tie")

    with served(said) as server:
        study = fresh(tmp_path, server.url, ["judge"], "")
        text = (tmp_path / "frozen" / "protocol.toml").read_text(encoding="utf-8")
        assert "in_flight = 32" in text
        assert study.run("judge") == "PARTIAL_HOLD_MODEL"
        sent = len(server.bodies)
        assert 100 <= sent <= 131, "what was in flight is waited for, and nothing is sent after it"
        assert study.run("judge") == "PARTIAL_HOLD_MODEL"
        assert len(server.bodies) == sent
    analysis = study.analyze()
    (campaign,) = analysis.campaigns
    assert campaign.invalid_by_reason == {"mismatched-model": 1}
    assert (campaign.terminal, campaign.missing, campaign.ambiguous) == (sent, 612 - sent, 0)
    assert {cell.joint for cell in analysis.cells} == {"HOLD"}


def test_a_request_that_the_deadline_cuts_off_has_no_receipt(tmp_path):
    """Appendix C: the last request of a campaign ended with what was left of its time, without usage or a served name."""
    count = Counter()

    async def answer(request, raw):
        body = json.loads(raw)
        count["asked"] += 1
        if count["asked"] > 320:
            await asyncio.sleep(60)
        return web.json_response(completion(verdict("tie"), model=body["model"]))

    with ChatServer(answer, models=()) as server:
        study = fresh(tmp_path, server.url, ["nemotron"], "deadline_minutes = 0.05")
        assert study.run("nemotron") == "PARTIAL_HOLD_DEADLINE"
        asked_of_it = len(server.bodies)
    ledger = study.ledger()
    cut = ledger.filter((ledger["reason"] == "deadline").fill_null(value=False))
    assert set(cut["served_model"]) == {None}
    (campaign,) = study.analyze().campaigns
    assert campaign.state == "HOLD"
    assert campaign.ambiguous == 0, "its end is known: there was none in time"
    assert campaign.terminal == asked_of_it == 320 + cut.height
    assert campaign.usage_unknown == cut.height > 0
    assert campaign.prompt_tokens == 7 * (campaign.terminal - cut.height)
    assert campaign.missing == 612 - asked_of_it
