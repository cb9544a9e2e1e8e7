from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank.decompositions import get_decomposition
from arcrank.graphs import ArcGraphs, LayeredGraphs
from arcrank.losses.margin import get_margin_loss
from arcrank.losses.zero_flows import zero_flows
from arcrank.solvers.coding import Factors, centroid_codes, learn_codes, orthonormal, principal
from arcrank.solvers.history import History
from arcrank.solvers.margin_problem import make_problem
from tests import plm_oracle

pytest.importorskip("cvxpy")
C, TOL = 0.5, 1e-4


def problem(kind, seed=0, n=10, d=5, k=4):
    random = np.random.RandomState(seed)
    X = random.randn(n, d)
    if kind == "arcs":
        cycles = [random.permutation(k)[:3] for _ in range(n)]
        arcs = [[(a, b), (b, c), (c, a)] for a, b, c in cycles]
        weights = [random.uniform(0.5, 2.0, size=3) for _ in range(n)]
        return X, ArcGraphs.from_arcs(arcs, k, weights)
    return X, LayeredGraphs.from_levels(random.randint(0, 3, size=(n, k)))


def learn(X, graphs, decomposition, loss, start, history=None):
    def make(codes):
        parts = graphs, get_decomposition(decomposition), get_margin_loss(loss), np.full(len(graphs), C)
        return make_problem(*parts, codes=codes)

    limits = {"tol": TOL, "max_iter": 3000, "random": np.random.RandomState(0)}
    return learn_codes(sp.csr_matrix(X), make, start, **limits, history=history or History())


@pytest.mark.parametrize(
    ("kind", "decomposition", "loss"),
    [
        ("layers", "domination", "squared-hinge"),
        ("layers", "zero-one", "logistic"),
        ("arcs", "dominated", "hinge"),
    ],
)
def test_the_joint_objective_falls_to_a_point_where_no_generic_solver_gains(kind, decomposition, loss):
    X, graphs = problem(kind)
    history = History()
    found = learn(X, graphs, decomposition, loss, np.random.RandomState(1).randn(4, 2), history)
    losses = [entry["loss"] for entry in history.entries]
    assert len(losses) >= 4
    assert (np.diff(losses) < 0).all()
    assert losses[-1] == found.objective

    scores = X @ found.embedding @ found.codes.T
    square = float(np.square(found.codes @ found.embedding.T).sum())
    explicit = plm_oracle.objective(scores, square, graphs, decomposition, loss, C)
    assert found.objective == pytest.approx(explicit, rel=1e-9)

    parts = graphs, decomposition, loss, C
    best_embedding, _ = plm_oracle.solve(X, *parts, codes=orthonormal(found.codes))
    best_codes, _ = plm_oracle.solve(X @ found.embedding, *parts)
    for best in (best_embedding, best_codes):
        assert best <= found.objective * (1 + 1e-6)
        assert found.objective <= best * (1 + 3 * TOL)  # a round that gains less than tol is the last one


def test_a_single_step_is_the_embedding_problem():
    X, graphs = problem("layers")
    codes = np.random.RandomState(1).randn(4, 2)
    history = History(lambda _: True)
    found = learn(X, graphs, "domination", "hinge", codes, history)
    value, scores = plm_oracle.solve(X, graphs, "domination", "hinge", C, codes=orthonormal(codes))
    assert len(history.entries) == 1
    assert found.objective == pytest.approx(value, rel=2 * TOL)
    assert X @ found.embedding @ found.codes.T == pytest.approx(scores, abs=0.05)


def test_codes_as_long_as_the_labels_are_no_restriction():
    X, graphs = problem("layers")
    found = learn(X, graphs, "domination", "squared-hinge", np.eye(4))
    value, scores = plm_oracle.solve(X, graphs, "domination", "squared-hinge", C)
    assert found.objective == pytest.approx(value, rel=2 * TOL)
    assert X @ found.embedding @ found.codes.T == pytest.approx(scores, abs=0.05)


def test_principal_directions_are_orthonormal_and_keep_the_weights():
    random = np.random.RandomState(0)
    M, W = random.randn(6, 3), random.randn(9, 3)
    found = principal(Factors(M.copy(), W.copy(), objective=1.0, gap=0.0, converged=True))
    assert found.codes @ found.embedding.T == pytest.approx(M @ W.T)
    assert found.embedding.T @ found.embedding == pytest.approx(np.eye(3))
    gram = found.codes.T @ found.codes
    assert gram == pytest.approx(np.diag(np.diag(gram)))
    assert (np.diff(np.diag(gram)) < 0).all()
    assert (found.codes[np.abs(found.codes).argmax(axis=0), range(3)] > 0).all()


@pytest.mark.parametrize("kind", ["layers", "arcs"])
def test_centroid_codes_span_the_best_dimensions_of_the_centroids(kind):
    X, graphs = problem(kind, n=40, k=6)
    flows = zero_flows(graphs, get_decomposition("domination"))
    inflow, outflow = (np.asarray(sp.csr_matrix(part).todense()) for part in flows(slice(0, 40)))
    best = np.linalg.svd(X.T @ (outflow - inflow))[2][:2].T
    codes = centroid_codes(sp.csr_matrix(X), flows, graphs.shape, 2, np.random.RandomState(0))
    assert codes @ codes.T == pytest.approx(best @ best.T, abs=1e-6)
