"""Every template that ships is a protocol, and its comments are too."""

from __future__ import annotations

import json

import pytest

from darkcurrent.errors import UsageError
from darkcurrent.protocol import parse_protocol
from darkcurrent.protocol.templates import template_names, template_text
from darkcurrent.study import Study


@pytest.mark.parametrize("name", template_names())
def test_a_template_is_a_protocol_that_one_study_has(name):
    protocol = parse_protocol(template_text(name))
    assert protocol.gates.clone_threshold == 0.05
    assert protocol.gates.utility_threshold == 0.75


def test_the_templates_that_the_design_names_exist():
    assert template_names() == ["pairs", "quickstart"]


def test_an_unknown_template_is_an_error():
    with pytest.raises(UsageError, match="There is no template `pear`: known are pairs, quickstart"):
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
