"""From ledgers to rates, and from rates to the cell of least risk."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkcurrent.analysis import known_rates, load_losses, priced, select_cell
from darkcurrent.analysis.risks import counted_calls, evaluate_risk, leaders
from darkcurrent.declared import Declared
from darkcurrent.errors import ProtocolError
from darkcurrent.ledger import SCHEMA
from darkcurrent.protocol.model import AnalysisTable, GatesTable
from darkcurrent.results import CellRisk, RateTable
from darkcurrent.risk import FIRST_LOSSES, PAPER_GRID, Losses, Rates, break_even, risk
from support.arms import run_arms

BATTERY = 'source = "finite-code"\nsettings = [0, 1]\narms = ["clone", "signal", "equivalent"]'
JUDGES = {
    "sharp": "utility = 0.95\nties = 0.2\n[configuration.properties.criteria.strict]\nutility = 0.5\nties = 1.0",
    "biased": "seed = 2\ndark_current = 0.4\nutility = 0.7",
    "fenced": "fenced = 1.0",
}


@pytest.fixture(scope="module")
def arms(tmp_path_factory):
    folder = tmp_path_factory.mktemp("risk") / "study"
    return run_arms(folder, BATTERY, JUDGES, criteria=("neutral", "strict"))


def declared(certified=None, draws=1000):
    return Declared(
        "s", "", "d", ("j", "k"), ("c",), GatesTable(), AnalysisTable(draws=draws), {}, {}, certified=certified
    )  # fmt: skip


def ledger(rows):
    """A ledger of rows (configuration, item, arm, value): `A` holds the target of every signal pair."""
    table = [
        {
            "configuration": configuration,
            "criterion": "c",
            "item": item,
            "stratum": item[0],
            "arm": arm,
            "null_stratum": "core" if arm == "clone" else None,
            "order": "IDENTICAL" if arm == "clone" else "AB",
            "target": "u" if arm == "signal" else None,
            "ending": "terminal",
            "value": value,
            "winner": "tie"
            if value == "tie"
            else {"A": "u", "B": "v"}.get(value)
            if arm != "clone"
            else None,
        }
        for configuration, item, arm, value in rows
    ]
    return pl.DataFrame(table, schema=SCHEMA)


VALUES = st.sampled_from(["A", "B", "tie", None])


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=12))
def test_the_rates_are_the_shares_that_a_person_counts(answers):
    rows = [
        ("j", f"s{n}", arm, value)
        for n, three in enumerate(answers)
        for arm, value in zip(("clone", "signal", "equivalent"), three, strict=True)
    ]
    found = evaluate_risk(ledger(rows), [("j", "c")], set(), declared("a proof"))
    n, (clone, signal, equal) = len(answers), zip(*answers, strict=True)
    assert known_rates(found.cells[0]) == Rates(
        false_preference=sum(v in ("A", "B") for v in clone) / n,
        invalid_clone=clone.count(None) / n,
        wrong=signal.count("B") / n,
        tie=signal.count("tie") / n,
        invalid_signal=signal.count(None) / n,
        equivalent_preference=sum(v in ("A", "B") for v in equal) / n,
        invalid_equivalent=equal.count(None) / n,
    )


def test_edge_clones_uncertified_equivalents_contexts_and_unended_calls_count_nowhere():
    calls = ledger([("j", f"s{n}", arm, "A") for n, arm in enumerate(["clone", "signal", "equivalent"] * 3)])
    calls = calls.with_columns(
        null_stratum=pl.when(pl.col("item") == "s0").then(pl.lit("edge-empty")).otherwise("null_stratum"),
        context=pl.when(pl.col("item") == "s1").then(pl.lit("absent")).otherwise("context"),
        ending=pl.when(pl.col("item") == "s3").then(pl.lit("missing")).otherwise("ending"),
    )
    assert counted_calls(calls, certified=False)["item"].to_list() == ["s4", "s6", "s7"]
    assert counted_calls(calls, certified=True)["item"].to_list() == ["s2", "s4", "s5", "s6", "s7", "s8"]


def test_a_study_s_block(arms):
    _, analysis = arms
    block = analysis.risk
    by_name = {(cell.configuration, cell.criterion): cell for cell in block.cells}
    # every cell has certified equivalents
    losses_shown = Losses(**block.losses.model_dump())
    assert losses_shown == replace(FIRST_LOSSES, pi_e=0.05, lambda_e=1.0)
    assert list(by_name) == [(cell.configuration, cell.criterion) for cell in analysis.cells]
    for cell in analysis.cells:
        own = by_name[cell.configuration, cell.criterion]
        if cell.configuration == "fenced":
            assert (own.rates, own.risk, own.grid, own.counts) == (None, None, None, {})
            assert own.reason == "the campaign is HOLD"
            continue
        core, said, equals = cell.clone["core"], cell.signal.verdicts, cell.equivalent
        assert own.rates.false_preference == (core.a + core.b) / core.n
        assert own.counts["signal"].wrong == said.wrong
        assert own.counts["signal"].tie == said.tie
        # every pair is valid here, so that this is the share over the pairs with two valid verdicts
        assert own.rates.equivalent_preference == equals.false_preference
        assert own.risk == risk(known_rates(own), losses_shown)
        risks = [risk(known_rates(own), losses) for losses in PAPER_GRID]
        assert (own.grid.least, own.grid.most) == (min(risks), max(risks))
    assert sum(cell.grid.best for cell in block.cells if cell.grid) <= 96
    assert len(block.pairs) == 6
    for pair in block.pairs:
        first, second = (known_rates(by_name[key]) for key in (pair.first, pair.second))
        for name, found in pair.break_evens.items():
            assert found.value == break_even(first, second, losses_shown, name)
            assert (found.value is None) == (found.reason is not None)


def test_the_grid_s_winners_are_counted_once():
    rates = [Rates(0, 0, 0.2, 0.0, 0), Rates(0, 0, 0.0, 0.4, 0), Rates(0, 0, 0.2, 0.0, 0)]
    cells = [
        CellRisk(configuration=f"j{n}", criterion="c", counts={}, rates=RateTable(**asdict(own)))
        for n, own in enumerate(rates)
    ]
    grids = [cell.grid for cell in priced(cells, FIRST_LOSSES).cells]
    # .4 ties cost less than .2 wrong choices where a tie costs less than .5: for half of the four losses of a tie;
    # at .5 all three cost the same
    assert [(grid.best, grid.shared) for grid in grids] == [(0, 48), (48, 24), (0, 48)]


def test_of_many_cells_the_leading_ones_are_held_against_each_other():
    cells = [
        CellRisk(
            configuration=f"j{n}",
            criterion="c",
            counts={},
            rates=RateTable(**asdict(Rates(0, 0, (40 - n) / 40, 0, 0))),
        )
        for n in range(40)
    ]
    found = priced(cells, FIRST_LOSSES)
    assert len(found.pairs) == 16 * 15 // 2
    assert {pair.first[0] for pair in found.pairs} == {f"j{n}" for n in range(24, 39)}
    assert len(found.cells) == 40


def test_a_cell_without_certified_equivalents_has_no_risk_where_they_occur():
    cells = evaluate_risk(
        ledger([("j", "s1", "clone", "tie"), ("j", "s1", "signal", "B")]), [("j", "c")], set(), declared()
    ).cells
    found = priced(cells, replace(FIRST_LOSSES, pi_e=0.1, lambda_e=1))
    assert found.cells[0].risk is None
    assert "no certified equivalents" in found.cells[0].reason
    assert found.cells[0].rates is not None
    assert priced(found.cells, FIRST_LOSSES).cells[0].reason is None


def test_what_was_not_asked_is_said():
    signal = ledger([("j", "s1", "signal", "A")])
    assert (
        evaluate_risk(signal, [("j", "c")], set(), declared()).cells[0].reason
        == "no identical texts were asked"
    )
    both = evaluate_risk(ledger([]), [("j", "c")], set(), declared()).cells[0]
    assert both.reason == "no identical texts were asked and no pair with a target was asked"


@st.composite
def two_cells(draw):
    answers = draw(st.lists(st.tuples(VALUES, VALUES, VALUES, VALUES), min_size=2, max_size=10))
    return [
        (name, f"{'ab'[n % 2]}{n}", arm, four[2 * place + (arm == "signal")])
        for n, four in enumerate(answers)
        for place, name in enumerate("jk")
        for arm in ("clone", "signal")
    ]


@settings(max_examples=25)
@given(two_cells(), st.integers(0, 5))
def test_the_selection_agrees_with_a_resampling_in_plain_words(rows, tie):
    """The same draws of items, and the risk of each composition from its definition."""
    calls, losses = ledger(rows), Losses(0.25, 2.0, 1.0, tie / 4, 3.0)
    keys = [("j", "c"), ("k", "c")]
    block = priced(evaluate_risk(calls, keys, set(), declared()).cells, losses)
    found = select_cell(calls, block, declared())
    items = sorted({(item[0], item) for _, item, *_ in rows})
    groups = [[item for stratum, item in items if stratum == name] for name in sorted({s for s, _ in items})]
    stream = np.random.PCG64(found.seed)
    chosen = [
        [[own[int(x) * len(own) >> 64] for x in stream.random_raw(len(own))] for _ in range(found.draws)]
        for own in groups
    ]
    said = {(name, item, arm): value for name, item, arm, value in rows}

    def cost(name, drawn):
        clone = [said[name, item, "clone"] for item in drawn]
        signal = [said[name, item, "signal"] for item in drawn]
        n = len(drawn)
        null = 2 * sum(v in ("A", "B") for v in clone) + 3 * clone.count(None)
        target = signal.count("B") + tie / 4 * signal.count("tie") + 3 * signal.count(None)
        return 0.25 * null / n + 0.75 * target / n

    whole = [item for own in groups for item in own]
    risks = {name: cost(name, whole) for name in "jk"}
    assert found.risk == pytest.approx(min(risks.values()))
    best, other = found.configuration, found.others[0].configuration
    drawn = [[item for own in chosen for item in own[number]] for number in range(found.draws)]
    differences = sorted(cost(other, own) - cost(best, own) for own in drawn)
    assert found.others[0].difference == pytest.approx(risks[other] - risks[best], abs=1e-12)
    assert found.others[0].interval == pytest.approx((differences[24], differences[974]), abs=1e-9)
    assert found.stays == pytest.approx(np.mean(np.array(differences) > -1e-9))


def test_identical_cells_never_differ(arms):
    study, analysis = arms
    twin = [cell.model_copy(update={"criterion": "neutral"}) for cell in analysis.risk.cells[:1]]
    block = priced([*twin, *twin], FIRST_LOSSES)
    assert leaders([cell.risk for cell in block.cells]) == [0, 1]
    found = select_cell(study.ledger(), analysis.risk, study.declared())
    assert (found.configuration, found.criterion) == ("sharp", "neutral")
    assert found.items == 16
    assert "chosen by the same data" in found.conditional_on


def test_a_study_on_hold_has_nothing_to_choose(tmp_path):
    study, analysis = run_arms(tmp_path / "held", BATTERY, {"fenced": "fenced = 1.0"})
    found = select_cell(study.ledger(), analysis.risk, study.declared())
    assert found.configuration is None
    assert found.reason == "no cell has a risk: the campaign is HOLD"


GOOD = "pi_c = 0.05\nlambda_c = 1\nlambda_w = 1\nlambda_t = 0.5\nlambda_i = 1\n"


def test_a_file_of_losses(tmp_path):
    path = tmp_path / "loss.toml"
    path.write_text(GOOD + "pi_e = 0.1\nlambda_e = 2.5\n", encoding="utf-8")
    assert load_losses(path) == Losses(0.05, 1, 1, 0.5, 1, 0.1, 2.5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD.replace("lambda_t", "lamda_t"), r"loss.toml:4: `lamda_t` is not a known key: did you mean `lambda_t`\?"),
        (GOOD.replace("lambda_w", "lambda_W"), r"loss.toml:3: `lambda_W` .* did you mean `lambda_w`"),
        (GOOD + "x = 1", r"loss.toml:6: `x` is not a known key: known are"),
        (GOOD.replace("lambda_i = 1", ""), r"lacks `lambda_i`: nothing is assumed"),
        (GOOD.replace("= 0.5", '= "0.5"'), r"loss.toml:4: `lambda_t` is no number"),
        (GOOD.replace("= 0.5", "= true"), r"loss.toml:4: `lambda_t` is no number"),
        (GOOD.replace("= 0.5", "= nan"), r"loss.toml:4: `lambda_t` is nan"),
        (GOOD.replace("= 0.5", "= -1"), r"loss.toml:4: `lambda_t` is -1: give a finite number of 0 or more"),
        (GOOD.replace("= 0.5", "= 1" + "0" * 400), r"loss.toml:4: `lambda_t` is 1000"),
        (GOOD.replace("0.05", "1.5"), r"loss.toml:1: `pi_c` is 1.5: give a finite number of 0 to 1"),
        (GOOD + "pi_e = 0.1", r"lacks `lambda_e`"),
        (GOOD + "lambda_e = 1\npi_e = 0.96", r"loss.toml:7: .* sum to 1.01"),
        (GOOD + "pi_c = 0.1", r"not valid TOML"),
        (GOOD + "[table]\nx = 1", r"loss.toml:6: `table` is not a known key"),
        ("", r"lacks `pi_c`, `lambda_c`"),
    ],
)  # fmt: skip
def test_a_file_of_losses_that_cannot_be_used_says_where(tmp_path, text, words):
    path = tmp_path / "loss.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ProtocolError, match=words) as error:
        load_losses(path)
    assert str(error.value).endswith((".", "?"))


def test_a_file_that_is_none(tmp_path):
    with pytest.raises(ProtocolError, match="cannot be read"):
        load_losses(tmp_path)
    (tmp_path / "l").write_bytes(b"\xff")
    with pytest.raises(ProtocolError, match="not UTF-8"):
        load_losses(tmp_path / "l")
