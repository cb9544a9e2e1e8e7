import numpy as np
import pytest

from arcrank.solvers.pairwise_lbfgs import minimise_pairs
from arcrank.solvers.rankboost import OrderedPairs


def random_sets(seed=0, n=20, d=4):
    random = np.random.default_rng(seed)
    Z = random.normal(size=(n, d))
    first = OrderedPairs(np.arange(8), random.permutation([0.0, 0, 0, 1, 1, 2, 2, 2]))
    grades = random.permutation([0.0] * 6 + [1.0] * 6)
    second = OrderedPairs(np.arange(8, n), grades, share=0.5, weights=random.uniform(0.2, 2.0, n - 8))
    return Z, [first, second]


def test_loss_and_gradient_equal_explicit_pairs():
    random = np.random.default_rng(1)
    grades, weights, scores = np.array([0.0, 1, 2, 0, 1]), random.uniform(0.5, 2.0, 5), random.normal(size=5)
    pairs = OrderedPairs(np.arange(5), grades, weights=weights)
    explicit = [(i, j) for i in range(5) for j in range(5) if grades[i] > grades[j]]
    mass = sum(weights[i] * weights[j] for i, j in explicit)
    loss, gradient = pairs.loss_at(scores)
    assert loss == pytest.approx(
        sum(weights[i] * weights[j] * np.exp(scores[j] - scores[i]) for i, j in explicit) / mass
    )
    assert pairs.share == pytest.approx(mass / len(explicit))
    for k in range(5):
        step = np.zeros(5)
        step[k] = 1e-6
        slope = (pairs.loss_at(scores + step)[0] - pairs.loss_at(scores - step)[0]) / 2e-6
        assert gradient[k] == pytest.approx(slope, rel=1e-5, abs=1e-8)


def test_the_gradient_vanishes_at_the_minimum_wherever_it_starts():
    Z, sets = random_sets()
    found = minimise_pairs(Z, sets, np.zeros(4), penalty=0.1)
    gradient = 0.1 * found
    for pairs in sets:
        gradient = gradient + pairs.share * Z[pairs.rows].T @ pairs.loss_at(Z[pairs.rows] @ found)[1]
    np.testing.assert_allclose(gradient, 0.0, atol=1e-6)
    np.testing.assert_allclose(minimise_pairs(Z, sets, np.full(4, 3.0), penalty=0.1), found, atol=1e-5)


def test_a_start_far_away_comes_back_from_infinity():
    Z, sets = random_sets(2)
    found = minimise_pairs(Z, sets, np.full(4, 100.0))
    assert np.isfinite(found).all()
