"""The shrunken effects of labels, against a generic solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from arcrank.rankers.label_effects import fit_label_effects

SPREAD = 0.5


def generic_effects(scores, relevant):
    """Minimise the penalised logistic loss over slope, constant and effects, cell by cell."""
    x = scores / scores.std()

    def loss(theta):
        z = theta[0] * x + theta[1] + theta[2:]
        penalty = theta[2:] @ theta[2:] / SPREAD**2 + 1e-3 * theta[:2] @ theta[:2]
        p = 1 / (1 + np.exp(-z))
        gradient = (p - relevant).sum(axis=0) + theta[2:] / SPREAD**2
        of_line = [((p - relevant) * x).sum(), (p - relevant).sum()] + 1e-3 * theta[:2]
        return (np.logaddexp(0, z) - relevant * z).sum() + penalty / 2, np.concatenate([of_line, gradient])

    start = np.concatenate([[1.0, -1.0], np.zeros(scores.shape[1])])
    return minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-8, "maxiter": 5000}).x


@pytest.mark.parametrize("offset", [0.0, -8.0, 15.0])  # far from the start, where whole Newton steps are too long
@pytest.mark.parametrize("seed", range(3))
def test_effects_equal_those_of_a_generic_solver(offset, seed):
    random = np.random.default_rng(seed)
    scores = 0.08 * random.normal(size=(60, 6)) - 0.08 * offset
    truth = 3 * scores / 0.08 + offset * 3 - 2 + random.normal(size=6)
    relevant = truth + random.logistic(size=scores.shape) > 0
    found = fit_label_effects(scores, np.ones_like(relevant), relevant)
    slope, constant, *effects = generic_effects(scores, relevant)
    assert found.slope * scores.std() == pytest.approx(slope, rel=1e-3)
    np.testing.assert_allclose(found.slope * found.effects, effects, atol=1e-3)
    z = slope * scores / scores.std() + constant + effects
    ours = found.slope * (scores + found.effects) + found.constant
    np.testing.assert_allclose(1 / (1 + np.exp(-ours)), 1 / (1 + np.exp(-z)), atol=1e-3)


def test_scores_that_nearly_separate_rare_outcomes_do_not_make_effects_explode():
    random = np.random.default_rng(0)
    scores = 0.05 * random.normal(size=(500, 40)) - 1.0
    relevant = scores > np.sort(scores, axis=None)[-60]
    found = fit_label_effects(scores, np.ones_like(relevant), relevant)
    assert np.abs(found.effects).max() < scores.std()


def test_scores_that_contradict_the_outcomes_have_a_positive_slope():
    random = np.random.default_rng(1)
    scores = random.normal(size=(100, 3))
    found = fit_label_effects(scores, np.ones(scores.shape, bool), scores + random.normal(size=scores.shape) < 0)
    assert found.slope > 0
    assert np.isfinite(found.effects).all()
