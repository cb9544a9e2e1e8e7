"""One projection and ordered thresholds: against oracles, a generic solver and a peer's likelihood."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize

import arcrank
from arcrank import OrdinalRanker, PRankRanker
from arcrank.errors import InputError
from arcrank.losses.grades import GRADE_DECOMPOSITIONS, GRADE_LOSSES, grade_loss
from arcrank.losses.margin import MARGIN_LOSSES
from tests.estimator_checks import parametrize_with_checks

PAIRS = [
    (loss, cut)
    for loss in GRADE_LOSSES
    for cut in GRADE_DECOMPOSITIONS
    if (loss != "proportional-odds" or cut == "immediate") and (cut != "zero-one" or loss == "log-linear")
]


def pieces_of(decomposition: str, grade: int, n: int) -> list[list[tuple[int, int]]]:
    """Arcs (sign, threshold) of the graph of grades, cut into pieces by the definition of each decomposition."""
    low, high = [(1, j) for j in range(grade)], [(-1, j) for j in range(grade, n)]
    single = [[arc] for arc in (*low, *high)]
    found = {
        "disagreement": single,
        "immediate": [low, high],
        "domination": [low, *([arc] for arc in high)],  # the instance is the head of the arcs below it
        "dominated": [*([arc] for arc in low), high],
        "zero-one": [low + high],
    }[decomposition]
    return [piece for piece in found if piece]


def oracle(loss, decomposition, f, grade, thresholds):
    if loss == "proportional-odds":
        ends = [-math.inf, *thresholds, math.inf]
        low, high = ((1 / (1 + math.exp(f - end)) if end > -math.inf else 0.0) for end in ends[grade : grade + 2])
        return -math.log(high - low)
    total = 0.0
    for piece in pieces_of(decomposition, grade, len(thresholds)):
        margins = [sign * (f - thresholds[j]) for sign, j in piece]
        if loss == "log-linear":
            total += math.log1p(sum(math.exp(-m) for m in margins))
        else:
            total += float(MARGIN_LOSSES[loss].value(min(margins)))
    return total


@pytest.mark.parametrize(("loss", "cut"), PAIRS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_losses_are_those_of_the_pieces(loss, cut, data):
    n = data.draw(st.integers(1, 4))
    number = st.floats(-3, 3).map(lambda x: round(x, 2))
    thresholds = np.cumsum(data.draw(st.lists(st.floats(0.1, 2), min_size=n, max_size=n))) - 2.0
    f, grade = data.draw(number), data.draw(st.integers(0, n))
    value, slope = grade_loss(loss, cut, np.array([f]), np.array([grade]), thresholds)
    assert value[0] == pytest.approx(oracle(loss, cut, f, grade, thresholds), rel=1e-9, abs=1e-12)
    if loss != "hinge":
        shifted = approx_fprime([f], lambda z: oracle(loss, cut, z[0], grade, thresholds), 1e-6)[0]
        signs = np.where(np.arange(n) < grade, 1.0, -1.0)
        assert slope[0] @ signs == pytest.approx(shifted, abs=1e-3 * max(1.0, abs(shifted)))


@pytest.mark.parametrize(("loss", "cut"), PAIRS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_sorting_thresholds_never_increases_a_loss(loss, cut, data):
    if loss == "proportional-odds":
        return  # is not defined for thresholds out of order
    n = data.draw(st.integers(2, 4))
    thresholds = data.draw(st.lists(st.floats(-3, 3), min_size=n, max_size=n))
    f, grade = data.draw(st.floats(-3, 3)), data.draw(st.integers(0, n))
    mixed, ordered = (oracle(loss, cut, f, grade, one) for one in (thresholds, sorted(thresholds)))
    assert ordered <= mixed * (1 + 1e-9) + 1e-9


@pytest.fixture(scope="module")
def graded():
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 3))
    y = np.digitize(X @ [1.0, -2.0, 0.5] + 0.7 * random.standard_normal(60), [-1.5, 0.0, 1.5])
    return X, y


@pytest.mark.parametrize(("loss", "cut"), [("log-linear", cut) for cut in GRADE_DECOMPOSITIONS])
def test_a_generic_solver_without_any_order_finds_the_same(loss, cut, graded):
    X, y = graded[0][:20], graded[1][:20]

    def objective(z):
        losses = [oracle(loss, cut, x @ z[:3], grade, z[3:]) for x, grade in zip(X, y, strict=True)]
        return 0.5 * z[:3] @ z[:3] + 2.0 * sum(losses)

    ranker = OrdinalRanker(cut, loss, C=2.0, tol=1e-8).fit(X, y)
    found = minimize(objective, np.zeros(6), method="BFGS", options={"gtol": 1e-5})
    assert ranker.objective_ == pytest.approx(found.fun, rel=1e-6)
    assert np.allclose([*ranker.direction_, *ranker.thresholds_], found.x, atol=2e-3)


@pytest.mark.parametrize("cut", ["disagreement", "immediate", "domination"])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
def test_margin_losses_reach_the_optimum_of_a_generic_solver(loss, cut, graded):
    cvxpy = pytest.importorskip("cvxpy")
    X, y = graded[0][:25], graded[1][:25]
    w, theta, terms = cvxpy.Variable(3), cvxpy.Variable(3), []
    for x, grade in zip(X, y, strict=True):
        for piece in pieces_of(cut, int(grade), 3):
            worst = cvxpy.maximum(0, *(1 - sign * (x @ w - theta[j]) for sign, j in piece))
            terms.append(worst if loss == "hinge" else cvxpy.square(worst))
    best = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(w) / 2 + 0.5 * cvxpy.sum(cvxpy.hstack(terms)))).solve()
    ranker = OrdinalRanker(cut, loss, C=0.5, tol=1e-8).fit(X, y)
    assert best * (1 - 1e-6) <= ranker.objective_ <= best * (1 + (1e-3 if loss == "hinge" else 1e-5))
    assert (np.diff(ranker.thresholds_) >= 0).all()


def test_proportional_odds_is_the_likelihood(graded):
    X, y = graded
    ranker = OrdinalRanker(loss="proportional-odds", C=1e4, tol=1e-9).fit(X, y)
    probabilities = ranker.predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1.0)

    def negative_likelihood(z):
        ends = np.concatenate([[-np.inf], np.cumsum([z[3], *np.exp(z[4:])]), [np.inf]])
        above = 1.0 / (1.0 + np.exp(ends[None, :] - (X @ z[:3])[:, None]))
        return -np.log(-np.diff(above, axis=1)[np.arange(len(y)), y]).sum()

    best = minimize(negative_likelihood, np.zeros(6), method="BFGS").fun
    assert -np.log(probabilities[np.arange(len(y)), y]).sum() == pytest.approx(best, rel=1e-4)


def test_grades_are_predicted_between_thresholds(graded):
    X, y = graded
    ranker = OrdinalRanker("immediate", "squared-hinge").fit(sp.csr_matrix(X), 10 * (y + 1))
    f = ranker.project(X)
    assert np.allclose(f, X @ ranker.direction_)
    assert ranker.predict(X).tolist() == (10 * (np.searchsorted(ranker.thresholds_, f) + 1)).tolist()
    first, *others = ranker.rank(X[:1])[0]
    assert first == ranker.predict(X[:1])[0]
    assert abs(others[0] - first) == 10  # the next best grade is a neighbour
    why = ranker.explain(X[0], above=20, below=10)
    assert why.margin == pytest.approx(f[0] - ranker.thresholds_[0])
    with pytest.raises(AttributeError, match="predict_proba"):
        ranker.predict_proba(X)


def test_names_need_an_order(graded):
    X, y = graded
    names = np.array(["poor", "fair", "good", "best"])[y]
    with pytest.raises(InputError, match="grades="):
        OrdinalRanker().fit(X, names)
    ranker = OrdinalRanker(grades=["poor", "fair", "good", "best"]).fit(X, names)
    assert ranker.labels_.tolist() == ["poor", "fair", "good", "best"]
    assert (ranker.predict(X) == names).mean() > 0.6
    with pytest.raises(InputError, match="one grade for each instance"):
        OrdinalRanker().fit(X, [[1, 2], [1]] * 30)


def test_weights_are_repetitions(graded):
    X, y = graded
    weight = np.arange(60) % 3
    twice = np.repeat(np.arange(60), weight)
    weighted = OrdinalRanker().fit(X, y, sample_weight=weight)
    assert np.allclose(weighted.direction_, OrdinalRanker().fit(X[twice], y[twice]).direction_, atol=1e-4)


def prank_in_python(X, grades, n_thresholds, epochs=1):
    """Crammer & Singer 2001, Figure 1, to the letter; grades are 0, ..., and the last threshold is infinity."""
    w, b, loss, states = np.zeros(X.shape[1]), np.zeros(n_thresholds), 0, []
    for x, y in [pair for _ in range(epochs) for pair in zip(X, grades, strict=True)]:
        predicted = min(r for r in range(n_thresholds + 1) if r == n_thresholds or w @ x - b[r] < 0)
        loss += abs(predicted - y)
        sides = np.where(np.arange(n_thresholds) < y, 1, -1)
        tau = np.where((w @ x - b) * sides <= 0, sides, 0)
        w, b = w + tau.sum() * x, b - tau
        states.append(np.concatenate([w, b]))
    return states, loss


def test_prank_is_the_papers_figure(graded):
    X, y = np.round(graded[0], 1), graded[1]
    states, loss = prank_in_python(X, y, 3, epochs=2)
    ranker = PRankRanker(epochs=2).fit(X, y)
    assert np.allclose(np.concatenate([ranker.direction_, ranker.thresholds_]), states[-1])
    assert ranker.rank_loss_ == loss
    mean = PRankRanker(epochs=2, average=True).fit(X, y)
    assert np.allclose(np.concatenate([mean.direction_, mean.thresholds_]), np.mean(states, axis=0))


def test_prank_keeps_its_bound():
    random = np.random.default_rng(1)
    X = random.standard_normal((4000, 2))
    w, b = np.array([0.6, 0.5]), np.array([-0.4, 0.1, 0.45])
    length = math.sqrt(w @ w + b @ b)
    margins = np.abs(X @ w - b[:, None]).min(axis=0) / length
    X = X[margins >= 0.05]
    y = np.digitize(X @ w, b)
    ranker = PRankRanker().fit(X, y)
    bound = len(b) * ((X**2).sum(axis=1).max() + 1.0) / 0.05**2
    assert 0 < ranker.rank_loss_ <= bound
    assert PRankRanker(epochs=200).fit(X, y).score(X, y) == 1.0  # so it stops making mistakes


def test_prank_learns_in_parts(graded, tmp_path):
    X, y = graded
    whole = PRankRanker(average=True).fit(X, y)
    parts = PRankRanker(average=True).partial_fit(X[:20], y[:20], labels=[0, 1, 2, 3])
    arcrank.save(parts, tmp_path / "m.arcrank")
    parts = arcrank.load(tmp_path / "m.arcrank").partial_fit(X[20:], y[20:])
    assert np.array_equal(parts.coef_, whole.coef_)
    assert (parts.n_rounds_, parts.rank_loss_) == (60, whole.rank_loss_)
    with pytest.raises(InputError, match="7"):
        parts.partial_fit(X[:1], [7])


@parametrize_with_checks([OrdinalRanker(), PRankRanker(average=True)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
