"""A weighted sum of rankers is a ranker."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import arcrank
from arcrank import CUT, AverageRanker, LogLinearRanker, PreferenceMachine, RocchioRanker
from arcrank.errors import InputError, ModelFileError, ParameterError
from tests.estimator_checks import parametrize_with_checks

LABELS = np.array(["a", "b", "c", "d"])


def data(n=60, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    scores = X[:, :4] + random.normal(0, 0.5, (n, 4))
    return X, [LABELS[row > 0.3].tolist() for row in scores]


def rankers(**more):
    return [
        ("margin", PreferenceMachine("domination", "squared-hinge", C=0.5, random_state=0, tol=1e-6, **more)),
        ("flows", LogLinearRanker(C=3, random_state=0, tol=1e-6, **more)),
    ]


def kernels():
    return [
        ("rbf", PreferenceMachine("domination", "squared-hinge", kernel="rbf", C=2.0, random_state=0)),
        ("flows", LogLinearRanker(C=3, random_state=0)),
    ]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("cut", [False, True])
def test_linear_rankers_become_one(sparse, cut):
    X, y = data()
    X = sp.csr_matrix(X) if sparse else X
    average = AverageRanker(rankers(), [0.5, 2.0], cut_label=cut, calibration_folds=0).fit(X, y)
    parts = [ranker.set_params(cut_label=cut, calibration_folds=0).fit(X, y) for _, ranker in rankers()]
    expected = 0.5 * parts[0].score_labels(X) + 2.0 * parts[1].score_labels(X)
    np.testing.assert_allclose(average.score_labels(X), expected, atol=1e-12)
    assert average.members_ == []
    assert average.coef_.shape == (4, 5)


def test_others_are_added():
    X, y = data()
    average = AverageRanker(kernels(), [1.0, 0.1], cut_label=True, calibration_folds=0).fit(X, y)
    first, second = average.members_
    np.testing.assert_allclose(average.score_labels(X), first.score_labels(X) + 0.1 * second.score_labels(X))
    assert not hasattr(average, "coef_")
    again = average.set_params(rankers=rankers()).fit(X, y)
    assert again.members_ == []


@pytest.mark.parametrize("make", [rankers, kernels])
def test_the_cut_and_probabilities_are_those_of_the_average(make):
    X, y = data(200)
    average = AverageRanker(make(), cut_label=True).fit(X, y)
    scores, p = average.score_labels(X), average.predict_proba(X)
    assert [set(names) for names in average.predict(X)] == [set(LABELS[row > 0]) for row in scores]
    assert (np.argsort(p, axis=1) == np.argsort(scores, axis=1)).all()
    truth = np.array([[label in names for label in LABELS] for names in y])
    assert abs(p.mean() - truth.mean()) < 0.05
    assert ((scores > 0) == truth).mean() > 0.8


@pytest.mark.parametrize("make", [rankers, kernels])
def test_threads_change_nothing(make):
    X, y = data()
    one, two = (AverageRanker(make(), cut_label=True) for _ in range(2))
    for name, _ in two.rankers:
        two.set_params(**{f"{name}__n_jobs": 2})
    assert one.fit(X, y).predict_proba(X).tobytes() == two.fit(X, y).predict_proba(X).tobytes()


def test_out_of_fold_costs_are_scaled():
    """Halves of the data, each repeated: a fold of n/2 at C n/(n/2) is the problem of all at C."""
    X, y = data(40)
    average = AverageRanker(rankers(), cut_label=True, calibration_folds=2, set_measure=None)
    from arcrank.graphs import as_graphs
    from arcrank.graphs.cut import insert_cut
    from arcrank.rankers.out_of_fold import out_of_fold_scores

    average.fit(X, y)
    graphs = insert_cut(as_graphs([frozenset(names) for names in y]))
    scores = out_of_fold_scores(average, X, graphs, None, 2)
    parts = []
    for name, ranker in average.rankers:
        single = clone(ranker).set_params(cut_label=True, calibration_folds=0).fit(X, y)
        parts.append(out_of_fold_scores(single, X, graphs, None, 2))
        assert name
    np.testing.assert_allclose(scores, np.mean(parts, axis=0), atol=1e-10)


@pytest.mark.parametrize("make", [rankers])
@pytest.mark.parametrize("below", ["b", CUT])
def test_explanations_sum_to_margins(make, below):
    X, y = data()
    average = AverageRanker(make(), cut_label=True).fit(X, y)
    why = average.explain(X[0], above="a", below=below)
    scores = average.score_labels(X[:1])[0]
    lower = 0.0 if below is CUT else scores[1]
    assert why.margin == pytest.approx(scores[0] - lower)
    assert why.intercept + sum(value for _, value in why.parts) == pytest.approx(why.margin)


@pytest.mark.parametrize("make", [rankers, kernels])
def test_model_files(make, tmp_path):
    X, y = data(100)
    average = AverageRanker(make(), [0.7, 0.2], cut_label=True).fit(X, y)
    arcrank.save(average, tmp_path / "m.arcrank")
    again = arcrank.load(tmp_path / "m.arcrank")
    np.testing.assert_array_equal(again.score_labels(X), average.score_labels(X))
    np.testing.assert_array_equal(again.predict_proba(X), average.predict_proba(X))
    assert [name for name, _ in again.rankers] == [name for name, _ in average.rankers]
    assert again.get_params()["flows__C"] == 3
    np.testing.assert_allclose(clone(again).fit(X, y).score_labels(X), average.score_labels(X))


def test_an_average_of_averages_is_not_saved(tmp_path):
    X, y = data()
    inner = AverageRanker(rankers(), calibration_folds=0)
    with pytest.raises(ModelFileError, match="cannot be a ranker of an average"):
        arcrank.save(AverageRanker([("inner", inner)]).fit(X, y), tmp_path / "m.arcrank")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rankers": []}, "rankers is empty"),
        ({"rankers": [LogLinearRanker()]}, r"a list of \(name, label ranker\)"),
        ({"rankers": [("a", LogLinearRanker()), ("a", LogLinearRanker())]}, "not unique"),
        ({"weights": [1.0]}, "2 rankers, but 1 weights"),
        ({"weights": [1.0, -1.0]}, "weights must be"),
        ({"cut_label": "yes"}, "cut_label must be"),
        ({"rankers": [("r", RocchioRanker())], "cut_label": True}, "RocchioRanker cannot learn a cut"),
        ({"rankers": [("r", LogLinearRanker(C=-1))]}, "C must be"),
    ],
)
def test_parameters(parameters, message):
    X, y = data()
    with pytest.raises(ParameterError, match=message):
        AverageRanker(**{"rankers": rankers(), **parameters}).fit(X, y)


def test_sample_weights():
    X, y = data()
    weight = np.arange(60) % 3.0
    average = AverageRanker(rankers()).fit(X, y, sample_weight=weight)
    parts = [ranker.fit(X, y, sample_weight=weight) for _, ranker in rankers()]
    np.testing.assert_allclose(average.coef_, (parts[0].coef_ + parts[1].coef_) / 2)
    with pytest.raises(ParameterError, match="RocchioRanker does not take sample_weight"):
        AverageRanker([("r", RocchioRanker())]).fit(X, y, sample_weight=weight)
    with pytest.raises(InputError, match="one number for each"):
        average.fit(X, y, sample_weight=[1.0])


@parametrize_with_checks([AverageRanker([("a", LogLinearRanker()), ("b", LogLinearRanker("zero-one", C=0.1))])])
def test_scikit_learn(estimator, check):
    check(estimator)
