"""The pattern of the weights: which features count, how it grows, and what is kept."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from arcrank.rankers.shortlist.pattern import cut_weights, extended, joined_cut, kept_features, pruned
from arcrank.solvers.shortlist_arrays import SparseWeights


def _weights(matrix):
    return SparseWeights.of(sp.csr_matrix(np.array(matrix, dtype=float)))


def _dense(weights, n_labels):
    return sp.csr_matrix((weights.weight, weights.label, weights.ptr), (len(weights.ptr) - 1, n_labels)).toarray()


def test_frequent_features_are_left_out_where_labels_are_many():
    X = sp.csr_matrix([[1.0, 2.0, 0.0], [1.0, 0.0, 3.0], [1.0, 0.0, 0.0], [1.0, 0.0, 4.0]])
    assert kept_features(X, 0.5, 2_000).toarray()[:, 0].sum() == 0
    assert (kept_features(X, 0.5, 2_000)[:, 1:] != X[:, 1:]).nnz == 0
    assert kept_features(X, 0.5, 90) is X


def test_pruned_weights_are_those_of_a_model_file():
    weights = _weights([[0.05, 0.3333333, 0.0], [-0.2, 0.0, 1e6]])
    kept = pruned(weights, 0.1)
    assert kept.label.tolist() == [1, 0, 2]
    assert kept.ptr.tolist() == [0, 1, 3]
    assert np.array_equal(kept.weight, np.array([0.3333333, -0.2, 65504], np.float16).astype(np.float32))
    assert pruned(weights, 0.0) is weights


def test_the_weights_of_the_cut_come_apart_and_together():
    matrix = [[0.5, 1.0, 0.0], [0.0, 0.0, 2.0], [0.25, 0.0, 0.0]]
    rest, cut = cut_weights(_weights(matrix))
    assert cut.tolist() == [0.5, 0.0, 0.25]
    assert _dense(rest, 2).tolist() == [[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]
    assert _dense(joined_cut(rest, cut), 3).tolist() == matrix


def test_a_pattern_grows_without_changing_its_weights():
    old, fresh = _weights([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]), _weights([[9.0, 9.0, 5.0], [0.0, 9.0, 0.0]])
    grown = extended(old, fresh, 2, 3)
    assert grown.ptr.tolist() == [0, 3, 4]
    assert grown.label.tolist() == [0, 1, 2, 1]
    assert grown.weight.tolist() == [1.0, 0.0, 5.0, 2.0]  # kept, new feature of a known label, new label, kept
