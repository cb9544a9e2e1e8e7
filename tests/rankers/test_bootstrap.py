"""Intervals of rankings for new cases, and choices by cost."""

import numpy as np
import pytest

from arcrank import BootstrapRanker, LogLinearRanker
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import from_votes


def simulate(n, taste, random):
    k = taste.shape[1]
    X = random.normal(size=(n, 2))
    a = random.integers(k, size=n)
    b = (a + random.integers(1, k, size=n)) % k
    liking = X @ taste
    won = random.random(n) < 1 / (1 + np.exp(liking[np.arange(n), b] - liking[np.arange(n), a]))
    return X, from_votes(range(n), np.where(won, a, b), np.where(won, b, a), labels=range(k)).graphs


def model(C=30.0, n_samples=30):
    options = {"arc_weights": "count", "C": C, "fit_intercept": False, "tol": 1e-3}
    return BootstrapRanker(LogLinearRanker("disagreement", **options), n_samples=n_samples)


@pytest.mark.slow
def test_intervals_have_their_level():
    random = np.random.default_rng(0)
    new, hits = np.array([[1.0, 0.5], [-0.5, 1.0], [0.3, -1.2]]), []
    for _ in range(40):
        taste = random.normal(size=(2, 3))
        X, graphs = simulate(300, taste, random)
        intervals = model().fit(X, graphs).above_interval(new, 0, 1, level=0.9)
        truth = 1 / (1 + np.exp(new @ (taste[:, 1] - taste[:, 0])))
        hits.append((intervals[:, 0] <= truth) & (truth <= intervals[:, 1]))
    assert 0.85 <= np.mean(hits) <= 0.95


@pytest.fixture(scope="module")
def fitted():
    random = np.random.default_rng(1)
    taste = np.array([[2.0, 1.9, -2.0], [0.0, 0.0, 0.0]])
    X, graphs = simulate(2000, taste, random)
    return model(n_samples=20).fit(X, graphs)


def test_the_cheapest_label_that_is_good_enough_is_chosen(fitted):
    case = [[1.0, 0.0], [-1.0, 0.0]]
    costs = {0: 10.0, 1: 1.0, 2: 0.1}
    assert fitted.choose(case, costs, quality=0.2).tolist() == [1, 2]  # 0 is hardly better than 1, and dearer
    assert fitted.choose(case, {0: 1.0, 1: 10.0, 2: 0.1}, quality=0.2).tolist() == [0, 2]
    assert fitted.choose(case, costs, chance=0.0).tolist() == [2, 2]
    near = fitted.near_best(case, quality=0.2)
    assert near[0, 2] == 0
    assert near[1].tolist() == [0, 0, 1]


def test_the_curve_trades_cost_for_quality(fitted):
    random = np.random.default_rng(2)
    X = random.normal(size=(200, 2))
    outcomes = X @ np.array([[2.0, 1.9, -2.0], [0.0, 0.0, 0.0]])
    curve = fitted.cost_curve(X, [10.0, 1.0, 0.1], outcomes, chances=(0.0, 0.5, 1.0))
    assert curve.cost[0] == pytest.approx(0.1)
    assert (np.diff(curve.cost) >= 0).all()
    assert curve.quality[-1] > curve.quality[0]


def test_scores_are_those_of_all_instances(fitted):
    case = np.array([[1.0, 0.5]])
    np.testing.assert_array_equal(fitted.score_labels(case), fitted.ranker_.score_labels(case))
    assert fitted.rank(case, top=1).tolist() == fitted.ranker_.rank(case, top=1).tolist()
    low, high = fitted.above_interval(case, 0, 2)[0]
    assert low < fitted.predict_above_proba(case, 0, 2)[0] < high


def test_what_is_refused(fitted):
    case = [[1.0, 0.0]]
    with pytest.raises(InputError, match="no entry for the label 2"):
        fitted.choose(case, {0: 1, 1: 1})
    with pytest.raises(InputError, match="3 finite numbers"):
        fitted.choose(case, [1, 2])
    with pytest.raises(InputError, match=r"shape \(1, 3\)"):
        fitted.cost_curve(case, [1, 2, 3], [[1.0]])
    with pytest.raises(ParameterError, match="quality"):
        fitted.choose(case, [1, 2, 3], quality=0.7)
    with pytest.raises(ParameterError, match="n_samples"):
        BootstrapRanker(LogLinearRanker(), n_samples=1).check_parameters()
