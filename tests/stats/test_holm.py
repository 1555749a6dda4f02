from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from darkcurrent.errors import StatsInputError
from darkcurrent.stats import holm

PVALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@settings(max_examples=30, deadline=None)  # a call of the oracle takes 60 ms
@given(PVALUES)
def test_statsmodels_agrees(pvalues: list[float]) -> None:
    assert holm(pvalues) == pytest.approx(list(multipletests(pvalues, method="holm")[1]), rel=1e-12)


@given(PVALUES, st.integers(1, 4))
def test_a_held_cell_counts_as_a_member_that_cannot_reject(pvalues: list[float], held: int) -> None:
    adjusted = holm([*pvalues, *[None] * held])
    assert adjusted[len(pvalues) :] == [None] * held
    assert adjusted[: len(pvalues)] == holm([*pvalues, *[1.0] * held])[: len(pvalues)]


@given(PVALUES, st.randoms(use_true_random=False))
def test_the_order_of_the_family_does_not_matter(pvalues: list[float], random) -> None:
    places = list(range(len(pvalues)))
    random.shuffle(places)
    adjusted = holm(pvalues)
    assert holm([pvalues[place] for place in places]) == [adjusted[place] for place in places]


def test_a_family_of_one_or_none_is_left_as_it_is() -> None:
    assert holm([]) == []
    assert holm([0.04]) == [0.04]
    assert holm([None]) == [None]


def test_ties_and_the_running_maximum() -> None:
    assert holm([0.02, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.01, 0.011]) == pytest.approx([0.02, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), "x"])
def test_what_is_no_p_value_is_refused_by_its_place(bad: object) -> None:
    with pytest.raises(StatsInputError, match=r"pvalues\[1\]"):
        holm([0.5, bad])


@pytest.mark.parametrize("bad", [0.5, None])
def test_what_is_no_list_is_refused(bad: object) -> None:
    with pytest.raises(StatsInputError, match="must be a list of p-values"):
        holm(bad)  # type: ignore[arg-type]
