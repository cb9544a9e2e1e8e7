"""The metrics as scorers: inside scikit-learn's model selection, with every kind of truth."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arcrank import LogLinearRanker, RocchioRanker
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import ArcGraphs, LayeredGraphs, as_graphs
from arcrank.metrics import bipartite, calibration, generalized, label_sets, orders, ranking
from arcrank.metrics.scorers import _SIGNS, scorer

N, K = 60, 4
PARAMETERS = {
    "precision_at": {"r": 2},
    "recall_at": {"r": 2},
    "ndcg_at": {"r": 3},
    "top_precision": {"r": 5},
    "generalized_error": {"decomposition": "domination"},
}


class CentroidRanker(BaseEstimator):
    """The least that a ranker is: `labels_`, and `score_labels` = products with the labels' mean vectors."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def fit(self, X, y):
        graphs = as_graphs(y)
        self.labels_ = np.arange(graphs.n_labels) if graphs.labels is None else graphs.labels
        self.W_ = np.zeros((X.shape[1], graphs.n_labels))
        for i in range(len(graphs)):
            heads, tails = graphs.arcs(i)
            np.add.at(self.W_.T, heads, X[i])
            np.add.at(self.W_.T, tails, -X[i])
        return self

    def score_labels(self, X):
        return self.scale * np.asarray(X @ self.W_)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 6))
    Y = (X @ rng.normal(size=(6, K)) + 0.5 * rng.normal(size=(N, K)) > 0).astype(int)
    Y[:10] = np.tile([[1, 0, 1, 0], [0, 1, 0, 1]], (5, 1))
    return X, Y


def one_vs_rest():
    return OneVsRestClassifier(LogisticRegression())


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array], ids=lambda form: form.__name__)
def test_grid_search_with_indicator_truth(data, form):
    X, Y = data
    grid = {"estimator__C": [1e-3, 1.0]}
    search = GridSearchCV(one_vs_rest(), grid, scoring=scorer("ranking_loss"), cv=KFold(3), error_score="raise")
    search.fit(X, form(Y))
    assert -1 < search.best_score_ < 0
    best = search.best_estimator_
    assert search.score(X, form(Y)) == -ranking.ranking_loss(Y, best.decision_function(X))


def test_cross_validate_with_several_scorers_dense_and_sparse(data):
    X, Y = data
    scoring = {name: scorer(name, **PARAMETERS.get(name, {})) for name in ("max_f1", "coverage", "zero_one_error")}
    with config_context(skip_parameter_validation=True):  # without it scikit-learn refuses a sparse y
        results = [
            cross_validate(one_vs_rest(), X, truth, scoring=scoring, cv=KFold(3), error_score="raise")
            for truth in (Y, sp.csr_matrix(Y))
        ]
    for name in scoring:
        np.testing.assert_array_equal(results[0][f"test_{name}"], results[1][f"test_{name}"])
    assert (results[0]["test_max_f1"] > 0).all()
    assert (results[0]["test_coverage"] < 0).all()


@pytest.mark.parametrize(
    "graphs", [LayeredGraphs.from_label_sets, lambda Y: LayeredGraphs.from_label_sets(Y).to_arcs()]
)
def test_model_selection_with_graphs(data, graphs):
    X, Y = data
    grid = {"scale": [-1.0, 1.0]}
    search = GridSearchCV(CentroidRanker(), grid, scoring=scorer("domination_error"), cv=3, error_score="raise")
    search.fit(X, graphs(Y))
    assert search.best_params_ == {"scale": 1.0}
    found = cross_validate(CentroidRanker(), X, graphs(Y), scoring=scorer("domination_error"), cv=3)
    assert found["test_score"].mean() == pytest.approx(search.best_score_)


def test_label_metrics_take_two_layer_graphs_and_refuse_arcs(data):
    X, Y = data
    graphs = LayeredGraphs.from_label_sets(Y)
    ranker = CentroidRanker().fit(X, graphs)
    expected = ranking.average_precision(Y, ranker.score_labels(X))
    assert scorer("average_precision")(ranker, X, graphs) == expected
    with pytest.raises(InputError, match="errors on graphs"):
        scorer("average_precision")(ranker, X, ArcGraphs.from_arcs([[(0, 1)]] * N, K))


@pytest.mark.parametrize("name", ["one_error", "zero_one_error"])
def test_columns_follow_the_estimator_also_where_a_fold_lacks_labels(data, name):
    X, Y = data
    y = np.array(["d", "c", "b", "a"])[Y.argmax(axis=1)]
    rows = np.flatnonzero(y != "b")
    ranker = CentroidRanker().fit(X, y)
    classifier = LogisticRegression().fit(X, y)
    for estimator, scores in ((ranker, ranker.score_labels(X)), (classifier, classifier.decision_function(X))):
        expected = -np.mean([(s >= s["abcd".index(v)]).sum() > 1 for v, s in zip(y[rows], scores[rows], strict=True)])
        assert scorer(name)(estimator, X[rows], y[rows]) == pytest.approx(expected)


NAMED = ["one_error", "zero_one_error", "average_precision", "kendall_tau", "ndcg_at"]


@pytest.mark.parametrize("name", NAMED)
def test_graphs_are_matched_with_the_labels_by_name(data, name):
    X, Y = data
    y = np.array(["d", "c", "b", "a"])[Y.argmax(axis=1)]
    made = scorer(name, **PARAMETERS.get(name, {}))
    piped = make_pipeline(StandardScaler(), LogisticRegression())
    estimators = [CentroidRanker(), make_pipeline(StandardScaler(), CentroidRanker()), LogisticRegression(), piped]
    for estimator in estimators:
        estimator.fit(X, y)
        expected = made(estimator, X, as_graphs(y))
        assert made(estimator, X, as_graphs(y, labels=["b", "d", "a", "c"])) == expected
        assert made(estimator, X, as_graphs(y, labels=["e", "b", "d", "a", "c"])) == expected
        with pytest.raises(InputError, match="'D', which is not among the 4 labels"):
            made(estimator, X, as_graphs(np.char.upper(y)))
        with pytest.raises(InputError, match=r"with_labels\(ranker.labels_\)"):
            made(estimator, X, LayeredGraphs.from_single_labels(np.zeros(N, dtype=int), 4))


def test_classifiers_of_a_matrix_have_numbered_labels(data):
    X, Y = data
    graphs = as_graphs(Y)
    for classifier in (one_vs_rest().fit(X, Y), KNeighborsClassifier().fit(X, Y)):
        assert scorer("ranking_loss")(classifier, X, graphs) == scorer("ranking_loss")(classifier, X, Y)
    with pytest.raises(InputError, match=r"with_labels\(None\)"):
        scorer("ranking_loss")(one_vs_rest().fit(X, Y), X, graphs.with_labels(["a", "b", "c", "d"]))


class Frame:
    """What of a pandas data frame counts here."""

    ndim = 2

    def __init__(self, values, columns):
        self.values, self.columns, self.shape = values, columns, values.shape

    def to_numpy(self):
        return self.values

    def __array__(self, dtype=None, copy=None):
        return self.values


@pytest.mark.parametrize("name", ["ranking_loss", "domination_error"])
def test_the_columns_of_a_data_frame_are_those_of_the_labels(data, name):
    X, Y = data
    names = ["d", "c", "b", "a"]
    ranker = CentroidRanker().fit(X, as_graphs(Y, labels=names))
    assert scorer(name)(ranker, X, Frame(Y, names)) == scorer(name)(ranker, X, Y)
    with pytest.raises(InputError, match=r"y\[list\(ranker.labels_\)\]"):
        scorer(name)(ranker, X, Frame(Y[:, ::-1], names[::-1]))


def test_lists_of_label_names(data):
    X, Y = data
    names = np.array(["w", "x", "y", "z"])
    sets = [names[row == 1].tolist() for row in Y]
    ranker = CentroidRanker().fit(X, sets)
    assert scorer("recall_at", r=1)(ranker, X, sets) == ranking.recall_at(Y, ranker.score_labels(X), 1)


def test_a_label_that_the_fold_lacked_says_how_to_keep_it(data):
    X, _ = data
    ranker = CentroidRanker().fit(X[:2], [["a"], ["b"]])
    with pytest.raises(InputError, match=r"1 label that was not in .* \('rare'\).*give as_graphs\(y\) in place of y"):
        scorer("ranking_loss")(ranker, X[:1], [["rare"]])


def test_pipelines_that_end_in_a_ranker(data):
    X, Y = data
    pipeline = make_pipeline(StandardScaler(), CentroidRanker()).fit(X, Y)
    scores = pipeline[-1].score_labels(pipeline[0].transform(X))
    assert scorer("one_error")(pipeline, X, Y) == -ranking.one_error(Y, scores)
    alone = make_pipeline(CentroidRanker()).fit(X, Y)
    assert scorer("one_error")(alone, X, Y) == -ranking.one_error(Y, alone[-1].score_labels(X))


def test_predict_proba_in_both_of_its_forms(data):
    X, Y = data
    neighbours = KNeighborsClassifier().fit(X, Y)  # a list of (n, 2) arrays
    scores = np.column_stack([output[:, 1] for output in neighbours.predict_proba(X)])
    assert scorer("coverage")(neighbours, X, Y) == -ranking.coverage(Y, scores)
    Y = Y.copy()
    Y[:, 1] = 0
    never = KNeighborsClassifier().fit(X, Y)
    assert scorer("coverage")(never, X, Y) <= 0
    single = KNeighborsClassifier().fit(X, Y.argmax(axis=1))
    assert scorer("one_error")(single, X, Y.argmax(axis=1)) <= 0


def test_one_score_an_instance_means_two_labels(data):
    X, Y = data
    classifier = RidgeClassifier().fit(X, Y[:, 0])
    wrong = np.mean((classifier.decision_function(X) > 0) != Y[:, 0])
    assert scorer("one_error")(classifier, X, Y[:, 0]) == pytest.approx(-wrong)


def test_bipartite_and_order_metrics(data):
    X, Y = data
    for classifier in (RidgeClassifier().fit(X, Y[:, 0]), KNeighborsClassifier().fit(X, Y[:, 0])):
        scores = getattr(classifier, "decision_function", lambda X: classifier.predict_proba(X)[:, 1])(X)  # noqa: B023
        assert scorer("auc", ties="half")(classifier, X, Y[:, 0]) == bipartite.auc(Y[:, 0], scores, ties="half")
    R = 1 + np.argsort(np.argsort(-Y + 0.01 * X[:, :K], axis=1), axis=1)
    ranker = CentroidRanker().fit(X, LayeredGraphs.from_rankings(R))
    for name, metric in (("kendall_tau", orders.kendall_tau), ("spearman", orders.spearman)):
        assert scorer(name)(ranker, X, R) == metric(R, ranker.score_labels(X)) > 0


def test_predicted_sets_of_every_kind(data):
    X, Y = data
    names = np.array(["a", "b", "c", "d"])
    sets, single = [set(names[row == 1].tolist()) for row in Y], names[Y.argmax(axis=1)]
    for y in (Y, sets):
        ranker = RocchioRanker().fit(X, y)
        predicted = ranker._relevant(ranker.score_labels(X))
        assert scorer("macro_f1")(ranker, X, y) == label_sets.macro_f1(Y, predicted)
    for estimator in (RocchioRanker().fit(X, single), KNeighborsClassifier().fit(X, single)):
        right = (estimator.predict(X) == single).mean()
        assert scorer("subset_accuracy")(estimator, X, single) == pytest.approx(right)
    neighbours = make_pipeline(StandardScaler(), KNeighborsClassifier()).fit(X, Y)  # a list of two columns a label
    p = np.column_stack([one[:, 1] for one in neighbours.predict_proba(X)])
    for name in ("expected_calibration_error", "first_label_calibration_error"):
        assert scorer(name, n_bins=4)(neighbours, X, Y) == -getattr(calibration, name)(Y, p, n_bins=4)
    ranker = LogLinearRanker(cut_label=True).fit(X, Y)
    error = calibration.first_label_calibration_error(Y, ranker.predict_proba(X))
    assert scorer("first_label_calibration_error")(ranker, X, Y) == -error
    with pytest.raises(InputError, match="RocchioRanker has no predict_proba.*cut_label=True"):
        scorer("expected_calibration_error")(RocchioRanker().fit(X, single), X, single)


@pytest.mark.parametrize("name", sorted(_SIGNS))
def test_every_scorer_can_be_pickled_cloned_and_has_the_right_sign(data, name):
    X, Y = data
    made = scorer(name, **PARAMETERS.get(name, {}))
    copied = pickle.loads(pickle.dumps(made))
    assert repr(copied) == repr(made)
    assert clone(GridSearchCV(one_vs_rest(), {}, scoring=made)).scoring.name == name
    if hasattr(bipartite, name):
        good, truth = RidgeClassifier().fit(X, Y[:, 0]), Y[:, 0]
        bad = RidgeClassifier().fit(X, 1 - Y[:, 0])
    elif hasattr(label_sets, name) or hasattr(calibration, name):
        good, bad, truth = one_vs_rest().fit(X, Y), one_vs_rest().fit(X, 1 - Y), Y
    else:
        truth = 2 - Y if name in ("kendall_tau", "spearman") else Y
        good, bad = CentroidRanker().fit(X, Y), CentroidRanker(-1.0).fit(X, Y)
    assert copied(good, X, truth) > copied(bad, X, truth)


def test_the_names_are_those_of_the_metrics():
    homes = (ranking, orders, bipartite, generalized, label_sets, calibration)
    assert all(sum(name in vars(home) for home in homes) == 1 for name in _SIGNS)


def test_bad_requests_are_sentences(data):
    with pytest.raises(ParameterError, match=r"no scorer called 'ndcg'; choose one of: auc, average_precision, "):
        scorer("ndcg")
    with pytest.raises(ParameterError, match=r"scorer\('precision_at'\) cannot be made: missing .*'r'"):
        scorer("precision_at")
    with pytest.raises(ParameterError, match="unexpected keyword argument 'beta'"):
        scorer("max_f1", beta=2)
    with pytest.raises(ParameterError, match="leave out reduce"):
        scorer("max_f1", reduce="none")
    with pytest.raises(InputError, match="StandardScaler gives no scores to rank by"):
        scorer("max_f1")(StandardScaler(), *data)
