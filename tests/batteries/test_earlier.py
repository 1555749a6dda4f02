"""Source `study`: the same items, comparison for comparison, and no others."""

from __future__ import annotations

import pytest

from darkcurrent.batteries import load_battery
from darkcurrent.canonical import digest_text
from darkcurrent.errors import BatteryError, IntegrityError, ProtocolError
from darkcurrent.protocol import load_protocol
from support.rewardbench2 import rb2_rows, select_study

FRESH = 'source = "rewardbench2"\npath = "rows.jsonl"\nseed = 7\nper_stratum = 4\nedge_controls = 3\n'
AGAIN = 'source = "study"\npath = "../fresh"\n'


def _load(study):
    return load_battery(load_protocol(study.protocol_path), study.folder)


def _asked(study) -> list[tuple]:
    return sorted(
        (one.criterion, one.item, one.arm, one.order, one.slot_a, one.slot_b, one.text_a, one.text_b, one.rubric,
         one.target or "", one.null_stratum or "", one.step or "", one.stratum, one.cluster)
        for one in study.frozen.schedule("judge")
    )  # fmt: skip


@pytest.fixture
def fresh(tmp_path):
    study = select_study(tmp_path / "fresh", FRESH, rb2_rows(6))
    study.freeze()
    return study


def test_a_replication_asks_exactly_the_same(tmp_path, fresh):
    again = select_study(tmp_path / "again", AGAIN, name="again")
    again.freeze()
    for name in ("items.jsonl", "texts.jsonl"):
        assert again.frozen.read(name) == fresh.frozen.read(name)
    assert _asked(again) == _asked(fresh)
    assert again.frozen.receipt("study") == {
        "study": "fresh", "study_digest": fresh.frozen.study_digest, "items": 12, "taken": 12, "earlier": None,
    }  # fmt: skip
    assert again.frozen.receipt("selection") == fresh.frozen.receipt("selection")
    third = select_study(tmp_path / "third", AGAIN.replace("fresh", "again"), name="third")
    third.freeze()
    assert third.frozen.receipt("study")["earlier"] == again.frozen.receipt("study")


@pytest.mark.parametrize("arms", ['["clone", "signal", "equivalent"]', '["ladder"]'])
def test_a_battery_of_programs_comes_back_whole(tmp_path, arms):
    """With its steps, its targets, and the oracle's receipt."""
    table = f'source = "finite-code"\nsettings = [0]\narms = {arms}\n'
    fresh = select_study(tmp_path / "fresh", table)
    fresh.freeze()
    again = select_study(tmp_path / "again", AGAIN)
    again.freeze()
    assert _asked(again) == _asked(fresh)
    before = _load(select_study(tmp_path / "other", table))
    after = _load(again)
    assert sorted(map(repr, after.comparisons)) == sorted(map(repr, before.comparisons))
    assert after.receipts["finite-code"] == before.receipts["finite-code"]


def test_only_given_arms_and_strata(tmp_path, fresh):
    table = AGAIN + 'arms = ["signal"]\nstrata = ["Math"]\n'
    battery = _load(select_study(tmp_path / "again", table))
    assert {one.arm for one in battery.comparisons} == {"signal"}
    assert len(battery.items) == 4
    assert {item.stratum for item in battery.items} == {"Math"}
    assert [item for item in fresh.frozen.items if item.stratum == "Math"] == list(battery.items)
    assert len(battery.refusals) == 8


def test_an_instruction_of_the_battery_is_kept(tmp_path, monkeypatch):
    """Source `context` adds one to every rubric; without it a replication would ask something else."""
    from darkcurrent import study as module

    real = module.load_battery

    def instructed(protocol, folder):
        battery = real(protocol, folder)
        return battery if battery.instruction else battery.model_copy(update={"instruction": "Ignore C."})

    fresh = select_study(tmp_path / "fresh", FRESH, rb2_rows(6))
    monkeypatch.setattr(module, "load_battery", instructed)
    fresh.freeze()
    monkeypatch.setattr(module, "load_battery", real)
    again = select_study(tmp_path / "again", AGAIN)
    again.freeze()
    assert again.frozen.receipt("instruction") == "Ignore C."
    assert _asked(again) == _asked(fresh)


def test_flags_are_those_of_the_new_templates(tmp_path):
    rows = rb2_rows(2, ("Math",))
    rows[0]["prompt"] = "What is <request> ?"
    fresh = select_study(
        tmp_path / "fresh", 'source = "rewardbench2"\npath = "rows.jsonl"\nseed = 7\nper_stratum = 2\n', rows
    )
    fresh.freeze()
    again = select_study(tmp_path / "again", AGAIN)
    again.freeze()
    assert sorted(item.flags for item in again.frozen.items) == [(), ("holds-prompt-tags",)]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            'arms = ["ladder"]',
            "`battery.arms` names `ladder`, and the study ../fresh has only `clone`, `signal`",
        ),
        (
            'strata = ["Safety"]',
            "`battery.strata` names `Safety`, and the study ../fresh has only `Focus`, `Math`, `Ties`",
        ),
    ],
)
def test_what_the_earlier_study_does_not_have(tmp_path, fresh, more, says):
    with pytest.raises(BatteryError) as caught:
        _load(select_study(tmp_path / "again", AGAIN + more))
    assert str(caught.value).startswith(says)


def test_a_criterion_of_the_same_name_has_the_same_rubric(tmp_path, fresh):
    again = select_study(tmp_path / "again", AGAIN)
    path = again.protocol_path
    path.write_text(path.read_text().replace('rubric = "neutral"', 'rubric = "strict"'))
    with pytest.raises(BatteryError, match="The criterion `neutral` has another rubric than in the study"):
        _load(again)
    path.write_text(path.read_text().replace("[criteria.neutral]", "[criteria.other]"))
    again.freeze()
    assert digest_text(again.frozen.texts[again.frozen.schedule("judge")[0].rubric])


def test_a_study_that_is_not_frozen_or_was_edited(tmp_path, fresh):
    with pytest.raises(BatteryError, match="which is no frozen study"):
        _load(select_study(tmp_path / "again", AGAIN.replace("fresh", "stale")))
    path = fresh.folder / "frozen" / "schedule" / "judge.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(IntegrityError, match="was edited after freezing"):
        _load(select_study(tmp_path / "again", AGAIN))


def test_edge_controls_come_with_the_clones(tmp_path, fresh):
    study = select_study(tmp_path / "again", AGAIN + "edge_controls = 2")
    with pytest.raises(ProtocolError, match="come with its clones: leave it out"):
        _load(study)
