"""Folds that spread labels evenly, and rankers inside scikit-learn's own tools."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.inspection import permutation_importance
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, check_cv, cross_val_predict, cross_validate, learning_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from arcrank import LogLinearRanker, MMPRanker, PreferenceMachine, RocchioRanker
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import ArcGraphs, LayeredGraphs, as_graphs
from arcrank.graphs.tops import top_labels
from arcrank.metrics import scorer
from arcrank.model_selection import StratifiedFolds
from tests.strategies import any_graphs

X_IRIS, NUMBERS = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[NUMBERS]  # sorted, as the data come


def fold_of(y, n_splits=3, **settings):
    """The test fold of each row; every row has exactly one."""
    n = y.shape[0] if hasattr(y, "shape") else len(y)
    found = np.full(n, -1)
    for number, (train, test) in enumerate(StratifiedFolds(n_splits, **settings).split(np.zeros((n, 1)), y)):
        assert sorted([*train, *test]) == list(range(n))
        assert (found[test] == -1).all()
        found[test] = number
    assert (found >= 0).all()
    return found


def confined(Y, fold):
    """The labels of two or more rows that all lie in one fold."""
    return sum(len(rows := np.flatnonzero(column)) >= 2 and len(set(fold[rows])) == 1 for column in np.asarray(Y).T)


indicators = st.tuples(st.integers(3, 10), st.integers(1, 8)).flatmap(
    lambda shape: hnp.arrays(bool, shape, elements=st.booleans())
)


@given(Y=indicators, n_splits=st.integers(2, 3), seed=st.integers(0, 5))
def test_label_sets(Y, n_splits, seed):
    fold = fold_of(Y, n_splits, random_state=seed)
    sizes = np.bincount(fold, minlength=n_splits)
    assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(fold_of(Y, n_splits, random_state=seed), fold)
    left = confined(Y, fold)
    for a, b in itertools.combinations(range(len(Y)), 2):  # nothing is gained by any exchange
        other = fold.copy()
        other[[a, b]] = fold[[b, a]]
        assert confined(Y, other) >= left


@given(y=st.lists(st.integers(0, 5), min_size=4, max_size=40), n_splits=st.integers(2, 4), shuffle=st.booleans())
def test_single_labels_as_evenly_as_can_be(y, n_splits, shuffle):
    fold = fold_of(np.array(y), n_splits, shuffle=shuffle)
    sizes = np.bincount(fold, minlength=n_splits)
    assert sizes.max() - sizes.min() <= 1
    for label in set(y):
        counts = np.bincount(fold[np.array(y) == label], minlength=n_splits)
        assert counts.max() - counts.min() <= 1


def test_two_rows_of_a_label_are_parted_though_rarer_labels_come_first():
    """Each row has a label of its own, so all are dealt out before the label that the first and the last share."""
    Y = np.hstack([np.eye(5, dtype=bool), [[True], [False], [False], [False], [True]]])
    for seed in range(20):
        fold = fold_of(Y, 2, random_state=seed)
        assert fold[0] != fold[4]


def test_every_form_of_label_sets_gives_the_same_folds():
    Y = np.random.RandomState(0).random_sample((60, 7)) < 0.3
    names = [[f"label {j}" for j in np.flatnonzero(row)] for row in Y]
    expected = fold_of(Y, random_state=1)
    for form in (Y.astype(int), sp.csr_matrix(Y), names, as_graphs(Y), as_graphs(names)):
        np.testing.assert_array_equal(fold_of(form, random_state=1), expected)
    assert (fold_of(Y, random_state=2) != expected).any()


@given(graphs=any_graphs.filter(lambda graphs: len(graphs) >= 2))
def test_any_graphs(graphs):
    sizes = np.bincount(fold_of(graphs, 2, random_state=0))
    assert sizes.max() - sizes.min() <= 1


@given(graphs=any_graphs)
def test_top_labels(graphs):
    """Heads that are no tails, and level 0 of a row without arcs."""
    for row, found in enumerate(top_labels(graphs).toarray()):
        heads, tails = graphs.arcs(row)
        expected = set(heads) - set(tails)
        if isinstance(graphs, LayeredGraphs) and not len(heads):
            expected = set(np.flatnonzero(graphs.levels([row])[0] == 0))
        assert set(np.flatnonzero(found)) == expected


def test_rankings_layers_and_arcs_by_their_top():
    first = np.repeat([0, 1, 2], 6)
    ranks = np.array([np.roll([1, 2, 3], label) for label in first])
    arcs = [[(label, (label + 1) % 3)] for label in first.tolist()]
    layers = [[[label], [(label + 1) % 3]] for label in first.tolist()]
    for y in (ranks, arcs, layers):
        fold = fold_of(y, 3, random_state=0)
        for label in range(3):
            assert np.bincount(fold[first == label]).tolist() == [2, 2, 2]


def test_without_a_top_the_folds_are_drawn_at_random():
    cycles = ArcGraphs.from_arcs([[(0, 1), (1, 2), (2, 0)]] * 30, 3)
    fold = fold_of(cycles, 3, random_state=0)
    assert np.bincount(fold).tolist() == [10, 10, 10]
    assert (np.diff(fold) != 0).any()
    assert (fold != np.arange(30) // 10).any()


def test_unshuffled_rows_are_dealt_out_in_their_order():
    assert fold_of(["a"] * 4 + ["b"] * 2, 2, shuffle=False).tolist() == [0, 1, 0, 1, 0, 1]


def test_many_rows_and_labels():
    random = np.random.RandomState(0)
    Y = sp.csr_matrix(random.random_sample((20_000, 500)) < 3 / (3 + np.arange(500)) ** 1.5)
    fold = fold_of(Y, 5, random_state=0)
    parts = np.stack([np.asarray(Y[fold == j].sum(axis=0)).ravel() for j in range(5)])
    total = parts.sum(axis=0)
    assert (parts.min(axis=0)[total >= 10] > 0).all()
    assert (np.abs(parts - total / 5).max(axis=0) <= 2 + 0.02 * total).all()


def test_wrong_use():
    for n_splits in (1, 2.0, True, "3"):
        with pytest.raises(ParameterError, match="n_splits must be a whole number of at least 2"):
            StratifiedFolds(n_splits)
    with pytest.raises(ParameterError, match="shuffle must be"):
        StratifiedFolds(shuffle=1)
    with pytest.raises(ParameterError, match="no effect with shuffle=False"):
        StratifiedFolds(shuffle=False, random_state=0)
    with pytest.raises(ParameterError, match="n_splits=5 is more than the 2 instances"):
        list(StratifiedFolds().split([[0], [1]], ["a", "b"]))
    with pytest.raises(InputError, match="pass y"):
        list(StratifiedFolds().split([[0], [1]]))
    assert repr(StratifiedFolds(3)) == "StratifiedFolds(n_splits=3, random_state=None, shuffle=True)"
    assert StratifiedFolds(4).get_n_splits() == 4


# -- sorted data in scikit-learn's tools ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("y", [NUMBERS, NAMES, NAMES.tolist(), as_graphs(NAMES), [[name] for name in NAMES]])
def test_grid_search_on_sorted_labels(y):
    search = GridSearchCV(LogLinearRanker(), {"C": [0.1, 10]}, cv=StratifiedFolds(3, random_state=0))
    search.fit(X_IRIS, y)
    assert search.cv_results_["mean_test_score"].min() > 0.7
    assert search.best_score_ > 0.9
    by_precision = GridSearchCV(
        LogLinearRanker(), {"C": [10]}, cv=StratifiedFolds(3, random_state=0), scoring=scorer("average_precision")
    )
    assert by_precision.fit(X_IRIS, y).best_score_ > 0.95


@pytest.mark.parametrize("scoring", [None, scorer("average_precision")])
def test_blocks_of_sorted_labels_are_an_error_that_names_the_remedy(scoring):
    search = GridSearchCV(LogLinearRanker(), {"C": [1]}, cv=3, scoring=scoring, error_score="raise")
    for y in (NAMES, [[name] for name in NAMES]):
        with pytest.raises(InputError, match=r"'setosa'\). If this is a fold .* cv=arcrank.model_selection.Stratified"):
            search.fit(X_IRIS, y)


@pytest.mark.parametrize("scoring", [None, scorer("average_precision"), scorer("zero_one_error")])
@pytest.mark.parametrize("make", [LogLinearRanker, PreferenceMachine, MMPRanker, RocchioRanker])
def test_blocks_of_sorted_graphs_are_warned_of(scoring, make):
    for y in (as_graphs(NAMES), np.eye(3)[NUMBERS]):
        with pytest.warns(UserWarning, match=r"50 of 50 instances have at the top .* cv=arcrank.model_selection.Strat"):
            cross_validate(make(), X_IRIS, y, cv=3, scoring=scoring, error_score="raise")


def test_rankings_sorted_by_their_first_label_are_warned_of():
    ranks = np.array([np.roll([1, 2, 3], label) for label in NUMBERS])
    for scoring in (None, scorer("kendall_tau")):
        with pytest.warns(UserWarning, match="50 of 50 instances"):
            cross_validate(LogLinearRanker(), X_IRIS, as_graphs(ranks), cv=3, scoring=scoring, error_score="raise")


def test_rare_labels_raise_no_alarm():
    """One instance in fifty has only a label that the training data lack; others have it beside a known one."""
    y = [["a"], ["b"]] * 100
    rare = [["a", "c"]] * 20 + [["c"]] + [["b"]] * 29
    graphs = as_graphs(y + rare)
    X = np.random.RandomState(0).normal(size=(250, 3))
    ranker = LogLinearRanker().fit(X[:200], graphs[:200])
    assert 0 < ranker.score(X[200:], graphs[200:]) < 1
    assert scorer("ranking_loss")(ranker, X[200:], graphs[200:]) < 0


def test_a_stream_raises_no_alarm_for_what_it_met_later():
    graphs = as_graphs(NAMES)
    ranker = MMPRanker().fit(X_IRIS[:100], graphs[:100]).partial_fit(X_IRIS[100:], graphs[100:])
    assert ranker.score(X_IRIS[100:], graphs[100:]) > 0


def test_scikit_learn_would_refuse_label_sets_and_graphs_of_a_classifier():
    """Why rankers are no classifiers by tag, so that `cv=3` goes on taking every kind of supervision."""
    for y in ([["a"], ["a", "b"], ["b"], []] * 10, as_graphs(NAMES)):
        with pytest.raises(ValueError):
            check_cv(3, y, classifier=True)
        X = np.random.RandomState(0).normal(size=(len(y), 3))
        order = np.random.RandomState(0).permutation(len(y))
        shuffled = y[order] if isinstance(y, LayeredGraphs) else [y[i] for i in order]
        search = GridSearchCV(LogLinearRanker(), {"C": [1, 10]}, cv=3, error_score="raise").fit(X, shuffled)
        assert np.isfinite(search.best_score_)


# -- what scikit-learn's tools ask of a classifier --------------------------------------------------------------------


def test_classes_and_decision_function():
    ranker = LogLinearRanker()
    assert not hasattr(ranker, "classes_")
    ranker.fit(X_IRIS, NAMES)
    assert ranker.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    np.testing.assert_array_equal(ranker.decision_function(X_IRIS), ranker.score_labels(X_IRIS))
    two = LogLinearRanker().fit(X_IRIS[:100], NAMES[:100])
    margins = two.decision_function(X_IRIS[:100])
    assert margins.shape == (100,)
    np.testing.assert_array_equal(two.classes_[(margins > 0).astype(int)], two.predict(X_IRIS[:100]))
    sets = LogLinearRanker().fit(X_IRIS[:100], np.eye(2)[NUMBERS[:100]])
    assert sets.decision_function(X_IRIS).shape == (150, 2)


@pytest.mark.parametrize("make", [LogLinearRanker, PreferenceMachine, MMPRanker, RocchioRanker])
def test_cross_val_predict(make):
    folds = StratifiedFolds(3, random_state=0)
    model = make_pipeline(StandardScaler(), make())
    scores = cross_val_predict(model, X_IRIS, NAMES, cv=folds, method="decision_function")
    assert scores.shape == (150, 3)
    assert (scores.argmax(axis=1) == NUMBERS).mean() > 0.6
    assert (cross_val_predict(model, X_IRIS, NAMES, cv=folds) == NAMES).mean() > 0.6
    some = slice(50, 150)
    margins = cross_val_predict(model, X_IRIS[some], NAMES[some], cv=folds, method="decision_function")
    assert roc_auc_score(NAMES[some], margins) > 0.6
    Y = np.eye(3, dtype=int)[NUMBERS]
    assert cross_val_predict(model, X_IRIS, Y, cv=folds, method="decision_function").shape == (150, 3)


def test_accuracy_importance_and_learning_curve():
    folds = StratifiedFolds(3, random_state=0)
    search = GridSearchCV(LogLinearRanker(), {"C": [0.1, 10]}, scoring="accuracy", cv=folds).fit(X_IRIS, NAMES)
    assert search.best_score_ > 0.9
    assert search.classes_.tolist() == search.best_estimator_.labels_.tolist()
    assert search.decision_function(X_IRIS).shape == (150, 3)
    found = permutation_importance(search, X_IRIS, NAMES, scoring="accuracy", n_repeats=3, random_state=0)
    assert found.importances_mean.argmax() in (2, 3)  # the petals
    _, train, test = learning_curve(
        LogLinearRanker(C=10), X_IRIS, NAMES, cv=folds, train_sizes=[0.3, 1.0], shuffle=True, random_state=0
    )
    assert train.shape == (2, 3)
    assert test[-1].mean() > 0.85


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"), reason="takes scores of classifiers only"
)
def test_tools_that_ask_for_scores():
    folds, some = StratifiedFolds(3, random_state=0), slice(50, 150)
    for X, y in ((X_IRIS[some], NAMES[some]), (X_IRIS, np.eye(3, dtype=int)[NUMBERS])):
        found = cross_validate(LogLinearRanker(), X, y, cv=folds, scoring="roc_auc", error_score="raise")
        assert found["test_score"].min() > 0.7
    for rows in (slice(150), some):
        calibrated = CalibratedClassifierCV(LogLinearRanker(), cv=folds).fit(X_IRIS[rows], NAMES[rows])
        assert calibrated.score(X_IRIS[rows], NAMES[rows]) > 0.9


def test_scorers_take_a_whole_search():
    """A search hands on `decision_function`, of two labels as one margin."""
    search = GridSearchCV(LogLinearRanker(), {"C": [1]}, cv=StratifiedFolds(2, random_state=0))
    search.fit(X_IRIS[:100], NAMES[:100])
    assert scorer("average_precision")(search, X_IRIS[:100], NAMES[:100]) > 0.95
