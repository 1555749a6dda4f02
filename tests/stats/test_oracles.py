"""What other software says: values from R's documentation, and SciPy's bootstrap.

SciPy's `binomtest` and statsmodels' Holm are compared with in `test_binomial.py` and `test_holm.py`.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from darkcurrent.stats import bootstrap, bootstrap_difference, clone_tail, clopper_pearson_upper, holm


@pytest.mark.parametrize(
    ("k", "n", "confidence", "low", "high"),
    [
        # example of ?binom.test, after Conover (1971): binom.test(682, 682 + 243, p = 3/4)
        #   95 percent confidence interval: 0.7076683 0.7654066
        (682, 925, 0.95, "0.7076683", "0.7654066"),
        # binom.test(9, 24, 1/6)
        #   95 percent confidence interval: 0.1879929 0.5940636
        (9, 24, 0.95, "0.1879929", "0.5940636"),
        # binom.test(1, 1497, 0.0033, conf.level = 0.9)
        #   90 percent confidence interval: 3.426347e-05 3.164954e-03
        (1, 1497, 0.90, "3.426347e-05", "3.164954e-03"),
    ],
)
def test_r_binom_test_has_the_same_ends(k, n, confidence, low, high) -> None:
    one_sided = (1 + confidence) / 2
    style = ".6e" if "e" in low else ".7f"
    assert f"{clopper_pearson_upper(k, n, one_sided):{style}}" == high
    # the lower end is the upper end of the complement
    assert f"{1 - clopper_pearson_upper(n - k, n, one_sided):{style}}" == low


def test_r_pbinom_at_ten_fair_tosses() -> None:
    # pbinom(3, 10, 0.5) is 176/1024
    assert clone_tail(3, 10, 0.5) == pytest.approx(176 / 1024, rel=1e-14)


def test_r_p_adjust_treats_what_was_not_observed_as_larger() -> None:
    # ?p.adjust: n may be above length(p); for "holm" the p-values not observed are taken as above all others.
    # p.adjust(c(0.01, 0.04), "holm", n = 3) is c(3 * 0.01, 2 * 0.04)
    assert holm([0.01, None, 0.04]) == pytest.approx([0.03, None, 0.08])


def plant(n: int, seed: int) -> list[float]:
    raw = np.random.PCG64(seed).random_raw(n)
    return [(0.0, 0.5, 1.0, 1.0)[value % 4] for value in raw.tolist()]


def weighted_mean(*groups, axis=-1):
    sizes = [group.shape[axis] for group in groups]
    return sum(np.mean(group, axis=axis) * size for group, size in zip(groups, sizes, strict=True)) / sum(
        sizes
    )


@pytest.mark.parametrize("sizes", [[60], [30, 20, 45]])
def test_scipy_bootstrap_has_the_same_percentiles(sizes) -> None:
    groups = [plant(size, seed) for seed, size in enumerate(sizes)]
    scores = [score for group in groups for score in group]
    strata = [label for label, size in enumerate(sizes) for _ in range(size)]
    oracle = scipy.stats.bootstrap(
        [np.array(group) for group in groups],
        weighted_mean,
        n_resamples=20_000,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(1),
    )
    means = np.sort(oracle.bootstrap_distribution)
    # an error of four standard errors of a quantile in the number of draws that lie below it
    within = 4 * math.sqrt(0.05 * 0.95 * 20_000)
    for method in ("exact", "monte-carlo"):
        result = bootstrap(scores, strata, method=method)
        step = 0.5 / len(scores)
        assert np.sum(means < result.lower - step / 2) <= 1_000 + within
        assert np.sum(means < result.lower + step / 2) >= 1_000 - within
        low, high = oracle.confidence_interval
        assert result.interval == pytest.approx((low, high), abs=2 * step)


def test_scipy_bootstrap_of_paired_differences() -> None:
    present, absent = np.array(plant(80, 5)), np.array(plant(80, 6))
    oracle = scipy.stats.bootstrap(
        (present, absent),
        lambda x, y, axis=-1: np.mean(x - y, axis=axis),
        n_resamples=20_000,
        method="percentile",
        paired=True,
        vectorized=True,
        rng=np.random.default_rng(2),
    )
    result = bootstrap_difference(present, absent, None)
    assert result.interval == pytest.approx(tuple(oracle.confidence_interval), abs=1 / 80)
