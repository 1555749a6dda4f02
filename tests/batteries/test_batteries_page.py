"""docs/batteries.md: each example is frozen as it stands."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import get_args

import huggingface_hub.constants
import polars as pl

from darkcurrent.batteries.equivalence import write_label_sheets
from darkcurrent.protocol import load_protocol
from darkcurrent.protocol.batteries import BatteryTable
from darkcurrent.study import Study
from support.hub import COMMIT, hub
from support.rewardbench2 import rb2_rows, select_study

TEXT = (Path(__file__).parents[2] / "docs" / "batteries.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```toml\n\[battery\]\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def _earlier(folder: Path, name: str, rows: list[dict]) -> Study:
    table = 'source = "rewardbench2"\npath = "rows.jsonl"\nseed = 1\nper_stratum = 2\n'
    study = select_study(folder / name, table, rows, name)
    study.freeze()
    return study


def test_the_table_has_every_source():
    sources = {
        get_args(table.model_fields["source"].annotation)[0] for table in get_args(get_args(BatteryTable)[0])
    }
    assert (
        set(re.findall("`([a-z0-9-]+)`", "".join(re.findall(r"^\| (`.*?) \|", TEXT, re.MULTILINE))))
        == sources
    )
    assert len(EXAMPLES) == 4


def test_from_the_hub(tmp_path, monkeypatch):
    rows = rb2_rows(20)
    _earlier(tmp_path, "reused-items", rows)
    data = io.BytesIO()
    pl.DataFrame(rows).write_parquet(data)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    assert COMMIT in EXAMPLES[0]
    with hub(data.getvalue()) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        study = select_study(tmp_path / "study", EXAMPLES[0])
        study.freeze()
    assert len(study.frozen.items) == 51


def test_from_a_file(tmp_path):
    study = select_study(tmp_path / "study", EXAMPLES[1], rb2_rows(5))
    study.freeze()
    assert sorted({item.stratum for item in study.frozen.items}) == ["Math", "Ties"]
    assert len(study.frozen.receipt("selection")["nested"]["first-2"]["items"]) == 4


def test_from_an_earlier_study(tmp_path):
    earlier = _earlier(tmp_path, "fresh-items", rb2_rows(4))
    study = select_study(tmp_path / "study", EXAMPLES[2])
    study.freeze()
    assert study.frozen.items == tuple(item for item in earlier.frozen.items if item.stratum == "Math")


def test_by_labels(tmp_path):
    study = select_study(tmp_path / "study", EXAMPLES[3])
    rows = [{"id": n, "prompt": f"p{n}", "first": f"a{n}", "second": f"b{n}"} for n in range(4)]
    (study.folder / "candidates.jsonl").write_text("\n".join(map(json.dumps, rows)))
    table = load_protocol(study.protocol_path).battery
    for path in write_label_sheets(table, "fresh", study.folder):
        header, *cells = csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline=""))
        text = io.StringIO(newline="")
        labels = ["different" if row[1] == "p3" else "equivalent" for row in cells]
        filled = [[*row[:4], label, ""] for row, label in zip(cells, labels, strict=True)]
        csv.writer(text).writerows([header, *filled])
        path.write_text(text.getvalue(), encoding="utf-8", newline="")
    study.freeze()
    assert [item.id for item in study.frozen.items] == ["0", "1", "2"]
