"""MMPRanker and PerceptronRanker: against transcriptions, bounds, blocks, states, bad input."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from arcrank.errors import GraphError, InputError, ParameterError
from arcrank.graphs import LayeredGraphs, as_graphs
from arcrank.metrics import average_precision, indicator_loss, normalized_loss, size_loss
from arcrank.rankers.online import MMPRanker, PerceptronRanker
from tests import online_oracle
from tests.estimator_checks import parametrize_with_checks
from tests.oracles import arcs_of
from tests.strategies import any_graphs

LOSSES = ["indicator", "size", "normalized"]
RANKERS = [*(MMPRanker(loss) for loss in LOSSES), MMPRanker("size", average=True), MMPRanker(kernel="rbf")]
RANKERS += [PerceptronRanker(), PerceptronRanker(average=True, epochs=2)]


@pytest.mark.processors
@parametrize_with_checks(RANKERS)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@st.composite
def streams(draw, graphs=any_graphs):
    """Graphs and as many rows of features, with zeros, ties and both signs."""
    g = draw(graphs.filter(lambda g: g.n_labels > 1))  # one label alone is refused
    return g, draw(hnp.arrays(np.float64, (len(g), 3), elements=st.sampled_from([-1.5, -1.0, 0.0, 0.0, 0.1, 1.0, 2.0])))


@st.composite
def label_sets(draw, max_rows=8, max_labels=5):
    n, k = draw(st.integers(1, max_rows)), draw(st.integers(2, max_labels))
    return LayeredGraphs.from_label_sets(draw(hnp.arrays(np.bool_, (n, k))))


def sparse_rows(X):
    return [[(j, float(v)) for j, v in enumerate(row) if v] for row in X]


def random_stream(n=60, d=6, k=5, seed=0, density=0.6):
    random = np.random.default_rng(seed)
    X = sp.random(n, d, density, format="csr", random_state=random)
    return X, random.random((n, k)) < 0.35


@pytest.mark.filterwarnings("ignore:No instance prefers")
@pytest.mark.parametrize("loss", [*LOSSES, "average_precision"])
@given(stream=streams())
def test_mmp_equals_its_transcription(loss, stream):
    graphs, X = stream
    if not len(graphs):
        return
    arcs = [arcs_of(graphs, i) for i in range(len(graphs))]
    history, losses, skipped = online_oracle.mmp(sparse_rows(X), arcs, 3, graphs.n_labels, loss)
    # its steps are rounded, so the last bit may decide which of two equal scores is higher
    assume(loss != "average_precision" or not online_oracle.ties(sparse_rows(X), arcs, history))
    ranker = MMPRanker(loss, average=True).fit(X, graphs)
    assert (ranker.n_rounds_, ranker.n_skipped_) == (len(history), skipped)
    last, mean = (history[-1], np.mean(history, axis=0)) if history else (np.zeros((3, graphs.n_labels)),) * 2
    np.testing.assert_allclose(MMPRanker(loss).fit(X, graphs).coef_, np.transpose(last), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(ranker.coef_, np.transpose(mean), atol=1e-12)
    rounds = np.arange(1, len(losses) + 1)
    np.testing.assert_array_equal(ranker.loss_rounds_, rounds)
    np.testing.assert_allclose(
        ranker.cumulative_losses_, np.cumsum(np.reshape(losses, (-1, 3)), axis=0) / rounds[:, None]
    )


@pytest.mark.filterwarnings("ignore:No instance prefers")
@given(stream=streams(label_sets()))
def test_perceptron_equals_its_transcription(stream):
    graphs, X = stream
    sets = [set(row.indices.tolist()) for row in graphs.to_indicator()]
    last, history = online_oracle.perceptron(sparse_rows(X), sets, 3, graphs.n_labels)
    mean = np.mean(history, axis=0) if history else last
    np.testing.assert_array_equal(PerceptronRanker().fit(X, graphs).coef_, np.transpose(last))
    np.testing.assert_allclose(PerceptronRanker(average=True).fit(X, graphs).coef_, np.transpose(mean), atol=1e-12)


def test_label_sets_with_many_relevant_labels_are_counted_by_sorting():
    random = np.random.default_rng(1)
    X, Y = random.normal(size=(30, 4)), random.random((30, 200)) < 0.5  # 100 heads
    graphs = LayeredGraphs.from_label_sets(Y)
    for loss in LOSSES:
        explicit = MMPRanker(loss).fit(X, graphs.to_arcs())
        np.testing.assert_array_equal(MMPRanker(loss).fit(X, graphs).coef_, explicit.coef_)


def test_losses_on_the_way_are_the_metrics():
    X, Y = random_stream()
    ranker, total = MMPRanker("size"), np.zeros(3)
    ranker.partial_fit(X[:1], Y[:1])
    rows = [i for i in range(1, 60) if 0 < Y[i].sum() < 5]
    start = ranker.n_rounds_ * (ranker.cumulative_losses_[-1] if ranker.n_rounds_ else 0)
    for i in rows:
        scores = ranker.score_labels(X[i])
        total += [metric(Y[[i]], scores) for metric in (indicator_loss, size_loss, normalized_loss)]
        ranker.partial_fit(X[i], Y[[i]])
    np.testing.assert_allclose(ranker.cumulative_losses_[-1] * ranker.n_rounds_, start + total)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n_layers", "k"), [(2, 2), (2, 6), (4, 7)])
def test_mistake_bounds_hold_on_separable_streams(loss, n_layers, k):
    for seed in range(20):
        random = np.random.default_rng(seed)
        best = random.normal(size=(k, 4))
        best /= np.linalg.norm(best)
        X = random.normal(size=(400, 4)) * random.exponential(size=(400, 1))
        scores = X @ best.T
        positions = (-scores).argsort(axis=1).argsort(axis=1)
        cuts = np.sort(random.integers(1, k, size=(400, n_layers - 1)), axis=1)
        graphs = LayeredGraphs.from_levels((positions[:, :, None] >= cuts[:, None, :]).sum(axis=2))
        ranker = MMPRanker(loss, epochs=3)
        true = MMPRanker().fit(X, graphs).set_state(_state_of(best, graphs))
        margins = true.margins(X, graphs)
        kept = np.flatnonzero(margins > np.quantile(margins, 0.3))
        ranker.fit(X[kept], graphs[kept])
        which = LOSSES.index(loss)
        total = ranker.cumulative_losses_[-1, which] * ranker.n_rounds_
        assert 0 < total <= ranker.mistake_bound(margins[kept].min())


def _state_of(W, graphs):
    state = MMPRanker().fit(np.eye(W.shape[1])[:1], graphs[:1]).get_state()
    return state | {"weights": W.T}


def test_mistake_bounds_are_the_derived_constants():
    X, Y = np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([[1, 0, 0, 0], [0, 1, 1, 0]])
    bounds = [MMPRanker(loss).fit(X, Y).mistake_bound(0.5) for loss in LOSSES]
    np.testing.assert_allclose(bounds, [2 * 100, 4 * 100, 4 / 3 * 100])
    few = as_graphs([[("a", "b")], [("b", "c"), ("c", "d")]])  # one arc among four labels: min(2, 4/1)
    np.testing.assert_allclose(MMPRanker("normalized").fit(X, few).mistake_bound(0.5), 200)
    with pytest.raises(ParameterError, match="margin must be a number greater than 0"):
        MMPRanker().fit(X, Y).mistake_bound(0.0)


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
@given(cuts=st.lists(st.integers(0, 60), max_size=5))
def test_partial_fit_in_any_blocks_is_fit_bit_for_bit(ranker, cuts):
    X, Y = random_stream()
    parameters = ranker.get_params() | {"epochs": 1}
    whole, parts = type(ranker)(**parameters).fit(X, Y), type(ranker)(**parameters)
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), 60], strict=True):
        if stop > start:
            parts.partial_fit(X[start:stop], Y[start:stop])
    assert_same(whole, parts)


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_a_copied_state_goes_on_as_if_nothing_had_happened(ranker):
    X, Y = random_stream(90)
    through = type(ranker)(**ranker.get_params()).partial_fit(X[:40], Y[:40])
    state = through.get_state()
    json.dumps(state["parameters"] | {"labels": state["labels"]})
    kept = {name: part.copy() for name, part in state.items() if isinstance(part, np.ndarray)}
    through.partial_fit(X[40:], Y[40:])
    for part in kept.values():
        part.setflags(write=False)  # as arrays of a mapped file are
    resumed = type(ranker).from_state(state | kept).partial_fit(X[40:], Y[40:])
    assert_same(through, resumed)
    for name, part in kept.items():
        np.testing.assert_array_equal(part, state[name])


def assert_same(one, other):
    a, b = one.get_state(), other.get_state()
    assert a.keys() == b.keys()
    assert a["parameters"] == b["parameters"]
    assert a["labels"] == b["labels"]
    for name in a.keys() - {"parameters", "labels"}:
        assert a[name].dtype == b[name].dtype
        np.testing.assert_array_equal(a[name], b[name])


def test_a_damaged_state_is_refused():
    X, Y = random_stream()
    state = MMPRanker().fit(X, Y).get_state()
    with pytest.raises(InputError, match="damaged, or of another ranker"):
        MMPRanker.from_state(state | {"weights": state["weights"][:-1]})
    state = MMPRanker(kernel="poly").fit(X, Y).get_state()
    with pytest.raises(InputError, match="damaged"):
        MMPRanker.from_state(state | {"coefficients": state["coefficients"][:, :-1]})


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("counters", 4, 2**40),  # where compiled code would write to the curve
        ("counters", 4, 0),
        ("counters", 3, 0),
        ("counters", 0, -1),
        ("counters", 2, 0),
        ("support_indices", 0, 2**30),  # where compiled code would read features
        ("support_indices", 0, -1),
        ("support_indptr", -1, 2**30),
        ("support_indptr", 1, 2**30),
    ],
)
def test_a_state_whose_numbers_point_elsewhere_is_refused(name, place, value):
    X, Y = random_stream()
    state = MMPRanker(kernel="rbf").fit(X, Y).get_state()
    state[name][place] = value
    with pytest.raises(InputError, match="counters|CSR"):
        MMPRanker.from_state(state)


def test_labels_that_appear_later_grow_the_weights():
    ranker = MMPRanker("size", average=True).partial_fit([[1, 0], [0, 1]], [["b"], ["a"]])
    before = ranker._model.weights.copy()
    ranker.partial_fit([[0, 0]], [["d", "c"]])  # a row without features changes no weight
    assert ranker.labels_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(ranker._model.weights, np.hstack([before, np.zeros((2, 2))]))
    ranker.partial_fit([[3, 0]], [["aa"]])
    assert ranker.labels_.tolist() == ["a", "b", "c", "d", "aa"]
    assert ranker.rank([[1, 0]], top=1).tolist() == [["aa"]]
    assert ranker.score_labels([[1, 0]]).shape == (1, 5)
    support = MMPRanker(kernel="rbf").partial_fit([[1, 0], [0, 1]], ["b", "a"]).partial_fit([[1, 1]], ["c"])
    assert support.score_labels([[1, 1]]).shape == (1, 3)


@pytest.mark.parametrize("kernel", [None, lambda A, B: A @ B.T])
def test_the_mean_of_a_late_label_runs_over_the_rounds_in_which_it_was_known(kernel):
    ranker = MMPRanker(average=True, kernel=kernel).partial_fit([[1, 0], [0, 1]] * 10, [["b"], ["a"]] * 10)
    weights = []
    for _ in range(3):
        ranker.partial_fit([[1, 1]], [["c"]])
        weights.append(MMPRanker("indicator").partial_fit([[1, 0], [0, 1]] * 10, [["b"], ["a"]] * 10))
        for _ in weights:
            weights[-1].partial_fit([[1, 1]], [["c"]])
    mean = np.mean([one.coef_[2] for one in weights], axis=0)
    assert mean.any()
    np.testing.assert_allclose(ranker.score_labels(np.eye(2))[:, 2], mean, atol=1e-12)


def test_the_step_of_average_precision_sums_to_its_loss():
    X, Y = random_stream(200)
    ranker, total = MMPRanker("average_precision"), 0.0
    ranker.partial_fit(X[:1], Y[:1])
    start = ranker.precision_loss_
    for i in range(1, 200):
        if 0 < Y[i].sum() < 5:
            total += 1.0 - average_precision(Y[[i]], ranker.score_labels(X[i]))
        ranker.partial_fit(X[i], Y[[i]])
    assert ranker.precision_loss_ - start == pytest.approx(total)


@pytest.mark.parametrize("loss", [*LOSSES, "average_precision"])
def test_mistakes_are_bounded_by_a_machine_in_hindsight(loss):
    X, Y = random_stream(150)
    ranker = MMPRanker(loss, epochs=2).fit(X, Y)
    with pytest.raises(ParameterError, match=r"call hindsight\(X, y\) first"):
        ranker.mistake_bound()
    bound = ranker.hindsight(X, Y).mistake_bound()
    total = dict(zip(LOSSES, ranker.cumulative_losses_[-1] * ranker.n_rounds_, strict=True))
    mistakes = total.get(loss, ranker.precision_loss_)
    assert 0 < mistakes <= bound < 30 * mistakes
    with pytest.raises(InputError, match="give the whole stream"):
        ranker.hindsight(X[:100], Y[:100])


def test_labels_given_on_the_first_call_fix_their_order():
    ranker = MMPRanker().partial_fit([[1, 0]], [["b"]], labels=["c", "b", "a"])
    assert ranker.labels_.tolist() == ["c", "b", "a"]
    ranker.partial_fit([[1, 0]], [["a"]])
    with pytest.raises(InputError, match="'x', which is not among the 4 labels"):
        ranker.partial_fit([[1, 0]], [["x"]], labels=["d"])
    assert ranker.labels_.tolist() == ["c", "b", "a"]
    ranker.partial_fit([[1, 0]], [["z"]], labels=["z", "y"])
    assert ranker.labels_.tolist() == ["c", "b", "a", "z", "y"]


def test_numbered_single_labels_grow_too():
    ranker = PerceptronRanker().partial_fit([[1, 0], [0, 1]], np.array([3, 1])).partial_fit([[1, 1]], np.array([2]))
    assert ranker.labels_.tolist() == [1, 3, 2]
    assert ranker.predict([[1, 1]]).tolist() == [2]


def test_the_kind_is_fixed_by_the_first_call():
    X = np.eye(2)
    ranker = MMPRanker().partial_fit(X, np.array([[1, 0], [0, 1]]))
    with pytest.raises(InputError):
        ranker.partial_fit(X, np.array([[1, 0, 0], [0, 1, 0]]))
    with pytest.raises(InputError, match="columns of y were fixed"):
        ranker.partial_fit(X, np.array([[1, 0], [0, 1]]), labels=["a", "b"])
    ranker.partial_fit(X, as_graphs(np.array([[0, 1], [0, 1]])))
    with pytest.raises(InputError, match="3 labels without names, where 2 are expected"):
        ranker.partial_fit(X, as_graphs(np.array([[0, 1, 0], [0, 1, 0]])))
    by_graphs = MMPRanker().partial_fit(X, as_graphs([["a"], ["b"]]))
    assert by_graphs.predict(X).tolist() == [[1, 2], [2, 1]]
    by_graphs.partial_fit(X, as_graphs([["c"], ["b"]], labels=["a", "b", "c"]))
    assert by_graphs.labels_.tolist() == ["a", "b", "c"]
    with pytest.raises(InputError, match="The first call was given graphs"):
        by_graphs.partial_fit(X, [["a"], ["b"]])
    with pytest.raises(InputError, match="X has 2 rows and y has 1"):
        by_graphs.partial_fit(X, as_graphs([["a"]], labels=["a", "b", "c"]))


def test_mmp_learns_nothing_from_documents_without_topics_or_with_all_of_them():
    X, Y = random_stream()
    for ranker in RANKERS:
        if isinstance(ranker, PerceptronRanker):
            continue
        fitted = type(ranker)(**ranker.get_params()).fit(X, Y)
        before = fitted.get_state()
        fitted.partial_fit(X[:2], np.array([[0] * 5, [1] * 5], dtype=bool))
        after = fitted.get_state()
        assert after["counters"][1] == before["counters"][1] + 2
        after["counters"][1] = before["counters"][1]
        for name in before.keys() - {"parameters", "labels"}:
            np.testing.assert_array_equal(before[name], after[name])


def test_perceptrons_learn_from_documents_without_topics_and_with_all_of_them():
    ranker = PerceptronRanker().partial_fit([[1.0, 0.0]], [["a"]], labels=["a", "b"])
    ranker.partial_fit([[1.0, 2.0]], [[]])  # scores 1 and -1: only "a" is wrong
    np.testing.assert_array_equal(ranker.coef_, [[0, -2], [-1, 0]])
    ranker.partial_fit([[0.0, 1.0]], [["a", "b"]])  # scores -2 and 0: both are wrong
    np.testing.assert_array_equal(ranker.coef_, [[0, -1], [-1, 1]])
    assert (ranker.n_rounds_, ranker.n_skipped_, len(ranker.cumulative_losses_)) == (1, 2, 1)
    ranker.partial_fit([[4.0, 0.0]], [["c"]]).partial_fit([[1.0, 0.0]], [[]])
    np.testing.assert_array_equal(ranker.coef_, [[-4, -1], [-1, 1], [3, 0]])  # "c" is known, and pushed down


def test_labels_that_are_not_judged_are_no_examples():
    graphs = LayeredGraphs.from_levels([[0, 1, 1], [1, -1, -1], [-1, -1, -1]])
    ranker = PerceptronRanker().fit(np.eye(3), graphs)
    np.testing.assert_array_equal(ranker.coef_, [[1, -1, 0], [-1, 0, 0], [-1, 0, 0]])


def test_documents_without_topics_are_not_part_of_the_mean():
    X, Y = random_stream()
    Y[::7] = False
    last, history = online_oracle.perceptron(
        sparse_rows(X.toarray()), [set(np.flatnonzero(row).tolist()) for row in Y], 6, 5
    )
    assert len(history) < 60
    mean = PerceptronRanker(average=True).fit(X, Y)
    np.testing.assert_allclose(mean.coef_, np.mean(history, axis=0).T, atol=1e-12)
    np.testing.assert_allclose(PerceptronRanker().fit(X, Y).coef_, np.transpose(last), atol=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("make", [np.array, sp.csr_matrix])
def test_a_bad_feature_is_an_error_that_names_the_row(value, make):
    X, Y = np.ones((4, 3)), np.eye(4, dtype=bool)
    ranker = MMPRanker().fit(X, Y)
    X[2, 1] = value
    for call in (MMPRanker().fit, MMPRanker().partial_fit, ranker.partial_fit):
        with pytest.raises(InputError, match="X holds (NaN|-?inf) in row 2, column 1"):
            call(make(X), Y)
    with pytest.raises(InputError, match="row 2, column 1"):
        ranker.score_labels(make(X))


def test_scores_that_overflow_are_an_error():
    X = np.array([[1e90], [1e90], [1e90]])
    with pytest.raises(InputError, match="row 1 are no longer finite"):
        MMPRanker("size", kernel="poly", gamma=1.0).fit(X, ["a", "b", "a"])


def test_unsorted_and_repeated_indices_are_summed_and_left_alone():
    X = sp.csr_matrix((np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    ranker = MMPRanker().fit(X, as_graphs([["a"]], labels=["a", "b"]))
    assert X.nnz == 3
    np.testing.assert_array_equal(ranker.coef_, [[2, 4], [-2, -4]])
    assert ranker.mistake_bound(1.0) == 2 * 20


def test_epochs_and_shuffling():
    X, Y = random_stream()
    twice = MMPRanker(epochs=2).fit(X, Y)
    assert_same_weights(twice, MMPRanker().fit(sp.vstack([X, X], format="csr"), np.vstack([Y, Y])))
    assert [entry["loss1"] for entry in twice.history_][-1] == twice.cumulative_losses_[-1, 0]
    order = np.random.RandomState(3).permutation(60)
    assert_same_weights(MMPRanker(shuffle=True, random_state=3).fit(X, Y), MMPRanker().fit(X[order], Y[order]))


def assert_same_weights(one, other):
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_verbose_tells_each_pass(capsys):
    X, Y = random_stream()
    PerceptronRanker(verbose=2, epochs=2).fit(X, Y)
    assert "iteration 2/2" in capsys.readouterr().err


@pytest.mark.parametrize("average", [False, True])
def test_a_linear_kernel_is_the_linear_ranker(average):
    X, Y = random_stream()
    for loss in LOSSES:
        linear = MMPRanker(loss, average=average, epochs=2).fit(X, Y)
        for more in ({"kernel": "poly", "degree": 1, "gamma": 1.0, "coef0": 0.0}, {"kernel": lambda A, B: A @ B.T}):
            ranker = MMPRanker(loss, average=average, epochs=2, **more)
            if callable(ranker.kernel):
                ranker.set_params(kernel=lambda A, B: (A @ B.T).toarray())
            ranker.fit(X, Y)
            np.testing.assert_allclose(ranker.score_labels(X), linear.score_labels(X), atol=1e-10)
            np.testing.assert_allclose(ranker.cumulative_losses_, linear.cumulative_losses_)
            np.testing.assert_allclose(ranker.mistake_bound(1.0), linear.mistake_bound(1.0))


def test_a_kernel_learns_what_no_linear_ranker_can():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    y = ["same", "same", "other", "other"]
    ranker = MMPRanker(kernel="rbf", gamma=2.0, epochs=20).fit(X, y)
    assert ranker.predict(X).tolist() == y
    assert ranker.margins(X, y).min() > 0
    arcs = [[("same", "other")]] * 2 + [[("other", "same")]] * 2
    assert MMPRanker(kernel="rbf", gamma=2.0, epochs=20).fit(X, arcs).margins(X, arcs).min() > 0
    with pytest.raises(AttributeError, match="no weights"):
        _ = ranker.coef_
    with pytest.raises(ParameterError, match="explain needs a linear ranker"):
        ranker.explain(X[:1], "same", "other")
    with pytest.raises(ParameterError, match="callable kernel"):
        MMPRanker(kernel=lambda A, B: (A @ B.T).toarray()).fit(X, y).get_state()


def test_margins_are_those_of_figure_1():
    ranker = MMPRanker().fit(np.eye(3), np.eye(3, dtype=int))
    scores = ranker.score_labels(np.eye(3))
    expected = [min(scores[i, [i]]) - max(np.delete(scores[i], i)) for i in range(3)]
    np.testing.assert_array_equal(ranker.margins(np.eye(3), np.eye(3, dtype=int)), expected)
    with pytest.raises(InputError, match="one graph per row"):
        ranker.margins(np.eye(3), np.eye(3, dtype=int)[:2])


def test_perceptron_predicts_positive_scores_and_needs_label_sets():
    X, Y = random_stream()
    ranker = PerceptronRanker().fit(X, Y)
    np.testing.assert_array_equal(ranker.predict(X), ranker.score_labels(X) > 0)
    for y in ([[("a", "b")]] * 60, np.tile([1, 2, 3], (60, 1))):
        with pytest.raises(GraphError, match="needs label sets"):
            PerceptronRanker().fit(X, y)


def test_explain_sums_to_the_margin():
    X, Y = random_stream()
    ranker = MMPRanker(average=True).fit(X, Y)
    told = ranker.explain(X[0], 1, 3)
    np.testing.assert_allclose(told.margin, np.subtract(*ranker.score_labels(X[0])[0, [1, 3]]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of 'indicator', 'size', 'normalized'"),
        ({"epochs": 0}, "epochs must be a whole number"),
        ({"kernel": "cosine"}, "kernel must be None, 'rbf', 'poly' or a callable"),
        ({"gamma": -1.0}, "gamma must be a number greater than 0"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    for method in ("fit", "partial_fit"):
        with pytest.raises(ParameterError, match=message):
            getattr(MMPRanker(**parameters), method)(np.eye(2), ["a", "b"])


def test_average_cannot_change_on_the_way():
    ranker = MMPRanker().partial_fit(np.eye(2), ["a", "b"]).set_params(average=True)
    with pytest.raises(ParameterError, match="average was fixed by the first call"):
        ranker.partial_fit(np.eye(2), ["a", "b"])


def test_scoring_a_restored_ranker_does_not_import_numba(tmp_path):
    ranker = MMPRanker().fit(np.eye(3), np.eye(3, dtype=int))
    state = ranker.get_state()
    np.savez(tmp_path / "state.npz", **{name: part for name, part in state.items() if isinstance(part, np.ndarray)})
    (tmp_path / "state.json").write_text(json.dumps({name: state[name] for name in ("parameters", "labels")}))
    script = f"""
import json, sys, numpy as np
from arcrank.rankers.online.mmp import MMPRanker
state = json.load(open({str(tmp_path / "state.json")!r})) | dict(np.load({str(tmp_path / "state.npz")!r}))
ranker = MMPRanker.from_state(state)
assert ranker.rank(np.eye(3), top=1).ravel().tolist() == {ranker.rank(np.eye(3), top=1).ravel().tolist()}
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_state_is_shared_only_where_that_is_wanted():
    X, y = np.eye(3), ["a", "b", "c"]
    ranker = MMPRanker().fit(X, y)
    state = ranker.get_state(copy=False)
    assert state["weights"] is ranker._model.weights
    assert MMPRanker.from_state(state, copy=False)._model.weights is state["weights"]
    before = state["weights"].copy()
    MMPRanker.from_state(state).partial_fit(-X, y)
    np.testing.assert_array_equal(state["weights"], before)
