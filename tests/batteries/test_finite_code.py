from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkcurrent.batteries.finite_code import build, catalogue
from darkcurrent.batteries.finite_code.certify import certify
from darkcurrent.batteries.finite_code.family import RUNGS, Case, Fault, edit, lists_up_to, main_fault
from darkcurrent.canonical import canonical_json, digest, digest_text
from darkcurrent.errors import BatteryError
from darkcurrent.records import Battery

ALL_ARMS = ("clone", "signal", "equivalent", "ladder")
CASES = catalogue.cases()
ROLES = ("reference", "equivalent", "faulty", *RUNGS)

# The whole battery: texts, facts, comparisons, receipt. It may change only on purpose, and then every study
# frozen before it is about another one.
GOLDEN = "8cd2333ba3a8fc0fa6396b866742486e087c7d3b2707454a555420cdb735804e"


@pytest.fixture(scope="module")
def battery() -> Battery:
    return build(ALL_ARMS)


def example(family: str, setting: int = 0) -> Case:
    return catalogue.FAMILIES[family](setting)


def test_the_battery_does_not_drift(battery: Battery) -> None:
    assert digest(battery.model_dump(mode="json", exclude={"shortfalls"})) == GOLDEN


def test_building_twice_gives_the_same(battery: Battery) -> None:
    assert build(ALL_ARMS) == battery


def test_eight_families_of_twelve(battery: Battery) -> None:
    assert len(battery.items) == 96
    strata = [item.stratum for item in battery.items]
    assert len(set(strata)) == 8
    assert all(strata.count(stratum) == 12 for stratum in strata)
    assert battery.items[3].id == "interval-clip/03"
    assert [item.id for item in battery.items] == [
        f"{family}/{setting:02d}" for family in catalogue.FAMILIES for setting in range(12)
    ]
    assert all(item.cluster == item.id for item in battery.items)


def test_every_text_is_there_under_its_digest(battery: Battery) -> None:
    assert all(digest_text(text) == key for key, text in battery.texts.items())
    for item in battery.items:
        assert tuple(item.texts) == ROLES
        assert {item.prompt, *item.texts.values()} <= set(battery.texts)


def test_items_differ(battery: Battery) -> None:
    assert len({item.prompt for item in battery.items}) == 96
    for role in ("reference", "equivalent", "faulty"):
        assert len({item.texts[role] for item in battery.items}) == 96, role
    assert len({(case.family, case.domain) for case in CASES}) == 96
    for item in battery.items:
        assert len(set(item.texts.values())) == len(ROLES), item.id


def test_comparisons_of_each_arm(battery: Battery) -> None:
    shown = [
        (c.arm, c.u, c.v, c.target, c.null_stratum, c.step)
        for c in battery.comparisons
        if c.item == "runner-up/11"
    ]
    assert shown == [
        ("clone", "reference", "reference", None, "core", None),
        ("signal", "reference", "faulty", "reference", None, None),
        ("equivalent", "reference", "equivalent", None, None, None),
        *[("ladder", "reference", role, "reference", None, role) for role in RUNGS],
    ]
    assert len(battery.comparisons) == 96 * 7


def test_arms_choose_comparisons_and_nothing_else(battery: Battery) -> None:
    only = build(("signal",))
    assert only.items == battery.items
    assert only.receipts == battery.receipts
    assert only.comparisons == tuple(c for c in battery.comparisons if c.arm == "signal")


@settings(max_examples=5, deadline=None)
@given(st.lists(st.integers(0, 11), unique=True, max_size=2))
def test_settings_choose_items(chosen: list[int]) -> None:
    part = build(("clone",), settings=chosen)
    assert [item.facts["setting"] for item in part.items] == chosen * 8
    assert part.receipts["finite-code"]["totals"]["items"] == len(part.items)


@pytest.mark.parametrize("chosen", [(12,), (-1,), (3, 3)])
def test_unknown_or_double_settings_are_refused(chosen: tuple[int, ...]) -> None:
    with pytest.raises(BatteryError, match="name each of the settings 0 to 11 at most once"):
        build(("clone",), settings=chosen)


@pytest.mark.parametrize("arms", [("signal", "signal"), ("signals",)])
def test_unknown_or_double_arms_are_refused(arms: tuple[str, ...]) -> None:
    with pytest.raises(BatteryError, match="name each of clone, signal, equivalent, ladder at most once"):
        build(arms)  # type: ignore[arg-type]


def test_the_receipt_adds_up(battery: Battery) -> None:
    receipt = battery.receipts["finite-code"]
    items, totals = receipt["items"], receipt["totals"]
    assert json.loads(canonical_json(receipt)) == receipt
    assert totals["items"] == len(items) == 96
    assert totals["inputs"] == sum(len(case.domain) for case in CASES) == 51315
    assert totals["pairs"] == totals["inputs"] * len(ROLES) == sum(item["pairs"] for item in items.values())
    assert totals["disagreements"]["reference"] == totals["disagreements"]["equivalent"] == 0
    for role in ROLES:
        counted = [items[case.id]["disagreements"][role] for case in CASES]
        assert totals["disagreements"][role] == sum(entry["count"] for entry in counted)
        assert all(entry["count"] == sum(entry["kinds"].values()) for entry in counted)
        assert all((entry["first"] is None) == (entry["count"] == 0) for entry in counted)


@pytest.mark.parametrize("setting", [1, 6])
@pytest.mark.parametrize("family", catalogue.FAMILIES)
def test_the_receipt_counts_what_the_programs_do(battery: Battery, family: str, setting: int) -> None:
    """Recount with nothing of the package but the texts and the domain: the faults against the reference."""
    case = example(family, setting)
    item = next(item for item in battery.items if item.id == case.id)
    programs = {}
    for role, key in item.texts.items():
        namespace: dict[str, object] = {}
        exec(battery.texts[key], namespace)
        programs[role] = namespace["solve"]

    def answer(role: str, arguments: tuple[object, ...]) -> object:
        try:
            return programs[role](*[list(v) if isinstance(v, tuple) else v for v in arguments])  # type: ignore[operator]
        except (TypeError, IndexError) as error:
            return type(error)

    right = [answer("reference", arguments) for arguments in case.domain]
    for role in ROLES:
        given_answers = [answer(role, arguments) for arguments in case.domain]
        count = sum(got != want for got, want in zip(given_answers, right, strict=True))
        assert battery.receipts["finite-code"]["items"][case.id]["disagreements"][role]["count"] == count
        if role not in ("reference", "equivalent"):
            assert item.facts["faults"][role]["count"] == count
            assert item.facts["faults"][role]["share"] == count / item.facts["inputs"]


def test_the_ladder_falls(battery: Battery) -> None:
    for item in battery.items:
        shares = [item.facts["faults"][role]["share"] for role in RUNGS]
        assert shares == sorted(shares, reverse=True)
        assert 0.33 <= shares[0] <= 0.67
        assert 0.05 <= shares[1] <= 0.16
        assert 0.005 <= shares[2] <= 0.02
        assert item.facts["faults"]["faulty-single"]["count"] == 1


def test_main_faults_are_of_many_kinds(battery: Battery) -> None:
    kinds: dict[str, set[str]] = {}
    for item in battery.items:
        kinds.setdefault(item.stratum, set()).add(item.facts["faults"]["faulty"]["kind"])
    assert all(len(found) >= 3 for found in kinds.values())
    assert len(set().union(*kinds.values())) >= 20


@pytest.mark.parametrize("role", ["faulty", *RUNGS])
@pytest.mark.parametrize("family", catalogue.FAMILIES)
def test_the_specification_finds_every_fault_in_a_reference(family: str, role: str) -> None:
    """A specification that called the reference would pass these: it must stand on its own."""
    case = example(family, 5)
    with pytest.raises(BatteryError, match=rf"^{family}/05: the reference program must agree .* is right"):
        certify(replace(case, reference=case.faults[role].source))


@pytest.mark.parametrize("family", catalogue.FAMILIES)
def test_a_wrong_equivalent_is_refused(family: str) -> None:
    case = example(family, 7)
    with pytest.raises(BatteryError, match=rf"^{family}/07: the equivalent program must agree"):
        certify(replace(case, equivalent=case.faults["faulty-single"].source))


@pytest.mark.parametrize("role", ["faulty", *RUNGS])
def test_a_harmless_fault_is_refused(role: str) -> None:
    case = example("residue-count", 2)
    harmless = Fault("none", case.reference.replace("count", "found"))
    with pytest.raises(
        BatteryError, match=rf"^residue-count/02: the {role} program agrees .* all 529 inputs"
    ):
        certify(replace(case, faults={**case.faults, role: harmless}))


def test_the_message_names_the_first_input() -> None:
    case = example("interval-clip", 1)
    wrong = case.reference.replace("return 223", "return 224")
    with pytest.raises(
        BatteryError, match=r"reference .* on 224 it gives 224 where 223 is right; correct it\."
    ):
        certify(
            replace(case, reference=wrong.replace("x > 223", "x > 224").replace("return 224", "return 223"))
        )


def test_build_fails_with_the_case(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = catalogue.FAMILIES["longest-run"]

    def broken(setting: int) -> Case:
        case = sound(setting)
        return replace(case, reference=case.faults["faulty-single"].source) if setting == 9 else case

    monkeypatch.setitem(catalogue.FAMILIES, "longest-run", broken)
    assert len(build(("clone",), settings=range(9)).items) == 72
    with pytest.raises(
        BatteryError, match=r"longest-run/09: the reference program .* on \[\] it gives 8 where 7"
    ):
        build(("clone",))


def test_an_exception_is_a_disagreement_of_its_kind() -> None:
    case = example("runner-up", 0)
    fault = edit(case.reference, "no empty case", ("if not values:", "if values[0] > 3:"))
    receipt = certify(replace(case, faults={**case.faults, "faulty": fault}))
    found = receipt["disagreements"]["faulty"]
    assert found["kinds"]["IndexError"] == 1
    assert found["kinds"]["value"] == found["count"] - 1 > 0
    assert found["first"] == {"input": "[]", "expected": "-1", "given": "Raised(kind='IndexError')"}


def test_true_is_not_one() -> None:
    case = example("most-frequent", 2)
    fault = edit(case.reference, "truth value", ("return best", "return best == best if best == 1 else best"))
    receipt = certify(replace(case, faults={**case.faults, "faulty": fault}))
    assert receipt["disagreements"]["faulty"]["first"]["given"] == "True"


def test_programs_cannot_reach_beyond_the_arithmetic() -> None:
    case = example("interval-clip", 0)
    fault = edit(case.reference, "import", ("    if x < -108:", "    import os\n    if x < -108:"))
    receipt = certify(replace(case, faults={**case.faults, "faulty": fault}))
    assert receipt["disagreements"]["faulty"]["kinds"] == {"ImportError": len(case.domain)}


def test_a_program_cannot_change_the_next_ones_input() -> None:
    case = example("capped-counter", 0)
    fault = edit(
        case.reference, "eats its input", ("return level", "return level + len(moves) + (moves.clear() or 0)")
    )
    receipt = certify(replace(case, faults={"faulty": fault, **{r: case.faults[r] for r in RUNGS}}))
    assert receipt["disagreements"]["faulty"]["count"] == len(case.domain) - 1
    assert receipt["disagreements"]["faulty-single"]["count"] == 1


def test_a_failing_specification_is_refused() -> None:
    with pytest.raises(BatteryError, match=r"the specification itself fails on -378 \(ZeroDivisionError\)"):
        certify(replace(example("interval-clip"), domain=((-378,), (0,)), specify=lambda x: x // 0))


def test_a_ladder_out_of_its_band_is_refused() -> None:
    case = example("round-to-step", 0)
    swapped = {**case.faults, "faulty-1": case.faults["faulty"]}
    with pytest.raises(
        BatteryError, match=r"round-to-step/00: faulty-1 shows on 0\.3993 of the inputs, not 0\.005"
    ):
        certify(replace(case, faults=swapped))
    with pytest.raises(BatteryError, match="the counts must fall to exactly 1"):
        certify(replace(case, faults={**case.faults, "faulty-single": case.faults["faulty-1"]}))


def test_two_roles_never_share_a_text() -> None:
    case = example("tiered-price", 4)
    with pytest.raises(BatteryError, match="tiered-price/04: two of its programs have the same text"):
        certify(replace(case, equivalent=case.reference))


def test_an_edit_must_find_its_passage_once() -> None:
    with pytest.raises(BatteryError, match="stands 2 times, not once"):
        edit("a = a", "any", ("a", "b"))
    with pytest.raises(BatteryError, match="stands 0 times, not once"):
        edit("a = a", "any", ("c", "b"))


def test_mistakes_come_by_turns() -> None:
    mistakes = [(str(n), ("x", str(n))) for n in range(4)]
    taken = [main_fault("x", setting, *mistakes).kind for setting in range(12)]
    assert taken == list("012312302301")


def test_lists_up_to_holds_every_list_once() -> None:
    domain = lists_up_to(2, (5, -1))
    assert domain == (((),), ((5,),), ((-1,),), ((5, 5),), ((5, -1),), ((-1, 5),), ((-1, -1),))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_prompt_declares_the_domain(case: Case) -> None:
    declared = case.prompt.split("Valid inputs: ")[1]
    if isinstance(case.domain[0][0], int):
        numbers = [value for arguments in case.domain for value in arguments]
        assert f"from {min(numbers)} to {max(numbers)}" in declared
        assert len(set(case.domain)) == (max(numbers) - min(numbers) + 1) ** len(case.domain[0])
    else:
        entries = list(dict.fromkeys(value for (values,) in case.domain for value in values))
        longest = max(len(values) for (values,) in case.domain)
        assert f"at most {longest} entries" in declared
        assert f"one of {', '.join(map(str, entries))}." in declared
        assert len(set(case.domain)) == sum(len(entries) ** size for size in range(longest + 1))


def test_no_text_gives_itself_away() -> None:
    gaps = []
    for case in CASES:
        for role, source in case.sources.items():
            assert source.startswith(f"def {case.signature}:\n")
            assert source.endswith("\n")
            assert 5 <= len(source.splitlines()) <= 15, (case.id, role)
            assert not {"#", '"', "'"} & set(source), (case.id, role)
        words, faulty = len(case.reference.split()), len(case.faults["faulty"].source.split())
        gaps.append((faulty - words) / words)
        assert len(case.faults["faulty"].source.splitlines()) == len(case.reference.splitlines())
    assert max(map(abs, gaps)) <= 0.08
    assert abs(sum(gaps) / len(gaps)) <= 0.01
