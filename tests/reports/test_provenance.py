"""Where the numbers come from."""

from __future__ import annotations

import hashlib

from darkcurrent.reports import html_report
from support.imports import Imported, jsonl
from support.pages import KINDS, page_study


def test_every_frozen_file_stands_there_with_its_digest(tmp_path):
    study = page_study(tmp_path / "study", {"solid": KINDS["solid"]}, items=4)
    analysis = study.analyze()
    found = study.provenance(analysis)
    tables = {
        table.key: dict(row[:2] for row in table.rows) for table in found.tables if table.key == "digests"
    }
    digests = tables["digests"]
    assert digests.pop("study") == study.frozen.study_digest
    assert digests.pop("configuration solid") == study.frozen.configurations["solid"]["digest"]
    files = {
        f"frozen/{path.relative_to(study.frozen.folder)}"
        for path in study.frozen.folder.rglob("*")
        if path.is_file()
    }
    assert digests.keys() == files - {"frozen/manifest.json"}
    for name, digest in digests.items():
        assert hashlib.sha256((study.folder / name).read_bytes()).hexdigest() == digest
    page = html_report(analysis, found)
    assert all(digest in page for digest in digests.values())
    assert "[criteria.neutral]" in found.protocol


def test_identity_says_what_is_declared_and_what_was_said_when_capture_began(tmp_path):
    study = page_study(tmp_path / "study", {"solid": KINDS["solid"]}, items=4)
    (identity,) = (table for table in study.provenance(study.analyze()).tables if table.key == "identity")
    said = {row[1]: row[2] for row in identity.rows}
    assert said["declared backend"] == "simulated"
    assert said["when capture began: served"] == '["simulated"] (service\'s declaration)'
    assert said["served model"] == "simulated"


def test_an_edited_protocol_is_a_deviation_and_an_unedited_one_is_none(tmp_path):
    study = page_study(tmp_path / "study", {"solid": KINDS["solid"]}, items=4)
    analysis = study.analyze()
    assert "deviations" not in {table.key for table in study.provenance(analysis).tables}
    study.protocol_path.write_text("format = 1\n", encoding="utf-8")
    (table,) = (table for table in study.provenance(analysis).tables if table.key == "deviations")
    assert table.rows == (("study", "protocol.toml was edited after freezing; the frozen one counts"),)


def test_recorded_verdicts_are_traced_to_the_files_that_were_read(tmp_path):
    rows = [
        {
            "question_id": number,
            "model_1": "m1",
            "model_2": "m2",
            "g1_winner": "model_1",
            "g2_winner": "tie",
            "judge": ["</script><b>judge", "pair-v2"],
            "g1_user_prompt": "p",
            "g1_judgment": "[[A]]",
            "g2_user_prompt": "p",
            "g2_judgment": "[[C]]",
            "turn": 1,
            "tstamp": 0,
        }
        for number in range(6)
    ]
    source = jsonl(tmp_path / "x_pair.jsonl", rows)
    imported = Imported(tmp_path / "study", "fastchat-pair", source)
    found = imported.study.provenance(imported.analysis)
    (table,) = found.tables
    digests = dict(row[:2] for row in table.rows)
    assert digests["source x_pair.jsonl"] == hashlib.sha256(source.read_bytes()).hexdigest()
    kept = tmp_path / "study" / "imported" / "ledger.parquet"
    assert digests["imported/ledger.parquet"] == hashlib.sha256(kept.read_bytes()).hexdigest()
    page, _ = imported.study.report(imported.analysis)
    text = page.read_text(encoding="utf-8")
    assert "Recorded verdicts: 1 cell described, none graded." in text
    assert "&lt;/script&gt;&lt;b&gt;judge" in text
    assert "<b>judge" not in text
