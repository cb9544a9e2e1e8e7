"""OnlinePreferenceMachine: against a generic solver, representations, blocks, bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arcrank import OnlinePreferenceMachine, load, save
from arcrank.errors import ParameterError
from arcrank.graphs import ArcGraphs, LayeredGraphs
from arcrank.metrics import ranking_loss
from tests import online_machine_oracle as oracle
from tests.estimator_checks import parametrize_with_checks
from tests.oracles import arcs_of
from tests.rankers.online.test_online import assert_same, random_stream
from tests.strategies import any_graphs, arc_graphs, layered_graphs

NAMES = {"zero-one": "identity", "domination": "domination", "dominated": "dominated", "disagreement": "disagreement"}
RANKERS = [
    OnlinePreferenceMachine(),
    OnlinePreferenceMachine("disagreement", "hinge", average=True),
    OnlinePreferenceMachine("identity", margin=0.5, C=0.3),
    OnlinePreferenceMachine(kernel="rbf", budget=8),
]


@pytest.mark.processors
@parametrize_with_checks(RANKERS[:2])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def features(n, seed, scale=1.0):
    random = np.random.default_rng(seed)
    return scale * random.normal(size=(n, 3)) * (random.random((n, 3)) < 0.8)


def check_steps(graphs, X, decomposition, loss, C, margin, **more):
    """Every step of the ranker is that of the oracle from the same weights."""
    name = "scale" if more.get("relative") else C
    ranker = OnlinePreferenceMachine(NAMES[decomposition], loss, margin, name)
    W, total, rounds = np.zeros((3, graphs.n_labels)), np.zeros(4), 0
    for i in range(len(graphs)):
        arcs = arcs_of(graphs, i)
        ranker.partial_fit(X[[i]], graphs[[i]])
        if arcs:
            weights = _weights(graphs, i, len(arcs))
            row = [(j, float(v)) for j, v in enumerate(X[i]) if v]
            W, losses = oracle.step_of(W.tolist(), row, arcs, weights, decomposition, loss, C, margin, **more)
            total += losses
            rounds += 1
        np.testing.assert_allclose(ranker._model.weights, W, atol=2e-5 * margin)
        W = ranker._model.weights.copy()
    assert ranker.n_rounds_ == rounds
    if rounds:
        np.testing.assert_allclose(ranker.cumulative_losses_[-1] * rounds, total[:3])
        np.testing.assert_allclose(ranker.margin_loss_, total[3])


def _weights(graphs, i, n):
    weight = getattr(graphs, "weight", None)
    return [1.0] * n if weight is None else weight[graphs.arc_ptr[i] : graphs.arc_ptr[i + 1]].tolist()


@pytest.mark.filterwarnings("ignore:No instance prefers")
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("decomposition", list(NAMES))
@settings(max_examples=10)
@given(graphs=any_graphs, seed=st.integers(0, 10**6))
def test_every_step_is_the_minimum_that_a_generic_solver_finds(decomposition, loss, graphs, seed):
    assume(graphs.n_labels > 1 and len(graphs))
    check_steps(graphs, features(len(graphs), seed), decomposition, loss, [0.1, 1.0, 10.0][seed % 3], 1.0)


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("decomposition", ["domination", "disagreement", "zero-one"])
@settings(max_examples=10)
@given(graphs=arc_graphs(), seed=st.integers(0, 10**6))
def test_arc_weights_multiply_the_loss(decomposition, loss, graphs, seed):
    assume(graphs.n_labels > 1 and len(graphs))
    weight = np.random.default_rng(seed).choice([0.0, 0.3, 1.0, 2.5], len(graphs.head))
    graphs = ArcGraphs(graphs.arc_ptr, graphs.head, graphs.tail, weight, graphs.n_labels)
    check_steps(graphs, features(len(graphs), seed), decomposition, loss, 0.5, 1.0)


@settings(max_examples=10)
@given(graphs=layered_graphs(), seed=st.integers(0, 10**6))
def test_margin_and_relative_costs(graphs, seed):
    assume(graphs.n_labels > 1 and len(graphs))
    X = features(len(graphs), seed, 3.0)
    check_steps(graphs, X, "dominated", "squared-hinge", 0.5, 0.3)
    check_steps(graphs, X, "domination", "hinge", 0.1, 2.0, relative=True)


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("decomposition", list(NAMES.values()))
def test_layers_and_arcs_give_the_same_weights(decomposition, cut, loss):
    random = np.random.default_rng(1)
    X = random.normal(size=(40, 6))
    graphs = LayeredGraphs.from_levels(random.integers(-1, 2 if cut else 4, (40, 7)))
    settings = {"cut_label": cut, "calibration_folds": 0, "C": 0.5}
    layered = OnlinePreferenceMachine(decomposition, loss, **settings).fit(X, graphs)
    if cut:
        from arcrank.graphs.cut import insert_cut

        graphs = insert_cut(graphs)
    arcs = graphs.to_arcs()
    explicit = OnlinePreferenceMachine(decomposition, loss, **settings).fit(X, arcs)
    np.testing.assert_allclose(explicit._model.weights, layered._model.weights, atol=1e-9)
    np.testing.assert_allclose(explicit.margin_loss_, layered.margin_loss_)


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("C", [0.02, 1.0])
def test_pieces_with_the_same_few_tails_give_the_weights_of_their_arcs(loss, C):
    random = np.random.default_rng(2)
    X = random.choice([0.0, 0.5, 1.0], (60, 8))  # equal scores too
    graphs = LayeredGraphs.from_label_sets(random.random((60, 30)) < random.choice([0.05, 0.2, 0.6], (60, 1)))
    layered = OnlinePreferenceMachine("dominated", loss, C=C).fit(X, graphs)
    explicit = OnlinePreferenceMachine("dominated", loss, C=C).fit(X, graphs.to_arcs())
    np.testing.assert_allclose(explicit._model.weights, layered._model.weights, atol=1e-9)
    np.testing.assert_allclose(explicit.margin_loss_, layered.margin_loss_)


def test_equal_weights_are_a_larger_C_and_a_weight_of_zero_is_no_arc():
    X = features(20, 3)
    graphs = LayeredGraphs.from_levels(np.random.default_rng(0).integers(0, 3, (20, 5))).to_arcs()
    heavy = ArcGraphs(graphs.arc_ptr, graphs.head, graphs.tail, np.full(len(graphs.head), 4.0), 5)
    one = OnlinePreferenceMachine("disagreement", C=2.0).fit(X, graphs)
    other = OnlinePreferenceMachine("disagreement", C=0.5).fit(X, heavy)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-9)
    nothing = ArcGraphs(graphs.arc_ptr, graphs.head, graphs.tail, np.zeros(len(graphs.head)), 5)
    assert not OnlinePreferenceMachine("disagreement").fit(X, nothing).coef_.any()


def test_a_callable_decomposition_of_single_arcs_takes_them_one_after_the_other():
    X, graphs = features(15, 4), LayeredGraphs.from_levels(np.random.default_rng(0).integers(0, 3, (15, 4)))
    whole = OnlinePreferenceMachine("identity", C=1.0).fit(X, graphs)
    same = OnlinePreferenceMachine(lambda heads, tails, row: [np.arange(len(heads))], C=1.0).fit(X, graphs)
    np.testing.assert_allclose(whole.coef_, same.coef_, atol=1e-9)
    alone = OnlinePreferenceMachine(lambda heads, tails, row: [[a] for a in range(len(heads))], C=1.0).fit(X, graphs)
    together = OnlinePreferenceMachine("disagreement", C=1.0).fit(X, graphs)
    assert not np.allclose(alone.coef_, together.coef_)


def test_scaling_the_features_changes_no_ranking():
    X, Y = random_stream()
    one, other = OnlinePreferenceMachine().fit(X, Y), OnlinePreferenceMachine().fit(7.0 * X, Y)
    np.testing.assert_allclose(one.score_labels(X), other.score_labels(7.0 * X))


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
@settings(max_examples=15)
@given(cuts=st.lists(st.integers(0, 60), max_size=4))
def test_partial_fit_in_any_blocks_is_fit_bit_for_bit(ranker, cuts):
    X, Y = random_stream()
    whole, parts = (type(ranker)(**ranker.get_params()) for _ in range(2))
    whole.fit(X, Y)
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), 60], strict=True):
        if stop > start:
            parts.partial_fit(X[start:stop], Y[start:stop])
    assert_same(whole, parts)


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_a_model_file_goes_on_as_if_nothing_had_happened(ranker, tmp_path):
    X, Y = random_stream(90)
    through = type(ranker)(**ranker.get_params()).partial_fit(X[:40], Y[:40])
    save(through, tmp_path / "m.arcrank")
    through.partial_fit(X[40:], Y[40:])
    assert_same(through, load(tmp_path / "m.arcrank").partial_fit(X[40:], Y[40:]))


def test_new_labels_start_at_zero_and_are_learnt():
    ranker = OnlinePreferenceMachine(cut_label=True, calibration_folds=0)
    ranker.partial_fit([[1, 0, 0], [0, 1, 0]], [["a"], ["b"]])
    before = ranker.coef_.copy()
    ranker.partial_fit([[0, 0, 0]], [["c"]])
    np.testing.assert_array_equal(ranker.coef_, np.vstack([before, -ranker._model.weights[:, 0]]))
    for _ in range(10):
        ranker.partial_fit([[0, 0, 1]], [["c"]])
    assert ranker.predict([[0, 0, 1]]) == [["c"]]


def test_the_hinge_moves_no_arc_by_more_than_C():
    X, y = np.array([[1.0, 0.0]]), [["a"]]
    ranker = OnlinePreferenceMachine("disagreement", "hinge", C=0.01)
    np.testing.assert_allclose(ranker.partial_fit(X, y, labels=["a", "b", "c"]).coef_[:, 0], [0.02, -0.01, -0.01])


def test_a_budget_keeps_the_most_important_vectors():
    X = np.random.default_rng(5).normal(size=(200, 6))
    Y = X[:, :5] ** 2 > 1.5  # no linear ranker finds these
    free = OnlinePreferenceMachine(kernel="rbf", gamma=0.3).fit(X, Y)
    few = OnlinePreferenceMachine(kernel="rbf", gamma=0.3, budget=20).fit(X, Y)
    assert free._model.vectors.shape[0] > 100
    assert few._model.vectors.shape[0] == 20
    rows = Y.any(axis=1) & ~Y.all(axis=1)
    chance = ranking_loss(Y[rows], np.random.default_rng(0).random((rows.sum(), 5)))
    assert ranking_loss(Y[rows], few.score_labels(X[rows])) < 0.6 * chance
    same = OnlinePreferenceMachine(kernel="rbf", gamma=0.3, budget=1000).fit(X, Y)
    np.testing.assert_array_equal(same.score_labels(X), free.score_labels(X))


def test_a_linear_kernel_gives_the_linear_machine():
    X, Y = random_stream()
    for decomposition in ("dominated", "identity"):
        linear = OnlinePreferenceMachine(decomposition, C=0.3).fit(X, Y)
        kernel = OnlinePreferenceMachine(decomposition, C=0.3, kernel=lambda A, B: A @ B.T).fit(X, Y)
        np.testing.assert_allclose(kernel.score_labels(X), linear.score_labels(X), atol=1e-9)
        assert kernel.margin_loss_ == pytest.approx(linear.margin_loss_)


@pytest.mark.parametrize("C", ["scale", 0.05, 3.0])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("decomposition", ["dominated", "identity"])
def test_mistakes_are_bounded_by_a_machine_in_hindsight(decomposition, loss, C):
    X, Y = random_stream(150)
    ranker = OnlinePreferenceMachine(decomposition, loss, 0.7, C, epochs=2).fit(X, Y).hindsight(X, Y)
    mistakes = ranker.cumulative_losses_[-1, 0] * ranker.n_rounds_
    assert 0 < mistakes <= ranker.mistake_bound()
    assert ranker.regret_ == pytest.approx(ranker.margin_loss_ - ranker.hindsight_.loss)


def test_the_bound_of_a_separable_stream():
    random = np.random.default_rng(0)
    best = random.normal(size=(4, 5))
    best /= np.linalg.norm(best)
    X = random.normal(size=(600, 5))
    scores = X @ best.T
    ordered = -np.sort(-scores, axis=1)
    X = X[ordered[:, 0] - ordered[:, 1] > 0.2]
    ranker = OnlinePreferenceMachine(C=1.0).fit(X, (X @ best.T).argmax(axis=1))
    assert 0 < ranker.cumulative_losses_[-1, 0] * ranker.n_rounds_ <= ranker.mistake_bound(0.2)
    assert ranker.hindsight(X, (X @ best.T).argmax(axis=1)).mistake_bound() <= ranker.mistake_bound(0.2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"decomposition": "no"}, "decomposition must be"),
        ({"loss": "logistic"}, "loss must be one of 'hinge', 'squared-hinge'"),
        ({"margin": 0}, "margin must be a number greater than 0"),
        ({"C": -1}, "C must be"),
        ({"budget": 0}, "budget must be"),
        ({"budget": 5, "average": True}, "budget needs average=False"),
    ],
)
def test_bad_parameters_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        OnlinePreferenceMachine(**settings).fit([[1.0], [2.0]], ["a", "b"])
