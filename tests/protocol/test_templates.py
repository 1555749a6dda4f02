"""Every template that ships is a protocol, and its comments are too."""

from __future__ import annotations

import json
import re

import pytest

from darkcurrent.errors import UsageError
from darkcurrent.protocol import parse_protocol
from darkcurrent.protocol.templates import template_names, template_summary, template_text
from darkcurrent.study import Study

PAPER = {
    "controlled",
    "reused-items",
    "replication",
    "fresh-items",
    "finite-code",
    "context-audit",
    "re-evaluation",
    "output-contract",
    "extension",
}
UNGATED = {"controlled", "context-audit"}


@pytest.mark.parametrize("name", template_names())
def test_a_template_is_a_protocol_with_the_papers_working_rules(name):
    protocol = parse_protocol(template_text(name))
    thresholds = (protocol.gates.clone_threshold, protocol.gates.utility_threshold)
    assert thresholds == ((None, None) if name in UNGATED else (0.05, 0.75))
    assert protocol.gates.invalid_ceiling == 0.01
    assert protocol.study.name == {"pairs": "my-judge"}.get(name, name)


def test_the_templates_that_the_design_names_exist():
    assert set(template_names()) == PAPER | {"pairs", "quickstart"}


@pytest.mark.parametrize("name", template_names())
def test_a_template_says_in_its_first_line_what_it_is_for(name):
    summary = template_summary(name)
    assert 20 < len(summary) < 110
    assert not summary.startswith(("#", name))


def test_an_unknown_template_is_an_error():
    with pytest.raises(UsageError, match="There is no template `pear`: known are context-audit, controlled"):
        template_text("pear")


@pytest.mark.parametrize("name", sorted(PAPER))
def test_a_study_has_one_place_for_configurations_and_a_simulated_one_in_it(name):
    text = template_text(name)
    assert (
        text.count("# ==== Your configurations: ")
        == text.count("# ==== End of your configurations ====")
        == 1
    )
    assert [(c.name, c.backend) for c in parse_protocol(text).configuration] == [("simulated", "simulated")]
    assert not re.search(r"^#[a-z]+#", text, re.MULTILINE)


def test_the_configurations_in_the_comments_freeze(tmp_path):
    """They are taken in as they stand: each is one that its backend accepts."""
    text = template_text("context-audit").replace("[0, 3, 6, 9]", "[0]")
    start, end = (text.index(mark) for mark in ("# An endpoint that", "# ==== End of your"))
    wanted = re.sub(r"^# (?=\[\[|[a-z_]+ = )", "", text[start:end], flags=re.MULTILINE)
    (tmp_path / "protocol.toml").write_text(text[:start] + wanted + text[end:], encoding="utf-8")
    (tmp_path / "judge.py").write_text(
        "def choose(prompt, a, b, c=None):\n    return 'tie'\n", encoding="utf-8"
    )
    study = Study(tmp_path)
    study.freeze()
    configurations = study.frozen.protocol.configuration
    backends = ["simulated", "openai-chat", "vllm", "ollama-raw", "function"]
    assert [one.backend for one in configurations] == backends
    assert configurations[2].decoder.thinking is False


@pytest.mark.parametrize("name", ["reused-items", "fresh-items", "extension"])
def test_rows_come_from_a_file_or_from_a_commit(name):
    text = template_text(name)
    assert parse_protocol(text).battery.path == "../rewardbench2.parquet"
    hub = text.replace('path = "../rewardbench2.parquet"\n# revision', "revision")
    battery = parse_protocol(hub).battery
    assert (battery.path, battery.dataset, len(battery.revision)) == (None, "allenai/reward-bench-2", 40)


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
