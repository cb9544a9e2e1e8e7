"""Graphs over candidates: ragged storage, buckets, and errors that equal those of padded matrices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcrank.errors import InputError
from arcrank.graphs import ArcGraphs, CandidateGraphs, LayeredGraphs
from arcrank.metrics import generalized_error, ndcg_at

NAMES = ["zero-one", "disagreement", "domination", "dominated"]


def ragged(seed, n=12, most=9):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, most + 1, n)
    ptr = np.r_[0, np.cumsum(counts)]
    return rng.integers(0, 4, ptr[-1]), ptr, rng


def padded(values, ptr, filler):
    matrix = np.full((len(ptr) - 1, max(1, np.diff(ptr).max(initial=0))), filler, dtype=float)
    for row, (a, b) in enumerate(itertools.pairwise(ptr)):
        matrix[row, : b - a] = values[a:b]
    return matrix


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_grades_make_the_graphs_of_a_padded_matrix(seed):
    grades, ptr, _ = ragged(seed)
    graphs = CandidateGraphs.from_grades(grades, ptr)
    dense = LayeredGraphs.from_grades(padded(grades, ptr, np.nan))
    assert graphs.arc_counts().tolist() == dense.arc_counts().tolist()
    for row in range(len(dense)):
        assert np.array_equal(graphs.arcs(row), dense.arcs(row))
    assert graphs.to_arcs() == dense.to_arcs()
    assert CandidateGraphs(dense, ptr) == graphs
    assert CandidateGraphs(dense.to_arcs(), ptr) == graphs
    part = graphs[[3, 0, 3]]
    assert [part.arcs(j)[0].tolist() for j in range(3)] == [graphs.arcs(j)[0].tolist() for j in (3, 0, 3)]


@given(st.integers(0, 10_000), st.sampled_from([3, 1 << 20]))
@settings(max_examples=20, deadline=None)
def test_buckets_hold_every_instance_with_arcs_once(seed, cells):
    grades, ptr, rng = ragged(seed, n=20, most=40)
    graphs, values = CandidateGraphs.from_grades(grades, ptr), rng.normal(size=ptr[-1])
    seen, copy = [], np.full(ptr[-1], np.nan)
    for bucket in graphs.buckets(cells):
        assert bucket.graphs.n_labels <= 2 * bucket.counts.min()
        for place, row in enumerate(bucket.rows):
            seen.append(row)
            assert np.array_equal(bucket.graphs.arcs(place), graphs.arcs(row))
            own = bucket.gather(values, -9.0)[place]
            assert np.array_equal(own[: bucket.counts[place]], values[ptr[row] : ptr[row + 1]])
            assert (own[bucket.counts[place] :] == -9.0).all()
        bucket.scatter(bucket.gather(values), copy)
    assert sorted(seen) == np.flatnonzero(graphs.arc_counts() > 0).tolist()
    written = np.isin(graphs.rows(), seen)
    assert np.array_equal(copy[written], values[written])
    assert np.isnan(copy[~written]).all()


def test_arcs_of_a_long_instance():
    level = np.tile([3, 1, 2, -1], 300)
    graphs = CandidateGraphs.from_levels(level, [0, len(level)])
    dense = LayeredGraphs.from_levels(level[None])
    assert np.array_equal(graphs.arcs(0), dense.arcs(0))


@pytest.mark.parametrize("decomposition", [*NAMES, lambda heads, _tails, row: [[row % len(heads)]]])
@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=15, deadline=None)
def test_errors_equal_those_of_a_padded_matrix(decomposition, seed, explicit):
    grades, ptr, rng = ragged(seed)
    scores = rng.integers(0, 5, ptr[-1]).astype(float)
    dense = LayeredGraphs.from_grades(padded(grades, ptr, np.nan))
    graphs = CandidateGraphs(dense.to_arcs() if explicit else dense, ptr)
    found = generalized_error(graphs, scores, decomposition, reduce="none")
    expected = generalized_error(dense, padded(scores, ptr, 0.0), decomposition, reduce="none")
    assert np.array_equal(found, expected)


@given(st.integers(0, 10_000), st.integers(1, 12))
@settings(max_examples=20, deadline=None)
def test_ndcg_equals_that_of_a_padded_matrix(seed, r):
    grades, ptr, rng = ragged(seed)
    scores = rng.integers(0, 5, ptr[-1]).astype(float)
    found = ndcg_at(grades, scores, r, ptr=ptr, reduce="none")
    matrix = padded(grades, ptr, np.nan)
    expected = ndcg_at(matrix, padded(scores, ptr, -np.inf), min(r, matrix.shape[1]), reduce="none")
    assert np.allclose(found, expected, equal_nan=True)


def test_graphs_must_fit_the_candidates():
    ptr = np.array([0, 2, 5])
    with pytest.raises(InputError, match="X has 2 instances and y has 1"):
        CandidateGraphs(ArcGraphs.from_arcs([[]], 3), ptr)
    with pytest.raises(InputError, match="over 2 labels only"):
        CandidateGraphs(ArcGraphs.from_arcs([[], []], 2), ptr)
    with pytest.raises(InputError, match="Instance 0 has 2 candidates, but an arc names candidate 2"):
        CandidateGraphs(ArcGraphs.from_arcs([[(2, 0)], []], 3), ptr)
    for levels in ([[0, 1, 1], [0, 0, 0]], [[0, 0, 1], [0, 1, 2]]):
        with pytest.raises(InputError, match="Instance 0 has 2 candidates, but an arc names candidate 2"):
            CandidateGraphs(LayeredGraphs.from_levels(levels), ptr)
    # Without an arc a label beyond the last candidate says nothing.
    assert CandidateGraphs(LayeredGraphs.from_levels([[0, 0, 0], [0, 1, 2]]), ptr).arc_counts().tolist() == [0, 3]
    with pytest.raises(InputError, match="one number for each of the 5 candidates"):
        generalized_error(CandidateGraphs.from_grades([0, 1, 0, 1, 2], ptr), np.zeros((2, 3)), "domination")
