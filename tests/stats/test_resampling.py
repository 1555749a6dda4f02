from __future__ import annotations

import numpy as np
import pytest

from darkcurrent.stats import _resampling


def resampled_sums(groups, draws: int, seed: int) -> np.ndarray:
    return np.array(list(_resampling.resampled_sums(groups, draws, seed)))


MASK = (1 << 64) - 1
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645


def pcg64(state: int, increment: int):
    """PCG XSL RR 128/64 (O'Neill 2014), written out: what numpy must go on giving."""
    while True:
        state = (state * MULTIPLIER + increment) % (1 << 128)
        folded, turn = (state >> 64) ^ (state & MASK), state >> 122
        yield ((folded >> turn) | (folded << (64 - turn))) & MASK


def test_the_stream_is_pcg64_and_an_index_is_the_high_half_of_a_product() -> None:
    start = np.random.PCG64(5).state["state"]
    outputs = pcg64(start["state"], start["inc"])
    values = np.array([1, 10, 100, 1_000, 10_000])
    expected = [sum(int(values[next(outputs) * 5 >> 64]) for _ in range(5)) for _ in range(200)]
    assert resampled_sums([values], 200, 5)[0].tolist() == expected


def test_the_seed_is_spread_as_it_always_was() -> None:
    # recorded with numpy 2.4: the bounds of a study change if SeedSequence ever does
    assert np.random.PCG64(260615610).random_raw(3).tolist() == [
        15927533921908998696,
        9960112786565047340,
        7246162332264887991,
    ]


def test_groups_follow_each_other_in_one_stream() -> None:
    first, second = np.arange(3), np.arange(4) * 100
    both = resampled_sums([first, second], 50, 9)
    assert both.dtype == np.int64
    outputs = np.random.PCG64(9).random_raw(50 * 7).tolist()
    assert both[0].tolist() == [sum(x * 3 >> 64 for x in outputs[3 * d : 3 * d + 3]) for d in range(50)]
    rest = outputs[150:]
    assert both[1].tolist() == [sum((x * 4 >> 64) * 100 for x in rest[4 * d : 4 * d + 4]) for d in range(50)]


def test_batches_do_not_change_the_stream(monkeypatch) -> None:
    values = np.arange(7)
    whole = resampled_sums([values, values], 100, 1)
    monkeypatch.setattr(_resampling, "_BATCH", 30)
    assert (resampled_sums([values, values], 100, 1) == whole).all()
    monkeypatch.setattr(_resampling, "_BATCH", 1)
    assert (resampled_sums([values, values], 100, 1) == whole).all()


def test_the_extreme_outputs_give_the_first_and_the_last_index() -> None:
    extremes = np.array([0, MASK, MASK // 3, 1 << 63], dtype=np.uint64)
    for size in (1, 2, 485, 2**32 - 1):
        assert _resampling._scale(extremes, size).tolist() == [x * size >> 64 for x in extremes.tolist()]


@pytest.mark.parametrize("size", [1, 3, 100, 1_500])
@pytest.mark.parametrize("kinds", [1, 2, 3, 9, 20])
@pytest.mark.parametrize("ascending", [True, False])
def test_counting_and_looking_up_give_the_same_sums(size, kinds, ascending) -> None:
    values = np.arange(size) * 7 % kinds * 3 - 4
    values = np.sort(values) if ascending else values
    outputs = np.random.PCG64(3).random_raw(40 * size).tolist()
    chosen = np.array([int(values[x * size >> 64]) for x in outputs]).reshape(40, size)
    assert (resampled_sums([values], 40, 3)[0] == chosen.sum(axis=1)).all()


def test_outputs_at_a_rise_are_counted_as_they_are_looked_up() -> None:
    for size in (3, 7, 1_500):
        values = np.repeat([0, 5], [size // 2, size - size // 2])
        edge = -(-((size // 2) << 64) // size)
        outputs = np.array([edge - 1, edge, 0, MASK], dtype=np.uint64)
        rows = np.repeat(outputs[:, None], size, axis=1)
        found = _resampling._counted(rows, values, np.array([size // 2]))
        assert found.tolist() == [0, 5 * size, 0, 5 * size]
        assert (values[_resampling._scale(outputs, size)] * size).tolist() == found.tolist()
