"""Rows come out of a file exactly as they stand there, or one sentence says which row does not."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkcurrent.batteries.rows import read_rows, shown
from darkcurrent.errors import BatteryError

MARK = b"\xef\xbb\xbf"
ODD = "\ufeffa\u2028b\u2029c\x0bd\x85e\r\nf\rg\x00h\U0001f600"


def _write(tmp_path: Path, name: str, data: bytes | str) -> Path:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def _rows(path: Path) -> list[dict]:
    return [row for _, row in read_rows(path)]


def _error(path: Path) -> str:
    with pytest.raises(BatteryError) as caught:
        list(read_rows(path))
    assert str(caught.value).count(str(path)) == 1
    return str(caught.value).removeprefix(str(path))


@pytest.mark.parametrize("mark", [b"", MARK])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_the_same_rows_from_each_kind_of_text_file(tmp_path, mark, end):
    lines = [b'{"id": 1, "t": "x"}', b'{"id": 2, "t": "\xc3\xa9"}']
    expected = [{"id": 1, "t": "x"}, {"id": 2, "t": "é"}]
    for name in ("a.jsonl", "a.ndjson", "a.JSONL"):
        assert _rows(_write(tmp_path, name, mark + end.join(lines))) == expected
        assert _rows(_write(tmp_path, name, mark + end + end.join(lines) + end + b" \t" + end)) == expected
    assert _rows(_write(tmp_path, "a.json", mark + b"[" + end + (b"," + end).join(lines) + b"]")) == expected
    data = mark + end.join([b"id,t", b"1,x", b'"2","\xc3\xa9"']) + end
    assert _rows(_write(tmp_path, "a.csv", data)) == [{"id": "1", "t": "x"}, {"id": "2", "t": "é"}]


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abc"), st.text(st.characters(exclude_categories=[]))), max_size=3
    )
)
def test_jsonl_gives_back_any_text(tmp_path_factory, rows):
    rows = [
        {
            key: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
            for key, text in row.items()
        }
        for row in rows
    ]
    path = tmp_path_factory.mktemp("any") / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert _rows(path) == rows


@given(st.lists(st.tuples(st.text(), st.text()), max_size=3))
def test_csv_gives_back_any_quoted_text(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("any") / "a.csv"
    with io.StringIO(newline="") as buffer:
        csv.writer(buffer, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
        path.write_bytes(buffer.getvalue().encode())
    assert [tuple(row.values()) for row in _rows(path)] == rows


def test_odd_characters_inside_a_text_stay(tmp_path):
    raw = json.dumps({"t": ODD}, ensure_ascii=False)
    assert _rows(_write(tmp_path, "a.jsonl", MARK + raw.encode())) == [{"t": ODD}]
    assert _rows(_write(tmp_path, "a.json", f"[{raw}]")) == [{"t": ODD}]
    assert _rows(_write(tmp_path, "a.csv", f'k\n"{ODD}"\n')) == [{"k": ODD}]
    pl.DataFrame({"t": [ODD]}).write_parquet(tmp_path / "a.parquet")
    assert _rows(tmp_path / "a.parquet") == [{"t": ODD}]


def test_only_one_byte_order_mark_and_only_at_the_head_is_dropped(tmp_path):
    assert _rows(_write(tmp_path, "a.csv", MARK + MARK + b"id\n1\n")) == [{"\ufeffid": "1"}]
    assert "2 is not valid JSON" in _error(_write(tmp_path, "a.jsonl", b'{"a": 1}\n' + MARK + b'{"a": 2}'))


def test_a_lone_surrogate_is_kept(tmp_path):
    path = _write(tmp_path, "a.jsonl", '{"t": "x\\ud800y"}')
    assert _rows(path) == [{"t": "x\ud800y"}]


def test_parquet_gives_lists_structs_and_nulls(tmp_path):
    rows = [
        {"id": 1, "chosen": ["x", "y"], "prompt": [{"role": "user", "content": "q"}], "s": None},
        {"id": 2, "chosen": [], "prompt": [], "s": "t"},
    ]
    pl.DataFrame(rows).write_parquet(tmp_path / "a[1]*.parquet")
    found = list(read_rows(tmp_path / "a[1]*.parquet"))
    assert [row for _, row in found] == rows
    assert [where for where, _ in found] == [f"{tmp_path}/a[1]*.parquet row {n}" for n in (0, 1)]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_an_empty_file_has_no_rows(tmp_path, name):
    assert _rows(_write(tmp_path, name, b"")) == []
    assert _rows(_write(tmp_path, name, MARK)) == []


def test_a_huge_csv_field_is_read(tmp_path):
    text = "x" * 300_000
    assert _rows(_write(tmp_path, "a.csv", f"a,b\n{text},1\n")) == [{"a": text, "b": "1"}]


def test_blank_lines_of_a_csv_are_no_rows(tmp_path):
    assert _rows(_write(tmp_path, "a.csv", "a,b\n\n1,2\r\n\r\n")) == [{"a": "1", "b": "2"}]


def test_a_csv_row_is_named_by_its_first_line(tmp_path):
    path = _write(tmp_path, "a.csv", 'a,b\n"1\n2",x\n3,y\n')
    assert [where for where, _ in read_rows(path)] == [f"{path}:2", f"{path}:4"]
    path = _write(tmp_path, "b.csv", 'a,b\n"1\n2",x\n\n"3\n4"\n')
    assert _error(path) == ":5 has 1 fields and the header 2: check the quotes."


@pytest.mark.parametrize(
    ("name", "data", "start"),
    [
        ("a.jsonl", '{"a": 1}\n\n{"a": }\n', ":3 is not valid JSON (Expecting value, column 7)"),
        ("a.jsonl", '{"a": 1}\n[1, 2]\n', ":2 is a list of 2, not an object"),
        ("a.jsonl", "true\n", ":1 is true, not an object"),
        ("a.jsonl", '{"a": 1, "b": {"c": 1, "c": 2}}', ":1 has the key `c` twice"),
        ("a.jsonl", b'{"a": "\xff"}\n', ":1 is not UTF-8"),
        ("a.jsonl", b'{"a": 1}\n{"a": "\xed\xa0\x80"}\n', ":2 is not UTF-8"),
        ("a.jsonl", '{"a": 1}\n' + "[" * 100_000, ":2 is nested too deeply"),
        ("a.jsonl", '{"a": ' + "9" * 5000 + "}", ":1 holds a number that is too long"),
        ("a.json", "", " is not valid JSON"),
        ("a.json", '[{"a": 1},\n {"a": 2}', " is not valid JSON (Expecting ',' delimiter, line 2 column 10)"),
        ("a.json", '{"data": []}', " is no list of rows"),
        ("a.json", '[{"a": 1}, 2]', "[1] is 2, not an object"),
        ("a.json", "[" * 500 + "]" * 500, "[0] is a list of 1, not an object"),
        ("a.csv", "a,b,a\n1,2,3\n", ":1 names a column twice"),
        ("a.csv", "a,b\n1\n", ":2 has 1 fields and the header 2"),
        ("a.csv", 'a,b\n1,"2\n', ":2 is not valid CSV"),
        ("a.csv", b"a,b\n1,\xe9\n", ":2 is not UTF-8"),
        ("a.parquet", b"PAR1 no parquet PAR1", " is not a readable Parquet file"),
        ("a.parquet", b"", " is not a readable Parquet file"),
        ("a.txt", "a\tb\n", " ends with `.txt`: give a file that ends with one of .jsonl"),
        ("pairs", "", " ends with ``: give"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, data, start):
    message = _error(_write(tmp_path, name, data))
    assert message.startswith(start)
    assert len(message) < 250


@pytest.mark.parametrize(
    "name", ["absent.jsonl", "folder.csv", "file.jsonl/a.jsonl", "x" * 300 + ".json", "a\0.json"]
)
def test_a_file_that_cannot_be_opened(tmp_path, name):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file.jsonl").write_text("")
    with pytest.raises(BatteryError, match=r"cannot be read (.*): check `battery\.path`"):
        read_rows(tmp_path / name)


@settings(max_examples=60)
@given(st.sampled_from([".jsonl", ".json", ".csv", ".parquet"]), st.binary(max_size=80))
def test_no_bytes_make_anything_but_rows_or_our_error(tmp_path_factory, ending, data):
    path = tmp_path_factory.mktemp("any") / f"a{ending}"
    path.write_bytes(data)
    try:
        places = [where for where, _ in read_rows(path)]
    except BatteryError as error:
        places = [str(error)]
    assert all(place.startswith(str(path)) for place in places)


def test_a_truncated_parquet_file_is_our_error(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": ["x", "y"], "b": [1, 2]}).write_parquet(path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 50):
        path.write_bytes(whole[:length])
        assert _error(path).startswith(" is not a readable Parquet file (")


def test_a_panic_of_the_parquet_reader_is_our_error(tmp_path, monkeypatch):
    """Seen with bytes changed inside a page; the reader then raises what is no `Exception`."""

    def panic(source):
        raise pl.exceptions.PanicException("index out of range\nmore")

    monkeypatch.setattr(pl, "read_parquet", panic)
    message = _error(_write(tmp_path, "a.parquet", b"PAR1"))
    assert message == " is not a readable Parquet file (index out of range): write it again."


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ("a\n\ud800", '"a\\n\\ud800"'),
        ([1, 2], "a list of 2"),
        ({}, "an object of 0"),
        ("x" * 99, '"' + "x" * 59),
        (b"x", "\"b'x'\""),
    ],
)
def test_values_are_shown_short_and_on_one_line(value, text):
    assert shown(value) == text
