"""Source `pairs`: what becomes of each row, and what no row may hold."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from darkcurrent.batteries import load_battery
from darkcurrent.batteries.pairs import read_pairs
from darkcurrent.errors import BatteryError
from darkcurrent.protocol import parse_protocol
from darkcurrent.protocol.batteries import PairsBattery, PairsColumns
from darkcurrent.study import Study

ROW = {"id": "i", "prompt": "p", "chosen": "good", "rejected": "bad"}
LABELS = {"first": "first", "second": "second", "label": "label"}


def _read(tmp_path: Path, rows: list, columns: dict | None = None, **keys):
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    table = PairsBattery(
        source="pairs", path="pairs.jsonl", columns=PairsColumns(id="id", **columns or {}), **keys
    )
    return read_pairs(table, tmp_path)


def _error(tmp_path: Path, rows: list, columns: dict | None = None, **keys) -> str:
    with pytest.raises(BatteryError) as caught:
        _read(tmp_path, rows, columns, **keys)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path}/pairs.jsonl:")
    assert len(message) < len(str(tmp_path)) + 300
    return message.removeprefix(f"{tmp_path}/pairs.jsonl:")


def _shown(battery) -> list[tuple]:
    """Return the comparisons with the texts in the place of the roles."""
    items = {item.id: item for item in battery.items}
    return [
        (
            comparison.item,
            comparison.arm,
            *(battery.texts[items[comparison.item].texts[role]] for role in (comparison.u, comparison.v)),
            comparison.target,
            comparison.null_stratum,
        )
        for comparison in battery.comparisons
    ]


def test_a_row_becomes_a_clone_and_a_signal(tmp_path):
    battery = _read(tmp_path, [ROW])
    assert _shown(battery) == [
        ("i", "clone", "good", "good", None, "core"),
        ("i", "signal", "good", "bad", "chosen", None),
    ]
    (item,) = battery.items
    assert (item.stratum, item.cluster, battery.texts[item.prompt]) == ("all", "i", "p")
    assert sorted(battery.texts.values()) == ["bad", "good", "p"]
    assert battery.refusals == ()


def test_one_arm_alone_holds_only_its_texts(tmp_path):
    assert _shown(_read(tmp_path, [ROW], arms=("signal",))) == [
        ("i", "signal", "good", "bad", "chosen", None)
    ]
    clones = _read(tmp_path, [ROW], arms=("clone",))
    assert _shown(clones) == [("i", "clone", "good", "good", None, "core")]
    assert "bad" not in clones.texts.values()


def test_texts_are_kept_to_the_byte(tmp_path):
    odd = {"prompt": "\ufeffp\u2028\r\n", "chosen": "x\ud800y", "rejected": "\x00</answer_A>"}
    battery = _read(tmp_path, [ROW | odd])
    assert sorted(battery.texts.values()) == sorted(odd.values())


def test_the_first_text_of_a_list_is_taken(tmp_path):
    battery = _read(tmp_path, [ROW | {"chosen": ["c1", "c2"], "rejected": ["r1"]}])
    assert _shown(battery)[1][2:4] == ("c1", "r1")


def test_chat_messages_are_rendered(tmp_path):
    battery = _read(tmp_path, [ROW | {"prompt": [{"role": "user", "content": "q"}]}])
    assert battery.texts[battery.items[0].prompt] == "[user]\nq"


def test_other_column_names(tmp_path):
    row = {
        "key": 7,
        "q": "p",
        "better": "good",
        "worse": "bad",
        "subset": "m",
        "group": 3,
        "stratum": "not this",
    }
    (tmp_path / "pairs.jsonl").write_text(json.dumps(row))
    columns = PairsColumns(
        id="key", prompt="q", chosen="better", rejected="worse", stratum="subset", cluster="group"
    )
    battery = read_pairs(PairsBattery(source="pairs", path="pairs.jsonl", columns=columns), tmp_path)
    (item,) = battery.items
    assert (item.id, item.stratum, item.cluster) == ("7", "m", "3")
    assert _shown(battery)[1] == ("7", "signal", "good", "bad", "chosen", None)


@pytest.mark.parametrize(
    ("given", "stratum"),
    [({}, "all"), ({"stratum": None}, "all"), ({"stratum": ""}, "all"), ({"stratum": 0}, "0")],
)
def test_a_stratum_column_is_used_where_it_is_there(tmp_path, given, stratum):
    """A stratum of 0 is a stratum."""
    (item,) = _read(tmp_path, [ROW | given]).items
    assert item.stratum == stratum


def test_a_cluster_column_is_used_where_it_is_there(tmp_path):
    items = _read(tmp_path, [ROW, ROW | {"id": "j", "cluster": 0}]).items
    assert [item.cluster for item in items] == ["i", "0"]


def test_rows_can_be_numbered(tmp_path):
    (tmp_path / "pairs.jsonl").write_text(json.dumps(ROW) + "\n\n" + json.dumps(ROW))
    table = PairsBattery(source="pairs", path="pairs.jsonl", columns=PairsColumns(id="@row"))
    assert [item.id for item in read_pairs(table, tmp_path).items] == ["row-00000", "row-00001"]


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "parquet"])
def test_each_kind_of_file_gives_the_same_battery(tmp_path, kind):
    rows = [ROW, ROW | {"id": "j", "prompt": 'q "x",\ny'}]
    path = tmp_path / f"pairs.{kind}"
    if kind == "parquet":
        pl.DataFrame(rows).write_parquet(path)
    elif kind == "csv":
        with path.open("w", newline="") as handle:
            writer = csv.DictWriter(handle, list(ROW))
            writer.writeheader()
            writer.writerows(rows)
    else:
        path.write_text(json.dumps(rows) if kind == "json" else "\n".join(map(json.dumps, rows)))
    assert read_pairs(PairsBattery(source="pairs", path=path.name), tmp_path) == _read(tmp_path, rows)


def test_empty_and_blank_texts_make_edge_clones(tmp_path):
    rows = [ROW | {"id": 1, "chosen": ""}, ROW | {"id": 2, "chosen": " \n"}, ROW | {"id": 3}]
    clones = [row for row in _shown(_read(tmp_path, rows)) if row[1] == "clone"]
    assert [row[-1] for row in clones] == ["edge-empty", "edge-whitespace", "core"]


def test_identical_texts_are_an_error(tmp_path):
    same = ROW | {"id": "same", "rejected": "good"}
    message = _error(tmp_path, [ROW, same])
    assert message.startswith("2: chosen and rejected are the same text")
    assert 'set `identical = "clone"`' in message
    assert _error(tmp_path, [ROW | {"chosen": "", "rejected": ""}]).startswith(
        "1: chosen and rejected are the same"
    )


def test_identical_texts_are_clones_where_the_protocol_says_so(tmp_path):
    battery = _read(tmp_path, [ROW, ROW | {"id": "same", "rejected": "good"}], identical="clone")
    assert [(row[0], row[1]) for row in _shown(battery)] == [
        ("i", "clone"),
        ("i", "signal"),
        ("same", "clone"),
    ]
    (refusal,) = battery.refusals
    assert (refusal.arm, refusal.reason) == ("signal", "chosen and rejected are the same text")
    assert refusal.where.endswith("pairs.jsonl:2")


def test_texts_that_differ_in_one_character_are_not_identical(tmp_path):
    for other in ("good ", "good\ufeff", "g\u043eod"):
        assert len(_read(tmp_path, [ROW | {"rejected": other}]).comparisons) == 2


def test_identical_texts_do_not_matter_without_a_signal(tmp_path):
    battery = _read(tmp_path, [ROW | {"rejected": "good"}], arms=("clone",))
    assert [row[1] for row in _shown(battery)] == ["clone"]
    assert battery.refusals == ()


def test_a_row_of_which_nothing_is_shown_is_no_item(tmp_path):
    same = ROW | {"id": "same", "rejected": "good"}
    battery = _read(tmp_path, [ROW, same], identical="clone", arms=("signal",))
    assert [item.id for item in battery.items] == ["i"]
    assert len(battery.refusals) == 1


def _labelled(label, **more) -> dict:
    return {"id": "i", "prompt": "p", "first": "x", "second": "y", "label": label} | more


@pytest.mark.parametrize(
    ("label", "chosen", "rejected"),
    [(1, "x", "y"), (2, "y", "x"), ("one", "x", "y"), (True, "y", "x"), (None, "x", "y")],
)
def test_a_label_says_which_text_is_chosen(tmp_path, label, chosen, rejected):
    meaning = {"1": "first", "2": "second", "one": "first", "true": "second", "null": "first"}
    battery = _read(tmp_path, [_labelled(label)], LABELS | {"labels": meaning})
    assert _shown(battery)[1][2:4] == (chosen, rejected)


def test_a_tie_label_gives_a_clone_and_a_refusal(tmp_path):
    columns = LABELS | {"labels": {"0": "tie", "1": "first"}}
    battery = _read(tmp_path, [_labelled(0)], columns)
    assert _shown(battery) == [("i", "clone", "x", "x", None, "core")]
    assert [refusal.reason for refusal in battery.refusals] == ["the label says tie"]
    assert _read(tmp_path, [_labelled(0)], columns, arms=("signal",)).items == ()
    assert _read(tmp_path, [_labelled(0)], columns, arms=("clone",)).refusals == ()


@pytest.mark.parametrize("label", ["2", 3, 1.0, True, None, [1], "x" * 500])
def test_an_unexplained_label_is_an_error(tmp_path, label):
    message = _error(tmp_path, [_labelled(label)], LABELS | {"labels": {"1": "first"}})
    assert message.startswith("1: the label is `")
    assert message.endswith("explains only `1`.")


def test_a_label_that_json_does_not_know_is_an_error_too(tmp_path):
    rows = [{"id": 1, "prompt": "p", "first": "x", "second": "y", "label": b"1"}]
    pl.DataFrame(rows).write_parquet(tmp_path / "pairs.parquet")
    columns = PairsColumns(**LABELS, labels={"1": "first"})
    with pytest.raises(BatteryError, match="the label is"):
        read_pairs(PairsBattery(source="pairs", path="pairs.parquet", columns=columns), tmp_path)


@pytest.mark.parametrize(
    ("change", "start"),
    [
        ({"chosen": True}, "2: `chosen` is true, not a text"),
        ({"rejected": True}, "2: `rejected` is true, not a text"),
        ({"rejected": None}, "2: `rejected` is null, not a text"),
        ({"chosen": 12}, "2: `chosen` is 12, not a text"),
        ({"chosen": {"a": 1}}, "2: `chosen` is an object of 1, not a text"),
        ({"chosen": []}, "2: `chosen` is an empty list"),
        ({"chosen": [True, "x"]}, "2: `chosen` is true, not a text"),
        ({"chosen": [["x"]]}, "2: `chosen` is a list of 1, not a text"),
        ({"prompt": True}, "2: the prompt is true"),
        ({"prompt": None}, "2: the prompt is null"),
        ({"id": "first"}, "2 has the id `first` of "),
        ({"id": None}, "2: `id` is null: give a text or a whole number"),
        ({"id": ""}, '2: `id` is ""'),
        ({"id": True}, "2: `id` is true"),
        ({"id": 1.5}, "2: `id` is 1.5"),
        ({"id": ["a"]}, "2: `id` is a list of 1"),
        ({"id": "a\ud800"}, '2: `id` is "a\\ud800", which holds a lone surrogate'),
        ({"stratum": "\udfff"}, '2: `stratum` is "\\udfff", which holds a lone surrogate'),
        ({"cluster": "\ud800"}, '2: `cluster` is "\\ud800", which holds a lone surrogate'),
        ({"stratum": ["a"]}, "2: `stratum` is a list of 1"),
        ({"cluster": False}, "2: `cluster` is false"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(tmp_path, change, start):
    assert _error(tmp_path, [ROW | {"id": "first"}, ROW | change]).startswith(start)


def test_a_whole_number_and_its_text_are_one_id(tmp_path):
    assert _error(tmp_path, [ROW | {"id": 1}, ROW | {"id": "1"}]).startswith("2 has the id `1` of ")


@pytest.mark.parametrize("column", ["id", "prompt", "chosen", "rejected"])
def test_a_missing_column_is_named_with_those_that_are_there(tmp_path, column):
    row = {key: value for key, value in ROW.items() if key != column}
    message = _error(tmp_path, [row])
    known = ", ".join(f"`{key}`" for key in row)
    assert message.startswith(
        f"1 has no column `{column}` (its columns are {known}): name the right one as `{column}`"
    )


def test_a_file_without_ids_is_told_of_row_numbers(tmp_path):
    message = _error(tmp_path, [{key: value for key, value in ROW.items() if key != "id"}])
    assert message.endswith('as `id` in `[battery.columns]`, or number the rows: `id = "@row"`.')


def test_a_mapped_stratum_must_be_there(tmp_path):
    assert _error(tmp_path, [ROW], {"stratum": "subset"}).startswith("1 has no column `subset`")
    assert _error(tmp_path, [ROW | {"subset": None}], {"stratum": "subset"}).startswith("1: `subset` is null")


# ------------------------------------------------------------------ through the whole of freezing

PROTOCOL = """\
format = 1
criteria.neutral.rubric = "neutral"
[study]
name = "s"
[schedule]
seed = 1
[[configuration]]
name = "judge"
backend = "function"
callable = "judge:choose"
[battery]
source = "pairs"
"""


def _study(folder: Path, battery: str) -> Study:
    folder.mkdir(exist_ok=True)
    (folder / "judge.py").write_text("def choose(prompt, a, b):\n    return 'tie'\n")
    (folder / "protocol.toml").write_text(PROTOCOL + battery, encoding="utf-8")
    return Study(folder)


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.csv", "pairs.json"])
def test_an_empty_battery_is_an_error(tmp_path, name):
    (tmp_path / name).write_text("[]" if name.endswith(".json") else "")
    protocol = parse_protocol(f'{PROTOCOL}path = "{name}"\n')
    with pytest.raises(BatteryError, match=r"The battery is empty: no item was taken\. Check `\[battery\]`"):
        load_battery(protocol, tmp_path)


def test_a_battery_of_refusals_says_why_it_is_empty(tmp_path):
    (tmp_path / "pairs.jsonl").write_text(json.dumps(ROW | {"rejected": "good"}))
    protocol = parse_protocol(f'{PROTOCOL}path = "pairs.jsonl"\nidentical = "clone"\narms = ["signal"]\n')
    with pytest.raises(BatteryError, match=r"no item was taken \(chosen and rejected are the same text\)"):
        load_battery(protocol, tmp_path)


def test_a_lone_surrogate_goes_through_freeze_and_load(tmp_path):
    row = ROW | {"prompt": "p\ud800", "chosen": "\udfff", "rejected": "\ufeff\U0001f600"}
    studies = []
    for name in ("a", "b"):
        study = _study(tmp_path / name, 'path = "../pairs.jsonl"\n')
        (tmp_path / "pairs.jsonl").write_text(json.dumps(row))
        study.freeze()
        studies.append(Study(tmp_path / name).frozen)
    assert studies[0].study_digest == studies[1].study_digest
    assert {row["prompt"], row["chosen"], row["rejected"]} <= set(studies[0].texts.values())
    (item,) = studies[0].items
    assert studies[0].texts[item.prompt] == row["prompt"]


def test_texts_that_hold_the_tags_of_the_prompt_are_flagged(tmp_path):
    study = _study(tmp_path, 'path = "pairs.jsonl"\n')
    rows = [ROW, ROW | {"id": "j", "rejected": "x</ answer_a >y"}, ROW | {"id": "k", "prompt": "<request>"}]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    study.freeze()
    assert [item.flags for item in study.frozen.items] == [(), ("holds-prompt-tags",), ("holds-prompt-tags",)]


# ------------------------------------------------------------------ pairs that nobody here wrote

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "pairs"


@pytest.fixture
def data() -> Path:
    if not DATA.is_dir():
        pytest.skip("the shared data does not lie beside the project")
    return DATA


@pytest.mark.realworld
def test_llmbar_through_its_label_column(tmp_path, data):
    study = _study(
        tmp_path,
        f"""path = "{data}/llmbar/Natural/dataset.json"
columns.id = "@row"
columns.prompt = "input"
columns.first = "output_1"
columns.second = "output_2"
columns.label = "label"
columns.labels = {{ "1" = "first", "2" = "second" }}
""",
    )
    study.freeze()
    raw = json.loads((data / "llmbar/Natural/dataset.json").read_text(encoding="utf-8"))
    texts = study.frozen.texts
    found = [
        tuple(texts[key] for key in (item.prompt, item.texts["chosen"], item.texts["rejected"]))
        for item in study.frozen.items
    ]
    assert len(found) == 100
    assert found == [
        (row["input"], row[f"output_{row['label']}"], row[f"output_{3 - row['label']}"]) for row in raw
    ]
    assert len(study.frozen.schedule("judge")) == 300


@pytest.mark.realworld
def test_pandalm_stops_at_the_first_response_that_is_true(tmp_path, data):
    raw = json.loads((data / "pandalm/testset-v1.json").read_text(encoding="utf-8"))
    number = next(n for n, row in enumerate(raw) if True in (row["response1"], row["response2"]))
    columns = PairsColumns(
        id="idx",
        prompt="instruction",
        first="response1",
        second="response2",
        label="annotator1",
        labels={"0": "tie", "1": "first", "2": "second"},
    )
    table = PairsBattery(
        source="pairs", path=str(data / "pandalm/testset-v1.json"), columns=columns, identical="clone"
    )
    with pytest.raises(BatteryError) as caught:
        read_pairs(table, tmp_path)
    assert f"testset-v1.json[{number}]: `response" in str(caught.value)
    assert "is true, not a text" in str(caught.value)


@pytest.mark.realworld
def test_autoj_holds_nine_pairs_of_identical_texts(tmp_path, data):
    path = data / "autoj_pairwise.jsonl"
    columns = PairsColumns(
        id="@row",
        prompt="prompt",
        first="response 1",
        second="response 2",
        label="label",
        labels={"0": "first", "1": "second", "2": "tie"},
        stratum="scenario",
    )
    table = PairsBattery(source="pairs", path=str(path), columns=columns, identical="clone")
    battery = read_pairs(table, tmp_path)
    raw = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    same = [number for number, row in enumerate(raw) if row["response 1"] == row["response 2"]]
    assert len(battery.items) == len(raw) == 1392
    assert len({item.stratum for item in battery.items}) == 58
    assert len(same) == 9
    ties = sum(row["label"] == 2 for row in raw)
    untied = [number for number in same if raw[number]["label"] != 2]
    reasons = Counter(refusal.reason for refusal in battery.refusals)
    assert reasons["the label says tie"] == ties
    assert reasons["chosen and rejected are the same text"] == len(untied)
    assert sum(c.arm == "signal" for c in battery.comparisons) == 1392 - ties - len(untied)
    with pytest.raises(
        BatteryError, match=rf"autoj_pairwise\.jsonl:{untied[0] + 1}: chosen and rejected are the same"
    ):
        read_pairs(table.model_copy(update={"identical": "error"}), tmp_path)


@pytest.mark.realworld
def test_rewardbench_keeps_a_byte_order_mark_inside_a_prompt(tmp_path, data):
    table = PairsBattery(
        source="pairs", path=str(data / "rewardbench2_rows.jsonl"), columns=PairsColumns(stratum="subset")
    )
    battery = read_pairs(table, tmp_path)
    assert len(battery.items) == 23
    assert sum(battery.texts[item.prompt].startswith("\ufeff") for item in battery.items) == 1
    raw = [
        json.loads(line) for line in (data / "rewardbench2_rows.jsonl").read_text("utf-8").split("\n") if line
    ]
    assert [battery.texts[item.texts["chosen"]] for item in battery.items] == [
        row["chosen"][0] for row in raw
    ]
    assert {item.stratum for item in battery.items} == {row["subset"] for row in raw}
