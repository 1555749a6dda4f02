"""Reading protocols: what is accepted, and the one sentence that says what is wrong and where."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkcurrent.errors import ProtocolError
from darkcurrent.protocol import load_protocol, parse_protocol

BASE = """\
format = 1
[study]
name = "s"
[battery]
source = "pairs"
path = "pairs.jsonl"
[criteria.neutral]
rubric = "neutral"
[[configuration]]
name = "first"
backend = "function"
callable = "judge:choose"
[[configuration]]
name = "second"
backend = "openai-chat"
base_url = "http://127.0.0.1:1/v1"
model = "m"
[configuration.decoder]
temperature = 0
[schedule]
seed = 1
[capture]
in_flight = 1
[gates]
clone_threshold = 0.05
"""


def _error(old: str, new: str) -> str:
    assert BASE.count(old) == 1
    with pytest.raises(ProtocolError) as caught:
        parse_protocol(BASE.replace(old, new), "protocol.toml")
    return str(caught.value)


def test_defaults_are_filled_in():
    protocol = parse_protocol(BASE)
    assert protocol.battery.arms == ("clone", "signal")
    assert protocol.gates.utility_threshold is None
    assert protocol.gates.invalid_ceiling == 0.01
    assert [c.contract for c in protocol.configuration] == ["label", "sole-object"]
    assert protocol.configuration[1].served_names == ("m",)


def test_defaults_written_out_read_back_the_same():
    protocol = parse_protocol(BASE)
    assert type(protocol).model_validate_json(protocol.model_dump_json()) == protocol


@pytest.mark.parametrize("table", ["study", "battery", "schedule", "capture", "gates"])
def test_an_unknown_key_is_named_with_its_line(table):
    line = BASE.split("\n").index(f"[{table}]") + 2
    message = _error(f"[{table}]\n", f"[{table}]\nzebra = 1\n")
    assert message.startswith(f"protocol.toml:{line}: `{table}.zebra` is not a known key: known here are `")


@pytest.mark.parametrize(
    ("old", "new", "start"),
    [
        # unknown keys, with the nearest known one
        ("seed = 1", "sed = 1", ":21: `schedule.sed` is not a known key: did you mean `seed`?"),
        (
            "format = 1",
            "format = 1\ncriterion = 1",
            ":2: `criterion` is not a known key: did you mean `criteria`?",
        ),
        (
            "rubric = ",
            "rubrik = ",
            ":8: `criteria.neutral.rubrik` is not a known key: did you mean `rubric`?",
        ),
        (
            "temperature = 0",
            "max_token = 1",
            ":19: `configuration[1].decoder.max_token` is not a known key: did you mean `max_tokens`?",
        ),
        (
            'callable = "judge:choose"',
            'callable = "judge:choose"\nmodel = "m"',
            ":13: `configuration[0].model` is not a known key: known here are",
        ),
        ('path = "pairs.jsonl"', 'pairs = { id = "x" }', ":6: `battery.pairs` is not a known key"),
        (
            'path = "pairs.jsonl"',
            'path = "p.csv"\ncolumns.promt = "x"',
            ":7: `battery.columns.promt` is not a known key: did you mean `prompt`?",
        ),
        # missing keys
        ("format = 1\n", "", " lacks the key `format`"),
        ("[schedule]\nseed = 1\n", "", " lacks the key `schedule`"),
        ("seed = 1\n", "", ":20: `schedule` lacks the key `seed`"),
        ('model = "m"\n', "", ":13: `configuration[1]` lacks the key `model`"),
        ('backend = "function"\n', "", ":9: `configuration[0]` lacks the key `backend`"),
        ('source = "pairs"\n', "", ":4: `battery` lacks the key `source`"),
        # wrong types and values
        ("in_flight = 1", 'in_flight = "many"', ':23: `capture.in_flight` is "many": '),
        ("in_flight = 1", "in_flight = true", ":23: `capture.in_flight` is true: "),
        ("in_flight = 1", "in_flight = 1.0", ":23: `capture.in_flight` is 1.0: "),
        ("in_flight = 1", "in_flight = 0", ":23: `capture.in_flight` is 0: "),
        ("temperature = 0", "temperature = true", ":19: `configuration[1].decoder.temperature` is true: "),
        ("temperature = 0", "temperature = nan", ":19: `configuration[1].decoder.temperature` has a value"),
        ("temperature = 0", "extra = { a = inf }", ":19: `configuration[1].decoder.extra.a` has a value"),
        (
            "temperature = 0",
            "extra.when = 2026-01-01",
            ":19: `configuration[1].decoder.extra.when` has a value",
        ),
        (
            "temperature = 0",
            f"extra = {{ a = {2**53} }}",
            ":19: `configuration[1].decoder.extra.a` has a value",
        ),
        (
            "temperature = 0",
            f"extra = {{ a = {'[' * 60}{']' * 60} }}",
            ":9: `configuration` is nested too deeply",
        ),
        (
            "temperature = 0",
            'extra = { model = "x" }',
            ":18: `configuration[1].decoder`: `extra` may not set `model`",
        ),
        ("clone_threshold = 0.05", "clone_threshold = 1", ":25: `gates.clone_threshold` is 1: "),
        ("format = 1", "format = true", ":1: `format` is true: "),
        ("format = 1", "format = 2", ":1: `format` is 2: "),
        (
            'source = "pairs"',
            'source = "pear"',
            ":5: `battery.source` is 'pear', which is not one of 'pairs', 'finite-code'",
        ),
        (
            'backend = "function"',
            "backend = 3",
            ":11: `configuration[0].backend` is '3', which is not one of",
        ),
        (
            'path = "pairs.jsonl"',
            'path = "p.csv"\narms = ["clone", "equivalent"]',
            ':7: `battery.arms[1]` is "equivalent": ',
        ),
        (
            'path = "pairs.jsonl"',
            'path = "p.csv"\narms = []',
            ":7: `battery.arms` is empty: give at least one.",
        ),
        (
            'path = "pairs.jsonl"',
            'path = "p.csv"\narms = ["clone", "clone"]',
            ":4: `battery`: `arms` names an arm twice: each item would be asked the same thing twice.",
        ),
        (
            'source = "pairs"\npath = "pairs.jsonl"',
            'source = "finite-code"\nsettings = [1, 1]',
            ":6: `battery.settings`: `settings` names a setting twice: each item is taken once.",
        ),
        *(
            ('source = "pairs"\npath = "pairs.jsonl"', table, start)
            for table, start in {
                'source = "controls"\nempty = 41': ":6: `battery.empty` is 41: ",
                'source = "controls"\nempty = 0\nwhitespace = 0\nnonblank = 0': ":4: `battery`: `empty`, `whitespace` and",
                'source = "controls"\nedge_controls = 3': ":4: `battery`: this battery has controls of its own: declare",
                'source = "ladder"\nedge_controls = 3': ":4: `battery`: this battery has controls of its own: declare",
                'source = "ladder"\narms = ["clone"]': ':6: `battery.arms[0]` is "clone": ',
                'source = "context"\nsettings = []': ":6: `battery.settings` is empty: give at least one.",
                'source = "context"\narms = ["clone"]': ':6: `battery.arms[0]` is "clone": ',
            }.items()
        ),
        ('name = "s"', f'name = "{"x" * 64}"', ":3: `study.name` must begin with a letter"),
        ('name = "s"', 'name = "../s"', ":3: `study.name` must begin with a letter"),
        ("[criteria.neutral]", '[criteria."a/b"]', ":7: `criteria.a/b` must begin with a letter"),
        (
            'callable = "judge:choose"',
            'callable = "judge.choose"',
            ":12: `configuration[0].callable` must have the form `module:name`",
        ),
        ('name = "second"', 'name = "FIRST"', ":9: `configuration`: two configurations are called `first`"),
        ('[[configuration]]\nname = "first"', '[configuration]\nname = "first"', ""),
        # both or neither
        ('rubric = "neutral"\n', "", ":7: `criteria.neutral`: give either `rubric`"),
        (
            'rubric = "neutral"\n',
            'rubric = "neutral"\nrubric_file = "r.txt"\n',
            ":7: `criteria.neutral`: give either `rubric`",
        ),
        # not TOML
        ("[gates]", "[gates", " is not valid TOML: "),
        ("seed = 1", "seed = 1\nseed = 1", " is not valid TOML: "),
        ("seed = 1", "seed = " + "9" * 5000, " is not valid TOML: "),
        ("seed = 1", "seed = " + "[" * 5000 + "]" * 5000, " is nested too deeply"),
        (
            "seed = 1",
            "seed = 0x" + "f" * 5000,
            ":21: `schedule.seed` has a value that a protocol cannot hold",
        ),
    ],
)
def test_one_sentence_says_what_and_where(old, new, start):
    message = _error(old, new)
    assert message.startswith(f"protocol.toml{start}")
    assert len(message) < 300
    assert "\n" not in message


@pytest.mark.parametrize(
    "columns", ['first = "a"', 'labels = { x = "tie" }', 'first = "a"\nsecond = "b"\nlabel = "c"']
)
def test_label_columns_go_together(columns):
    message = _error("[criteria.neutral]", f"[battery.columns]\n{columns}\n[criteria.neutral]")
    assert message.startswith(
        "protocol.toml:7: `battery.columns`: `first`, `second`, `label` and `labels` go together"
    )


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('model = "m"', 'model = "m"\napi_key_env = "sk-SECRET"', "configuration[1].api_key_env"),
        ("http://127.0.0.1:1/v1", "http://user:SECRET@host/v1", "configuration[1].base_url"),
        ("http://127.0.0.1:1/v1", "https://host/v1?key=SECRET", "configuration[1].base_url"),
    ],
)
def test_a_key_in_the_wrong_place_is_refused_and_not_repeated(old, new, where):
    message = _error(old, new)
    assert f"`{where}` must be" in message
    assert "SECRET" not in message


def test_a_byte_order_mark_and_crlf_change_nothing(tmp_path):
    path = tmp_path / "protocol.toml"
    path.write_bytes(b"\xef\xbb\xbf" + BASE.replace("\n", "\r\n").encode())
    assert load_protocol(path) == parse_protocol(BASE)
    path.write_bytes(path.read_bytes().replace(b"seed = 1", b'text = """\r\n\r\n"""\r\nsed = 1'))
    with pytest.raises(ProtocolError, match=r"protocol\.toml:21: `schedule\.text` is not a known key"):
        load_protocol(path)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: None, "There is no "),
        (lambda path: path.mkdir(), "cannot be read (Is a directory)"),
        (lambda path: path.write_bytes(b"a = '\xff'"), "is not UTF-8 (byte 5)"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path, make, says):
    make(tmp_path / "protocol.toml")
    with pytest.raises(ProtocolError) as caught:
        load_protocol(tmp_path / "protocol.toml")
    assert says in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_file_in_the_place_of_the_folder(tmp_path):
    (tmp_path / "study").write_text("x")
    with pytest.raises(ProtocolError, match="cannot be read"):
        load_protocol(tmp_path / "study" / "protocol.toml")


_POISON = st.sampled_from(
    [
        "",
        "0",
        "-1",
        "1e400",
        "nan",
        '""',
        '"\\n"',
        "[]",
        "{}",
        "[[]]",
        "{ a = {} }",
        "true",
        "1979-05-27",
        '"\u2028"',
    ]
) | st.text(max_size=6)


@settings(max_examples=150)
@given(st.integers(0, BASE.count("\n") - 1), st.sampled_from(["value", "line", "after"]), _POISON)
def test_no_damage_makes_anything_but_a_protocol_or_our_error(number, kind, poison):
    lines = BASE.split("\n")
    if kind == "value" and "=" in lines[number]:
        lines[number] = f"{lines[number].partition('=')[0]}= {poison}"
    elif kind == "line":
        lines[number] = poison
    else:
        lines.insert(number, f"new = {poison}")
    try:
        message = f"protocol.toml says {parse_protocol(chr(10).join(lines), 'protocol.toml').format}"
    except ProtocolError as error:
        message = str(error)
    assert message.startswith("protocol.toml")
