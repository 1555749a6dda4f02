"""Every way to spoil an archive is refused, before any statistic is computed, with the place of what is wrong.

Most kinds are those of a forger who knows the format: after the change, every checksum was made to fit again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import pytest

from darkcurrent.archive import verify as verify_module
from darkcurrent.archive.layout import ANALYSIS, ARCHIVE, MANIFEST, PUBLIC, tags_of
from darkcurrent.archive.verify import verify_files
from darkcurrent.canonical import canonical_json, digest, digest_bytes
from darkcurrent.errors import IntegrityError
from support.archives import edited, files_of, retagged, sealed
from support.flips import flips_noticed

Files = Mapping[str, bytes]


def put(row: int, **values: Any) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Return a change of some columns in one row."""
    index = pl.int_range(pl.len())

    def change(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(
            pl.when(index == row).then(pl.lit(value, frame.schema[name])).otherwise(pl.col(name)).alias(name)
            for name, value in values.items()
        )

    return change


def swapped(one: int, other: int) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Return a change of places of two rows."""

    def change(frame: pl.DataFrame) -> pl.DataFrame:
        order = list(range(frame.height))
        order[one], order[other] = order[other], order[one]
        return frame[order]

    return change


def without(row: int) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Return a change that drops a row."""
    return lambda frame: frame.filter(pl.int_range(pl.len()) != row)


def doubled(row: int) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Return a change that doubles a row."""
    return lambda frame: pl.concat([frame[: row + 1], frame[row : row + 1], frame[row + 1 :]])


def in_signal(frame: pl.DataFrame) -> int:
    """Return the first row of a signal call in order AB."""
    return next(i for i, row in enumerate(frame.iter_rows(named=True)) if row["order"] == "AB")


def orders_swapped(frame: pl.DataFrame) -> pl.DataFrame:
    row = in_signal(frame)
    values = frame.row(row, named=True)
    return put(
        row,
        order="BA",
        slot_a=values["slot_b"],
        slot_b=values["slot_a"],
        text_a=values["text_b"],
        text_b=values["text_a"],
    )(frame)


def role_relabelled(frame: pl.DataFrame) -> pl.DataFrame:
    return put(in_signal(frame), slot_a="rejected-2")(frame)


def texts_swapped(frame: pl.DataFrame) -> pl.DataFrame:
    values = frame.row(in_signal(frame), named=True)
    return put(in_signal(frame), text_a=values["text_b"], text_b=values["text_a"])(frame)


def retargeted(frame: pl.DataFrame) -> pl.DataFrame:
    values = frame.row(in_signal(frame), named=True)
    return put(in_signal(frame), target=values["slot_b"])(frame)


def the_verdict(flip: Callable[[str | None], str | None], also: tuple[str, ...] = ()) -> Any:
    """Return a change of the first kept verdict, and of the readings that are named."""

    def change(frame: pl.DataFrame) -> pl.DataFrame:
        row = next(i for i, value in enumerate(frame["value"]) if value is not None)
        value = flip(frame["value"][row])
        return put(row, **dict.fromkeys(("value", *also), value))(frame)

    return change


def other(value: str | None) -> str:
    return "A" if value != "A" else "B"


READINGS = (
    "as:sole-object",
    "as:legacy",
)


def set_at(*path: Any, value: Any) -> Callable[[Any], None]:
    """Return a change of one place of a JSON value."""

    def change(data: Any) -> None:
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = value(data[path[-1]]) if callable(value) else value

    return change


def refrozen(files: Files, change: Callable[[Any], None]) -> Files:
    """Change the public protocol and the manifest with it; the study digest is another one then, everywhere."""
    public = json.loads(files[PUBLIC])
    change(public)
    manifest = json.loads(files[MANIFEST])
    manifest["files"]["public.json"]["sha256"] = digest_bytes(canonical_json(public))
    manifest["study_digest"] = digest({key: manifest[key] for key in ("format", "files")})
    files = {**files, PUBLIC: canonical_json(public), MANIFEST: canonical_json(manifest)}
    for name in (ARCHIVE, ANALYSIS):
        files = edited(files, name, set_at("study_digest", value=manifest["study_digest"]))
    return files


def retold(files: Files, info: bytes) -> Files:
    """Change bag-info.txt, and the tags' manifest with it."""
    payload = {name: data for name, data in files.items() if name.startswith("data/")}
    return {**payload, **tags_of(payload, info)}


def truncated(files: Files, name: str, by: int) -> Files:
    return {**files, name: files[name][:-by]}


def resealed_md5(files: Files) -> Files:
    import hashlib

    payload = {name: data for name, data in files.items() if name.startswith("data/")}
    lines = "".join(
        f"{hashlib.md5(data, usedforsecurity=False).hexdigest()}  {name}\n" for name, data in payload.items()
    )
    return {**files, "manifest-sha256.txt": lines.encode()}


P = "data/tables/{}.parquet"

CORRUPTIONS: dict[str, tuple[Callable[[Files], Files], str]] = {
    # the checksums no longer fit
    "a byte of a table": (
        lambda f: {**f, P.format("terminals"): f[P.format("terminals")][:-1] + b"X"},
        r"manifest-sha256\.txt, line \d+: data/tables/terminals\.parquet does not have the SHA-256",
    ),
    "a truncated table": (lambda f: truncated(f, P.format("schedule"), 9), r"data/tables/schedule\.parquet"),
    "a missing table": (
        lambda f: {name: data for name, data in f.items() if "intents" not in name},
        r"data/schemas/intents\.json is missing",
    ),
    "checksums of another algorithm": (resealed_md5, r"manifest-sha256\.txt, line 1"),
    "checksums in upper case": (
        lambda f: {**f, "manifest-sha256.txt": f["manifest-sha256.txt"].upper()},
        r"manifest-sha256\.txt, line 1",
    ),
    "lines of a manifest in another order": (
        lambda f: {
            **f,
            "manifest-sha256.txt": b"".join(reversed(f["manifest-sha256.txt"].splitlines(keepends=True))),
        },
        r"manifest-sha256\.txt, line 1",
    ),
    "another version of BagIt": (
        lambda f: {**f, "bagit.txt": f["bagit.txt"].replace(b"1.0", b"0.97")},
        r"bagit\.txt is not that of a BagIt 1\.0 bag",
    ),
    "an edited tag": (
        lambda f: {**f, "bag-info.txt": f["bag-info.txt"] + b"Contact: me\n"},
        r"tagmanifest-sha256\.txt, line 1: bag-info\.txt",
    ),
    # all checksums fit
    "a truncated table, sealed": (
        lambda f: retagged(truncated(f, P.format("schedule"), 9)),
        r"data/tables/schedule\.parquet cannot be read as Parquet",
    ),
    "a flipped verdict": (
        lambda f: edited(f, "terminals", the_verdict(other)),
        r"terminals\.parquet, row \d+: the verdict is not what its contract `sole-object` read",
    ),
    "a flipped verdict and its reading": (
        lambda f: edited(f, "terminals", the_verdict(other, READINGS[:1])),
        r"data/analysis\.json: (campaigns|cells)\[\d+\]\S+ is .* there, and the tables give",
    ),
    "a verdict made of an invalid answer": (
        lambda f: edited(f, "terminals", lambda t: put(t["value"].is_null().arg_max(), value="A")(t)),
        r"terminals\.parquet, row \d+: a call has either a verdict or a reason",
    ),
    "an error turned into a tie": (
        lambda f: edited(
            f,
            "terminals",
            lambda t: put(t["value"].is_null().arg_max(), **{"value": "tie", "reason": None, "as:sole-object": "tie"})(t),
        ),
        r"data/analysis\.json: ",
    ),
    "a dropped terminal": (
        lambda f: edited(f, "terminals", without(3)),
        r"data/tables: `fair` has \d+ rows .* an intent, a terminal or an event is missing",
    ),
    "a dropped call, with all that is of it": (
        lambda f: edited(
            edited(edited(f, "schedule", without(0)), "intents", without(0)), "terminals", without(0)
        ),
        r"schedule\.parquet, row 1: the calls are not in the order of dispatch, or one is missing",
    ),
    "a dropped intent": (
        lambda f: edited(f, "intents", without(3)),
        r"terminals\.parquet, row \d+: its intent is missing, or came later",
    ),
    "a doubled terminal": (
        lambda f: edited(f, "terminals", doubled(2)),
        r"terminals\.parquet, row 3: this call has two of them",
    ),
    "a doubled intent": (
        lambda f: edited(f, "intents", doubled(2)),
        r"intents\.parquet, row 3: this call has two of them",
    ),
    "a terminal of a call that is not scheduled": (
        lambda f: edited(f, "terminals", put(0, call_id="0" * 64)),
        r"terminals\.parquet, row 1: this call is not scheduled",
    ),
    "a terminal of the other configuration": (
        lambda f: edited(f, "terminals", put(0, configuration="fenced")),
        r"terminals\.parquet, row \d+: the configurations are not in the order",
    ),
    "a terminal before its intent": (
        lambda f: edited(f, "intents", lambda t: t.with_columns(seq=pl.col("seq") + 1000)),
        r"terminals\.parquet, row 1: its intent is missing, or came later",
    ),
    "swapped orders": (
        lambda f: edited(f, "schedule", orders_swapped),
        r"schedule\.parquet, row \d+: its pair has not one call in each order",
    ),
    "swapped texts": (
        lambda f: edited(f, "schedule", texts_swapped),
        r"schedule\.parquet, row \d+: the text `text_a` is not that of the role `slot_a`",
    ),
    "a relabelled role": (
        lambda f: edited(f, "schedule", role_relabelled),
        r"schedule\.parquet, row \d+: the text `text_a` is not that of the role `slot_a`",
    ),
    "another target": (
        lambda f: edited(f, "schedule", retargeted),
        r"schedule\.parquet, row \d+: its pair has not one call in each order",
    ),
    "another target in both orders": (
        lambda f: edited(
            f,
            "schedule",
            lambda t: t.with_columns(
                target=pl.when(pl.col("target").is_not_null()).then(pl.lit("rejected-none")).otherwise(None)
            ),
        ),
        r"schedule\.parquet, row \d+: the target stands in neither slot",
    ),
    "another stratum": (
        lambda f: edited(f, "schedule", put(0, stratum="elsewhere")),
        r"schedule\.parquet, row 1: item, stratum, cluster and prompt are not those of the items' table",
    ),
    "another stratum in both tables": (
        lambda f: edited(
            edited(f, "schedule", lambda t: t.with_columns(stratum=pl.lit("one"))),
            "items",
            lambda t: t.with_columns(stratum=pl.lit("one")),
        ),
        r"schedule\.parquet: the calls of `fair` are not the frozen schedule",
    ),
    "another arm": (
        lambda f: edited(
            f,
            "schedule",
            lambda t: t.with_columns(
                arm=pl.when(pl.col("arm") == "signal").then(pl.lit("equivalent")).otherwise("arm")
            ),
        ),
        r"schedule\.parquet, row \d+: .* is not the hash of its parts",
    ),
    "reordered calls": (
        lambda f: edited(f, "schedule", swapped(0, 1)),
        r"schedule\.parquet, row 1: the calls are not in the order of dispatch",
    ),
    "calls reordered with their positions": (
        lambda f: edited(
            f,
            "schedule",
            lambda t: swapped(0, 1)(put(0, position=1)(put(1, position=0)(t))),
        ),
        r"schedule\.parquet: the calls of `fair` are not the frozen schedule",
    ),
    "reordered terminals": (
        lambda f: edited(f, "terminals", swapped(0, 1)),
        r"terminals\.parquet, row 2: the rows are not in the order of the journal",
    ),
    "reordered items": (
        lambda f: edited(f, "items", swapped(0, 1)),
        r"items\.parquet, row 1: the items are not in the order of the battery",
    ),
    "a foreign schedule": (
        lambda f: edited(f, "schedule", lambda t: t.with_columns(rubric=pl.lit("a" * 64))),
        r"schedule\.parquet, row 1: .* is not the hash of its parts",
    ),
    "another length of a text": (
        lambda f: edited(f, "candidates", put(0, bytes=10**9)),
        r"candidates\.parquet, row 1: ",
    ),
    "a column too many": (
        lambda f: edited(f, "terminals", lambda t: t.with_columns(text=pl.lit("a reply"))),
        r"terminals\.parquet has \d+ columns, and the format has",
    ),
    "a column of another type": (
        lambda f: edited(f, "schedule", lambda t: t.with_columns(pl.col("position").cast(pl.String))),
        r"schedule\.parquet: column 2 is 'position' of type VARCHAR",
    ),
    "a renamed column": (
        lambda f: edited(f, "intents", lambda t: t.rename({"at": "when"})),
        r"intents\.parquet: column 4 is 'when'",
    ),
    "a value that is a text": (
        lambda f: edited(f, "terminals", put(0, finish="the reply was: {}")),
        r"terminals\.parquet, row 1, column `finish`: 'the reply was: \{\}' is none of the values",
    ),
    "a number that is none": (
        lambda f: edited(f, "terminals", put(0, latency_ms=float("nan"))),
        r"terminals\.parquet, row 1, column `latency_ms`: nan",
    ),
    "a negative count": (
        lambda f: edited(f, "terminals", put(0, prompt_tokens=-5)),
        r"terminals\.parquet, row 1, column `prompt_tokens`: -5",
    ),
    "a count that overflows": (
        lambda f: edited(f, "terminals", lambda t: t.with_columns(prompt_tokens=pl.lit(2**62))),
        r"data/tables: the tables cannot be counted",
    ),
    "an edited count": (
        lambda f: edited(f, ANALYSIS, set_at("campaigns", 0, "terminal", value=lambda n: n - 1)),
        r"data/analysis\.json: campaigns\[0\]\.terminal is \d+ there, and the tables give \d+",
    ),
    "an edited count of clones": (
        lambda f: edited(f, ANALYSIS, set_at("cells", 0, "clone", "core", "adverse", value=lambda n: n + 1)),
        r"data/analysis\.json: cells\[0\]\.clone\.core\.adverse",
    ),
    "a pattern that nobody counted": (
        lambda f: edited(f, ANALYSIS, set_at("cells", 0, "patterns", "ladder", value={"tie": 3})),
        r"data/analysis\.json: cells\[0\]\.patterns",
    ),
    "a cell left out": (
        lambda f: edited(f, ANALYSIS, set_at("cells", value=lambda cells: cells[1:])),
        r"data/analysis\.json: cells is ",
    ),
    "an edited p": (
        lambda f: edited(f, ANALYSIS, set_at("cells", 0, "clone", "core", "p", value=lambda p: p * 0.999)),
        r"data/analysis\.json: cells\[0\]\.clone\.core\.p is",
    ),
    "an edited adjusted p": (
        lambda f: edited(f, ANALYSIS, set_at("cells", 0, "clone", "core", "p_holm", value=0.01)),
        r"data/analysis\.json: cells\[0\]\.clone\.core\.p_holm",
    ),
    "an edited bound": (
        lambda f: edited(f, ANALYSIS, set_at("cells", 0, "clone", "core", "upper", value=lambda u: u - 1e-5)),
        r"data/analysis\.json: cells\[0\]\.clone\.core\.upper",
    ),
    "an edited gate": (
        lambda f: edited(
            f,
            ANALYSIS,
            set_at("cells", 0, "clone", "core", "gate", value=lambda g: "MISS" if g == "PASS" else "PASS"),
        ),
        r"data/analysis\.json: cells\[0\]\.clone\.core\.gate",
    ),
    "an edited mean": (
        lambda f: edited(f, ANALYSIS, set_at("cells", 0, "signal", "mean", value=lambda m: m + 1e-5)),
        r"data/analysis\.json: cells\[0\]\.signal\.mean",
    ),
    "an edited mean of a stratum": (
        lambda f: edited(
            f,
            ANALYSIS,
            set_at("cells", 0, "signal", "strata", value=lambda s: {k: {**v, "mean": 0.123} for k, v in s.items()}),
        ),
        r"data/analysis\.json: cells\[0\]\.signal\.strata",
    ),
    "a held campaign that is evaluated": (
        lambda f: edited(f, ANALYSIS, set_at("campaigns", 1, "state", value="COMPLETE")),
        r"data/analysis\.json: campaigns\[1\]\.state",
    ),
    "a bound outside of its interval": (
        lambda f: edited(f, ANALYSIS, set_at("cells", 0, "signal", "lower", value=0.9999)),
        r"data/analysis\.json: cells\[0\]\.signal\.bounds",
    ),
    "another study in bag-info.txt": (
        lambda f: retold(f, f["bag-info.txt"].replace(b"External-Identifier: ", b"External-Identifier: 0")),
        r"bag-info\.txt is not that",
    ),
    "another size in bag-info.txt": (
        lambda f: retold(f, f["bag-info.txt"].replace(b"Payload-Oxum: ", b"Payload-Oxum: 1")),
        r"bag-info\.txt is not that",
    ),
    "a line more in bag-info.txt": (
        lambda f: retold(f, f["bag-info.txt"] + b"Contact-Name: somebody\n"),
        r"bag-info\.txt is not that",
    ),
    "another name of the study": (
        lambda f: edited(f, ARCHIVE, set_at("study", value="other")),
        r"archive\.json: the study is not called",
    ),
    "a key more in archive.json": (
        lambda f: edited(f, ARCHIVE, set_at("note", value="a text")),
        r"archive\.json: its keys are not",
    ),
    "a key more in what was declared": (
        lambda f: edited(f, ARCHIVE, set_at("declared", "note", value="a text")),
        r"archive\.json: the keys of `declared` are not",
    ),
    "texts that are a number": (
        lambda f: edited(f, ARCHIVE, set_at("declared", "texts", value=5)),
        r"archive\.json: `declared\.texts` names no texts",
    ),
    "draws without end": (
        lambda f: edited(
            refrozen(f, set_at("analysis", "draws", value=10**12)),
            ANALYSIS,
            set_at("method", "draws", value=10**12),
        ),
        r"has one of another kind",
    ),
    "other draws": (
        lambda f: edited(f, ANALYSIS, set_at("method", "draws", value=1000)),
        r"data/analysis\.json: method\.draws",
    ),
    "a changed threshold in the analysis": (
        lambda f: edited(f, ANALYSIS, set_at("gates", "clone_threshold", value=0.5)),
        r"data/analysis\.json: gates\.clone_threshold",
    ),
    "a changed threshold in the protocol": (
        lambda f: edited(f, PUBLIC, set_at("gates", "clone_threshold", value=0.5)),
        r"data/frozen/public\.json is not the file that was frozen",
    ),
    "a changed threshold under a new study digest": (
        lambda f: refrozen(f, set_at("gates", "clone_threshold", value=0.5)),
        r"data/analysis\.json: gates\.clone_threshold",
    ),
    "another identity under a new study digest": (
        lambda f: refrozen(f, set_at("configurations", 0, "digest", value="b" * 64)),
        r"schedule\.parquet, row 1: .* is not the hash of its parts",
    ),
    "another study digest": (
        lambda f: edited(f, MANIFEST, set_at("study_digest", value="c" * 64)),
        r"data/frozen/manifest\.json does not have the study digest that it states",
    ),
    "a study digest of another archive": (
        lambda f: edited(f, ANALYSIS, set_at("study_digest", value="c" * 64)),
        r"data/analysis\.json: the study digest is not that of",
    ),
    "an edited analysis, digest left": (
        lambda f: retagged(
            {**f, ANALYSIS: canonical_json({**json.loads(f[ANALYSIS]), "risk": {"grid": []}})}
        ),
        r"data/analysis\.json does not have the digest `result_sha256`",
    ),
    "an analysis not in canonical form": (
        lambda f: sealed({**f, ANALYSIS: json.dumps(json.loads(f[ANALYSIS])).encode()}),
        r"data/analysis\.json is not in canonical form",
    ),
    "a key twice": (
        lambda f: sealed({**f, ANALYSIS: f[ANALYSIS][:-1] + b',"state":"COMPLETE"}'}),
        r"data/analysis\.json is not in canonical form",
    ),
    "an analysis that nests without end": (
        lambda f: sealed({**f, ANALYSIS: b"[" * 100_000}),
        r"data/analysis\.json is no JSON",
    ),
    "an analysis of another shape": (
        lambda f: edited(f, ANALYSIS, set_at("cells", 0, "signal", value=None)),
        r"data/analysis\.json",
    ),
    "another schema": (
        lambda f: edited(f, "data/schemas/items.json", set_at("title", value="x")),
        r"data/schemas/items\.json is not the schema of",
    ),
    "another count of rows": (
        lambda f: retagged(
            {**f, ARCHIVE: canonical_json({**json.loads(f[ARCHIVE]), "rows": dict.fromkeys(json.loads(f[ARCHIVE])["rows"], 1)})}
        ),
        r"data/tables/\w+\.parquet has \d+ rows, and archive\.json says 1",
    ),
    "a shorter journal": (
        lambda f: edited(f, ARCHIVE, set_at("journals", "fair", "rows", value=lambda n: n - 1)),
        r"data/tables: `fair` has",
    ),
    "texts without a licence": (
        lambda f: sealed({**f, "data/texts/items.jsonl": b""}),
        r"data/texts/items\.jsonl is there without a licence",
    ),
    "a name of a configuration that is SQL": (
        lambda f: refrozen(f, set_at("configurations", 0, "name", value="x'; DROP TABLE schedule; --")),
        r"row 1: the configurations are not those, or not in the order",
    ),
}  # fmt: skip


def test_there_are_enough_kinds():
    assert len(CORRUPTIONS) >= 60


def test_the_archive_is_whole_before_it_is_spoiled():
    found = verify_files(sealed(files_of()))
    assert (
        found.calls["scheduled"]
        == found.calls["terminal"]
        == found.checks["calls with the hash of their parts"]
    )


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_it_is_refused_with_its_place(kind, monkeypatch):
    spoil, place = CORRUPTIONS[kind]
    graded = []

    def check_bounds(*arguments: Any) -> int:
        graded.append(kind)
        return real(*arguments)

    real = verify_module.check_bounds
    monkeypatch.setattr(verify_module, "check_bounds", check_bounds)
    files = spoil(files_of())
    with pytest.raises(IntegrityError, match=place):
        verify_files(files)
    # Only what edits a bound, a p, a mean or a gate can be found by computing it.
    computed = ("edited p", "adjusted p", "bound", "gate", "mean", "evaluated")
    assert bool(graded) == any(word in kind for word in computed)


def test_every_flipped_byte_is_noticed():
    """The same 10,000 times: `make flips`."""
    assert flips_noticed(files_of(), 1, 1000) == 1000
