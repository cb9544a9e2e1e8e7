"""Selectors: against their definitions, on every kind of supervision, names surviving."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from arcrank.errors import GraphError, InputError, ParameterError
from arcrank.graphs import ArcGraphs, LayeredGraphs
from arcrank.text import InformativeSelector, PivotedLength, RocchioSelector, TermCounts, selection
from tests.estimator_checks import parametrize_with_checks
from tests.oracles import arcs_of, pieces_of

TEXTS = ["crude oil price", "crude oil tanker", "wheat price", "wheat harvest", "tanker price"]
TOPICS = [["crude"], ["crude", "ship"], ["grain"], ["grain"], ["ship"]]
SELECTORS = [RocchioSelector(), InformativeSelector(), InformativeSelector(decomposition="zero-one")]


@parametrize_with_checks(SELECTORS)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def rocchio_terms(X, Y, n_terms, fraction):
    """Crammer & Singer 2002, section 4.4, topic by topic."""
    kept = set()
    for on in Y.T.astype(bool):
        inside = X[on].mean(axis=0) if on.any() else np.zeros(X.shape[1])
        outside = X[~on].mean(axis=0) if (~on).any() else np.zeros(X.shape[1])
        weights = np.maximum(16 * inside - 4 * outside, 0)
        positive = [j for j in range(X.shape[1]) if weights[j] > 1e-9]
        positive.sort(key=lambda j: (-round(weights[j], 9), j))
        kept.update(positive[: max(n_terms, int(np.ceil(fraction * len(positive))))])
    return sorted(kept)


@given(
    hnp.arrays(np.float64, (6, 8), elements=st.sampled_from([0.0, 0.0, 1.0, 2.0, 5.0])),
    hnp.arrays(np.int64, (6, 3), elements=st.integers(0, 1)),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_rocchio_keeps_the_union_of_the_heaviest(X, Y, n_terms, fraction):
    expected = rocchio_terms(X, Y, n_terms, fraction)
    selector = RocchioSelector(n_terms, fraction)
    if not expected:
        with pytest.raises(InputError, match="no term has a positive weight"):
            selector.fit(X, Y)
        return
    got = selector.fit(sparse.csr_matrix(X), sparse.csr_matrix(Y)).get_support(indices=True)
    assert got.tolist() == expected


def informative_scores(X, graphs, decomposition):
    """Dekel et al. 2003, Fig. 3 and Theorem 1 at f = 0, for each term and label: pi = x_t [tail] - x_h [head]."""
    plus, minus = np.zeros((X.shape[1], graphs.n_labels)), np.zeros((X.shape[1], graphs.n_labels))
    for row in range(len(graphs)):
        arcs = arcs_of(graphs, row)
        pieces = pieces_of(arcs, decomposition, row)
        for piece in pieces:
            q = 1 / (1 + len(piece)) / len(pieces)
            for head, tail in (arcs[a] for a in piece):
                for label, pi in ((tail, X[row]), (head, -X[row])):
                    plus[:, label] += q * np.maximum(pi, 0)
                    minus[:, label] += q * np.maximum(-pi, 0)
    return ((np.sqrt(plus) - np.sqrt(minus)) ** 2).sum(axis=1)


@given(
    hnp.arrays(np.float64, (5, 4), elements=st.sampled_from([-2.0, 0.0, 0.0, 1.0, 3.0])),
    hnp.arrays(np.int64, (5, 4), elements=st.integers(-1, 2)),
    st.sampled_from(["zero-one", "disagreement", "domination", "dominated"]),
    st.booleans(),
)
def test_informative_scores_are_the_bound(X, levels, decomposition, explicit):
    graphs = LayeredGraphs.from_levels(levels)
    y = graphs.to_arcs() if explicit else graphs
    selector = InformativeSelector(2, decomposition=decomposition).fit(X, y)
    expected = informative_scores(X, graphs, decomposition)
    np.testing.assert_allclose(selector.scores_, expected, atol=1e-9)
    assert selector.get_support().sum() == 2


@pytest.mark.parametrize("selector", SELECTORS)
def test_small_blocks_change_nothing(selector, monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = rng.poisson(0.5, (30, 20)).astype(float), rng.integers(0, 2, (30, 7))
    whole = clone(selector).set_params(n_terms=3).fit(X, Y).get_support()
    monkeypatch.setattr(selection, "_CELLS", 50)
    assert clone(selector).set_params(n_terms=3).fit(X, Y).get_support().tolist() == whole.tolist()


@pytest.mark.parametrize("selector", [RocchioSelector(n_terms=1), InformativeSelector(n_terms=3)])
def test_names_survive_in_a_pipeline(selector):
    pipeline = make_pipeline(TermCounts(), PivotedLength(), selector).fit(TEXTS, TOPICS)
    names = pipeline.get_feature_names_out()
    assert set(names) <= {"crude", "oil", "price", "tanker", "wheat", "harvest"}
    X = pipeline.transform(TEXTS)
    assert X.shape == (5, len(names))
    assert X.format == "csr"
    copy = pickle.loads(pickle.dumps(pipeline))
    assert (copy.transform(TEXTS) != X).nnz == 0


def test_every_kind_of_label_set_gives_the_same_terms():
    X = TermCounts().fit_transform(TEXTS)
    Y = np.array([[1, 0, 0], [1, 0, 1], [0, 1, 0], [0, 1, 0], [0, 0, 1]])
    kinds = [TOPICS, Y, Y.astype(bool), sparse.csr_matrix(Y), LayeredGraphs.from_label_sets(Y)]
    for make in (lambda: RocchioSelector(n_terms=1), lambda: InformativeSelector(n_terms=2)):
        masks = {tuple(make().fit(X, y).get_support()) for y in kinds}
        assert len(masks) == 1


def test_rocchio_wants_label_sets():
    X = np.ones((1, 2))
    with pytest.raises(InputError, match="use InformativeSelector"):
        RocchioSelector().fit(X, ArcGraphs.from_arcs([[(0, 1)]], 2))
    with pytest.raises(GraphError, match="3 layers"):
        RocchioSelector().fit(X, LayeredGraphs.from_levels([[0, 1, 2]]))


def test_rows_must_agree():
    with pytest.raises(InputError, match="X has 5 rows and y has 4"):
        RocchioSelector().fit(TermCounts().fit_transform(TEXTS), TOPICS[:4])


@pytest.mark.parametrize(
    "bad",
    [
        RocchioSelector(0),
        RocchioSelector(1, 1.5),
        InformativeSelector(2.5),
        InformativeSelector(decomposition="none"),
    ],
)
def test_bad_parameters(bad):
    with pytest.raises(ParameterError):
        bad.fit(np.ones((2, 2)), [0, 1])
