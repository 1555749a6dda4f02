"""Every template that ships is a protocol, and its comments are too."""

from __future__ import annotations

import json

import pytest

from darkcurrent.errors import UsageError
from darkcurrent.protocol import parse_protocol
from darkcurrent.protocol.templates import template_names, template_text
from darkcurrent.schedules import balance_report
from darkcurrent.study import Study
from support.rewardbench2 import rb2_row


@pytest.mark.parametrize("name", template_names())
def test_a_template_is_a_protocol_that_one_study_has(name):
    protocol = parse_protocol(template_text(name))
    assert protocol.gates.clone_threshold == 0.05
    assert protocol.gates.utility_threshold == 0.75


def test_the_templates_that_the_design_names_exist():
    assert template_names() == ["fresh-items", "pairs", "quickstart", "replication"]


def test_an_unknown_template_is_an_error():
    with pytest.raises(
        UsageError, match="There is no template `pear`: known are fresh-items, pairs, quickstart, replication"
    ):
        template_text("pear")


def test_quickstart_is_what_the_issue_describes():
    protocol = parse_protocol(template_text("quickstart"))
    assert protocol.battery.source == "finite-code"
    assert protocol.battery.arms == ("clone", "signal")
    assert len(protocol.battery.settings) == 12
    assert protocol.battery.edge_controls > 0
    assert list(protocol.criteria) == ["neutral"]
    assert [c.name for c in protocol.configuration] == ["gemma-free", "gemma-grammar", "oracle"]
    assert "grammar" not in protocol.configuration[0].decoder.extra
    assert "grammar" in protocol.configuration[1].decoder.extra
    assert protocol.capture.stop_when_held is True


def test_the_pairs_template_freezes_as_it_stands(tmp_path):
    (tmp_path / "protocol.toml").write_text(template_text("pairs"), encoding="utf-8")
    rows = [{"id": n, "prompt": f"p{n}", "chosen": f"good {n}", "rejected": f"bad {n}"} for n in range(3)]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    study = Study(tmp_path)
    study.freeze()
    assert len(study.frozen.schedule("my-judge")) == 3 + 2 * 3


def test_the_pairs_template_works_with_every_comment_of_its_battery_taken_in(tmp_path):
    """What the comments suggest is not only TOML: it freezes, with a label column and numbered rows."""
    text = template_text("pairs")
    for line in text.splitlines():
        key = line.removeprefix("# ").partition(" =")[0]
        if line.startswith(("# [battery.columns]", "# identical")) or (
            line.startswith("# ") and key in ("id", "prompt", "stratum", "first", "second", "label", "labels")
        ):
            text = text.replace(line, line.removeprefix("# "))
    assert parse_protocol(text).battery.columns.labels == {"1": "first", "2": "second", "0": "tie"}
    (tmp_path / "protocol.toml").write_text(text, encoding="utf-8")
    rows = [
        {"question": "q", "output_1": "x", "output_2": "y", "label": label, "category": "c"}
        for label in (1, 2, 0)
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    study = Study(tmp_path)
    study.freeze()
    items = study.frozen.items
    assert [item.id for item in items] == ["row-00000", "row-00001", "row-00002"]
    assert [study.frozen.texts[item.texts["chosen"]] for item in items] == ["x", "y", "x"]
    assert [refusal.reason for refusal in study.frozen.refusals] == ["the label says tie"]


def test_the_pairs_templates_other_judge_freezes_too(tmp_path):
    text = template_text("pairs")
    start = text.index("# [[configuration]]")
    end = text.index("\n\n", start)
    text = text[:start] + text[start:end].replace("# ", "") + text[end:]
    (tmp_path / "protocol.toml").write_text(text, encoding="utf-8")
    (tmp_path / "judge.py").write_text("def choose(prompt, a, b):\n    return 'tie'\n")
    (tmp_path / "pairs.jsonl").write_text('{"id": 1, "prompt": "p", "chosen": "c", "rejected": "r"}')
    study = Study(tmp_path)
    study.freeze()
    assert [c.name for c in study.frozen.protocol.configuration] == ["my-judge", "my-function"]


def test_fresh_items_and_its_replication_freeze_as_they_stand_and_run(tmp_path):
    """102 items in twelve blocks; then the same items byte for byte, each treatment 17 times in each period."""
    fresh, again = (Study(tmp_path / name) for name in ("fresh-items", "replication"))
    for study in (fresh, again):
        study.folder.mkdir()
        text = template_text(study.folder.name).replace("reward-bench-2.parquet", "rows.jsonl")
        study.protocol_path.write_text(text, encoding="utf-8")
    subsets = ("Factuality", "Focus", "Math", "Precise IF", "Safety", "Ties")
    rows = [rb2_row(f"{subset}-{n}", subset) for subset in subsets for n in range(20)]
    (fresh.folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    fresh.freeze()
    again.freeze()
    assert fresh.frozen.items == again.frozen.items
    one, two = (study.frozen.schedule("my-judge") for study in (fresh, again))
    found = balance_report(one, "crossover")
    assert (found.calls, found.blocks, found.shared_blocks) == (612, (51,) * 12, 0)
    (group,) = balance_report(two, "carryover").groups
    assert {*group.period_range, *group.carry_over_range} == {17}
    assert {call.shown for call in one} == {call.shown for call in two}
    assert [call.shown for call in one] != [call.shown for call in two]


def test_both_studies_of_the_paper_run_to_their_tests_with_a_simulated_judge(tmp_path):
    judge = '[[configuration]]\nname = "simulated"\nbackend = "simulated"\n[configuration.properties]\nutility = 0.9\n'
    for name in ("fresh-items", "replication"):
        study = Study(tmp_path / name)
        study.folder.mkdir()
        text = (
            template_text(name)
            .replace("reward-bench-2.parquet", "rows.jsonl")
            .replace("per_stratum = 17", "per_stratum = 4")
        )
        before, _, rest = text.partition("[[configuration]]")
        after = rest[rest.index("[schedule]") :]
        study.protocol_path.write_text(before + judge + after, encoding="utf-8")
        rows = [rb2_row(f"{subset}-{n}", subset) for subset in ("Focus", "Math", "Ties") for n in range(5)]
        (study.folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        study.freeze()
        study.run("simulated")
        analysis = study.analyze()
        assert analysis.state == "COMPLETE"
        assert [len(family.tests) for family in analysis.tests] == [1, 2, 1]
