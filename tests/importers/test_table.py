"""Any table with a declared mapping: the three ways to say the order, both codings, and what can be wrong."""

from __future__ import annotations

import csv
import itertools

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.errors import BatteryError, ProtocolError, UsageError
from darkcurrent.importers.mapping import code_of, load_mapping
from darkcurrent.importers.observation import slot_of
from darkcurrent.verdicts import get_contract
from support.imports import Imported, jsonl

BY_COLUMN = """
judge = "j"
[columns]
item = "id"
label = "verdict"
[order]
by = "column"
column = "swapped"
AB = [false]
BA = [true]
"""
SLOTS = '[labels]\nA = ["1"]\nB = ["2"]\ntie = [0]\ninvalid = ["null", -1]\n'
MAPPED_BACK = '[labels]\nfirst = ["1"]\nsecond = ["2"]\ntie = [0]\ninvalid = ["null"]\n'


def mapping(tmp_path, text):
    path = tmp_path / "mapping.toml"
    path.write_text(text, encoding="utf-8")
    return path


def rows(*pairs):
    return [
        {"id": f"i{number}", "swapped": swapped, "verdict": verdict}
        for number, pair in enumerate(pairs)
        for swapped, verdict in zip((False, True), pair, strict=True)
    ]


def test_one_file_under_both_codings(tmp_path):
    path = jsonl(tmp_path / "x.jsonl", rows((1, 2), (1, 1), (0, "2"), (None, 0)))
    slots = Imported(tmp_path / "s", "table", path, mapping=mapping(tmp_path, BY_COLUMN + SLOTS))
    back = Imported(tmp_path / "b", "table", path, mapping=mapping(tmp_path, BY_COLUMN + MAPPED_BACK))
    assert slots.patterns() == {"stable": 1, "position": 1, "one-sided": 1, "invalid": 1}
    # The wrong coding turns stable pairs into position pairs and the other way round; nothing else.
    assert back.patterns() == {"position": 1, "stable": 1, "one-sided": 1, "invalid": 1}
    assert [call[1] for call in slots.calls[:4]] == ["A", "B", "A", "A"]
    assert [call[1] for call in back.calls[:4]] == ["A", "A", "A", "B"]
    assert slots.calls[6][3] == "recorded-invalid"
    assert slots.analysis.campaigns[0].sensitivity == []  # no reply is kept


@given(st.lists(st.tuples(*[st.sampled_from(["first", "second", "tie"])] * 2), min_size=1, max_size=5))
def test_a_winner_by_content_survives_its_slot(winners):
    for pair in winners:
        for winner, order in zip(pair, ("AB", "BA"), strict=True):
            slot = slot_of(winner, order)
            back = (
                "tie"
                if slot == "tie"
                else {"A": ("first", "second"), "B": ("second", "first")}[slot][order == "BA"]
            )
            assert back == winner


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "json"])
def test_every_kind_of_file(tmp_path, ending):
    path = tmp_path / f"x.{ending}"
    data = [{"id": n, "order": order, "w": w} for n in (1, 2) for order, w in (("ab", 1.5), ("ba", 1.0))]
    if ending == "parquet":
        pl.DataFrame(data).write_parquet(path)
    elif ending == "json":
        pl.DataFrame(data).write_json(path)
    else:
        with path.open("w", newline="") as handle:
            writer = csv.DictWriter(handle, data[0], delimiter="," if ending == "csv" else "\t")
            writer.writeheader()
            writer.writerows([{**row, "w": f"{row['w']:g}"} for row in data])
    text = """
[columns]
item = "id"
label = "w"
[order]
by = "column"
column = "order"
AB = ["ab"]
BA = ["ba"]
[labels]
first = [1]
second = [2]
tie = [1.5]
"""
    found = Imported(tmp_path / "s", "table", path, mapping=mapping(tmp_path, text))
    assert found.patterns() == {"one-sided": 2}


def test_two_files(tmp_path):
    text = """
[columns]
item = ["q", "pair"]
label = "verdict"
[order]
by = "file"
AB = ["*_ab.jsonl"]
BA = ["swapped.jsonl"]
[labels]
A = ["A"]
B = ["B"]
"""
    forward = jsonl(
        tmp_path / "run_ab.jsonl",
        [{"q": 1, "pair": "x-y", "verdict": "A"}, {"q": 2, "pair": "x-y", "verdict": "A"}],
    )
    reverse = jsonl(tmp_path / "swapped.jsonl", [{"q": 1, "pair": "x-y", "verdict": "B"}])
    found = Imported(tmp_path / "s", "table", forward, reverse, mapping=mapping(tmp_path, text))
    assert found.patterns() == {"stable": 1, "incomplete": 1}
    assert set(found.ledger["item"]) == {"1/x-y", "2/x-y"}
    other = jsonl(tmp_path / "other.jsonl", [{"q": 1, "pair": "x-y", "verdict": "B"}])
    with pytest.raises(BatteryError, match=r"other\.jsonl stands under neither of `order\.AB`"):
        Imported(tmp_path / "t", "table", forward, other, mapping=tmp_path / "mapping.toml")


def test_two_columns_with_replies_and_labels(tmp_path):
    text = """
[columns]
item = "id"
judge = "model"
[order]
by = "columns"
AB = {reply = "r1", label = "l1", finish = "f1"}
BA = {reply = "r2", label = "l2", error = "e2"}
[labels]
A = ["a"]
B = ["b"]
tie = ["t"]
"""
    data = [
        {"id": 1, "model": "m", "r1": "[[A]]", "l1": "a", "f1": "stop", "r2": "[[B]]", "l2": "b", "e2": None},
        {"id": 2, "model": "m", "r1": "[[A]]", "l1": "a", "f1": "length", "r2": "[[A]]", "l2": "b", "e2": ""},
        {
            "id": 3,
            "model": "m",
            "r1": "[[C]]",
            "l1": "t",
            "f1": None,
            "r2": None,
            "l2": "a",
            "e2": "time-out",
        },
    ]
    path = jsonl(tmp_path / "x.jsonl", data)
    found = Imported(
        tmp_path / "s", "table", path, mapping=mapping(tmp_path, text), contract=get_contract("bracket")
    )
    assert [(value, reason) for _, value, _, reason in found.calls] == [
        ("A", None),
        ("B", None),
        (None, "truncated"),
        ("B", None),
        ("tie", None),
        (None, "transport"),
    ]
    assert [(one["item"], one["order"], one["recorded"], one["read"]) for one in found.disagreements] == [
        ("2", "AB", "A", None),
        ("2", "BA", "B", "A"),
    ]


ERROR = "ERROR: Client error '429 Too Many Requests' for url 'https://example.org/v1'"


@pytest.mark.parametrize("count", ["recorded", "contract"])
@pytest.mark.parametrize("contract", [None, "bracket", "label", "sole-object", "json-field", "score-pair"])
def test_an_error_that_was_parsed_as_a_verdict_never_counts(tmp_path, count, contract):
    """As in a published log: the first digit of "429" was taken for the verdict 2... by whoever recorded it."""
    text = BY_COLUMN.replace('label = "verdict"', 'label = "verdict"\nreply = "raw"') + SLOTS
    data = [row | {"raw": ERROR} for row in rows((2, 2), (2, 2))]
    path = jsonl(tmp_path / "x.jsonl", data)
    options = {"mapping": mapping(tmp_path, text), "contract": contract and get_contract(contract)}
    if count == "contract" and contract is None:
        with pytest.raises(UsageError, match="say with --contract how to read them"):
            Imported(tmp_path / "s", "table", path, count=count, **options)
        return
    found = Imported(tmp_path / "s", "table", path, count=count, **options)
    assert {call[1:] for call in found.calls} == {(None, None, "error-text")}
    assert [one["recorded_as"] for one in found.disagreements] == ["2"] * 4
    assert found.analysis.campaigns[0].invalid_by_reason == {"error-text": 4}


def test_gold_by_slot_and_texts_by_slot(tmp_path):
    text = BY_COLUMN.replace('label = "verdict"', 'label = "verdict"\nslot_a = "a"\nslot_b = "b"') + SLOTS
    text += '[gold]\ncolumn = "truth"\nA = [1]\nB = [2]\ntie = ["tie"]\n'
    data = rows((1, 2), (1, 1), (0, 0))
    for row, truth in zip(data, (1, 2, 2, 1, "tie", "tie"), strict=True):
        good, bad = f"good {row['id']}", f"bad {row['id']}"
        row |= {"truth": truth, "a": good if truth == 1 else bad, "b": bad if truth == 1 else good}
    data[4] |= {"a": "x", "b": "y"}
    data[5] |= {"a": "y", "b": "x"}
    path = jsonl(tmp_path / "x.jsonl", data)
    found = Imported(tmp_path / "s", "table", path, mapping=mapping(tmp_path, text))
    assert found.patterns("signal") == {"stable": 1, "position": 1}
    assert found.patterns() == {"tie": 1}  # two texts of equal gold have no target
    signal = found.analysis.cells[0].signal
    assert (signal.items, signal.mean, signal.verdicts.correct, signal.verdicts.wrong) == (2, 0.75, 3, 1)


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ("first = [1]\nsecond = [2]", "calls second the better text of item i0, and x.jsonl:1 calls first"),
        ("A = [1]\nB = [2]", None),
    ],
)
def test_gold_labels_with_the_wrong_coding_are_refused(tmp_path, gold, message):
    text = BY_COLUMN + SLOTS + f'[gold]\ncolumn = "truth"\n{gold}\n'
    data = rows((1, 2), (1, 2))
    for row in data:
        row["truth"] = 2 if row["swapped"] else 1
    path = jsonl(tmp_path / "x.jsonl", data)
    if message is None:
        assert (
            Imported(tmp_path / "s", "table", path, mapping=mapping(tmp_path, text))
            .analysis.cells[0]
            .signal.mean
            == 1
        )
        return
    with pytest.raises(BatteryError, match=message):
        Imported(tmp_path / "s", "table", path, mapping=mapping(tmp_path, text))


def test_texts_with_the_wrong_coding_are_refused(tmp_path):
    data = rows((1, 2))
    data[0] |= {"a": "x", "b": "y"}
    data[1] |= {"a": "y", "b": "x"}
    path = jsonl(tmp_path / "x.jsonl", data)
    for names, fits in ((("slot_a", "slot_b"), True), (("first", "second"), False)):
        columns = f'label = "verdict"\n{names[0]} = "a"\n{names[1]} = "b"'
        declared = mapping(tmp_path, BY_COLUMN.replace('label = "verdict"', columns) + SLOTS)
        if fits:
            assert Imported(tmp_path / "s", "table", path, mapping=declared).patterns() == {"stable": 1}
        else:
            with pytest.raises(BatteryError, match="has other texts for item i0 than"):
                Imported(tmp_path / "t", "table", path, mapping=declared)


def test_doubled_rows_and_missing_orders_are_incomplete(tmp_path):
    data = rows((1, 2), (1, 2), (1, 2))
    data = [*data[:3], data[2], *data[3:5]]  # item 1 has two calls AB, item 2 has no call BA
    found = Imported(
        tmp_path / "s",
        "table",
        jsonl(tmp_path / "x.jsonl", data),
        mapping=mapping(tmp_path, BY_COLUMN + SLOTS),
    )
    assert found.patterns() == {"stable": 1, "incomplete": 2}
    assert found.analysis.campaigns[0].reasons[1] == "2 pairs have not exactly one call in each order"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"verdict": "tie"},
            'x.jsonl:1: `verdict` is "tie", and `[labels]` explains only `1`, `2`, `0`, `null`, `-1`',
        ),
        ({"swapped": "no"}, 'x.jsonl:1: `swapped` is "no", and neither `order.AB` nor `order.BA` has it'),
        ({"id": None}, "x.jsonl:1: `id` is null: give a text or a whole number"),
        ({"verdict": True}, "x.jsonl:1: `verdict` is true, and"),
    ],
)
def test_a_value_that_the_mapping_does_not_explain_is_named(tmp_path, row, message):
    path = jsonl(tmp_path / "x.jsonl", [rows((1, 2))[0] | row])
    with pytest.raises(BatteryError) as caught:
        Imported(tmp_path / "s", "table", path, mapping=mapping(tmp_path, BY_COLUMN + SLOTS))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("item =", "itme =", "`columns.itme`: is not a known key"),
        ('by = "column"', 'by = "row"', "`order`: input tag 'row'"),
        ("AB = [false]", "", "`order.AB`: field required"),
        ("AB = [false]", "AB = [false, 'true']", "`order`: a value stands under `AB` and under `BA`"),
        ('A = ["1"]', 'first = ["1"]', "`labels`: give `A` and `B` (slots), or `first` and `second`"),
        ("tie = [0]", 'tie = ["1"]', "`labels`: a value stands twice"),
        ('label = "verdict"', "", "each order needs a column `reply`, `label` or both"),
        (
            'label = "verdict"',
            'label = "verdict"\nfirst = "x"',
            "`columns`: `first` and `second` go together",
        ),
        ("[columns]", "[columns", "is not valid TOML"),
        (SLOTS, "", "a column `label` needs a table `[labels]`"),
    ],
)
def test_a_mapping_that_cannot_be_used_is_explained(tmp_path, old, new, message):
    text = BY_COLUMN + SLOTS
    assert old in text
    with pytest.raises(ProtocolError) as caught:
        load_mapping(mapping(tmp_path, text.replace(old, new, 1)))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value).strip()


def test_a_table_needs_a_mapping_that_exists(tmp_path):
    path = jsonl(tmp_path / "x.jsonl", rows((1, 2)))
    with pytest.raises(UsageError, match="needs --mapping FILE"):
        Imported(tmp_path / "s", "table", path)
    with pytest.raises(ProtocolError, match="cannot be read"):
        Imported(tmp_path / "s", "table", path, mapping=tmp_path / "none.toml")


def test_replies_without_labels_need_a_contract_and_labels_without_replies_have_none(tmp_path):
    text = BY_COLUMN.replace('label = "verdict"', 'reply = "verdict"')
    data = [row | {"verdict": "A"} for row in rows((1, 1))]
    path = jsonl(tmp_path / "x.jsonl", data)
    with pytest.raises(UsageError, match="say with --contract how to read them"):
        Imported(tmp_path / "s", "table", path, mapping=mapping(tmp_path, text))
    found = Imported(
        tmp_path / "s", "table", path, mapping=mapping(tmp_path, text), contract=get_contract("label")
    )
    assert found.patterns() == {"position": 1}
    assert "label" not in [one.contract for one in found.analysis.campaigns[0].sensitivity]
    with pytest.raises(UsageError, match="has no recorded label, so that a contract must count"):
        Imported(tmp_path / "t", "table", path, mapping=mapping(tmp_path, text), count="recorded")
    labels = mapping(tmp_path, BY_COLUMN + SLOTS)
    with pytest.raises(UsageError, match="has no reply to read, so that its recorded label must count"):
        Imported(
            tmp_path / "u",
            "table",
            jsonl(tmp_path / "y.jsonl", rows((1, 1))),
            mapping=labels,
            count="contract",
            contract=get_contract("label"),
        )


def test_repetitions_are_whole_numbers_and_pairs_of_their_own(tmp_path):
    text = BY_COLUMN.replace('label = "verdict"', 'label = "verdict"\nrepetition = "rep"') + SLOTS
    said = {0: (1, 2), 1: (1, 1), 2: (0, 2)}
    data = [row | {"rep": rep} for rep, pair in said.items() for row in rows(pair)]
    found = Imported(
        tmp_path / "s", "table", jsonl(tmp_path / "x.jsonl", data), mapping=mapping(tmp_path, text)
    )
    assert found.patterns() == {"stable": 1, "position": 1, "one-sided": 1}
    retest = found.analysis.cells[0].retest
    assert (retest.units, retest.repetitions, retest.tie_flip, retest.reversed) == (2, 3, 1, 1)
    bad = jsonl(tmp_path / "y.jsonl", [data[0] | {"rep": "one"}])
    with pytest.raises(BatteryError, match=r"y\.jsonl:1: `rep` is \"one\": a repetition is a whole number"):
        Imported(tmp_path / "t", "table", bad, mapping=tmp_path / "mapping.toml")


def test_names_without_valid_unicode_and_numbers_without_end_are_named(tmp_path):
    text = BY_COLUMN.replace('label = "verdict"', 'label = "verdict"\nrepetition = "rep"') + SLOTS
    good = rows((1, 2))[0] | {"rep": 1}
    for change, message in (
        ({"id": "\ud83d"}, r'x\.jsonl:1: the name "\\ud83d" holds a lone surrogate'),
        ({"rep": 10**30}, r"x\.jsonl:1: `rep` is 1000"),
        ({"rep": None}, r"x\.jsonl:1: `rep` is null"),
    ):
        path = jsonl(tmp_path / "x.jsonl", [good | change])
        with pytest.raises(BatteryError, match=message):
            Imported(tmp_path / "s", "table", path, mapping=mapping(tmp_path, text))


def test_codes_are_compared_by_value():
    values = [1, 1.0, "1", True, "true", None, 1.5, "1.5", 0, False]
    assert [code_of(value) for value in values] == [
        "1",
        "1",
        "1",
        "true",
        "true",
        "null",
        "1.5",
        "1.5",
        "0",
        "false",
    ]
    assert len(set(map(code_of, itertools.chain([0, False, None, "", "null "])))) == 5
