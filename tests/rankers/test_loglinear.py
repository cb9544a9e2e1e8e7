from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from arcrank import CandidateSets, LogLinearRanker
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import ArcGraphs, LayeredGraphs, as_graphs
from arcrank.metrics import generalized_error, ranking_loss, scorer
from tests.estimator_checks import parametrize_with_checks

X_IRIS, Y_IRIS = load_iris(return_X_y=True)
SOLVERS = ["dual", "lbfgs", "boosting"]


def label_sets(n=80, seed=0):
    return make_multilabel_classification(n, n_features=12, n_classes=5, random_state=seed)


def expected_failures(estimator):
    near = "stops at tol on another path: scores agree to that, not to 1e-7 (test_sample_weights_are_repetitions)"
    weights = [f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse")]
    return dict.fromkeys(weights, near) if estimator.solver in ("dual", "boosting") else {}


@pytest.mark.processors
@parametrize_with_checks(
    [LogLinearRanker(), LogLinearRanker(solver="dual"), LogLinearRanker(solver="boosting")],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("solver", ["dual", "lbfgs"])
def test_zero_one_on_single_labels_is_multinomial_logistic_regression(solver):
    ours = LogLinearRanker("zero-one", solver, C=2.0, fit_intercept=False, tol=1e-7, max_iter=20_000).fit(
        X_IRIS, Y_IRIS
    )
    theirs = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(X_IRIS, Y_IRIS)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    assert (ours.predict(X_IRIS) == theirs.predict(X_IRIS)).all()


@pytest.mark.parametrize("solver", ["dual", "lbfgs"])
def test_disagreement_on_two_labels_is_binary_logistic_regression(solver):
    X, y = X_IRIS[50:], Y_IRIS[50:]
    ours = LogLinearRanker("disagreement", solver, C=1.5, fit_intercept=False, tol=1e-7, max_iter=20_000).fit(X, y)
    theirs = LogisticRegression(C=3.0, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_[1] - ours.coef_[0], theirs.coef_[0], atol=2e-3)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("sparse", [False, True])
def test_every_solver_learns_label_sets(solver, sparse):
    X, Y = label_sets()
    ranker = LogLinearRanker(solver=solver, random_state=0).fit(sp.csr_matrix(X) if sparse else X, Y)
    assert ranker.solver_ == solver
    assert ranking_loss(Y, ranker.score_labels(X)) < 0.2
    assert ranker.score_labels(X[:3]).shape == (3, 5)
    assert [len(row) for row in ranker.rank(X[:3], top=2)] == [2, 2, 2]
    assert {"iteration", "loss", "seconds"} <= set(ranker.history_[0])
    assert hasattr(ranker, "duality_gap_") == (solver != "boosting")


def test_predict_gives_the_kind_that_fit_got():
    X, Y = label_sets()
    assert set(LogLinearRanker().fit(X_IRIS, np.array(["a", "b", "c"])[Y_IRIS]).predict(X_IRIS)) == {"a", "b", "c"}
    indicator = LogLinearRanker(C=10).fit(X, Y).predict(X)
    assert indicator.shape == Y.shape
    assert np.isin(indicator, (0, 1)).all()
    sets = LogLinearRanker(C=10).fit(X, as_lists(Y)).predict(X[:2])
    assert all(isinstance(one, list) for one in sets)
    ranks = LogLinearRanker().fit(X_IRIS, LayeredGraphs.from_single_labels(Y_IRIS, 3)).predict(X_IRIS)
    assert sorted(ranks[0]) == [1, 2, 3]


def as_lists(Y):
    return [[f"l{j}" for j in np.flatnonzero(row)] for row in Y]


def test_as_many_labels_are_predicted_as_were_given():
    X, Y = label_sets()
    X, Y = X[Y.any(axis=1)], Y[Y.any(axis=1)]
    for given in (Y, sp.csr_matrix(Y), as_lists(Y)):
        ranker = LogLinearRanker(C=3).fit(X, given)
        assert (ranker.score_labels(X) > ranker.thresholds_.any).sum() == Y.sum()
    best = ranker.labels_[ranker.score_labels(X).argmax(axis=1)]
    assert all(label in predicted for label, predicted in zip(best, ranker.predict(X), strict=True))


@pytest.mark.filterwarnings("ignore:No instance prefers")
def test_sets_are_empty_where_some_were():
    X, Y = label_sets()
    Y = Y.copy()
    Y[:20] = 0
    ranker = LogLinearRanker(C=3).fit(X, Y)
    assert (ranker.score_labels(X).max(axis=1) > ranker.thresholds_.first).sum() == Y.any(axis=1).sum()
    assert not ranker.predict(X).any(axis=1).all()
    assert not LogLinearRanker().fit(X, 0 * Y).predict(X).any()
    assert LogLinearRanker().fit(X, np.ones_like(Y)).predict(X).all()


def test_without_a_threshold_sets_are_the_cut_of_smallest_loss():
    """Of an interrupted fit; against enumerating every set of the top q labels."""
    X, Y = label_sets()
    ranker = LogLinearRanker(C=3).fit(X, Y)
    del ranker.thresholds_
    for f, predicted in zip(ranker.score_labels(X), ranker.predict(X), strict=True):
        order = np.argsort(-f)
        losses = [np.exp(-f[order[:q]]).sum() * np.exp(f[order[q:]]).sum() for q in range(1, 5)]
        assert set(np.flatnonzero(predicted)) == set(order[: np.argmin(losses) + 1])


def test_an_explanation_sums_to_the_margin():
    ranker = LogLinearRanker().fit(X_IRIS, np.array(["a", "b", "c"])[Y_IRIS])
    why = ranker.explain(X_IRIS[0], above="a", below="c")
    scores = ranker.score_labels(X_IRIS[:1])[0]
    assert why.margin == pytest.approx(scores[0] - scores[2])
    assert why.intercept + sum(value for _, value in why.parts) == pytest.approx(why.margin, rel=1e-12)
    sizes = [abs(value) for _, value in why.parts]
    assert sizes == sorted(sizes, reverse=True)
    with pytest.raises(InputError, match="'z' is not one of the 3 labels"):
        ranker.explain(X_IRIS[0], "z", "a")
    with pytest.raises(InputError, match="one instance"):
        ranker.explain(X_IRIS[:2], "a", "b")


@pytest.mark.parametrize("solver", ["lbfgs", "boosting"])
@pytest.mark.parametrize("sparse", [False, True])
def test_threads_do_not_change_the_model(solver, sparse):
    X, Y = label_sets(400)
    X = sp.csr_matrix(X) if sparse else X
    with np.errstate(all="ignore"):
        one, two = (LogLinearRanker(solver=solver, n_jobs=jobs, max_iter=300).fit(X, Y).coef_ for jobs in (1, 2))
    assert np.array_equal(one, two)


def test_smoothing_reaches_the_boosting_step():
    """One arc, x = 1: q = 1/2, W- of label 0 is 1/2 and W+ is 0, rho = 2."""
    for smoothing in (0.05, 2.0):
        ranker = LogLinearRanker(solver="boosting", smoothing=smoothing, max_iter=1, fit_intercept=False)
        ranker.fit([[1.0]], ArcGraphs.from_arcs([[(0, 1)]], 2))
        step = 0.25 * np.log((0.5 + smoothing) / smoothing)
        np.testing.assert_allclose(ranker.coef_, [[step], [-step]])


def rare_words(n=400, k=15, n_words=1500):
    """Log counts of texts of one to three topics: most words occur in few texts, so that most W- are 0."""
    random = np.random.default_rng(0)
    topics, common = random.dirichlet(np.full(n_words, 0.05), size=k), 1 / np.arange(1, n_words + 1)
    Y = np.zeros((n, k), dtype=int)
    counts = np.zeros((n, n_words))
    for y, row in zip(Y, counts, strict=True):
        y[random.choice(k, size=random.integers(1, 4), replace=False)] = 1
        mixture = 0.3 * topics[y == 1].mean(axis=0) + 0.7 * common / common.sum()
        row[:] = random.multinomial(random.integers(20, 80), mixture)
    return sp.csr_matrix(np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0.0)), Y


def test_boosting_on_rare_words_does_not_overfit_with_more_iterations():
    X, Y = rare_words()
    train, test = slice(0, 200), slice(200, 400)

    def error(iterations, **options):
        ranker = LogLinearRanker(solver="boosting", fit_intercept=False, max_iter=iterations, **options)
        return generalized_error(Y[test], ranker.fit(X[train], Y[train]).score_labels(X[test]), "disagreement")

    assert error(160) < 1.02 * error(40)
    assert error(40) < 0.75 * error(40, smoothing=1e-9)  # steps up to 10 / rho, wherever W+ or W- is 0


def test_random_state_repeats():
    X, Y = label_sets()
    a, b = (LogLinearRanker(solver="dual", random_state=3).fit(X, Y).coef_ for _ in range(2))
    assert np.array_equal(a, b)


@pytest.mark.parametrize("solver", ["dual", "lbfgs"])
def test_warm_start_needs_fewer_iterations(solver):
    X, Y = label_sets(200)
    ranker = LogLinearRanker(solver=solver, C=1.0, warm_start=True, tol=1e-4, random_state=0).fit(X, Y)
    cold = LogLinearRanker(solver=solver, C=1.1, tol=1e-4, random_state=0).fit(X, Y)
    first = ranker.set_params(C=1.1).fit(X, Y)
    assert first.n_iter_ < cold.n_iter_
    np.testing.assert_allclose(first.score_labels(X), cold.score_labels(X), atol=0.2)
    other = ranker.fit(X[::-1], Y)  # other data: the old dual variables would be wrong
    assert other.duality_gap_ <= 1e-4


def test_interruption_leaves_a_usable_model():
    X, Y = label_sets()

    def interrupt(entry):
        if entry["iteration"] == 3:
            raise KeyboardInterrupt

    for solver in SOLVERS:
        ranker = LogLinearRanker(solver=solver, callback=interrupt, tol=1e-12)
        with pytest.raises(KeyboardInterrupt):
            ranker.fit(X, Y)
        assert ranker.n_iter_ == 3
        assert np.isfinite(ranker.score_labels(X)).all()


def test_a_callback_stops():
    X, Y = label_sets()
    assert LogLinearRanker(solver="dual", tol=1e-12, callback=lambda e: e["iteration"] == 2).fit(X, Y).n_iter_ == 2


def test_an_iteration_limit_warns_with_the_gap():
    X, Y = label_sets()
    with pytest.warns(ConvergenceWarning, match=r"max_iter = 2 with a relative duality gap of"):
        ranker = LogLinearRanker(solver="dual", C=100, max_iter=2).fit(X, Y)
    assert ranker.duality_gap_ > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e5])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_extreme_scales_stay_finite(solver, C, scale):
    X, Y = label_sets(40)
    X = np.hstack([X, np.ones((40, 1))])  # with a constant feature
    X, Y = np.vstack([X, X[:10]]), np.vstack([Y, Y[-10:]])  # and duplicated rows that contradict each other
    for decomposition in ("domination", "zero-one", "disagreement", "dominated"):
        ranker = LogLinearRanker(decomposition, solver, C=C, max_iter=30, random_state=0).fit(scale * X, Y)
        assert np.isfinite(ranker.coef_).all()
        assert np.isfinite(ranker.score_labels(scale * X)).all()
        assert all(np.isfinite(entry["loss"]) for entry in ranker.history_)


@pytest.mark.filterwarnings("ignore:No instance prefers")
@pytest.mark.parametrize("solver", SOLVERS)
def test_nothing_to_learn(solver):
    X = np.ones((3, 2))
    no_arcs = LogLinearRanker(solver=solver).fit(X, np.ones((3, 4), dtype=bool))
    assert not no_arcs.coef_.any()
    assert LogLinearRanker(solver=solver).fit(X, [[], [], ["a", "b", "c"]]).rank(X[:1]).tolist() == [["a", "b", "c"]]


def test_auto_takes_what_fits():
    X, Y = label_sets()
    assert LogLinearRanker().fit(X, Y).solver_ == "lbfgs"
    wide = sp.random(60, 9000, density=0.01, random_state=0, format="csr")
    assert LogLinearRanker().fit(wide, Y[:60]).solver_ == "dual"


@pytest.mark.parametrize("solver", ["lbfgs", "dual"])
def test_sample_weights_are_repetitions(solver):
    X, Y = label_sets(40)
    weight = np.random.default_rng(0).integers(0, 3, size=40)
    options = {"solver": solver, "tol": 1e-8, "max_iter": 20_000, "random_state": 0}
    weighted = LogLinearRanker(**options).fit(X, Y, sample_weight=weight)
    repeated = LogLinearRanker(**options).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)


def test_contradictory_arcs_with_weights():
    arcs = [[(0, 1), (1, 0)]] * 4
    g = ArcGraphs.from_arcs(arcs, 2, weights=[[3.0, 1.0]] * 4, conflicts="keep")
    assert LogLinearRanker("disagreement").fit(np.ones((4, 1)), g).rank([[1.0]]).tolist() == [[0, 1]]


def test_cross_validation_and_grid_search():
    X, Y = label_sets(120)
    for y in (Y, LayeredGraphs.from_label_sets(Y)):
        scores = cross_val_score(LogLinearRanker(), X, y, scoring=scorer("ranking_loss"), cv=3)
        assert (scores > -0.3).all()
    search = GridSearchCV(LogLinearRanker(), {"C": [0.01, 10.0]}, scoring=scorer("domination_error"), cv=3)
    assert search.fit(X, Y).best_params_["C"] in (0.01, 10.0)
    assert 0.5 < LogLinearRanker(C=10).fit(X, Y).score(X, Y) <= 1


class TestCandidates:
    """The general form: joint features of instance and candidate."""

    def data(self, seed=0, n=60):
        rng = np.random.default_rng(seed)
        counts = rng.integers(1, 7, size=n)
        Z = rng.normal(size=(counts.sum(), 4))
        grades = np.clip(np.round(Z @ [1.0, -1.0, 0.5, 0.0]), -1, 2).astype(int)
        return CandidateSets(Z, np.r_[0, np.cumsum(counts)]), grades

    @pytest.mark.parametrize("solver", ["auto", "dual", "boosting"])
    @pytest.mark.parametrize("decomposition", ["domination", "zero-one", "disagreement"])
    def test_the_order_of_candidates_is_learnt(self, solver, decomposition):
        sets, grades = self.data()
        ranker = LogLinearRanker(decomposition, solver, C=10).fit(sets, grades)
        new, truth = self.data(seed=1)
        orders = ranker.rank(new)
        assert [len(order) for order in orders] == new.counts().tolist()
        best = [
            truth[a:b][order[0]] == truth[a:b].max() for a, b, order in zip(new.ptr, new.ptr[1:], orders, strict=False)
        ]
        assert np.mean(best) > 0.9
        assert ranker.coef_.shape == (1, 4)

    def test_shared_labels_are_a_special_case(self):
        """Candidates that spell out x [y' = y] give the solution of the ordinary problem."""
        X, Y = label_sets(30)
        k, d = Y.shape[1], X.shape[1]
        Z = np.vstack([np.kron(np.eye(k), x) for x in X])
        joint = LogLinearRanker(solver="lbfgs", tol=1e-8).fit(
            CandidateSets(Z, np.arange(0, 30 * k + 1, k)), as_graphs(Y)
        )
        plain = LogLinearRanker(solver="lbfgs", tol=1e-8, fit_intercept=False).fit(X, Y)
        np.testing.assert_allclose(joint.coef_.reshape(k, d), plain.coef_, atol=1e-3)

    def test_scores_and_ranks_have_one_number_for_each_candidate(self):
        sets, grades = self.data()
        ranker = LogLinearRanker().fit(sets, grades)
        part = sets[:5]
        scores, ranks = ranker.score_labels(part), ranker.predict(part)
        assert scores.shape == ranks.shape == (part.ptr[-1],)
        for a, b in zip(part.ptr, part.ptr[1:], strict=False):
            assert ranks[a:b].tolist() == [int((scores[a:b] >= own).sum()) for own in scores[a:b]]

    def test_bad_candidates(self):
        sets, grades = self.data()
        with pytest.raises(InputError, match="one grade for each of the"):
            LogLinearRanker().fit(sets, grades[:-1])
        with pytest.raises(InputError, match="ptr must ascend"):
            CandidateSets(np.ones((3, 2)), [0, 2])
        ranker = LogLinearRanker().fit(sets, grades)
        with pytest.raises(InputError, match="3 features, the ranker learnt 4"):
            ranker.rank(CandidateSets(np.ones((2, 3)), [0, 2]))
        with pytest.raises(InputError, match="fitted on CandidateSets"):
            ranker.score_labels(np.ones((2, 4)))
        with pytest.raises(InputError, match="candidates, but an arc names candidate"):
            LogLinearRanker().fit(CandidateSets(np.ones((2, 1)), [0, 2]), ArcGraphs.from_arcs([[(0, 2)]], 3))
        with pytest.raises(InputError, match="NaN"):
            LogLinearRanker().fit(CandidateSets([[np.nan]], [0, 1]), [1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a number greater than 0, or 'scale', got 0"),
        ({"C": "auto"}, "C must be a number above 0, or 'scale' to choose it by the data; got 'auto'"),
        ({"intercept": None}, "intercept must be 'scaled' or 'regularised', got None. For none, pass fit_intercept"),
        ({"C": "1"}, "C must be"),
        ({"tol": -1}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"virtual": -1}, "virtual"),
        ({"solver": "newton"}, "'dual', 'lbfgs'"),
        ({"decomposition": "dominate"}, "'domination'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        LogLinearRanker(**parameters).fit(X_IRIS, Y_IRIS)


def test_bad_data():
    with pytest.raises(InputError, match="X has 150 instances and y has 3"):
        LogLinearRanker().fit(X_IRIS, [0, 1, 2])
    with pytest.raises(InputError, match="sample_weight must have one number for each of the 150"):
        LogLinearRanker().fit(X_IRIS, Y_IRIS, sample_weight=[1.0])
    with pytest.raises(InputError, match="at least 0"):
        LogLinearRanker().fit(X_IRIS, Y_IRIS, sample_weight=-np.ones(150))
    with pytest.raises(ParameterError, match="top"):
        LogLinearRanker().fit(X_IRIS, Y_IRIS).rank(X_IRIS, top=0)


def test_a_loss_of_ones_own_is_minimised():
    """The log-linear loss, given as if it were a user's own, leads to the same weights."""
    from arcrank.losses import LogLinearLoss

    options = {"C": 3.0, "solver": "lbfgs", "tol": 1e-9}
    usual = LogLinearRanker("dominated", **options).fit(X_IRIS, Y_IRIS)
    own = LogLinearRanker("dominated", loss=LogLinearLoss, **options).fit(X_IRIS, Y_IRIS)
    np.testing.assert_array_equal(own.coef_, usual.coef_)
    assert LogLinearRanker(loss=LogLinearLoss).fit(X_IRIS, Y_IRIS).solver_ == "lbfgs"


def test_a_loss_of_ones_own_that_cannot_be():
    with pytest.raises(ParameterError, match="loss must be None or a callable"):
        LogLinearRanker(loss="hinge").fit(X_IRIS, Y_IRIS)
    with pytest.raises(ParameterError, match="solver='lbfgs' only"):
        LogLinearRanker(loss=lambda *_: None, solver="dual").fit(X_IRIS, Y_IRIS)
