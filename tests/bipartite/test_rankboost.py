import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from arcrank.bipartite.rankboost import RankBoost
from arcrank.errors import InputError, ParameterError
from tests.estimator_checks import parametrize_with_checks
from tests.pairs_oracle import ExplicitRankBoost, assert_same_rounds, pair_list

SEEDS = st.integers(0, 2**32 - 1)


def random_data(seed, n=14, d=4, grades=2, density=0.6):
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(n, d)) * (random.random((n, d)) < density), 1)
    y = random.integers(0, grades, n)
    y[:grades] = np.arange(grades)
    return X, y


def explicit(X, y, n_rounds):
    oracle = ExplicitRankBoost(X, [(1.0, pair_list(range(len(X)), y))])
    for _ in range(n_rounds):
        if oracle.round() is None:
            break
    return oracle


@given(SEEDS, st.integers(2, 4), st.booleans())
def test_equals_a_transcription_over_explicit_pairs(seed, grades, as_sparse):
    X, y = random_data(seed, grades=grades)
    oracle = explicit(X, y, 8)
    ranker = RankBoost(8).fit(sparse.csr_matrix(X) if as_sparse else X, y)
    assert_same_rounds(ranker, oracle)
    if ranker.n_rounds_ == len(oracle.stumps):
        np.testing.assert_allclose(ranker.decision_function(X), oracle.scores, atol=1e-9)


@given(SEEDS, st.integers(2, 3))
def test_the_loss_is_the_exponential_one_never_rises_and_bounds_the_ranking_loss(seed, grades):
    X, y = random_data(seed, n=12, grades=grades)
    ranker = RankBoost(12).fit(X, y)
    pairs = np.array(pair_list(range(len(X)), y))
    for scores, loss in zip(ranker.staged_decision_function(X), ranker.loss_curve_[1:], strict=True):
        margins = scores[pairs[:, 0]] - scores[pairs[:, 1]]
        assert loss == pytest.approx(np.exp(-margins).mean(), rel=1e-9)
        assert loss >= np.mean(margins <= 0) - 1e-12
    assert (np.diff(ranker.loss_curve_) <= 1e-12).all()
    claimed = ~np.isnan(ranker.bounds_)
    assert (ranker.loss_curve_[1:][claimed] <= ranker.bounds_[claimed] * (1 + 1e-9)).all()


def test_a_perfect_feature_is_capped_and_ends_the_training():
    X = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 3.0]])
    ranker = RankBoost(50).fit(X, [0, 0, 1])
    assert ranker.n_rounds_ == 1
    assert np.isfinite(ranker.stumps_.weights).all()
    assert np.isnan(ranker.bounds_).all()
    assert ranker.score(X, [0, 0, 1]) == 1.0


def test_rounds_after_a_perfect_feature_would_choose_it_again_and_change_no_order():
    X = np.array([[0.0, 1.0, 5.0], [0.0, 2.0, 1.0], [1.0, 3.0, 0.0], [1.0, 3.0, 9.0]])
    y = np.array([0, 0, 1, 1])
    ranker = RankBoost(50).fit(X, y)
    oracle = ExplicitRankBoost(X, [(1.0, pair_list(range(4), y))], cap=float(ranker.stumps_.weights[0]))
    for _ in range(20):
        oracle.round()
    assert len(oracle.stumps) == 20
    assert {stump[:2] for stump in oracle.stumps} == {(0, 0.0)}
    np.testing.assert_allclose(oracle.scores, 20 * ranker.decision_function(X))


def test_a_feature_that_orders_all_pairs_wrongly_gets_a_negative_weight():
    ranker = RankBoost(5).fit([[1.0], [2.0], [0.0]], [0, 0, 1])
    assert ranker.stumps_.weights[0] < 0
    assert ranker.score([[1.0], [2.0], [0.0]], [0, 0, 1]) == 1.0


def test_constant_features_rank_nothing():
    X = np.ones((4, 2))
    ranker = RankBoost(5).fit(X, [0, 1, 0, 1])
    assert ranker.n_rounds_ == 0
    assert ranker.decision_function(X).tolist() == [0.0] * 4
    assert ranker.feature_importances_.tolist() == [0.0, 0.0]
    assert list(ranker.staged_decision_function(X)) == []


def test_staged_scores_end_at_the_scores_and_importances_sum_to_one():
    X, y = random_data(3, n=40, d=6)
    ranker = RankBoost(15).fit(sparse.csr_matrix(X), y)
    *_, last = ranker.staged_decision_function(X)
    np.testing.assert_allclose(last, ranker.decision_function(sparse.csr_matrix(X)), atol=1e-12)
    assert ranker.feature_importances_.sum() == pytest.approx(1.0)


def test_one_quantile_of_a_text_feature_is_its_presence():
    X = sparse.random(60, 10, density=0.4, format="csr", random_state=0)
    y = np.random.default_rng(0).integers(0, 2, 60)
    assert set(RankBoost(10, thresholds=1).fit(X, y).stumps_.thresholds) == {0.0}
    assert len(set(RankBoost(30).fit(X, y).stumps_.thresholds)) > 3


def test_unlabelled_rows_are_left_out():
    X, y = random_data(5, n=30)
    more = np.vstack([X, np.full((3, X.shape[1]), 9.0)])
    a, b = RankBoost(9).fit(X, y), RankBoost(9).fit(more, np.append(y, [-1, -1, -1]))
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


def test_early_stopping_keeps_the_best_round_of_the_held_out_part():
    X, y = random_data(7, n=120, d=8)
    stopped = RankBoost(200, early_stopping=True, patience=5, random_state=0).fit(X, y)
    curve = stopped.validation_curve_
    assert stopped.n_rounds_ == curve.argmax() + 1 < 200
    assert len(curve) <= stopped.n_rounds_ + 5
    assert len(stopped.loss_curve_) == stopped.n_rounds_ + 1


def test_a_given_validation_part_stops_too():
    X, y = random_data(8, n=80, d=8)
    judged = np.where(np.arange(40) < 35, y[40:], -1)
    ranker = RankBoost(200, patience=3).fit(X[:40], y[:40], validation=(X[40:], judged))
    best = max(ranker.validation_curve_)
    assert ranker.score(X[40:75], y[40:75]) == pytest.approx(best)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([-1, 1, -1, 1], "write 0 for the irrelevant"),
        ([-1, -1, -1, -1], "all 4 instances are unlabelled"),
        ([0, 0, -1, 0], "no labelled instance is relevant"),
        ([1, 1, -1, 1], "write 0 for the irrelevant"),
        ([1, 1, 1, 1], "no labelled instance is irrelevant"),
        ([0, 1, -2, 0], "y holds -2"),
    ],
)
def test_supervision_that_orders_nothing_is_refused_with_the_way_out(y, words):
    with pytest.raises(InputError, match=words):
        RankBoost().fit(np.eye(4), y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_rounds": 0},
        {"n_rounds": 2.5},
        {"thresholds": 0},
        {"thresholds": "some"},
        {"early_stopping": True, "validation_fraction": 1.0},
        {"early_stopping": True, "patience": 0},
    ],
)
def test_parameters_out_of_range_are_refused(parameters):
    with pytest.raises(ParameterError):
        RankBoost(**parameters).fit(np.eye(4), [0, 1, 0, 1])


def test_early_stopping_needs_two_instances_of_each_grade():
    with pytest.raises(ParameterError, match="validation"):
        RankBoost(early_stopping=True).fit(np.eye(3), [0, 1, 0])


def test_many_rounds_on_separable_pairs_stay_finite():
    X, y = random_data(11, n=30, d=30, density=1.0)
    ranker = RankBoost(4000).fit(X, y)
    assert np.isfinite(ranker.decision_function(X)).all()
    assert np.isfinite(ranker.loss_curve_).all()


def test_weights_of_rows_survive_scores_far_apart():
    X = np.array([[float(i >= 2), float(i % 3 > 0), i / 8.0] for i in range(8)])
    y = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    ranker = RankBoost(400).fit(X[:, :2], y)
    scores = ranker.decision_function(X[:, :2])
    margins = scores[y == 1][:, None] - scores[y == 0][None, :]
    assert ranker.loss_curve_[-1] == pytest.approx(np.exp(-margins).mean(), rel=1e-6)


def test_scoring_does_not_import_numba():
    code = (
        "import sys, pickle; from arcrank.bipartite.rankboost import RankBoost; "
        "print('numba' in sys.modules); "
        "r = pickle.load(sys.stdin.buffer); r.decision_function([[0.0, 1.0]]); print('numba' in sys.modules)"
    )
    import pickle

    ranker = RankBoost(3).fit([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]], [0, 1, 0])
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(ranker), check=True, capture_output=True)
    assert done.stdout.split() == [b"False", b"False"]


@pytest.mark.processors
@parametrize_with_checks([RankBoost(5)])
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
