"""Margin machines on candidates against a generic solver, and online rankers against plain Python."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from arcrank import (
    CUT,
    CandidateSets,
    LogLinearRanker,
    MMPRanker,
    OnlinePreferenceMachine,
    PerceptronRanker,
    PreferenceMachine,
    load,
    save,
)
from arcrank.errors import InputError, ParameterError
from tests.plm_oracle import all_pieces, loss_at
from tests.rankers.test_candidate_solvers import cyclic, data

LOSSES = ["hinge", "squared-hinge", "logistic", "exponential"]


def charges(sets, graphs, decomposition, **options):
    """(share, [(z_head - z_tail, weight), ...]) of every piece."""
    for row, share, arcs in all_pieces(graphs, decomposition, **options):
        first = sets.ptr[row]
        yield share, [(sets.features[first + h] - sets.features[first + t], w) for h, t, w in arcs]


def solve(sets, graphs, decomposition, loss, C, **options):
    """The weights that minimise `1/2 ||w||^2 + C sum_pieces max_arcs weight L(margin)`, by an interior-point method."""
    cp = pytest.importorskip("cvxpy")
    w = cp.Variable(sets.shape[1])
    shape = {
        "hinge": lambda m: cp.pos(1 - m),
        "squared-hinge": lambda m: cp.square(cp.pos(1 - m)),
        "logistic": lambda m: cp.logistic(-m) / np.log(2),
        "exponential": lambda m: cp.exp(-m),
    }[loss]
    terms = [0.5 * cp.sum_squares(w)]
    for share, arcs in charges(sets, graphs, decomposition, **options):
        costs = [weight * shape(difference @ w) for difference, weight in arcs]
        terms.append(C * share * (cp.maximum(*costs) if len(costs) > 1 else costs[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the accuracy of cones, which the comparison allows for
        cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms)))).solve(solver="CLARABEL")
    return w.value


@pytest.mark.parametrize(
    ("decomposition", "loss", "options"),
    [
        ("domination", "hinge", {}),
        ("dominated", "squared-hinge", {}),
        ("zero-one", "logistic", {"normalize": True}),
        ("domination", "exponential", {"normalize": True}),
        ("disagreement", "hinge", {}),
        ("domination", "squared-hinge", {"aggregate": "sum"}),
    ],
)
@pytest.mark.parametrize("explicit", [False, True])
def test_machines_agree_with_a_generic_solver(decomposition, loss, options, explicit):
    sets, y = data(n=8, d=3)
    graphs = sets.graphs(y)
    given = graphs.to_arcs() if explicit else y
    if explicit and loss in ("hinge", "squared-hinge"):
        given = cyclic(sets)
        graphs = given
    machine = PreferenceMachine(decomposition, loss, C=0.7, tol=1e-9, max_iter=20_000, random_state=0, **options)
    machine.fit(sets, given)
    assert machine.duality_gap_ <= 1e-9
    expected = solve(sets, graphs.to_arcs(), decomposition, loss, 0.7, **options)
    np.testing.assert_allclose(machine.coef_[0], expected, atol=2e-4)
    pieces = charges(sets, graphs.to_arcs(), decomposition, **options)
    total = 0.5 * machine.coef_[0] @ machine.coef_[0] + 0.7 * sum(
        share * max(w * loss_at(loss, d @ machine.coef_[0]) for d, w in arcs) for share, arcs in pieces
    )
    assert machine.objective_ == pytest.approx(total, rel=1e-9)


def test_candidates_that_spell_out_labels_make_the_ordinary_machine():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), rng.integers(0, 3, 30)
    Z = np.vstack([np.kron(np.eye(3), x) for x in X])
    options = {"C": 0.5, "tol": 1e-8, "max_iter": 20_000, "random_state": 0}
    joint = PreferenceMachine("domination", **options).fit(
        CandidateSets(Z, np.arange(0, 91, 3)), (np.arange(3) == y[:, None]).ravel().astype(int)
    )
    plain = PreferenceMachine("domination", fit_intercept=False, **options).fit(X, y)
    np.testing.assert_allclose(joint.coef_.reshape(3, 4), plain.coef_, atol=1e-3)
    assert joint.objective_ == pytest.approx(plain.objective_, rel=1e-6)


def test_a_long_instance_and_sparse_features():
    rng = np.random.default_rng(0)
    Z = sp.random(160, 10, 0.4, format="csr", random_state=0, data_rvs=rng.standard_normal)
    grades = np.round(Z @ rng.normal(size=10)).clip(-1, 1).astype(int)
    sets = CandidateSets(Z, [0, 80, 90, 160])
    for decomposition in ("domination", "zero-one"):
        machine = PreferenceMachine(decomposition, "squared-hinge", C=0.1, tol=1e-3, random_state=0, max_iter=20_000)
        assert machine.fit(sets, grades).duality_gap_ <= 1e-3
        dense = PreferenceMachine(decomposition, "squared-hinge", C=0.1, tol=1e-3, random_state=0, max_iter=20_000)
        dense.fit(CandidateSets(Z.toarray(), sets.ptr), grades)
        np.testing.assert_allclose(machine.coef_, dense.coef_, rtol=0, atol=0.05 * abs(dense.coef_).max())


def test_a_linear_kernel_on_candidates_is_the_linear_machine():
    sets, grades = data(n=15)
    options = {"C": 0.5, "tol": 1e-8, "max_iter": 20_000, "random_state": 0}
    linear = PreferenceMachine("domination", **options).fit(sets, grades)
    poly = PreferenceMachine("domination", kernel="polynomial", degree=1, gamma=1.0, **options).fit(sets, grades)
    np.testing.assert_allclose(poly.score_labels(sets), linear.score_labels(sets), atol=1e-3)
    rbf = PreferenceMachine("domination", kernel="rbf", C=100, landmarks=20, random_state=0).fit(sets, grades)
    assert rbf.support_vectors_.shape == (20, 4)
    assert rbf.score(sets, grades) > linear.score(sets, grades)
    with pytest.raises(ParameterError, match="kernel of candidates"):
        rbf.explain(sets[[0]], 0, 1)


def mmp(sets, graphs, loss):
    """Crammer & Singer 2002, Fig. 2, over arcs."""
    w, mean, rounds = np.zeros(sets.shape[1]), np.zeros(sets.shape[1]), 0
    for i in range(len(sets)):
        Z = sets.features[sets.ptr[i] : sets.ptr[i + 1]]
        arcs = list(zip(*graphs.arcs(i), strict=True))
        if not arcs:
            continue
        wrong = [(h, t) for h, t in arcs if Z[h] @ w <= Z[t] @ w]
        c = {"indicator": len(wrong), "size": 1, "normalized": len(arcs)}[loss]
        w = w + sum((Z[h] - Z[t] for h, t in wrong), np.zeros_like(w)) / max(1, c)
        rounds += 1
        mean += w
    return w, mean / rounds


@pytest.mark.parametrize("loss", ["indicator", "size", "normalized"])
@pytest.mark.parametrize("explicit", [False, True])
def test_mmp_on_candidates_is_its_transcription(loss, explicit):
    sets, y = data(n=40)
    graphs = sets.graphs(cyclic(sets) if explicit else y)
    last, mean = mmp(sets, graphs, loss)
    np.testing.assert_allclose(MMPRanker(loss).fit(sets, graphs).coef_[0], last, atol=1e-12)
    np.testing.assert_allclose(MMPRanker(loss, average=True).fit(sets, graphs).coef_[0], mean, atol=1e-12)


def test_perceptrons_share_their_weights():
    sets, grades = data(n=40)
    w, relevant = np.zeros(4), grades > 0
    for a, b in pairwise(sets.ptr):
        scores = sets.features[a:b] @ w
        step = 1.0 * (relevant[a:b] & (scores <= 0)) - 1.0 * (~relevant[a:b] & (scores >= 0))
        # A set whose candidates are all alike has one layer, that of relevant ones.
        step = step if len(set(relevant[a:b])) == 2 else 1.0 * (scores <= 0)
        w = w + step @ sets.features[a:b]
    found = PerceptronRanker().fit(sets, relevant.astype(int))
    np.testing.assert_allclose(found.coef_[0], w, atol=1e-12)
    with pytest.raises(InputError, match="needs label sets"):
        PerceptronRanker().fit(sets, cyclic(sets))


@pytest.mark.parametrize("decomposition", ["domination", "dominated", "identity", "disagreement"])
@pytest.mark.parametrize(("loss", "margin"), [("hinge", 1.0), ("squared-hinge", 0.5)])
@pytest.mark.parametrize("explicit", [False, True])
def test_a_passive_aggressive_step_is_the_minimum_of_each_piece(decomposition, loss, margin, explicit):
    """Of instances with one piece, whose order is no question."""
    rng = np.random.default_rng(3)
    grades = [1, 0, 0, 0] if decomposition == "domination" else [1, 1, 0] if decomposition == "dominated" else [1, 0]
    if decomposition == "identity":
        grades = [2, 1, 0]
    sets = CandidateSets(rng.normal(size=(3 * len(grades), 5)), np.arange(4) * len(grades))
    graphs = sets.graphs(grades * 3)
    graphs = graphs.to_arcs() if explicit else graphs
    w = np.zeros(5)
    for i in range(3):
        heads, tails = graphs.arcs(i)
        Z = sets.features[sets.ptr[i] : sets.ptr[i + 1]]
        D, power = Z[heads] - Z[tails], 2 if loss == "squared-hinge" else 1

        def constraint(v, D=D):
            return v[5] - (1 - D @ v[:5] / margin)

        def cost(v, w=w, power=power):
            return 0.5 * ((v[:5] - w) ** 2).sum() + 0.3 * max(v[5], 0) ** power

        bounds = [(None, None)] * 5 + [(0, None)]
        start = np.append(w, 5.0)
        found = minimize(cost, start, bounds=bounds, constraints={"type": "ineq", "fun": constraint}, tol=1e-12)
        w = found.x[:5]
    ranker = OnlinePreferenceMachine(decomposition, loss, margin, C=0.3).fit(sets, graphs)
    np.testing.assert_allclose(ranker.coef_[0], w, atol=1e-4)


def test_online_rankers_go_on_and_average():
    sets, grades = data(n=60)
    graphs = sets.graphs(grades)
    for make in (MMPRanker, OnlinePreferenceMachine):
        whole = make(average=True).fit(sets, graphs)
        parts = make(average=True).partial_fit(sets[:25], graphs[:25]).partial_fit(sets[25:], graphs[25:])
        assert np.array_equal(whole.coef_, parts.coef_)
        assert whole.n_rounds_ + whole.n_skipped_ == 60
        last = [make().fit(sets[:n], graphs[:n]).coef_ for n in range(1, 61) if graphs[:n].arc_counts()[-1]]
        np.testing.assert_allclose(whole.coef_, np.mean(last, axis=0), atol=1e-9)
    with pytest.raises(InputError, match="learnt from CandidateSets"):
        parts.partial_fit(np.ones((1, 4)), ["a"])
    with pytest.raises(ParameterError, match="leave kernel out"):
        MMPRanker(kernel="rbf").fit(sets, graphs)


RANKERS = [
    LogLinearRanker(solver="dual", random_state=0),
    PreferenceMachine("domination"),
    PreferenceMachine("domination", cut_label=True),
    PreferenceMachine("domination", kernel="rbf", landmarks=12, random_state=0),
    MMPRanker(average=True),
    PerceptronRanker(),
    OnlinePreferenceMachine(cut_label=True),
]


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda one: type(one).__name__)
def test_every_ranker_of_candidates_ranks_explains_and_is_stored(ranker, tmp_path):
    sets, grades = data(n=50, noise=0.2)
    grades = (grades > 0).astype(int)
    ranker.fit(sets, grades)
    assert ranker.score(sets, grades) > 0.7
    new, _ = data(seed=1)
    scores = ranker.score_labels(new)
    assert scores.shape == (new.ptr[-1],)
    for order, ranks, (a, b) in zip(
        ranker.rank(new), np.split(ranker.predict(new), new.ptr[1:-1]), pairwise(new.ptr), strict=True
    ):
        assert order.tolist() == np.argsort(-scores[a:b], kind="stable").tolist()
        assert ranks.tolist() == [int((scores[a:b] >= own).sum()) for own in scores[a:b]]
    row = int(np.flatnonzero(new.counts() > 2)[0])
    own = scores[new.ptr[row] : new.ptr[row + 1]]
    if getattr(ranker, "kernel", None) in (None, "linear"):
        why = ranker.explain(new[[row]], 2, 0)
        assert why.margin == pytest.approx(own[2] - own[0])
        if ranker.cut_label:
            assert ranker.explain(new[[row]], 1, CUT).margin == pytest.approx(own[1])
    save(ranker, tmp_path / "model.arcrank")
    again = load(tmp_path / "model.arcrank")
    assert np.array_equal(again.score_labels(new), scores)
    assert [order.tolist() for order in again.rank(new)] == [order.tolist() for order in ranker.rank(new)]
    with pytest.raises(InputError, match="fitted on CandidateSets"):
        again.score_labels(np.ones((1, 4)))
    if hasattr(ranker, "partial_fit") and not isinstance(ranker, LogLinearRanker):
        assert np.array_equal(ranker.partial_fit(sets, grades).coef_, again.partial_fit(sets, grades).coef_)
