"""Features of labels: unseen labels are ranked, and new ones need few votes."""

import numpy as np
import pytest

from arcrank import CandidateSets, LogLinearRanker
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import from_votes
from arcrank.metrics import kendall_tau

OPTIONS = {"decomposition": "disagreement", "arc_weights": "count", "C": 1.0}


def simulated(n=600, k=12, seed=0):
    """Labels whose weights are a linear function of their features, up to noise."""
    random = np.random.default_rng(seed)
    X, Z = random.normal(size=(n, 4)), random.normal(size=(k, 2))
    W = random.normal(size=(4, 2)) @ Z.T + 0.1 * random.normal(size=(4, k))
    a = random.integers(k, size=n)
    b = (a + random.integers(1, k, size=n)) % k
    liking = 2 * X @ W
    won = random.random(n) < 1 / (1 + np.exp(liking[np.arange(n), b] - liking[np.arange(n), a]))
    return X, Z, W, np.where(won, a, b), np.where(won, b, a)


def graphs_of(winners, losers, labels):
    return from_votes(range(len(winners)), winners, losers, labels=labels).graphs


def test_weights_are_those_of_the_augmented_problem():
    X, Z, _, winners, losers = simulated(80, k=4)
    features = {j: Z[j] for j in range(4)}
    exact = {**OPTIONS, "tol": 1e-12, "fit_intercept": False}
    ranker = LogLinearRanker(label_features=features, **exact).fit(X, graphs_of(winners, losers, range(4)))

    def objective(flat):
        W, B = flat[:16].reshape(4, 4), flat[16:].reshape(4, 2)
        scores = X @ (W + B @ Z.T)
        rows = np.arange(80)
        return np.logaddexp(0, scores[rows, losers] - scores[rows, winners]).sum() + flat @ flat / 2

    from scipy.optimize import minimize

    best = minimize(objective, np.zeros(24), options={"gtol": 1e-6}).x
    expected = best[:16].reshape(4, 4) + best[16:].reshape(4, 2) @ Z.T
    np.testing.assert_allclose(ranker.coef_.T, expected, atol=1e-4)
    np.testing.assert_allclose(ranker.label_coef_, best[16:].reshape(4, 2).T, atol=1e-4)


def test_labels_that_were_left_out_are_ranked():
    X, Z, W, winners, losers = simulated()
    taus, chance = [], []
    for left_out in range(4):
        kept = [j for j in range(12) if j != left_out]
        seen = (winners != left_out) & (losers != left_out)
        ranker = LogLinearRanker(label_features={j: Z[j] for j in kept}, **OPTIONS)
        ranker.fit(X[seen], graphs_of(winners[seen], losers[seen], kept))
        ranker.add_labels({left_out: Z[left_out]})
        assert ranker.labels_.tolist() == [*kept, left_out]
        scores, truth = ranker.score_labels(X), X @ W[:, ranker.labels_]
        taus.append(np.mean((scores[:, -1:] > scores[:, :-1]) == (truth[:, -1:] > truth[:, :-1])))
        chance.append(kendall_tau(np.argsort(np.argsort(-truth, axis=1), axis=1) + 1, scores))
    assert min(taus) > 0.8
    assert min(chance) > 0.6


def test_few_votes_correct_a_new_label():
    X, Z, _, winners, losers = simulated()
    new, kept = 11, list(range(11))
    seen = (winners != new) & (losers != new)
    wrong = {**{j: Z[j] for j in kept}, new: -Z[new]}  # features that mislead
    ranker = LogLinearRanker(label_features={j: Z[j] for j in kept}, **OPTIONS)
    ranker.fit(X[seen], graphs_of(winners[seen], losers[seen], kept))
    before = ranker.coef_.copy()
    few = np.flatnonzero(~seen)[:60]
    graphs = graphs_of(winners[few], losers[few], [*kept, new])
    ranker.partial_fit(X[few], graphs, label_features={new: wrong[new]})
    np.testing.assert_array_equal(ranker.coef_[:11], before)
    by_features = before.T @ np.zeros(11) + ranker.label_coef_[:, :4].T @ wrong[new]
    rest = np.flatnonzero(~seen)[60:]
    rows = np.arange(len(rest))
    learnt = ranker.score_labels(X[rest])
    guessed = np.column_stack([learnt[:, :11], X[rest] @ by_features])
    right = [(s[rows, winners[rest]] > s[rows, losers[rest]]).mean() for s in (learnt, guessed)]
    assert right[0] > right[1]
    with pytest.raises(InputError, match="partial_fit learns new labels"):
        ranker.partial_fit(X[few], graphs)


def test_without_label_features_there_is_no_partial_fit():
    assert not hasattr(LogLinearRanker(), "partial_fit")
    assert not hasattr(LogLinearRanker(), "add_labels")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"label_features": [1, 2]}, InputError, "label_features must be a dict"),
        ({"label_features": {"a": [1], "b": [1, 2]}}, InputError, "Labels have 1 to 2 features"),
        ({"label_features": {"a": [1]}, "solver": "dual"}, ParameterError, "solver='lbfgs'"),
        ({"label_features": {"a": [1]}, "cut_label": True}, ParameterError, "without cut_label"),
    ],
)
def test_what_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        LogLinearRanker(**options).check_parameters()


def test_candidates_have_no_label_features():
    sets = CandidateSets(np.eye(4), [0, 2, 4])
    with pytest.raises(ParameterError, match="CandidateSets have features of their own"):
        LogLinearRanker(label_features={"a": [1]}).fit(sets, [0, 1, 0, 1])


def test_every_label_needs_features():
    with pytest.raises(InputError, match="no entry for the label 'b'"):
        LogLinearRanker(label_features={"a": [1]}).fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(InputError, match="NaN or infinite"):
        LogLinearRanker(label_features={"a": [1], "b": [np.nan]}).fit([[1.0], [2.0]], ["a", "b"])
