"""Each rule of the joins, alone, against a table that breaks it; together with the corruption suite, every rule is met."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from test_corruption import CORRUPTIONS, doubled, put, swapped

from darkcurrent.archive import joins
from darkcurrent.archive.containers import read_files
from darkcurrent.archive.database import tables_of
from darkcurrent.archive.layout import ARCHIVE, PUBLIC
from darkcurrent.archive.rules import RULES
from darkcurrent.errors import IntegrityError
from support.archives import files_of

GOLDEN = Path(__file__).parents[1] / "golden"


def first(condition: pl.Expr, **values: object) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Return a change of the first row that meets a condition."""
    return lambda frame: put(frame.select(condition.arg_max()).item(), **values)(frame)


IS_CLONE = pl.col("arm") == "clone"
SPOILED: dict[tuple[str, str], Callable[[pl.DataFrame], pl.DataFrame]] = {
    ("items", "this item is there twice"): lambda f: put(1, id=f["id"][0])(f),
    ("candidates", "this candidate belongs to no item"): put(0, item="nobody"),
    ("candidates", "this item has the role twice"): doubled(0),
    ("candidates", "the same digest stands for texts of two lengths"): lambda f: put(
        1, sha256=f["sha256"][0], characters=f["characters"][0] + 1
    )(f),
    ("schedule", "this call is scheduled twice"): lambda f: put(1, call_id=f["call_id"][0])(f),
    ("schedule", "the criterion is none that the study declares"): put(0, criterion="lenient"),
    ("schedule", "the criterion has another rubric in other calls"): put(0, rubric="a" * 64),
    ("schedule", "the text `text_b` is not that of the role `slot_b` of its item"): put(0, text_b="a" * 64),
    ("schedule", "the text `text_c` is not that of the role `third` of its item"): first(
        pl.col("third").is_not_null(), text_c="a" * 64
    ),
    ("schedule", "a third candidate is shown without its context, or the other way round"): first(
        pl.col("third").is_not_null(), third=None
    ),
    ("schedule", "a clone is two times one text, and has no target"): first(IS_CLONE, order="AB"),
    ("schedule", "only a clone shows one text twice"): first(~IS_CLONE, null_stratum="core"),
    ("intents", "the configurations are not in the order that the study declares"): put(0, configuration="fenced"),
    ("intents", "this call is not scheduled for its configuration"): put(0, call_id="a" * 64),
    ("intents", "the rows are not in the order of the journal"): swapped(0, 1),
    ("events", "the rows are not in the order of the journal"): doubled(0),
    ("events", "the configurations are not in the order that the study declares"): swapped(0, 1),
    ("intents", "it went again more often than it was refused"): put(0, retries=1),
    ("terminals", "a verdict was read in no reply"): first(pl.col("value").is_not_null(), kept=False),
    ("terminals", "a call that was not answered has no reply"): first(pl.col("kept"), status="refused"),
    ("events", "a campaign that ended, and no other event, has a state"): put(0, state="COMPLETE"),
}  # fmt: skip


def broken_by(
    files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, rule: tuple[str, str, str]
) -> str | None:
    """Return what a single rule says of an archive's tables."""
    monkeypatch.setattr(joins, "RULES", (rule,))
    heights = {
        table: pl.read_parquet(io.BytesIO(files[f"data/tables/{table}.parquet"])).height
        for table in json.loads(files[ARCHIVE])["rows"]
    }
    try:
        with tables_of(files, heights) as connection:
            joins.check_rules(connection, json.loads(files[PUBLIC]), {})
    except IntegrityError as error:
        return str(error)
    return None


@pytest.mark.parametrize("key", SPOILED, ids=lambda key: f"{key[0]}: {key[1]}")
def test_a_rule_finds_the_row_that_breaks_it(key, monkeypatch):
    table, wrong = key
    (rule,) = (rule for rule in RULES if (rule[0], rule[2]) == key)
    with_thirds = "third" in wrong
    files = read_files(GOLDEN / "context.zip") if with_thirds else files_of()
    assert broken_by(files, monkeypatch, rule) is None
    name = f"data/tables/{table}.parquet"
    buffer = io.BytesIO()
    SPOILED[key](pl.read_parquet(io.BytesIO(files[name]))).write_parquet(buffer)
    found = broken_by({**files, name: buffer.getvalue()}, monkeypatch, rule)
    assert found is not None
    assert re.fullmatch(rf"{re.escape(name)}, row \d+: {re.escape(wrong)}\.", found)


def test_every_rule_is_met():
    patterns = [pattern for _, pattern in CORRUPTIONS.values()]
    for table, _, wrong in RULES:
        sentences = [f"data/tables/{table}.parquet, row {number}: {wrong}." for number in (1, 2, 3)]
        met = any(re.search(pattern, sentence) for pattern in patterns for sentence in sentences)
        assert met or (table, wrong) in SPOILED, (table, wrong)
