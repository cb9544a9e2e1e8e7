"""A path of C: the same optima as fits of their own, each started from the one before."""

from __future__ import annotations

import numpy as np
import pytest

from arcrank import LogLinearRanker, PreferenceMachine

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 6))
Y = (X @ RANDOM.normal(size=(6, 5)) > 0.5).astype(int)
OPTIONS = {"cut_label": True, "calibration_folds": 0, "set_measure": None, "tol": 1e-5, "random_state": 0}


@pytest.mark.parametrize("costs", [[0.1, 1.0, 4.0], [2.0, 0.3]], ids=["ascending", "descending"])
@pytest.mark.parametrize(
    "ranker",
    [
        LogLinearRanker(solver="dual", **OPTIONS),
        PreferenceMachine("domination", "squared-hinge", **OPTIONS),
        PreferenceMachine("domination", **OPTIONS),
    ],
    ids=["log-linear", "squared hinge", "hinge"],
)
def test_a_path_has_the_optima_of_single_fits(ranker, costs):
    instances = ranker._check_features(X, reset=True)
    graphs = ranker._learn_labels(Y, len(Y))
    for C in ranker._fit_path(instances, graphs, costs):
        alone = type(ranker)(**{**ranker.get_params(), "C": C}).fit(X, Y)
        assert max(ranker.duality_gap_, alone.duality_gap_) <= 1e-5
        assert ranker.C_ == C
        np.testing.assert_allclose(ranker.score_labels(X), alone.score_labels(X), atol=0.05)
