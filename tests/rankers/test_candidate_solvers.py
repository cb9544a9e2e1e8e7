"""The three solvers of log-linear rankers on candidates, against plain Python over arcs and a generic solver."""

from __future__ import annotations

import itertools
import math
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from arcrank import CandidateSets, LogLinearRanker
from arcrank.decompositions import get_decomposition
from arcrank.graphs import ArcGraphs
from arcrank.metrics import domination_error, ndcg_at

NAMES = ["domination", "zero-one", "dominated", "disagreement"]


def data(seed=0, n=25, d=4, noise=1.0):
    """Candidates with negative, zero and shared features, some instances without any."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 7, size=n)
    Z = rng.normal(size=(counts.sum(), d)) * (rng.random((counts.sum(), d)) < 0.7)
    grades = np.round(Z @ rng.normal(size=d) + noise * rng.normal(size=len(Z))).clip(-1, 2).astype(int)
    return CandidateSets(Z, np.r_[0, np.cumsum(counts)]), grades


def cyclic(sets, seed=0):
    """Explicit arcs, cycles and weights included."""
    rng = np.random.default_rng(seed)
    arcs, weights = [], []
    for count in sets.counts():
        every = [(h, t) for h in range(count) for t in range(count) if h != t]
        arcs.append([arc for arc in every if rng.random() < 0.4])
        weights.append(rng.uniform(0.5, 2.0, len(arcs[-1])))
    return ArcGraphs.from_arcs(arcs, max(sets.counts()), weights, conflicts="keep")


def pieces_of(sets, y, decomposition):
    """Plain lists: for each instance, for each piece, its arcs as (z_head, z_tail, weight)."""
    graphs = sets.graphs(y)
    pieces = get_decomposition(decomposition).pieces(graphs.to_arcs())
    found = []
    for i in range(len(sets)):
        first = sets.ptr[i]
        found.append(
            [
                [
                    (sets.features[first + pieces.head[a]], sets.features[first + pieces.tail[a]], pieces.weight[a])
                    for a in range(pieces.arc_ptr[p], pieces.arc_ptr[p + 1])
                ]
                for p in range(pieces.row_ptr[i], pieces.row_ptr[i + 1])
            ]
        )
    return found


def figure_3(instances, d, iterations, eps):
    """Dekel, Manning & Singer 2003, Figure 3, as it is printed: sums over instances, arcs and base functions."""
    rho = max(
        (
            sum(abs(tail[j] - head[j]) for j in range(d))
            for own in instances
            for piece in own
            for head, tail, _ in piece
        ),
        default=0.0,
    )
    lam, iterates = [0.0] * d, []
    for _ in range(iterations):
        plus, minus = [0.0] * d, [0.0] * d
        for own in instances:
            for piece in own:
                exponents = [w * math.exp(sum(lam[j] * (t[j] - h[j]) for j in range(d))) for h, t, w in piece]
                for (head, tail, _), value in zip(piece, exponents, strict=True):
                    q = value / (1.0 + sum(exponents)) / len(own)
                    for j in range(d):
                        pi = tail[j] - head[j]
                        if pi > 0:
                            plus[j] += q * pi
                        else:
                            minus[j] -= q * pi
        lam = [lam[j] - 0.5 * math.log((plus[j] + eps) / (minus[j] + eps)) / rho for j in range(d)]
        iterates.append(lam)
    return np.array(iterates)


@pytest.mark.parametrize("decomposition", NAMES)
@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_boosting_is_figure_3_to_the_letter(decomposition, explicit, make):
    sets, y = data(n=12)
    y = cyclic(sets) if explicit else y
    expected = figure_3(pieces_of(sets, y, decomposition), 4, 5, eps=0.0)
    given = CandidateSets(make(sets.features), sets.ptr)
    for number in (1, 2, 5):
        ranker = LogLinearRanker(decomposition, "boosting", smoothing=0.0, max_iter=number, tol=1e-30).fit(given, y)
        np.testing.assert_allclose(ranker.coef_[0], expected[number - 1], rtol=0, atol=1e-10)


def test_every_step_of_boosting_keeps_theorem_1():
    sets, grades = data()
    history = LogLinearRanker(solver="boosting", smoothing=0.0, max_iter=20, tol=1e-30).fit(sets, grades).history_
    for now, after in itertools.pairwise(history):
        assert now["loss"] - after["loss"] >= now["bound"] - 1e-10


def objective(instances, w, C):
    """The regularised loss in plain Python."""
    total = 0.5 * sum(x * x for x in w)
    for own in instances:
        for piece in own:
            inner = sum(c * math.exp(-sum(x * (a - b) for x, a, b in zip(w, h, t, strict=True))) for h, t, c in piece)
            total += C * math.log1p(inner) / len(own)
    return total


@pytest.mark.parametrize("decomposition", [*NAMES, lambda heads, tails, row: [[row % len(heads)], [0]]])
@pytest.mark.parametrize("explicit", [False, True])
def test_dual_and_lbfgs_agree_with_a_generic_solver(decomposition, explicit):
    sets, y = data(n=10, d=3)
    y = cyclic(sets) if explicit else y
    instances = pieces_of(sets, y, decomposition)
    best = minimize(lambda w: objective(instances, w, 2.0), np.zeros(3), method="BFGS", options={"gtol": 1e-7})
    for solver in ("lbfgs", "dual"):
        ranker = LogLinearRanker(decomposition, solver, C=2.0, tol=1e-10, random_state=0, max_iter=5000).fit(sets, y)
        assert ranker.solver_ == solver
        np.testing.assert_allclose(ranker.coef_[0], best.x, atol=2e-5)
        assert ranker.duality_gap_ <= 1e-10
        assert objective(instances, ranker.coef_[0], 2.0) <= best.fun * (1 + 1e-9)


@pytest.mark.parametrize("decomposition", ["domination", "disagreement"])
def test_weights_of_instances_repeat_them(decomposition):
    sets, grades = data(n=20)
    weight = np.arange(20) % 3
    rows = np.repeat(np.arange(20), weight)
    graphs = sets.graphs(grades)
    for solver in ("lbfgs", "dual"):
        options = {"C": 1.0, "tol": 1e-10, "random_state": 0}
        weighted = LogLinearRanker(decomposition, solver, **options).fit(sets, graphs, weight)
        repeated = LogLinearRanker(decomposition, solver, **options).fit(sets[rows], graphs[rows])
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)


def test_a_cut_is_learnt_by_every_solver():
    sets, grades = data(n=60, noise=0.3)
    options = {"C": 5.0, "tol": 1e-9, "cut_label": True, "random_state": 0}
    dual = LogLinearRanker("domination", "dual", **options).fit(sets, grades)
    lbfgs = LogLinearRanker("domination", "lbfgs", **options).fit(sets, grades)
    np.testing.assert_allclose(dual.score_labels(sets), lbfgs.score_labels(sets), atol=1e-3)
    assert ((dual.score_labels(sets) > 0) == (grades > 0)).mean() > 0.85


def test_many_weights_are_learnt_by_the_dual():
    sets, grades = data(n=20)
    wide = sp.hstack([sp.csr_matrix(sets.features), sp.csr_matrix((len(grades), 30_000))], format="csr")
    ranker = LogLinearRanker(C=1.0, random_state=0).fit(CandidateSets(wide, sets.ptr), grades)
    assert ranker.solver_ == "dual"
    assert LogLinearRanker(C=1.0).fit(sets, grades).solver_ == "lbfgs"
    again = LogLinearRanker(solver="dual", C=1.0, warm_start=True, random_state=0).fit(sets, grades)
    first = again.n_iter_
    assert again.fit(sets, grades).n_iter_ < first


@pytest.mark.slow
def test_memory_follows_the_candidates_and_not_the_longest_instance():
    """One instance of 100,000 candidates beside 10,000 of ten; a padded matrix would have a thousand million cells."""
    rng = np.random.default_rng(0)
    counts = np.r_[np.full(5_000, 10), 100_000, np.full(5_000, 10)]
    ptr = np.r_[0, np.cumsum(counts)]
    Z = rng.random((ptr[-1], 20))
    grades = (Z[:, 0] + 0.1 * rng.random(len(Z)) > 0.95).astype(int)
    for solver in ("lbfgs", "dual"):
        tracemalloc.start()
        own = CandidateSets(Z.copy(), ptr)
        ranker = LogLinearRanker(solver=solver, C=0.1, max_iter=3, tol=9.0, random_state=0).fit(own, grades)
        scores = ranker.score_labels(own)
        assert len(ranker.rank(own, top=3)) == len(own)
        assert 0 < ndcg_at(grades, scores, 10, ptr=ptr) < 1
        assert 0 < domination_error(own.graphs(grades), scores) < 1
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 3 * Z.nbytes, f"{solver} took {peak / Z.nbytes:.2f} times the memory of the features"
