"""Campaigns with the counts of the paper's tables 2 and 9 give the rows of these tables.

The judges are Python functions that answer by a list, so that the counts of arXiv:2606.15610 come out; no model is
asked. Where the paper gives a count and not the items, the items are chosen here.
"""

from __future__ import annotations

from darkcurrent.reports.paper_tables import paper_tables
from darkcurrent.study import Study

PROTOCOL = """format = 1
[study]
name = "paper"
[battery]
{battery}
[criteria.neutral]
rubric = "neutral"
{configurations}
[schedule]
seed = 5
[capture]
in_flight = 1
timeout_seconds = 4
"""

LADDER = '''
"""Knows every pair of the ladder, and answers by counts."""
from darkcurrent.batteries.ladder import build

BATTERY = build()
ITEMS = {item.id: item for item in BATTERY.items}
PAIRS, NUMBER = {}, {}
for one in BATTERY.comparisons:
    item = ITEMS[one.item]
    texts = [BATTERY.texts[item.texts[role]] for role in (one.u, one.v)]
    number = NUMBER[one.step] = NUMBER.get(one.step, -1) + 1
    PAIRS[BATTERY.texts[item.prompt], *texts] = (one.step, number, "AB")
    PAIRS[BATTERY.texts[item.prompt], *reversed(texts)] = (one.step, number, "BA")


def answer(prompt, a, b, edge, patterns, chosen):
    """`patterns`: pairs of gap 0 that are stable, positional, one-sided; `chosen`: right calls by gap; else ties."""
    if a == b:
        return edge if not a.strip() else "tie"
    step, number, order = PAIRS[prompt, a, b]
    if step == "gap-0":
        stable, position, sided = patterns
        if number < stable:
            return "A" if order == "AB" else "B"
        if number < stable + position:
            return "A"
        return "A" if number < stable + position + sided and order == "AB" else "tie"
    right = 2 * number + (order == "BA") < chosen.get(step, 1000)
    return ("A" if order == "AB" else "B") if right else "tie"


def llama_8b(prompt, a, b):
    return answer(prompt, a, b, "A", (2, 58, 0), {"gap-1": 61, "gap-2": 55, "gap-3": 44})

def qwen_14b(prompt, a, b):
    return answer(prompt, a, b, "tie", (27, 32, 1), {})

def qwen_32b(prompt, a, b):
    return answer(prompt, a, b, "tie", (0, 5, 21), {"gap-1": 94})

def qwen_32b_strict(prompt, a, b):
    return answer(prompt, a, b, "tie", (0, 0, 0), {"gap-1": 50})
'''

CONTEXT = '''
"""Knows every program of the audit, and answers by lists of items."""
import time

from darkcurrent.batteries.context import build

BATTERY = build(("equivalent", "signal"), (0, 3, 6, 9))
PLACE = {BATTERY.texts[item.prompt]: number for number, item in enumerate(BATTERY.items)}
ROLE = {
    (BATTERY.texts[item.prompt], BATTERY.texts[key]): role for item in BATTERY.items for role, key in item.texts.items()
}


def answer(prompt, a, b, c, prefers=frozenset(), misses=((), ())):
    """`prefers`: (item, orders) of equivalents that are not tied beside C; `misses`: the same of ties, without and with C."""
    place, first, second = PLACE[prompt], ROLE[prompt, a], ROLE[prompt, b]
    forward = first == "reference"
    order = "AB" if forward else "BA"
    if "equivalent" in (first, second):
        return "A" if c is not None and (place, order) in prefers else "tie"
    right = "A" if forward else "B"
    return "tie" if (place, order) in misses[c is not None] else right


# Items 0 to 3 are one family, 4 to 7 the next, and so on.
BOTH = [(0, "AB"), (0, "BA"), (4, "AB"), (4, "BA")]
NEUTRAL = {*BOTH, (1, "AB"), (2, "AB"), (3, "BA"), (5, "AB"), (6, "AB")}
SIGNAL = (
    {(8, "AB"), (9, "AB"), (10, "AB"), (12, "AB"), (16, "AB")},
    {(16, "AB")},
)


def qwen_neutral(prompt, a, b, c=None):
    return answer(prompt, a, b, c, NEUTRAL, SIGNAL)

def qwen_strict(prompt, a, b, c=None):
    return answer(prompt, a, b, c, {(0, "AB"), (0, "BA")}, SIGNAL)

def gpt_oss(prompt, a, b, c=None):
    return answer(prompt, a, b, c)

CALLS = []

def nemotron(prompt, a, b, c=None):
    CALLS.append(prompt)
    if len(CALLS) == 160:
        time.sleep(600)
    return "" if len(CALLS) == 80 else answer(prompt, a, b, c)
'''


def _study(folder, source: str, battery: str, names) -> Study:
    folder.mkdir()
    (folder / "judge.py").write_text(source, encoding="utf-8")
    configurations = "".join(
        f'[[configuration]]\nname = "{name}"\nbackend = "function"\ncallable = "judge:{name}"\n'
        for name in names
    )
    text = PROTOCOL.format(battery=battery, configurations=configurations)
    (folder / "protocol.toml").write_text(text, encoding="utf-8")
    study = Study(folder)
    study.freeze()
    for name in names:
        study.run(name)
    return study


def _rows(analysis, key):
    (table,) = [table for table in paper_tables(analysis) if table.key == key]
    return table.columns, {row[0]: row[2:] for row in table.rows}


def test_table_2(tmp_path):
    names = ["llama_8b", "qwen_14b", "qwen_32b", "qwen_32b_strict"]
    study = _study(tmp_path / "s", LADDER, 'source = "ladder"\n[battery.controls]', names)
    columns, rows = _rows(study.analyze(), "paper-2")
    assert columns[2:] == ("DC core", "DC edge", "RFP0", "SCS", "PFP", "S1", "S5", "smallest gap at .75")
    assert rows == {
        "llama_8b": ("0.000", "1.000/1.000", "1.000", ".033", ".967", ".610", "1.000", "4"),
        "qwen_14b": ("0.000", "0.000/0.000", ".992", ".450", ".533", "1.000", "1.000", "≤1"),
        "qwen_32b": ("0.000", "0.000/0.000", ".258", "0.000", ".083", ".940", "1.000", "≤1"),
        "qwen_32b_strict": ("0.000", "0.000/0.000", "0.000", "0.000", "0.000", ".500", "1.000", "2"),
    }


def test_table_9(tmp_path):
    names = ["qwen_neutral", "qwen_strict", "gpt_oss", "nemotron"]
    study = _study(tmp_path / "s", CONTEXT, 'source = "context"', names)
    analysis = study.analyze()
    (table,) = [table for table in paper_tables(analysis) if table.key == "paper-9"]
    assert table.columns[2:] == ("arm", "adverse", "Ua", "Up", "difference [95 % interval]")
    rows = {(row[0], row[2]): row[3:] for row in table.rows}
    assert rows == {
        ("qwen_neutral", "equivalent"): ("7/32", "1.0000", ".8594", "-.1406 [-.1875, -.0938]"),
        ("qwen_neutral", "signal"): ("4/32", ".9219", ".9844", ".0625 [.0312, .0938]"),
        ("qwen_strict", "equivalent"): ("1/32", "1.0000", ".9688", "-.0312 [-.0938, 0.0000]"),
        ("qwen_strict", "signal"): ("4/32", ".9219", ".9844", ".0625 [.0312, .0938]"),
        ("gpt_oss", "equivalent"): ("0/32", "1.0000", "1.0000", "0.0000 [0.0000, 0.0000]"),
        ("gpt_oss", "signal"): ("0/32", "1.0000", "1.0000", "0.0000 [0.0000, 0.0000]"),
        ("nemotron", "equivalent"): rows["nemotron", "equivalent"],
        ("nemotron", "signal"): rows["nemotron", "signal"],
    }
    held = [rows["nemotron", arm] for arm in ("equivalent", "signal")]
    assert all(row[0].startswith("HOLD ") and row[1:] == ("–", "–", "–") for row in held)
    ended = [int(row[0].split()[1].split("/")[0]) for row in held]
    assert sum(ended) == 160
    assert sum(int(row[0].split(", ")[1].split()[0]) for row in held) == 2
    (campaign,) = [one for one in analysis.campaigns if one.configuration == "nemotron"]
    assert (campaign.state, campaign.terminal, campaign.missing) == ("HOLD", 160, 96)
