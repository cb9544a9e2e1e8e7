import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from arcrank.bipartite.rankboost import RankBoost
from arcrank.bipartite.semisupervised_rankboost import SemiSupervisedRankBoost
from arcrank.errors import InputError, ParameterError
from tests.estimator_checks import parametrize_with_checks
from tests.pairs_oracle import ExplicitRankBoost, assert_same_rounds, pair_list

SEEDS = st.integers(0, 2**32 - 1)


def random_data(seed, n=24, d=4, grades=2):
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(n, d)) * (random.random((n, d)) < 0.7), 2)
    y = random.integers(0, grades, n)
    y[:grades] = np.arange(grades)
    y[n // 3 :] = -1
    return X, y


def two_topics(n=60, d=30, seed=0):
    """Documents of two topics whose words differ; four of each are labelled."""
    random = np.random.default_rng(seed)
    topic = np.arange(n) % 2
    rates = np.where(np.arange(d)[None, :] < d // 2, topic[:, None], 1 - topic[:, None]) * 0.3 + 0.05
    y = np.where(np.arange(n) < 8, topic, -1)
    return sparse.csr_matrix(random.poisson(rates).astype(float)), y, topic


def sets_of(ranker, y, discount):
    labelled = np.flatnonzero(y >= 0)
    sets = [(1.0, pair_list(labelled, y[labelled]))]
    claimed = np.flatnonzero(ranker.tentative_ >= 0)
    tentative = pair_list(claimed, ranker.tentative_[claimed])
    return [*sets, (discount, tentative)] if tentative and discount else sets


@given(SEEDS, st.integers(1, 3), st.sampled_from([0.0, 0.3, 1.0, 2.5]), st.integers(2, 3))
def test_equals_a_transcription_over_explicit_pairs(seed, k, discount, grades):
    X, y = random_data(seed, grades=grades)
    ranker = SemiSupervisedRankBoost(8, n_neighbors=k, discount=discount).fit(sparse.csr_matrix(X), y)
    sets = sets_of(ranker, y, discount)
    used = np.unique([row for _, pairs in sets for pair in pairs for row in pair])
    # rows without a pair give no thresholds
    oracle = ExplicitRankBoost(np.where(np.isin(np.arange(len(X)), used)[:, None], X, np.inf), sets)
    while len(oracle.stumps) < 8 and oracle.round() is not None:
        pass
    assert_same_rounds(ranker, oracle)


@given(SEEDS, st.sampled_from([0.2, 1.0, 3.0]))
def test_the_loss_is_that_of_both_terms_never_rises_and_is_bounded(seed, discount):
    X, y = random_data(seed)
    ranker = SemiSupervisedRankBoost(10, discount=discount).fit(X, y)
    sets = sets_of(ranker, y, discount)
    for scores, loss in zip(ranker.staged_decision_function(X), ranker.loss_curve_[1:], strict=True):
        margins = [(share, np.array([scores[i] - scores[j] for i, j in pairs])) for share, pairs in sets]
        assert loss == pytest.approx(sum(share * np.exp(-m).mean() for share, m in margins), rel=1e-9)
        assert loss >= sum(share * np.mean(m <= 0) for share, m in margins) - 1e-12
    assert (np.diff(ranker.loss_curve_) <= 1e-12).all()
    claimed = ~np.isnan(ranker.bounds_)
    assert (ranker.loss_curve_[1:][claimed] <= ranker.bounds_[claimed] * (1 + 1e-9)).all()


@given(SEEDS)
def test_discount_zero_is_rankboost(seed):
    X, y = random_data(seed)
    one, other = SemiSupervisedRankBoost(9, discount=0.0).fit(X, y), RankBoost(9).fit(X, y)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(one.loss_curve_, other.loss_curve_)


@pytest.mark.parametrize("discount", [np.full(24, 0.4), lambda s: np.full(len(s), 0.4)])
def test_equal_discounts_are_the_number(discount):
    X, y = random_data(1)
    one, other = (SemiSupervisedRankBoost(6, discount=given).fit(X, y) for given in (discount, 0.4))
    np.testing.assert_allclose(one.loss_curve_, other.loss_curve_, rtol=1e-12)


@given(SEEDS)
def test_a_pair_has_the_geometric_mean_of_its_two_discounts(seed):
    X, y = random_data(seed)
    each = np.random.default_rng(seed).uniform(0.1, 2.0, len(y))
    ranker = SemiSupervisedRankBoost(5, discount=each).fit(X, y)
    claimed = np.flatnonzero(ranker.tentative_ >= 0)
    pairs = pair_list(claimed, ranker.tentative_[claimed])
    if not pairs:
        return
    labelled = np.flatnonzero(y >= 0)
    H = ranker.decision_function(X)
    first = np.mean([np.exp(H[j] - H[i]) for i, j in pair_list(labelled, y[labelled])])
    second = np.mean([np.sqrt(each[i] * each[j]) * np.exp(H[j] - H[i]) for i, j in pairs])
    assert ranker.loss_curve_[-1] == pytest.approx(first + second, rel=1e-9)


def test_a_side_without_neighbours_leaves_the_labelled_pairs_alone():
    X, y = random_data(2)
    only_relevant = SemiSupervisedRankBoost(7, labeller=lambda a, b, pool: np.ones(pool.shape[0])).fit(X, y)
    nobody = SemiSupervisedRankBoost(7, labeller=lambda a, b, pool: np.full(pool.shape[0], -1)).fit(X, y)
    plain = RankBoost(7).fit(X, y)
    for ranker in (only_relevant, nobody):
        np.testing.assert_array_equal(ranker.decision_function(X), plain.decision_function(X))


def test_without_unlabelled_instances_it_is_rankboost():
    X, y = random_data(3)
    known = y >= 0
    one = SemiSupervisedRankBoost(7).fit(X[known], y[known])
    np.testing.assert_array_equal(one.decision_function(X), RankBoost(7).fit(X[known], y[known]).decision_function(X))


def test_n_neighbors_beyond_the_pool_labels_all_of_it():
    X, y, _ = two_topics()
    ranker = SemiSupervisedRankBoost(3, n_neighbors=1000).fit(X, y)
    assert (ranker.tentative_[y == -1] >= 0).all()
    assert (ranker.tentative_[y >= 0] == -1).all()


def test_the_naive_way_mixes_both_sets():
    X, y = random_data(4)
    naive = SemiSupervisedRankBoost(6, mixed=True).fit(X, y)
    completed = np.where(y >= 0, y, naive.tentative_)
    np.testing.assert_allclose(naive.loss_curve_, RankBoost(6).fit(X, completed).loss_curve_, rtol=1e-12)


def test_held_out_instances_are_not_trained_on_in_any_role():
    X, y, _ = two_topics()
    seen = {}

    def labeller(labelled, grades, pool):
        seen["rows"] = labelled.shape[0], pool.shape[0]
        return np.full(pool.shape[0], -1)

    SemiSupervisedRankBoost(5, labeller=labeller, early_stopping=True, random_state=0).fit(X, y)
    assert seen["rows"] == (6, 52)


@pytest.mark.parametrize("features", ["stumps", "latent"])
def test_unlabelled_instances_help_and_new_ones_can_be_ranked(features):
    X, y, topic = two_topics(300)
    ranker = SemiSupervisedRankBoost(20, features=features, n_components=5).fit(X[:200], y[:200])
    assert ranker.score(X[200:], topic[200:]) > 0.7
    assert ranker.loss_curve_[-1] < ranker.loss_curve_[0]


def test_latent_features_are_inductive_and_deterministic_and_have_no_rounds():
    X, y, _ = two_topics()
    one, two = (SemiSupervisedRankBoost(features="latent", n_components=4).fit(X, y) for _ in range(2))
    scores = one.decision_function(X)
    np.testing.assert_array_equal(scores, two.decision_function(X))
    np.testing.assert_allclose(one.decision_function(X[5:6]), scores[5:6])
    np.testing.assert_allclose(one.decision_function(X.toarray()), scores)
    with pytest.raises(AttributeError, match="stumps"):
        _ = one.feature_importances_
    with pytest.raises(AttributeError, match="rounds"):
        next(one.staged_decision_function(X))


@pytest.mark.parametrize("labeller", ["neighbours", lambda a, b, pool: np.arange(pool.shape[0]) % 2])
def test_latent_features_take_the_other_labellers(labeller):
    X, y, topic = two_topics()
    ranker = SemiSupervisedRankBoost(features="latent", labeller=labeller, n_components=4).fit(X, y)
    assert ranker.score(X[:8], topic[:8]) > 0.9
    assert (ranker.tentative_ >= 0).any()


def test_latent_features_survive_empty_rows_and_tiny_pools():
    X, y, _ = two_topics(9)
    X = X.tolil()
    X[8] = 0
    scores = SemiSupervisedRankBoost(features="latent").fit(X.tocsr(), y).decision_function(X.tocsr())
    assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"features": "trees"}, "features"),
        ({"labeller": "oracle"}, "labeller"),
        ({"labeller": "confident"}, "latent"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"discount": -1.0}, "discount"),
        ({"discount": np.ones(3)}, "discount"),
        ({"discount": lambda s: s, "labeller": lambda a, b, pool: np.zeros(pool.shape[0])}, "similarities"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, words):
    with pytest.raises(ParameterError, match=words):
        SemiSupervisedRankBoost(**parameters).fit(*random_data(0))


@pytest.mark.parametrize("given", [np.zeros(3), "many", np.full(16, 7.0)])
def test_a_labeller_that_returns_nonsense_is_refused(given):
    X, y = random_data(0)
    with pytest.raises((InputError, ValueError)):
        SemiSupervisedRankBoost(labeller=lambda *parts: given).fit(X, y)


@pytest.mark.parametrize(("y", "words"), [([-1, 1, -1, 1], "write 0"), ([-1] * 4, "unlabelled"), ([0, 0, -1, 0], "no")])
def test_supervision_that_orders_nothing_is_refused(y, words):
    with pytest.raises(InputError, match=words):
        SemiSupervisedRankBoost().fit(np.eye(4), y)


@pytest.mark.processors
@parametrize_with_checks([SemiSupervisedRankBoost(5), SemiSupervisedRankBoost(features="latent", n_components=3)])
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
