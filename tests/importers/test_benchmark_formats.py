"""Each format with small files of our own: its coding, and every coding mistake that can be seen."""

from __future__ import annotations

import json

import pytest

from darkcurrent.errors import BatteryError, UsageError
from support.imports import Imported, jsonl


def fastchat(question=1, g1="model_1", g2="model_1", **changes):
    said = {"model_1": ("[[A]]", "[[B]]"), "model_2": ("[[B]]", "[[A]]"), "tie": ("[[C]]",) * 2}
    row = {"question_id": question, "turn": 1, "model_1": "m1", "model_2": "m2", "judge": ["j", "pair"]}
    for game, (name, winner) in enumerate((("g1", g1), ("g2", g2))):
        row |= {f"{name}_winner": winner, f"{name}_user_prompt": f"prompt {question} {name}"}
        row[f"{name}_judgment"] = f"Reasons. {said[winner][game]}" if winner in said else "$ERROR$"
    return row | changes


def test_fastchat_labels_are_mapped_back(tmp_path):
    rows = [
        fastchat(1),
        fastchat(2, "model_1", "model_2"),
        fastchat(3, "tie", "tie"),
        fastchat(4, "tie", "model_2"),
    ]
    found = Imported(tmp_path / "s", "fastchat-pair", jsonl(tmp_path / "x_pair.jsonl", rows))
    assert found.patterns() == {"stable": 1, "position": 1, "tie": 1, "one-sided": 1}
    assert found.calls[:4] == [
        ("AB", "A", "m1", None),
        ("BA", "B", "m1", None),
        ("AB", "A", "m1", None),
        ("BA", "A", "m2", None),
    ]
    assert found.disagreements == []
    assert found.manifest["comparison"]["compared"] == 8
    assert found.analysis.cells[0].criterion == "pair"


def test_fastchat_errors_are_invalid_with_a_reason(tmp_path):
    rows = [fastchat(1, "model_1", "error"), fastchat(2, "error", "error"), fastchat(3)]
    rows[1]["g2_judgment"] = "I cannot say."
    found = Imported(tmp_path / "s", "fastchat-pair", jsonl(tmp_path / "x_pair.jsonl", rows))
    assert [reason for *_, reason in found.calls] == [
        None,
        "error-text",
        "error-text",
        "no-verdict",
        None,
        None,
    ]
    assert found.patterns() == {"invalid": 2, "stable": 1}
    assert found.analysis.campaigns[0].invalid_by_reason == {"error-text": 2, "no-verdict": 1}


def test_an_error_that_is_recorded_as_a_verdict_is_contradicted(tmp_path):
    rows = [fastchat(1, g2_judgment="ERROR: Client error '429 Too Many Requests' for url [[B]]"), fastchat(2)]
    found = Imported(tmp_path / "s", "fastchat-pair", jsonl(tmp_path / "x_pair.jsonl", rows))
    assert found.calls[1] == ("BA", None, None, "error-text")
    (listed,) = found.disagreements
    assert (listed["recorded_as"], listed["recorded"], listed["counted"]) == ("model_1", "B", None)
    assert listed["where"] == "x_pair.jsonl:1"


def test_fastchat_labels_that_are_slots_are_noticed_where_the_replies_say_so(tmp_path):
    """Somebody wrote the slot as a model: `model_1` for slot A in both games."""
    rows = [fastchat(n, g2_judgment="[[A]]") for n in range(6)]
    found = Imported(tmp_path / "s", "fastchat-pair", jsonl(tmp_path / "x_pair.jsonl", rows))
    assert len(found.disagreements) == 6
    assert found.manifest["comparison"]["mirrored"] == {
        "AB": {"both": 6, "mirrored": 0},
        "BA": {"both": 6, "mirrored": 6},
    }
    assert "in order BA 6 of 6 recorded labels name the other slot" in found.manifest["notes"][0]
    assert found.patterns() == {"stable": 6}  # what the labels say
    read = Imported(tmp_path / "t", "fastchat-pair", tmp_path / "x_pair.jsonl", count="contract")
    assert read.patterns() == {"position": 6}  # what the replies say


def test_fastchat_prompts_that_are_the_same_bytes_are_natural_clones(tmp_path):
    same = {"g1_user_prompt": "p", "g2_user_prompt": "p"}
    rows = [fastchat(1, "model_1", "model_2", **same), fastchat(2, "tie", "tie", **same), fastchat(3)]
    found = Imported(tmp_path / "s", "fastchat-pair", jsonl(tmp_path / "x_pair.jsonl", rows))
    natural = found.analysis.cells[0].clone["natural"]
    # Two calls of one clone are one item: 1 of 2 items is adverse, with two calls for the first slot.
    assert (natural.n, natural.adverse, natural.a, natural.b, natural.invalid) == (2, 1, 2, 0, 0)
    assert natural.gate == "NOT GRADED"
    assert natural.upper == pytest.approx(0.95**0.5)  # 1 - u**2 = .05, conditional on independent items
    assert natural.p is None
    assert found.analysis.cells[0].clone["core"].n == 0
    assert found.patterns() == {"stable": 1}
    assert set(found.ledger["order"]) == {"IDENTICAL", "AB", "BA"}


def korean(question=1, ab="A", ba="B", winner=None, **changes):
    summary = {("A", "B"): "m1", ("B", "A"): "m2", ("tie", "tie"): "tie"}.get(
        (ab, ba), "error" if "error" in (ab, ba) else "inconsistent"
    )
    row = {"question_id": question, "turn": 2, "model_a": "m1", "model_b": "m2", "judge_id": "j"}
    row |= {"category": "writing", "winner": winner or summary, "winner_ab": ab, "winner_ba": ba}
    for name, slot in (("ab", ab), ("ba", ba)):
        row[f"judgment_{name}"] = f"So: [[{'C' if slot == 'tie' else slot}]]" if slot != "error" else ""
    return row | changes


def test_korean_labels_are_slots(tmp_path):
    rows = [korean(1), korean(2, "A", "A"), korean(3, "tie", "B"), korean(4, "error", "A")]
    found = Imported(tmp_path / "s", "korean-mt-bench", jsonl(tmp_path / "a_vs_b.jsonl", rows))
    assert found.patterns() == {"stable": 1, "position": 1, "one-sided": 1, "invalid": 1}
    assert found.calls[1] == ("BA", "B", "m1", None)
    assert found.calls[6] == ("AB", None, None, "empty")
    assert found.disagreements == []


def test_korean_labels_that_were_mapped_back_are_refused(tmp_path):
    path = jsonl(tmp_path / "a_vs_b.jsonl", [korean(1), korean(2, "A", "A", winner="m1")])
    with pytest.raises(BatteryError, match=r"a_vs_b\.jsonl:2: `winner` is \"m1\", but the slots A and A say"):
        Imported(tmp_path / "s", "korean-mt-bench", path)


def test_a_doubled_row_and_a_row_of_the_other_orientation(tmp_path):
    rows = [korean(1), korean(1), korean(2, winner="m2", model_a="m2", model_b="m1")]
    found = Imported(tmp_path / "s", "korean-mt-bench", jsonl(tmp_path / "a_vs_b.jsonl", rows))
    assert found.patterns() == {"incomplete": 1, "stable": 1}
    assert found.ledger["call_id"].n_unique() == 6
    assert found.analysis.campaigns[0].reasons[1] == "1 pairs have not exactly one call in each order"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (korean(winner_ab="C"), ':1: `winner_ab` is "C", and this format knows only'),
        (korean(winner_ba=None), ":1: `winner_ba` is null, not a text"),
        ({"question_id": 1}, ":1 has no `model_a`"),
        (korean(judgment_ab=["[[A]]"]), ":1: `judgment_ab` is a list of 1, not a text"),
        (korean(category=""), ':1: `category` is "": give a text'),
    ],
)
def test_a_bad_row_is_named(tmp_path, row, message):
    path = jsonl(tmp_path / "a_vs_b.jsonl", [row])
    with pytest.raises(BatteryError) as caught:
        Imported(tmp_path / "s", "korean-mt-bench", path)
    assert str(caught.value).startswith("a_vs_b.jsonl" + message)
    assert not (tmp_path / "s").exists()


def llmbar(number=0, label=1, ab="1", ba="1", texts=("good", "bad"), **calls):
    said = {"1": ("Output (a)", "Output (b)"), "2": ("Output (b)", "Output (a)"), None: ("", "")}
    results = {
        "swap = False": {"completion": [said[ab][0], "stop"], "winner": ab},
        "swap = True": {"completion": [said[ba][1], "stop"], "winner": ba},
    }
    row = {"input": f"Do {number}.", "output_1": texts[0], "output_2": texts[1], "label": label}
    return row | {"results": [results | calls]}


def llmbar_file(folder, rows, subset="Natural", judge="GPT", prompt="Vanilla"):
    path = folder / subset / judge / prompt / "result.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_llmbar_labels_are_mapped_back_and_gold(tmp_path):
    rows = [llmbar(0), llmbar(1, 2), llmbar(2, 2, "1", "2"), llmbar(3, 1, None, "1")]
    found = Imported(tmp_path / "s", "llmbar", llmbar_file(tmp_path, rows))
    assert found.patterns("signal") == {"stable": 2, "position": 1, "invalid": 1}
    signal = found.analysis.cells[0].signal
    assert signal.verdicts.model_dump() == {"correct": 4, "tie": 0, "wrong": 3, "invalid": 1}
    assert {name: (o.n, o.success) for name, o in signal.orders.items()} == {"AB": (4, 1), "BA": (4, 3)}
    # By place: the target of items 1 and 2 is output 2, which stands second in order AB.
    assert {name: (o.n, o.success) for name, o in signal.places.items()} == {
        "first": (4, 2),
        "second": (4, 2),
    }
    assert signal.mean == 0.5
    assert (signal.gate, found.analysis.cells[0].joint, found.analysis.state) == ("NOT GRADED",) * 3
    assert signal.lower is not None
    assert found.calls[5] == ("BA", "A", "output_2", None)


def test_places_say_where_the_target_stood_and_orders_how_the_files_text_stood(tmp_path):
    """This judge takes the first slot always; the better output is the second one, which stands first in BA."""
    found = Imported(tmp_path / "s", "llmbar", llmbar_file(tmp_path, [llmbar(0, 2, "1", "2")]))
    signal = found.analysis.cells[0].signal
    assert {name: (o.n, o.success) for name, o in signal.orders.items()} == {"AB": (1, 0), "BA": (1, 1)}
    assert {name: (o.n, o.success) for name, o in signal.places.items()} == {
        "first": (1, 1),
        "second": (1, 0),
    }


def test_llmbar_names_come_from_the_folders(tmp_path):
    paths = [
        llmbar_file(tmp_path, [llmbar()], "Natural", "GPT", "CoT"),
        llmbar_file(tmp_path, [llmbar(label=2)], "GPTInst/evaluators", "PaLM", "Vanilla"),
    ]
    found = Imported(tmp_path / "s", "llmbar", *paths)
    names = (
        found.ledger.select("configuration", "criterion", "stratum", "item")
        .unique(maintain_order=True)
        .rows()
    )
    assert names == [
        ("GPT", "CoT", "Natural", "Natural/0000"),
        ("PaLM", "Vanilla", "GPTInst", "GPTInst/0000"),
    ]
    # A judge that was not asked with a prompt has no cell of it.
    assert [(cell.configuration, cell.criterion) for cell in found.analysis.cells] == [
        ("GPT", "CoT"),
        ("PaLM", "Vanilla"),
    ]


def test_llmbar_files_without_their_folders_are_refused(tmp_path, monkeypatch):
    from darkcurrent.importers import llmbar as module
    from darkcurrent.importers.observation import Source

    shallow = tmp_path / "result.json"
    shallow.write_text(json.dumps([llmbar()]), encoding="utf-8")
    monkeypatch.setattr(type(shallow), "resolve", lambda self: type(self)("/judge/prompt/result.json"))
    with pytest.raises(BatteryError, match="must lie in folders <subset>/<judge>/<prompt>"):
        module.LLMBAR.read([Source(shallow, "result.json")], None)


def test_llmbar_repetitions_and_pointwise_results(tmp_path):
    twice = llmbar(0)
    twice["results"] *= 2
    pointwise = llmbar(1, **{"swap = False": {"winner": "2"}, "swap = True": {"winner": "1"}})
    found = Imported(tmp_path / "s", "llmbar", llmbar_file(tmp_path, [twice, pointwise]))
    assert found.patterns("signal") == {"stable": 2, "position": 1}
    assert found.analysis.cells[0].retest.model_dump() == {
        "units": 2,
        "repetitions": 2,
        "same": 2,
        "tie_flip": 0,
        "reversed": 0,
        "invalid": 0,
        "orders": {"AB": {"n": 1, "success": 1}, "BA": {"n": 1, "success": 1}},
    }
    assert found.manifest["comparison"]["compared"] == 4
    assert found.ledger["kept"].to_list() == [True] * 4 + [False] * 2


def test_without_a_contract_no_label_is_said_to_agree_with_its_reply(tmp_path):
    contradicted = llmbar(0, **{"swap = False": {"completion": ["Output (b)", "stop"], "winner": "1"}})
    found = Imported(tmp_path / "s", "llmbar", llmbar_file(tmp_path, [contradicted]))
    assert found.disagreements == []
    assert "no contract reads the others" in found.analysis.battery["imported"]["comparison"]
    assert "disagree with" not in found.analysis.battery["imported"]["comparison"]


def test_llmbar_under_a_declared_contract(tmp_path):
    from darkcurrent.verdicts import get_contract

    contract = get_contract("regex", pattern=r"Output \((a|b)\)", labels={"A": ["a"], "B": ["b"]})
    rows = [llmbar(0), llmbar(1, **{"swap = True": {"completion": ["Output (b)", "length"], "winner": "1"}})]
    found = Imported(tmp_path / "s", "llmbar", llmbar_file(tmp_path, rows), contract=contract)
    assert found.manifest["contract"]["name"] == "regex"
    (listed,) = found.disagreements
    assert (listed["item"], listed["order"], listed["reason"]) == ("Natural/0001", "BA", "truncated")
    assert found.calls[3] == ("BA", None, None, "truncated")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (llmbar(label=0), "[0]: `label` is 0: this format knows only 1 and 2"),
        (
            llmbar(**{"swap = True": {"completion": ["x", "stop"], "winner": "tie"}}),
            '[0]: `winner` is "tie", and',
        ),
        (
            llmbar(**{"swap = True": {"completion": {"text": "x"}, "winner": "1"}}),
            "[0]: `completion` is an object of 1",
        ),
        (llmbar(**{"swap = True": "x"}), '[0]: the result of `swap = True` is "x", not an object'),
        (llmbar() | {"results": []}, "[0]: `results` is a list of 0"),
    ],
)
def test_a_bad_llmbar_row_is_named(tmp_path, row, message):
    path = llmbar_file(tmp_path, [row])
    with pytest.raises(BatteryError) as caught:
        Imported(tmp_path / "s", "llmbar", path)
    assert str(caught.value).startswith("result.json" + message)


def test_llmbar_gold_on_one_text_twice_is_no_signal(tmp_path):
    rows = [llmbar(0, texts=("same", "same"), ab="1", ba="2"), llmbar(1, texts=("", "")), llmbar(2)]
    found = Imported(tmp_path / "s", "llmbar", llmbar_file(tmp_path, rows))
    cell = found.analysis.cells[0]
    assert cell.signal.items == 1
    assert {name: (c.n, c.adverse) for name, c in cell.clone.items()} == {
        "core": (0, 0),
        "edge-empty": (1, 1),
        "edge-whitespace": (0, 0),
        "natural": (1, 1),
    }
    assert cell.clone["edge-empty"].upper is None


def position_bias(path, rows, judge="judge-1"):
    columns = [
        "cmp_index",
        "question_1",
        "question_2",
        "answer1_1",
        "answer1_2",
        "answer2_1",
        "answer2_2",
        "task",
        judge,
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(f'"{cell}"' for cell in line) for line in [columns, *rows]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_position_bias_reads_replies_in_both_orders_over_repetitions(tmp_path):
    def row(first, second, reply):
        return [
            f"7;{first};{second}",
            "q\n1",
            "q2",
            f"{first}\nsays",
            "x",
            f"{second}\nsays",
            "x",
            "math",
            reply,
        ]

    said = [("[[A]]", "[[B]]"), ("[[A]]", "[[A]]"), ("Line one.\n[[C]]", "[[A]] or [[B]]")]
    paths = [
        position_bias(
            tmp_path / f"Repetition{n}-x" / "record_judge-1_3.tsv", [row("a", "b", ab), row("b", "a", ba)]
        )
        for n, (ab, ba) in enumerate(said, start=1)
    ]
    found = Imported(tmp_path / "s", "position-bias", *paths)
    assert found.manifest["counted"] == "contract"
    assert found.patterns() == {"stable": 1, "position": 1, "invalid": 1}
    assert found.calls[-2:] == [("AB", "tie", "tie", None), ("BA", None, None, "several-verdicts")]
    assert sorted(found.ledger["repetition"]) == [1, 1, 2, 2, 3, 3]
    assert found.ledger["text_first"].n_unique() == 1  # the same text in either order
    retest = found.analysis.cells[0].retest
    assert (retest.units, retest.repetitions, retest.same, retest.tie_flip, retest.invalid) == (2, 3, 0, 1, 1)
    assert found.manifest["sources"][0]["name"] == "Repetition1-x/record_judge-1_3.tsv"


def test_position_bias_names_what_it_cannot_read(tmp_path):
    row = ["7;a", "q", "q", "x", "x", "y", "y", "math", "[[A]]"]
    with pytest.raises(BatteryError, match=r"record_judge-1_3\.tsv:2: `cmp_index` is \"7;a\""):
        Imported(tmp_path / "s", "position-bias", position_bias(tmp_path / "record_judge-1_3.tsv", [row]))
    with pytest.raises(BatteryError, match=r"is not called record_<judge>_<prompt>\.tsv"):
        Imported(tmp_path / "s", "position-bias", position_bias(tmp_path / "results.tsv", [row]))
    with pytest.raises(BatteryError, match="has no `judge-2`"):
        Imported(
            tmp_path / "s",
            "position-bias",
            position_bias(tmp_path / "record_judge-2_3.tsv", [["7;a;b", *row[1:]]]),
        )


def judgebench(pair="p", label="A>B", ab="A>B", ba="B>A", **changes):
    judgments = [
        {"judgment": {"judge_model": "j", "response": f"So [[{decision}]]"}, "decision": decision}
        for decision in (ab, ba)
    ]
    row = {"pair_id": pair, "source": "maths", "question": "q", "response_A": "x", "response_B": "y"}
    return row | {"label": label, "judge_name": "arena", "judgments": judgments} | changes


def test_judgebench_decisions_are_slots_and_the_label_is_not(tmp_path):
    rows = [judgebench("p"), judgebench("q", "B>A", "A>B", "A>B"), judgebench("r", "B>A", "A=B", "A>B")]
    rows += [judgebench("s", ab=None, judgments=[None, rows[0]["judgments"][1]])]
    found = Imported(tmp_path / "s", "judgebench", jsonl(tmp_path / "x.jsonl", rows))
    assert found.patterns("signal") == {"stable": 1, "position": 1, "one-sided": 1, "invalid": 1}
    assert found.analysis.cells[0].signal.verdicts.model_dump() == {
        "correct": 5,
        "tie": 1,
        "wrong": 1,
        "invalid": 1,
    }
    assert found.calls[1] == ("BA", "B", "response_A", None)
    assert found.calls[6][3] == "recorded-invalid"
    assert found.analysis.cells[0].criterion == "arena"


def test_judgebench_single_games_are_incomplete_and_reward_models_have_no_reply(tmp_path):
    reward = [{"judgment": {"score": [1, 2]}, "decision": "B>A"}]
    path = jsonl(tmp_path / "d,judge_name=r,judge_model=org_RM-1.jsonl", [judgebench(judgments=reward)])
    found = Imported(tmp_path / "s", "judgebench", path)
    assert found.patterns("signal") == {"incomplete": 1}
    assert found.analysis.campaigns[0].configuration == "org_RM-1"
    assert found.analysis.campaigns[0].sensitivity == []


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (judgebench(label="tie"), ':1: `label` is "tie"'),
        (judgebench(ab="A>>B"), ':1: `decision` is "A>>B", and'),
        (judgebench(judgments="x"), ':1: `judgments` is "x", not a list'),
        (judgebench(judgments=[None, None]), ":1 names no `judge_model`"),
        (
            judgebench(judgments=[{"judgment": {"judge_model": "j", "response": 3}, "decision": None}]),
            ":1 has a judgment",
        ),
    ],
)
def test_a_bad_judgebench_row_is_named(tmp_path, row, message):
    path = jsonl(tmp_path / "x.jsonl", [row])
    with pytest.raises(BatteryError) as caught:
        Imported(tmp_path / "s", "judgebench", path)
    assert str(caught.value).startswith("x.jsonl" + message)


def test_files_without_rows_and_unknown_formats_are_refused(tmp_path):
    empty = jsonl(tmp_path / "x_pair.jsonl", [])
    with pytest.raises(UsageError, match="hold no recorded call"):
        Imported(tmp_path / "s", "fastchat-pair", empty)
    with pytest.raises(UsageError, match="There is no format 'fastchat'"):
        Imported(tmp_path / "s", "fastchat", empty)
