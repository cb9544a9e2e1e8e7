"""ShortlistRanker: the optimum of other solvers on small problems, its pattern and prior, rankings and explanations."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from arcrank import CUT, LogLinearRanker, PreferenceMachine, ShortlistRanker
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import LayeredGraphs, as_graphs
from arcrank.metrics import generalized_error, micro_f1
from arcrank.rankers.base import LabelRanker
from arcrank.solvers.shortlist import listed_labels

EXACT = {"working_set": None, "neighbours": 0, "prune": 0, "tol": 1e-8, "max_iter": 4000, "random_state": 0}
FULL = {**EXACT, "prior": 0, "pattern": "full", "fit_intercept": True}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return sp.random(40, 12, 0.4, random_state=0, format="csr"), (rng.random((40, 6)) < 0.3).astype(int)


@pytest.fixture(scope="module")
def corpus():
    """Documents of 150 labels: each label has words of its own, and some words are noise."""
    rng = np.random.default_rng(1)
    Y = sp.csr_matrix(rng.random((300, 150)) < 0.015)
    words = sp.random(150, 400, 0.03, random_state=2, format="csr")
    X = sp.csr_matrix(Y @ words + sp.random(300, 400, 0.01, random_state=3))
    norms = np.sqrt(X.multiply(X).sum(axis=1)).A1
    return sp.csr_matrix(sp.diags(1 / np.maximum(norms, 1e-9)) @ X), Y.astype(int)


DECOMPOSITIONS = ["domination", "zero-one", "dominated", "disagreement"]


@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
def test_the_optimum_is_that_of_the_dense_learners(data, decomposition):
    X, Y = data
    log_linear = LogLinearRanker(
        decomposition, "lbfgs", 2.0, intercept="regularised", normalize=False, tol=1e-9, max_iter=5000
    )
    ours = ShortlistRanker(decomposition=decomposition, C=2.0, **FULL).fit(X, Y)
    assert np.abs(ours.score_labels(X) - log_linear.fit(X, Y).score_labels(X)).max() < 1e-3
    for loss in ("hinge", "squared-hinge"):
        machine = PreferenceMachine(
            decomposition, loss, C=0.7, intercept="regularised", tol=1e-7, max_iter=5000, random_state=0
        ).fit(X, Y)
        ours = ShortlistRanker(loss, decomposition, C=0.7, **FULL).fit(X, Y)
        assert np.abs(ours.score_labels(X) - machine.score_labels(X)).max() < 1e-3


def _supervision(kind):
    rng = np.random.default_rng(3)
    if kind == "ranking":
        return as_graphs([[int(r) for r in rng.permutation(5)[:3]] for _ in range(30)], kind="ranking")
    if kind == "arcs":
        return as_graphs([[(0, 1), (2, 1)], [(3, 4)], [(1, 0), (4, 2), (4, 0)]] * 10, kind="arcs")
    if kind == "levels":
        return LayeredGraphs.from_levels(rng.integers(-1, 3, (30, 5)))
    return LayeredGraphs.from_levels([[1, 1, 0, 1, 1], [0, 1, 0, 0, 0], [0, 0, 2, 1, 1]] * 10)  # rest above and between


@pytest.mark.parametrize("kind", ["ranking", "arcs", "levels", "rest on top"])
def test_every_kind_of_supervision(kind):
    X, graphs = sp.random(30, 8, 0.5, random_state=4, format="csr"), _supervision(kind)
    reference = LogLinearRanker(
        "domination", "lbfgs", 1.0, intercept="regularised", normalize=False, tol=1e-9, max_iter=5000
    ).fit(X, graphs)
    ours = ShortlistRanker(C=1.0, **FULL).fit(X, graphs)
    assert np.abs(ours.score_labels(X) - reference.score_labels(X)).max() < 1e-3


def test_the_users_own_decomposition(data):
    X, Y = data

    def halves(heads, tails, row):
        return [part for part in np.array_split(np.arange(len(heads)), 2) if len(part)]

    reference = LogLinearRanker(
        halves, "lbfgs", 1.0, intercept="regularised", normalize=False, tol=1e-9, max_iter=5000
    ).fit(X, Y)
    ours = ShortlistRanker(decomposition=halves, C=1.0, **FULL).fit(X, Y)
    assert np.abs(ours.score_labels(X) - reference.score_labels(X)).max() < 1e-3


def _generic_solution(X, Y, mask, W0, C):
    """The same objective, written out, minimised by L-BFGS over the weights of the pattern."""
    X, arcs = X.toarray(), [(np.flatnonzero(y), np.flatnonzero(1 - y)) for y in Y]

    def objective(values):
        W = np.zeros_like(W0)
        W[mask] = values
        total, gradient = 0.5 * ((W - W0)[mask] ** 2).sum(), (W - W0).copy()
        for x, (heads, tails) in zip(X, arcs, strict=True):
            f = x @ W
            for h in heads if len(tails) else []:
                flow = np.exp(f[tails] - f[h])
                total += C * np.log1p(flow.sum())
                flow *= C / (1 + flow.sum())
                gradient[:, tails] += np.outer(x, flow)
                gradient[:, h] -= x * flow.sum()
        return total, gradient[mask]

    found = minimize(objective, W0[mask], jac=True, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-15})
    W = np.zeros_like(W0)
    W[mask] = found.x
    return W


def test_pattern_and_prior_against_a_generic_solver(data):
    X, Y = data
    centroids = X.T @ Y
    mask = centroids != 0
    assert not mask.all()
    W0 = 0.8 * centroids / np.linalg.norm(centroids, axis=0)
    W = _generic_solution(X, Y, mask, W0, 1.5)
    ours = ShortlistRanker(C=1.5, prior=0.8, fit_intercept=0, **EXACT).fit(X, Y)
    assert np.abs(ours.score_labels(X) - X @ W).max() < 1e-3
    assert (np.diff(ours.weights_.ptr) == mask.sum(axis=1)).all()


@pytest.mark.parametrize("loss", ["log-linear", "squared-hinge"])
def test_a_short_working_set_comes_close(corpus, loss):
    X, Y = corpus
    settings = {**EXACT, "C": 1.0, "prior": 1.0, "tol": 1e-3, "max_iter": 25}
    exact = ShortlistRanker(loss, **settings).fit(X, Y)
    short = ShortlistRanker(loss, **{**settings, "working_set": 8}).fit(X, Y)
    same = (exact.rank(X, 3) == short.rank(X, 3)).mean()
    assert same > 0.9
    assert generalized_error(as_graphs(Y), short.score_labels(X), "domination") < 0.2


def test_the_number_of_threads_does_not_change_the_result(corpus):
    X, Y = corpus
    one, three = (ShortlistRanker(random_state=0, n_jobs=jobs).fit(X, Y) for jobs in (1, 3))
    for name in ("ptr", "label", "weight"):
        assert np.array_equal(getattr(one.weights_, name), getattr(three.weights_, name))
    assert np.array_equal(one.score_labels(X), three.score_labels(X))


def test_rankings_are_the_order_of_the_scores(corpus):
    X, Y = corpus
    ranker = ShortlistRanker(random_state=0).fit(X, Y)
    scores = ranker.score_labels(X[:50])
    order = np.argsort(-scores, axis=1, kind="stable")
    assert np.array_equal(ranker.rank(X[:50]), order)
    numbers, values = ranker.rank_numbers(X[:50], 7)
    assert np.array_equal(numbers, order[:, :7])
    assert np.allclose(values, np.take_along_axis(scores, order[:, :7], axis=1))
    assert np.array_equal(ranker.score_labels(X[:50], labels=[5, 149]), scores[:, [5, 149]])


def test_predictions_are_of_the_kind_that_was_given(corpus):
    X, Y = corpus
    names = [[f"s{j}" for j in Y.indices[Y.indptr[i] : Y.indptr[i + 1]]] for i in range(X.shape[0])]
    sets = ShortlistRanker(random_state=0, cut_label=True).fit(X, names).predict(X)
    inside = [len(set(a) & set(b)) / max(1, len(set(a) | set(b))) for a, b in zip(sets, names, strict=True)]
    assert np.mean(inside) > 0.7
    indicator = ShortlistRanker(random_state=0).fit(X, Y).predict(X)
    assert sp.issparse(indicator)
    assert indicator.shape == Y.shape
    single = np.array(["a", "b", "c"])[np.arange(300) % 3]
    assert set(ShortlistRanker(random_state=0).fit(X, single).predict(X)) <= {"a", "b", "c"}
    ranks = (
        ShortlistRanker(random_state=0).fit(X, as_graphs([[0, 1]] * 300, kind="ranking", labels=range(4))).predict(X)
    )
    assert ranks.shape == (300, 4)


@pytest.mark.parametrize("cut_label", [False, True])
def test_explanations_sum_to_margins(corpus, cut_label):
    X, Y = corpus
    ranker = ShortlistRanker(random_state=0, cut_label=cut_label, fit_intercept=0.5).fit(X, Y)
    document = int(np.flatnonzero(np.diff(Y.indptr))[5])
    x, first = X[[document]], Y.indices[Y.indptr[document]]
    scores = ranker.score_labels(x)[0]
    second = scores.argmin()
    why = ranker.explain(x, int(first), int(second))
    assert why.margin == pytest.approx(scores[first] - scores[second], abs=1e-5)
    parts = why.intercept + sum(v for _, v in why.parts) + sum(one.value for one in why.neighbours)
    assert parts == pytest.approx(why.margin)
    assert document in [one.document for one in why.neighbours]
    if cut_label:
        inside = ranker.explain(x, int(first), CUT)
        assert inside.margin == pytest.approx(scores[first], abs=1e-5)
    else:
        with pytest.raises(InputError, match="has not learnt a cut"):
            ranker.explain(x, int(first), CUT)


def test_the_cut_is_that_of_the_dense_machine(data):
    X, Y = data
    # under domination the cut of the machine is constant
    settings = {"decomposition": "disagreement", "cut_label": True, "C": 0.7}
    machine = PreferenceMachine(
        **settings, intercept="regularised", calibration_folds=0, tol=1e-7, max_iter=5000, random_state=0
    )
    ours = ShortlistRanker("hinge", **settings, **FULL).fit(X, Y)
    assert np.abs(ours.score_labels(X) - machine.fit(X, Y).score_labels(X)).max() < 1e-3


def test_neighbours_vote_for_their_labels(corpus):
    X, Y = corpus
    voting = ShortlistRanker(random_state=0, neighbours=3, neighbours_weight=2.0, prune=0).fit(X, Y)
    with_votes = voting.score_labels(X[:20])
    without = voting.set_params(neighbours=0).score_labels(X[:20])
    similar = (X[:20] @ X.T).toarray()
    nearest = np.argsort(-similar, axis=1, kind="stable")[:, :3]
    votes = np.zeros((20, 150))
    for i, documents in enumerate(nearest):
        for d in documents:
            votes[i] += 2.0 * similar[i, d] ** 2 * Y[d].toarray()[0]
    assert np.allclose(with_votes - without, votes, atol=5e-3)  # float16 lists


def test_history_and_callback(corpus):
    X, Y = corpus
    seen = []
    ranker = ShortlistRanker(random_state=0, max_iter=9, callback=lambda entry: seen.append(entry) or len(seen) == 3)
    ranker.fit(X, Y)
    assert ranker.n_iter_ == len(seen) == 3
    assert seen[2]["gap"] < seen[1]["gap"] < seen[0]["gap"]
    assert ranker.duality_gap_ == seen[2]["gap"]


def test_documents_of_weight_0_do_not_count(corpus):
    X, Y = corpus
    weight = np.ones(300)
    weight[200:] = 0
    settings = {**EXACT, "C": 1.0, "prior": 0, "tol": 1e-4, "max_iter": 60, "pattern": "full", "working_set": 30}
    part = ShortlistRanker(**settings).fit(X[:200], Y[:200]).score_labels(X[:9])
    assert np.abs(ShortlistRanker(**settings).fit(X, Y, weight).score_labels(X[:9]) - part).max() < 1e-2


def test_dense_features_are_refused(data):
    X, Y = data
    with pytest.raises(InputError, match="use LogLinearRanker, PreferenceMachine or MMPRanker"):
        ShortlistRanker().fit(X.toarray(), Y)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"loss": "log"}, {"C": 0}, {"prior": -1}, {"pattern": "all"}, {"working_set": 0}, {"neighbours": -1}),
        *({"prune": "x"}, {"max_iter": 0}, {"n_jobs": 0}, {"tol": 0}, {"max_df": 0}, {"set_measure": "macro_f1"}),
    ],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        ShortlistRanker(**wrong).check_parameters()


def test_labels_that_are_listed_have_weights():
    graphs = as_graphs([[["a"], ["b"]], [["b"], ["a", "c"]]], kind="layers")
    above, judged = listed_labels(graphs)
    assert above.toarray().tolist() == [[1, 0, 0], [0, 1, 0]]
    assert judged.toarray().tolist() == [[1, 1, 0], [1, 1, 1]]


@pytest.mark.parametrize("cut_label", [False, True])
def test_further_documents_and_labels(corpus, cut_label):
    X, Y = corpus
    names = [[f"s{j:03}" for j in Y.indices[Y.indptr[i] : Y.indptr[i + 1]]] for i in range(X.shape[0])]
    ranker = ShortlistRanker(random_state=0, cut_label=cut_label).fit(X[:200], names[:200])
    known = ranker.labels_.tolist()
    old = [[name for name in one if name in known] for one in names[200:]]
    before = ranker.score(X[200:], old)
    more = [[*one, "new"] if i % 5 == 0 else one for i, one in enumerate(names[200:])]
    ranker.partial_fit(X[200:], more)
    assert ranker.labels_[: len(known)].tolist() == known
    assert "new" in ranker.labels_[len(known) :]
    assert len(ranker.intercept_) == len(ranker.labels_)
    assert ranker.neighbours_.n_documents == 300
    assert ranker.score(X[200:], old) > before
    assert (ranker.rank(X[200:][::5], 8) == "new").any(axis=1).mean() > 0.9


@pytest.mark.parametrize("kind", ["sets", "single"])
def test_probabilities_from_shortlists(corpus, kind, monkeypatch):
    X, Y = corpus
    names = [[f"s{j}" for j in Y.indices[Y.indptr[i] : Y.indptr[i + 1]]] or ["none"] for i in range(X.shape[0])]
    y = names if kind == "sets" else np.array([one[0] for one in names])
    labels = sorted({name for one in names for name in one})
    y = as_graphs(y, labels=labels) if kind == "single" else y
    ranker = ShortlistRanker(random_state=0, cut_label=kind == "sets").fit(X[:200], as_graphs(y[:200], labels=labels))
    ranker._kind = kind
    graphs = as_graphs(y, labels=labels)[200:]
    dense = LabelRanker.calibrate(copy.deepcopy(ranker).set_params(set_measure=None), X[200:], graphs)
    monkeypatch.setattr("arcrank.rankers.shortlist.calibration._WIDTH", 40)
    short = ranker.calibrate(X[200:], graphs)
    found, expected = short.predict_proba(X[200:]), dense.predict_proba(X[200:])
    order = np.argsort(-short.score_labels(X[200:]), axis=1, kind="stable")
    assert (np.diff(np.take_along_axis(found, order, axis=1), axis=1) <= 0).all()
    assert np.abs(np.take_along_axis(found - expected, order[:, :5], axis=1)).mean() < 0.05
    if kind == "sets":
        sets = short._label_sets(short.score_labels(X[200:]))
        loose = ranker.score_labels(X[200:]) > -2.0
        relevant = graphs.to_indicator().toarray()
        assert micro_f1(relevant, sets) >= micro_f1(relevant, loose)


@pytest.mark.parametrize("loss", ["log-linear", "squared-hinge"])
def test_a_warm_start_goes_on_from_the_last_solution(data, loss):
    X, Y = data
    settings = {**EXACT, "C": 0.5, "prior": 1.0, "tol": 1e-6, "fit_intercept": 0.5}
    warm = ShortlistRanker(loss, warm_start=True, **settings).fit(X, Y)
    scores, passes = warm.score_labels(X), warm.n_iter_
    assert warm.fit(X, Y).n_iter_ <= 0.2 * passes
    assert np.abs(warm.score_labels(X) - scores).max() < 5e-3
    settings["C"] = 0.6
    for change in ({"C": 0.6}, {"prior": 1.1}):
        cold = ShortlistRanker(loss, **(settings | change)).fit(X, Y)
        warm.set_params(**change).fit(X, Y)
        assert warm.n_iter_ < cold.n_iter_
        assert np.abs(warm.score_labels(X) - cold.score_labels(X)).max() < 5e-3


def test_a_warm_start_on_other_data_is_a_new_fit(corpus):
    X, Y = corpus
    warm = ShortlistRanker(warm_start=True, random_state=0).fit(X[:200], Y[:200]).fit(X[100:], Y[100:])
    cold = ShortlistRanker(random_state=0).fit(X[100:], Y[100:])
    assert np.array_equal(warm.weights_.weight, cold.weights_.weight)
    other_loss = warm.set_params(loss="hinge").fit(X[100:], Y[100:])
    again = ShortlistRanker("hinge", random_state=0).fit(X[100:], Y[100:])
    assert np.array_equal(other_loss.weights_.weight, again.weights_.weight)
