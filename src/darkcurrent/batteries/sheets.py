"""Sheets on which people say whether two answers are equivalent: written blinded, read back without a doubt.

A sheet is a CSV file of one rater. The order of its rows, and which text of a pair comes first, follow SHA-256 digests
under the protocol's seed, so that they differ between raters; no id, role, stratum or source stands in it. The key of a
row is a digest of the study, the rater, the question and the texts: a row that was edited, or that belongs elsewhere,
cannot be read as a label.

Texts are hostile. A spreadsheet takes a cell for a formula where it begins with `=`, `+`, `-` or `@`; a program that
takes another separator for granted may begin a cell after any line break, semicolon or tab. An apostrophe is put before
such a sign in all these places. A cell of a number and at most one word may be taken for a number or a date, shown as another one
and saved as that (`3/4`, `007`, `1e5`), and so may `TRUE`: an apostrophe is put before it too, and keys begin with a letter that
is in no number. Control characters and marks that reorder a line are written as escapes.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from darkcurrent.canonical import digest, digest_bytes, digest_text
from darkcurrent.errors import BatteryError, UsageError

__all__ = ["ANSWERS", "Pair", "Rating", "look_alike", "read_sheet", "sheet_path", "write_sheets"]

ANSWERS = ("equivalent", "different", "unsure")
"""What a rater may write into the column `label`."""

_HEADER = ("pair", "request", "answer_1", "answer_2", "label", "note")
_FORMULA = re.compile(r"(^|[\n;\t])(\s*)(?=[=+\-@＝＋－＠])")
_CONVERTED = re.compile(
    r"(?=[^\n]*\d)(?:[^\nA-Za-z]{1,30}[A-Za-z]{0,9}|[A-Za-z]{3,9})[^\nA-Za-z]{0,30}|\s*(true|false)\s*",
    re.IGNORECASE,
)
"""A cell that may be read as a number, date or truth value: one line with a digit and at most one word (`3 May`, `Mar-04`)."""
_REORDER = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")

_INSTRUCTIONS = """\
How to fill in a sheet
======================

Each row of your sheet shows a request and two answers to it. The question is:

    {question}

Write one of these words into the column `label`:

    equivalent   yes
    different    no, one of the two is better
    unsure       you cannot tell

Fill in every row, and change nothing else: order and texts are part of the record. The column `note` is yours and is not
read. Work alone: do not compare your labels with anybody's before all are done, and look at no judge's verdicts.

An apostrophe before = + - @ or at the head of a short answer was put there so that no spreadsheet takes the text for a
formula, a number or a date; it belongs to no answer. Save the sheet as CSV in
UTF-8 under the name that it has.
"""


@dataclass(frozen=True)
class Pair:
    """Two distinct answers to one prompt, of which nobody has said yet whether they are equivalent."""

    id: str
    stratum: str
    cluster: str
    prompt: str
    first: str
    second: str


@dataclass(frozen=True)
class Rating:
    """What one rater said.

    Attributes
    ----------
    sha256 : str
        The digest of the sheet's bytes.
    labels : dict of str to str
        Item id to one of `ANSWERS`.
    """

    sha256: str
    labels: dict[str, str]


def sheet_path(folder: Path, rater: str) -> Path:
    """Return where a rater's sheet lies."""
    return folder / "labels" / f"{rater}.csv"


def look_alike(first: str, second: str) -> bool:
    """Tell whether a sheet shows two texts as one: they differ in nothing that a rater could see."""
    return _harmless(first) == _harmless(second)


def write_sheets(
    pairs: Sequence[Pair], study: str, seed: int, raters: Sequence[str], question: str, folder: Path
) -> list[Path]:
    """Write one sheet per rater and a page of instructions into `labels/`; return the sheets' paths.

    Raises
    ------
    UsageError
        Where a sheet exists already, or the folder cannot be written.
    """
    paths = [sheet_path(folder, rater) for rater in raters]
    for path in paths:
        if path.exists():
            raise UsageError(
                f"{path} exists already and is not overwritten, for it may hold labels: move it away to begin again."
            )
    try:
        (folder / "labels").mkdir(parents=True, exist_ok=True)
        (folder / "labels" / "README.txt").write_text(
            _INSTRUCTIONS.format(question=question), encoding="utf-8"
        )
        for path, rater in zip(paths, raters, strict=True):
            text = io.StringIO(newline="")
            writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
            writer.writerow(_HEADER)
            for key, pair in _keyed(pairs, study, seed, rater, question):
                writer.writerow([_shown_key(key), *_cells(key, pair), "", ""])
            with path.open(
                "x", encoding="utf-8-sig", newline=""
            ) as handle:  # the mark tells spreadsheets the encoding
                handle.write(text.getvalue())
    except OSError as error:
        raise UsageError(
            f"{folder / 'labels'} cannot be written ({error.strerror}): choose a folder that you may write to."
        ) from error
    return paths


def read_sheet(path: Path, pairs: Sequence[Pair], study: str, seed: int, rater: str, question: str) -> Rating:
    """Return the labels of a sheet, every row of it checked against what was written.

    Raises
    ------
    BatteryError
        Where the sheet is missing or unreadable, a row is missing, added, doubled or edited, or a label is blank or none
        of `ANSWERS`; names the row.
    """
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BatteryError(f"{path} is not UTF-8: save the sheet as CSV in UTF-8.") from error
    except OSError as error:
        raise BatteryError(
            f"The sheet {path} cannot be read ({error.strerror}): put it back there."
        ) from error
    expected = {_shown_key(key): (key, pair) for key, pair in _keyed(pairs, study, seed, rater, question)}
    labels: dict[str, str] = {}
    for line, cells in _rows(path, text):
        key = cells[0].strip()
        where = f"{path}:{line}"
        if key not in expected:
            raise BatteryError(
                f"{where} has a pair that was not written on this sheet: it is of another study, of another rater, or the "
                "candidates, the seed or the question were changed since; put the right sheet there, or write new ones."
            )
        whole, pair = expected[key]
        if pair.id in labels:
            raise BatteryError(f"{where} has a pair for the second time: keep one row.")
        for name, cell, written in zip(_HEADER[1:4], cells[1:4], _cells(whole, pair), strict=True):
            if _unbroken(cell) != written:
                raise BatteryError(
                    f"{where}: the column `{name}` is not as it was written: only `label` and `note` may be filled in."
                )
        label = cells[4].strip().casefold()
        if label not in ANSWERS:
            said = f"the label is {label[:40]!r}" if label else "the label is blank"
            raise BatteryError(f"{where}: {said}: write one of {', '.join(ANSWERS)}.")
        labels[pair.id] = label
    if len(labels) < len(expected):
        raise BatteryError(
            f"{path} has {len(labels)} of the {len(expected)} rows that were written: put the missing ones back."
        )
    return Rating(digest_bytes(data), labels)


def _keyed(pairs: Sequence[Pair], study: str, seed: int, rater: str, question: str) -> list[tuple[str, Pair]]:
    """Return the pairs in the order of a rater's sheet, each with its key."""
    common = {"study": study, "seed": seed, "rater": rater, "question": question}
    keyed = [
        (
            digest(
                {
                    **common,
                    "item": pair.id,
                    "texts": [digest_text(text) for text in (pair.prompt, pair.first, pair.second)],
                }
            ),
            pair,
        )
        for pair in pairs
    ]
    return sorted(keyed, key=lambda one: one[0])


def _shown_key(key: str) -> str:
    """Return a row's key as the sheet shows it: hexadecimal digits alone may read as a number, and come back as another."""
    return f"p{key[:16]}"


def _cells(key: str, pair: Pair) -> tuple[str, str, str]:
    """Return request and answers as the sheet shows them; the key's last digit says which answer comes first."""
    answers = (pair.first, pair.second) if int(key[-1], 16) % 2 else (pair.second, pair.first)
    return _harmless(pair.prompt), _harmless(answers[0]), _harmless(answers[1])


def _harmless(text: str) -> str:
    visible = "".join(
        character
        if character in "\n\t"
        or (unicodedata.category(character) not in ("Cc", "Cs") and character not in _REORDER)
        else character.encode("unicode_escape").decode("ascii")
        for character in _unbroken(text)
    )
    guarded = _FORMULA.sub(r"\1\2'", visible)
    return f"'{guarded}" if guarded == visible and _CONVERTED.fullmatch(visible) else guarded


def _unbroken(text: str) -> str:
    """Return a text with one kind of line break: spreadsheets change them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _rows(path: Path, text: str) -> list[tuple[int, list[str]]]:
    """Return the rows of a sheet with their lines; spreadsheets in some countries save it with other separators."""
    first = text.partition("\n")[0]
    delimiter = next((one for one in ";\t" if one in first), ",")
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if len(cells) != len(_HEADER):
                    raise BatteryError(
                        f"{path}:{line} has {len(cells)} columns and not {len(_HEADER)}: remove none and add none."
                    )
                rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise BatteryError(
            f"{path}:{line} is not valid CSV ({error}): save the sheet as CSV again."
        ) from error
    if not rows or tuple(cell.strip() for cell in rows[0][1]) != _HEADER:
        raise BatteryError(
            f"{path} does not begin with the columns {', '.join(_HEADER)}: put the header back."
        )
    return rows[1:]
