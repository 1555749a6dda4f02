"""The line of every key of a generated TOML document is the line it was written to."""

from __future__ import annotations

import json
import tomllib
from functools import reduce

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkcurrent.protocol.lines import line_of

# Names that look like syntax when they are quoted.
_ODD = ["a]b", "a] # b", "[x]", "x = 1", "dot.ted", "#", " ", "é", "\\", '"', "\u2028"]

_VALUES = [
    "1",
    "true",
    '"plain"',
    '"a # no comment = [x]"',
    "'[literal]'",
    '"escaped \\" quote"',
    '"""one line"""',
    '"""\n[evil]\nkey = 1\n"""',
    '"""\\\n   joined # x = 2\n"""',
    "'''\n[[evil]]\n\"\"\"\n'''",
    "[1, 2]",
    "[\n  1, # [evil]\n  2,\n]",
    '[\n  "x = 1",\n  """\n]\n""", # key = 2\n]',
    "[[1], [\n2]]",
    '{ a = 1, b = "}" }',
    "{ a = [\n1,\n] }",
    "1979-05-27T07:32:00Z",
]
_NOISE = ["", "   ", "# [comment]", "\t# key = 1", "# '''", '# """']

_quoting = st.sampled_from(["bare", "basic", "literal"])
_value = st.sampled_from(_VALUES)
_noise = st.lists(st.sampled_from(_NOISE), max_size=2)
_tail = st.sampled_from(["", " ", " # comment = [x]", "\t#'''"])


class _Writer:
    """Writes a document and remembers in which line each key went."""

    def __init__(self, draw) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.where: dict[tuple, int] = {}
        self.count = 0

    def part(self) -> tuple[str, str]:
        """Return a name that no other key has, and one of the ways to write it."""
        self.count += 1
        quoting = self.draw(_quoting)
        if quoting == "bare":
            name = f"key-{self.count}_x"
            return name, name
        odd = self.draw(st.sampled_from(_ODD))
        name = f"{self.count}{odd}"
        if quoting == "literal" and "'" not in name:
            return name, f"'{name}'"
        return name, json.dumps(name, ensure_ascii=self.draw(st.booleans()))

    def dotted(self, most: int = 3) -> tuple[tuple[str, ...], str]:
        parts = [self.part() for _ in range(self.draw(st.integers(1, most)))]
        dot = self.draw(st.sampled_from([".", " . ", "\t."]))
        return tuple(name for name, _ in parts), dot.join(text for _, text in parts)

    def put(self, text: str, path: tuple) -> None:
        self.where[path] = len(self.lines) + 1
        self.lines += (text + self.draw(_tail)).split("\n")

    def noise(self) -> None:
        self.lines += self.draw(_noise)

    def keys(self, table: tuple) -> None:
        for _ in range(self.draw(st.integers(0, 3))):
            self.noise()
            names, text = self.dotted()
            indent = self.draw(st.sampled_from(["", "  ", "\t"]))
            equals = self.draw(st.sampled_from(["=", " = ", "\t= "]))
            self.put(f"{indent}{text}{equals}{self.draw(_value)}", (*table, *names))

    def table(self) -> None:
        self.noise()
        names, text = self.dotted(2)
        space = self.draw(st.sampled_from(["", " "]))
        self.put(f"{space}[{space}{text}{space}]", names)
        self.keys(names)

    def array(self) -> None:
        names, text = self.dotted(2)
        (sub, sub_text), (inner, inner_text) = self.part(), self.part()
        for index in range(self.draw(st.integers(1, 3))):
            self.noise()
            table = (*names, index)
            self.put(f"[[{text}]]", table)
            self.keys(table)
            if self.draw(st.booleans()):
                self.put(f"[{text}.{sub_text}]", (*table, sub))
                self.keys((*table, sub))
            for number in range(self.draw(st.integers(0, 2))):
                self.put(f"[[{text}.{inner_text}]]", (*table, inner, number))
                self.keys((*table, inner, number))


@st.composite
def documents(draw):
    writer = _Writer(draw)
    writer.keys(())
    for _ in range(draw(st.integers(0, 3))):
        draw(st.sampled_from([writer.table, writer.array]))()
    return "\n".join(writer.lines) + draw(st.sampled_from(["", "\n"])), writer.where


@given(documents(), st.data())
def test_each_key_stands_in_the_line_it_was_written_to(document, data):
    text, where = document
    parsed = tomllib.loads(text)
    for path in where:
        reduce(lambda inner, part: inner[part], path, parsed)  # the path is real: tomllib finds it too
    for path in (
        data.draw(st.lists(st.sampled_from(sorted(where, key=where.get)), max_size=3)) if where else []
    ):
        assert line_of(text, path) == where[path]
        assert line_of(text, (*path, "no such key")) == where[path]


@settings(max_examples=30)
@given(documents())
def test_a_table_that_no_header_names_has_the_line_of_its_first_key(document):
    text, where = document
    for path in {path[:1] for path in where}:
        assert line_of(text, path) == min(line for other, line in where.items() if other[:1] == path)


def test_an_unknown_path_has_no_line():
    assert line_of("a = 1\n[b]\nc = 2\n", ("d", "e")) is None
    assert line_of("", ("a",)) is None
    assert line_of("a = 1\n", ()) is None


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("configuration", 0, "name"), 3),
        (("configuration", 1, "name"), 7),
        (("configuration", 1, "decoder", "seed"), 9),
        (("configuration", 1, "backend"), 6),
        (("configuration", 2), 2),
        (("study",), 10),
        (("study", "b"), 10),
    ],
)
def test_lines_by_hand(path, line):
    text = """# protocol
[[configuration]]
name = "a"
[configuration.decoder]
extra = { x = 1 }
[[configuration]]
name = "b"
[configuration.decoder]
seed = 1
[study.a]
"""
    assert line_of(text, path) == line
