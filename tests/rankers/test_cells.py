"""Few cells stand for all of them, and thresholds are those of all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcrank.rankers import cells
from arcrank.rankers.cells import highest_cells, informative_cells
from arcrank.rankers.set_offsets import _best_by_f1


def problem(seed, n=200, k=40, ties=False):
    random = np.random.default_rng(seed)
    scores = random.normal(size=(n, k))
    scores = np.round(scores) if ties else scores
    judged = random.random((n, k)) < 0.9
    relevant = judged & (random.random((n, k)) < 1 / (1 + np.exp(4 - 2 * scores)))
    return scores, judged, relevant


def test_weights_count_all_cells_and_strata_are_by_score(monkeypatch):
    monkeypatch.setattr(cells, "_BLOCK", 500)
    scores, judged, relevant = problem(0)
    rows, columns, weights = informative_cells(scores, judged, relevant, stratum=50)
    assert len({*zip(rows.tolist(), columns.tolist(), strict=True)}) == len(rows)
    assert judged[rows, columns].all()
    found = relevant[rows, columns]
    assert weights[found].sum() == pytest.approx(relevant.sum())
    assert weights[~found].sum() == pytest.approx((judged & ~relevant).sum())
    # the 50 highest irrelevant cells are all there, with weight 1
    highest = np.sort(scores[judged & ~relevant])[-50:]
    assert set(highest.tolist()) <= set(scores[rows, columns][~found & (weights == 1.0)].tolist())
    # the weighted mean of a function of the scores is about that of all cells
    other = ~found
    assert np.average(scores[rows, columns][other], weights=weights[other]) == pytest.approx(
        scores[judged & ~relevant].mean(), abs=0.1
    )


def test_blocks_do_not_matter(monkeypatch):
    whole = [sorted(zip(*map(np.ndarray.tolist, informative_cells(*problem(1), stratum=1000)), strict=True))]
    monkeypatch.setattr(cells, "_BLOCK", 100)
    whole.append(sorted(zip(*map(np.ndarray.tolist, informative_cells(*problem(1), stratum=1000)), strict=True)))
    assert whole[0] == whole[1]


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 1000), most=st.integers(1, 3000), ties=st.booleans(), block=st.sampled_from([50, 10**6]))
def test_the_highest_cells(seed, most, ties, block):
    scores, judged, relevant = problem(seed, n=20, ties=ties)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "_BLOCK", block)
        ordered, found, limit = highest_cells(scores, judged, relevant, most)
    everything = np.sort(scores[judged])[::-1]
    np.testing.assert_array_equal(ordered, everything[: len(ordered)])
    assert found.sum() == (relevant & (scores > limit)).sum()
    assert (ordered > limit).all()
    if len(ordered) < len(everything):
        assert everything[len(ordered)] == limit
        assert len(ordered) >= np.searchsorted(-everything, -everything[most], side="left")


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 1000), ties=st.booleans(), shift=st.sampled_from([0.0, 8.0, -8.0]))
def test_the_best_threshold_is_that_of_a_full_search(seed, ties, shift):
    scores, judged, relevant = problem(seed, n=12, k=9, ties=ties)
    relevant = judged & (relevant ^ (np.random.default_rng(seed).random(scores.shape) < 0.02 * abs(shift)))
    total = int(relevant.sum())
    threshold = _best_by_f1(scores, judged, relevant, total)

    def f1(limit):
        taken = judged & (scores > limit)
        return 2 * (taken & relevant).sum() / max(1, taken.sum() + total)

    candidates = [-np.inf, *np.unique(scores[judged])]
    assert f1(threshold) == pytest.approx(max(f1(limit) for limit in candidates))
