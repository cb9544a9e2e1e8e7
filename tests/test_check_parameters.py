"""`check_parameters` refuses what `fit` refuses, in the same words and without data."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import arcrank
from arcrank.errors import ParameterError
from arcrank.text import HashedTextFeatures, TermCounts, TextFeatures

NUMBERS = [0, -1, float("nan"), float("inf"), "many", None, True]
NOT_NEGATIVE = [-1, float("nan"), "x", None, True]
COUNTS = [0, -1, 2.5, "many", None]
SHARES = [0, 1.5, "x"]
FLAGS = ["yes", 1, None]
INTERCEPTS = ["free", None, True, 1.0, ["scaled"]]
SEEDS = [-1, "seed", 0.5]
ONLINE = {"epochs": COUNTS, "shuffle": ["yes", None], "random_state": SEEDS}
POLY = {"kernel": "poly"}
BOOSTING = {
    "n_rounds": COUNTS,
    "thresholds": [0, "some", 2.5],
    "validation_fraction": [0.0, 1.0, "half"],
    "patience": COUNTS,
    "random_state": SEEDS,
}
BAD = {
    arcrank.LogLinearRanker: {
        "decomposition": ["nonsense", 3],
        "solver": ["nonsense", None],
        "loss": ["hinge"],
        **dict.fromkeys(("C", "tol", "max_iter"), NUMBERS),
        "n_jobs": COUNTS,
        "intercept": INTERCEPTS,
        **dict.fromkeys(("smoothing", "virtual"), NOT_NEGATIVE),
        "callback": ["print"],
        "random_state": SEEDS,
    },
    arcrank.PreferenceMachine: {
        "decomposition": ["nonsense", 3],
        "loss": ["nonsense", 3],
        "kernel": ["nonsense", 3],
        "codes": ["nonsense"],
        "code_length": COUNTS,
        "aggregate": ["mean"],
        **dict.fromkeys(("C", "tol", "max_iter", "beta", "cache_mb"), NUMBERS),
        "n_jobs": COUNTS,
        "intercept": INTERCEPTS,
        "callback": ["print"],
        "random_state": SEEDS,
    },
    arcrank.TreeRanker: {
        "decomposition": ["nonsense", 3],
        **dict.fromkeys(("n_rounds", "n_runs", "min_samples_leaf", "n_jobs"), COUNTS),
        "max_leaf_nodes": [1, 2.5, None],
        **dict.fromkeys(("learning_rate", "max_features", "subsample"), SHARES),
        "l2_regularization": NOT_NEGATIVE,
        **dict.fromkeys(("shared_trees", "random_thresholds"), FLAGS),
        "callback": ["print"],
        "random_state": SEEDS,
    },
    arcrank.MMPRanker: {"loss": ["hinge", ["size"]], "kernel": ["linear", 3], "gamma": [0, "x"], **ONLINE},
    arcrank.OnlinePreferenceMachine: {
        "decomposition": ["nonsense", 3],
        "loss": ["logistic", 3],
        "margin": NUMBERS,
        "C": NUMBERS,
        "kernel": ["linear", 3],
        "budget": [0, 2.5, "x"],
        **ONLINE,
    },
    arcrank.PerceptronRanker: ONLINE,
    arcrank.OrdinalRanker: {
        "decomposition": ["nonsense", None],
        "loss": ["nonsense", None],
        "grades": [[], [1], [1, 1], "abc"],
        **dict.fromkeys(("C", "tol", "max_iter"), NUMBERS),
    },
    arcrank.PRankRanker: {**ONLINE, "average": FLAGS, "grades": [[1]]},
    arcrank.RocchioRanker: {"beta": NOT_NEGATIVE, "gamma": NOT_NEGATIVE},
    arcrank.RankBoost: BOOSTING,
    arcrank.SemiSupervisedRankBoost: {
        **BOOSTING,
        "discount": [-1.0, "x", [0.5, float("nan")]],
        **dict.fromkeys(("n_neighbors", "n_components", "n_confident"), COUNTS),
        "labeller": ["nobody", "confident"],
        "features": ["words"],
    },
    arcrank.TransductiveSVM: {
        **dict.fromkeys(("C", "C_unlabelled", "tol"), NUMBERS),
        **dict.fromkeys(("max_switches", "max_iter"), COUNTS),
        "relevant_fraction": [0, 1.0, "half"],
        "random_state": SEEDS,
    },
    arcrank.SemiSupervisedLogistic: {
        **dict.fromkeys(("C", "unlabelled_weight"), NUMBERS),
        "max_iter": COUNTS,
        "tol": [-1, "x"],
    },
}
TOGETHER = [
    arcrank.LogLinearRanker(loss=print, solver="dual"),
    *(arcrank.PreferenceMachine(kernel="rbf", gamma=value) for value in (0, "wide", None)),
    *(arcrank.PreferenceMachine(kernel="polynomial", degree=value) for value in (0, "x", float("inf"))),
    *(arcrank.PreferenceMachine(kernel="polynomial", coef0=value) for value in (-1, "x")),
    *(arcrank.MMPRanker(**POLY, degree=value) for value in (0, "x")),
    arcrank.MMPRanker(**POLY, coef0="x"),
    arcrank.OrdinalRanker("zero-one", "hinge"),
]
TEXT = {
    TextFeatures: {
        "digits": ["x"],
        "stop_words": ["klingon", 3, [3]],
        "language": ["klingon", 3],
        "stem": ["klingon"],
        "min_length": COUNTS,
        "ngrams": COUNTS,
        "min_df": [0, -0.5, "x"],
        "max_df": [0, 1.5, "x"],
        "norm": ["l3"],
    },
    HashedTextFeatures: {"n_features": [0, "x"], "ngrams": COUNTS, "stem": ["klingon"], "norm": ["l3"]},
    TermCounts: {"ngrams": COUNTS, "min_df": [0, "x"], "vocabulary": [[], ["oil", "oil"]]},
}


def cases(table):
    return [
        pytest.param(kind(**{name: value}), id=f"{kind.__name__}({name}={value!r})")
        for kind, parameters in table.items()
        for name, values in parameters.items()
        for value in values
    ]


def refusal(function, *arguments):
    with pytest.raises(ParameterError) as caught:
        function(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("estimator", [*cases(BAD), *TOGETHER])
def test_fit_and_check_parameters_refuse_alike(estimator):
    told = refusal(estimator.check_parameters)
    X, y = np.array([[2.0, 0.0], [0.0, 2.0], [3.0, 1.0], [1.0, 4.0], [1.0, 1.0]]), [1, 0, 1, 0, -1]
    assert refusal(estimator.fit, X, y) == told
    assert told.endswith(".")


@pytest.mark.parametrize("features", cases(TEXT))
def test_text_features_refuse_alike(features):
    told = refusal(features.check_parameters)
    assert refusal(clone(features).fit, ["crude oil", "oil price"]) == told


@pytest.mark.parametrize("kind", [*BAD, *TEXT], ids=lambda kind: kind.__name__)
def test_the_defaults_pass(kind):
    assert kind().check_parameters() is None


def test_what_is_allowed_passes():
    arcrank.LogLinearRanker(random_state=np.random.RandomState(0), callback=print).check_parameters()
    arcrank.PreferenceMachine(codes=np.eye(3), kernel="rbf", gamma="auto").check_parameters()
    arcrank.MMPRanker(kernel="poly", coef0=-1.0).check_parameters()
    arcrank.SemiSupervisedRankBoost(discount=np.sqrt).check_parameters()
    arcrank.TransductiveSVM(relevant_fraction=0.5).check_parameters()
