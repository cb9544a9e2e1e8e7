"""Arc weights as votes: ten equal votes weigh ten times as much as one."""

import numpy as np
import pytest

from arcrank import LogLinearRanker, TreeRanker
from arcrank.errors import ParameterError
from arcrank.graphs import ArcGraphs, as_graphs, from_votes


def simulated(n=300, k=5, seed=0):
    random = np.random.default_rng(seed)
    X, taste = random.normal(size=(n, 3)), random.normal(size=(3, k))
    a = random.integers(k, size=n)
    b = (a + random.integers(1, k, size=n)) % k
    liking = X @ taste
    won = random.random(n) < 1 / (1 + np.exp(liking[np.arange(n), b] - liking[np.arange(n), a]))
    return X, np.where(won, a, b), np.where(won, b, a)


@pytest.mark.parametrize("solver", ["lbfgs", "dual", "boosting"])
def test_a_counted_arc_is_a_row_for_each_vote(solver):
    X, winners, losers = simulated(60)
    times = 1 + np.arange(60) % 4
    options = {"decomposition": "disagreement", "solver": solver, "C": 0.5, "tol": 1e-7, "random_state": 0}
    votes = from_votes(range(60), winners, losers, weights=times)
    counted = LogLinearRanker(arc_weights="count", **options).fit(X, votes.graphs)
    rows = np.repeat(np.arange(60), times)
    repeated = as_graphs([[(winners[i], losers[i])] for i in rows], labels=range(5))
    by_rows = LogLinearRanker(intercept="regularised", **options).fit(X[rows], repeated)
    counted.set_params(intercept="regularised").fit(X, votes.graphs)
    np.testing.assert_allclose(counted.coef_, by_rows.coef_, atol=2e-3)
    np.testing.assert_allclose(counted.intercept_, by_rows.intercept_, atol=2e-3)


def test_ten_votes_weigh_ten_times():
    graphs = ArcGraphs.from_arcs([[(0, 1), (1, 0)]], 2, [[7, 3]], conflicts="keep")
    exact = {"decomposition": "disagreement", "C": 1e6, "fit_intercept": False, "tol": 1e-9}
    a, b = LogLinearRanker(arc_weights="count", **exact).fit([[1.0]], graphs).score_labels([[1.0]])[0]
    assert a - b == pytest.approx(np.log(7 / 3), abs=1e-3)
    a, b = LogLinearRanker(**exact).fit([[1.0]], graphs).score_labels([[1.0]])[0]
    assert a - b == pytest.approx(np.log(7 / 3) / 2, abs=1e-3)


def test_pieces_of_votes_are_not_divided_by_their_number():
    _, winners, losers = simulated(20)
    one_case = from_votes([0] * 20, winners, losers)
    ranker = LogLinearRanker("disagreement", arc_weights="count", C=1.0, fit_intercept=False, tol=1e-10)
    together = ranker.fit([[1.0]], one_case.graphs).coef_.copy()
    apart = ranker.fit(np.ones((20, 1)), from_votes(range(20), winners, losers).graphs).coef_
    np.testing.assert_allclose(together, apart, atol=1e-5)


def test_another_meaning_is_refused():
    with pytest.raises(ParameterError, match="arc_weights must be 'margin' or 'count', got 'votes'"):
        LogLinearRanker(arc_weights="votes").check_parameters()


def test_trees_count_votes():
    X, winners, losers = simulated(80)
    times = 1 + np.arange(80) % 3
    options = {"decomposition": "disagreement", "n_rounds": 5, "n_runs": 1, "min_samples_leaf": 1, "random_state": 0}
    votes = from_votes(range(80), winners, losers, weights=times)
    counted = TreeRanker(arc_weights="count", **options).fit(X, votes.graphs)
    apart = as_graphs([[arc] for arc in zip(winners, losers, strict=True)], labels=range(5))
    weighted = TreeRanker(**options).fit(X, apart, sample_weight=times.astype(float))
    np.testing.assert_allclose(counted.score_labels(X), weighted.score_labels(X), atol=1e-6)
