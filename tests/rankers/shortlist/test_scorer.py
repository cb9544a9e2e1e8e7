"""Scores in NumPy and by kernels: the same to the last bit, and neighbours as by a comparison with all documents."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from arcrank._csr import Csr
from arcrank.rankers.shortlist.neighbours import Neighbours
from arcrank.rankers.shortlist.scorer import ShortlistScorer
from arcrank.solvers.shortlist_arrays import SparseWeights, csr_rows


def random_scorer(seed, *, cut):
    """Values are multiples of 1/4, so that labels and documents tie."""
    rng = np.random.default_rng(seed)
    d, k, n = 12, 9, 15
    weights = sp.random(d, k, 0.5, "csr", np.float32, seed, lambda size: rng.integers(-4, 5, size) / 4)
    X = sp.random(n, d, 0.4, "csr", np.float32, seed, lambda size: rng.integers(-1, 5, size) / 4)
    members = sp.csr_matrix(rng.random((n, k)) < 0.3, dtype=np.float32)
    cut_weights = rng.normal(size=d).astype(np.float32) if cut else np.zeros(0, np.float32)
    intercept = rng.integers(0, 3, k) / 2
    return ShortlistScorer(SparseWeights.of(weights), intercept, cut_weights, Neighbours.of(X, members), 3, 2.5), X


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_numpy_and_kernels_give_the_same_bits(seed, cut):
    scorer, documents = random_scorer(seed, cut=cut)
    X = sp.vstack([documents, sp.csr_matrix((1, 12))]).tocsr().astype(np.float64)
    light = Csr(X.data, X.indices, X.indptr, X.shape)
    compiled = scorer.best(X, 4), scorer.scores(X, np.array([3, 0])), scorer.votes(X[:1], 0, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ShortlistScorer, "_compiled", lambda *_: False)
        few = scorer.best(light, 4), scorer.scores(light, np.array([3, 0])), scorer.votes(light[:1], 0, 1)
        everything = scorer.scores(light, np.arange(9))
    assert [one.tobytes() for one in few[0]] == [one.tobytes() for one in compiled[0]]
    assert few[1].tobytes() == compiled[1].tobytes()
    assert few[2] == compiled[2]
    order = np.argsort(-everything, axis=1, kind="stable")[:, :4]
    assert np.array_equal(few[0][0], order)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 20))
def test_of_equally_near_documents_the_first_ones_vote(seed, most):
    scorer, X = random_scorer(seed, cut=False)
    similar = (X @ X.T).toarray()
    np.fill_diagonal(similar, 0.0)
    for own in (0, -1):
        if own < 0:
            similar = (X @ X.T).toarray()
        found = scorer.neighbours.find(csr_rows(X), most, own=own)
        for i, row in enumerate(similar):
            near = np.argsort(-row, kind="stable")
            near = near[row[near] > 0][:most]
            assert found.document[i, : found.found[i]].tolist() == near.tolist()
            assert found.similarity[i, : found.found[i]].tolist() == row[near].tolist()


def test_part_of_the_documents_is_numbered_from_its_first():
    scorer, X = random_scorer(3, cut=False)
    whole = scorer.neighbours.find(csr_rows(X), 4, own=0)
    part = scorer.neighbours.find(csr_rows(X[6:]), 4, own=6)
    assert all(np.array_equal(a[6:], b) for a, b in zip(whole, part, strict=True))
