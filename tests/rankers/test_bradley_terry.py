"""Bradley-Terry models against other implementations, and their intervals."""

import time

import numpy as np
import pytest

from arcrank import BradleyTerry, LogLinearRanker
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import Votes
from arcrank.rankers.bradley_terry import connected_parts


def simulate(k=6, m=500, seed=0, tie=None, strengths=None):
    random = np.random.default_rng(seed)
    s = random.normal(size=k) if strengths is None else strengths
    a = random.integers(k, size=m)
    b = (a + random.integers(1, k, size=m)) % k
    parts = np.exp([s[a], s[b], np.full(m, -np.inf) if tie is None else tie + (s[a] + s[b]) / 2])
    outcome = (random.random(m) > (parts / parts.sum(0)).cumsum(0)[:2]).sum(0)
    return s, a, b, outcome


def votes_of(a, b, outcome, k):
    return Votes.from_columns(a, b, outcomes=[("a", "b", "tie")[o] for o in outcome], labels=range(k))


@pytest.mark.parametrize("C", [0.3, 2.0, 50.0])
def test_it_equals_choix(C):
    choix = pytest.importorskip("choix")
    _, a, b, outcome = simulate()
    pairs = [(x, y) if o == 0 else (y, x) for x, y, o in zip(a, b, outcome, strict=True)]
    expected = choix.opt_pairwise(6, pairs, alpha=1 / (2 * C), tol=1e-12)
    votes = votes_of(a, b, outcome, 6)
    np.testing.assert_allclose(BradleyTerry(C).fit(votes).strengths_, expected, atol=1e-6)
    ranker = LogLinearRanker("disagreement", C=C, arc_weights="count", fit_intercept=False, tol=1e-13)
    scores = ranker.fit(np.ones((1, 1)), votes.graphs().graphs).score_labels(np.ones((1, 1)))[0]
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_it_approaches_the_maximum_likelihood_of_evalica():
    evalica = pytest.importorskip("evalica")
    _, a, b, outcome = simulate()
    words = [evalica.Winner.X if o == 0 else evalica.Winner.Y for o in outcome]
    fitted = evalica.bradley_terry(list(map(str, a)), list(map(str, b)), words, tolerance=1e-12, limit=10_000)
    expected = np.log(fitted.scores.sort_index().to_numpy())
    votes = votes_of(a, b, outcome, 6)
    distances = [
        np.abs(BradleyTerry(C).fit(votes).strengths_ - (expected - expected.mean())).max() for C in (10, 1e3, 1e6)
    ]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 1e-6


def test_davidsons_ties_are_at_the_optimum():
    from scipy.optimize import minimize

    s, a, b, outcome = simulate(k=4, m=2000, tie=-0.5)
    model = BradleyTerry(C=3.0).fit(votes_of(a, b, outcome, 4))

    def objective(x):
        parts = np.array([x[a], x[b], x[4] + (x[a] + x[b]) / 2])
        chosen = parts[outcome, np.arange(len(a))]
        return 3.0 * (np.logaddexp.reduce(parts) - chosen).sum() + x @ x / 2

    best = minimize(objective, np.zeros(5), options={"gtol": 1e-4}).x
    np.testing.assert_allclose([*model.strengths_, model.tie_], best, atol=1e-4)
    assert model.tie_ == pytest.approx(-0.5, abs=0.2)
    np.testing.assert_allclose(model.strengths_, s - s.mean(), atol=0.3)
    assert BradleyTerry(ties="ignore").fit(votes_of(a, b, outcome, 4)).tie_ is None


@pytest.mark.slow
def test_a_million_votes_over_200_labels_take_seconds():
    _, a, b, outcome = simulate(k=200, m=1_000_000)
    start = time.perf_counter()
    names = np.array([f"model-{j}" for j in range(200)], dtype=object)
    winners, losers = np.where(outcome == 0, a, b), np.where(outcome == 0, b, a)
    model = BradleyTerry().fit(Votes.from_columns(names[winners], names[losers]))
    assert time.perf_counter() - start < 10
    assert len(model.rank()) == 200


@pytest.mark.slow
def test_intervals_have_their_level():
    random = np.random.default_rng(1)
    hits = 0
    for seed in range(400):
        s, a, b, outcome = simulate(k=5, m=400, seed=seed, strengths=random.normal(size=5))
        votes = votes_of(a, b, outcome, 5)
        model = BradleyTerry(C=10).fit(votes)
        truth = 1 / (1 + np.exp(s[1] - s[0]))
        low, high = model.above_interval(0, 1, level=0.9)
        hits += low <= truth <= high
    assert 0.85 <= hits / 400 <= 0.95


def test_the_bootstrap_agrees_with_the_approximation():
    _, a, b, outcome = simulate(k=4, m=2000)
    votes = votes_of(a, b, outcome, 4)
    model = BradleyTerry(C=10).fit(votes)
    samples = model.bootstrap(votes, 200)
    spread = np.sqrt(model.covariance_[0, 0] + model.covariance_[1, 1] - 2 * model.covariance_[0, 1])
    assert (samples[:, 0] - samples[:, 1]).std() == pytest.approx(spread, rel=0.2)


def test_labels_join_later():
    _, a, b, outcome = simulate(k=5, m=400, tie=-1.0)
    old = (a < 4) & (b < 4)
    model = BradleyTerry().fit(votes_of(a[old], b[old], outcome[old], 4))
    model.partial_fit(Votes.from_columns(a[~old], b[~old], outcomes=[("a", "b", "tie")[o] for o in outcome[~old]]))
    assert model.labels_.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(model.strengths_, BradleyTerry().fit(votes_of(a, b, outcome, 5)).strengths_, atol=1e-8)


def test_separated_votes_have_finite_strengths():
    model = BradleyTerry(C=1e3).fit(Votes.from_columns("ab", "bc"))
    assert model.rank().tolist() == ["a", "b", "c"]
    assert np.isfinite(model.strengths_).all()


def test_groups_that_no_vote_connects():
    assert connected_parts(Votes.from_columns("abd", "bce")) == [["a", "b", "c"], ["d", "e"]]


def test_what_it_refuses():
    with pytest.raises(ParameterError, match="ties must be 'davidson' or 'ignore', got 'half'"):
        BradleyTerry(ties="half").check_parameters()
    with pytest.raises(InputError, match="learns from Votes"):
        BradleyTerry().fit([("a", "b")])
    votes = Votes.from_columns("ab", "ba")
    with pytest.raises(InputError, match="There are no votes"):
        BradleyTerry().fit(votes[:0])
    with pytest.raises(InputError, match="'z' is not one of the 2 labels"):
        BradleyTerry().fit(votes).predict_above_proba("z", "a")
