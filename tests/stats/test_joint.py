"""Draws that several measurements share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from darkcurrent.errors import StatsInputError
from darkcurrent.stats import bootstrap, joint_resampling, percentile
from darkcurrent.stats._resampling import resampled_sums


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.sampled_from("ab")), min_size=1, max_size=9),
    st.integers(0, 2**40),
)
def test_each_column_is_what_the_one_column_stream_draws(rows, seed):
    """The stream is that of `resampled_sums`, whose golden values stand in test_resampling.py."""
    table = np.array([row[:2] for row in rows])
    strata = [row[2] for row in rows]
    sums = joint_resampling(table, strata, draws=40, seed=seed)
    for column in range(2):
        groups = [table[[s == name for s in strata], column] for name in sorted(set(strata))]
        alone = np.sum(list(resampled_sums(groups, 40, seed)), axis=0)
        assert (sums[:, column] == alone).all()


def test_batches_change_nothing(monkeypatch):
    table = np.arange(60).reshape(20, 3)
    whole = joint_resampling(table, None, draws=50, seed=3)
    monkeypatch.setattr("darkcurrent.stats._resampling._BATCH", 45)
    assert (joint_resampling(table, None, draws=50, seed=3) == whole).all()


def test_the_draws_have_the_law_of_the_exact_bootstrap():
    scores, strata = [0, 1, 1, 0, 2, 2, 1, 0, 1], list("aaaabbbbb")
    sums = joint_resampling([[score] for score in scores], strata, draws=100_000, seed=5)
    exact = bootstrap([score / 2 for score in scores], strata)
    assert sums.mean() / 18 == pytest.approx(exact.mean, abs=3e-3)
    assert percentile(sums[:, 0] / 18, 0.05) == pytest.approx(exact.lower, abs=0.03)


@pytest.mark.parametrize(
    ("counts", "strata", "words"),
    [
        ([[1], [2, 3]], None, "rows of one length"),
        ([1, 2], None, "a table of whole numbers"),
        ([[0.5]], None, "a table of whole numbers"),
        ([[2**52], [2**52]], None, "too large"),
        ([[1], [2]], ["a"], "one label per score"),
    ],
)
def test_bad_input_is_one_sentence(counts, strata, words):
    with pytest.raises(StatsInputError, match=words):
        joint_resampling(counts, strata)


def test_a_percentile_is_a_value_that_was_drawn():
    values = np.array([0.3, 0.1, 0.2, 0.4])
    assert [percentile(values, level) for level in (0.01, 0.25, 0.26, 0.99)] == [0.1, 0.1, 0.2, 0.4]
