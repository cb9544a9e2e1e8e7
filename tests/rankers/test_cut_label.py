"""Rankers that learn where rankings end."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import arcrank
from arcrank import CUT, LogLinearRanker, MMPRanker, PerceptronRanker, PreferenceMachine
from arcrank.decompositions import CallableDecomposition
from arcrank.errors import InputError, ModelFileError, ParameterError
from arcrank.graphs import Hierarchy, as_graphs
from arcrank.graphs.cut import insert_cut
from arcrank.rankers.out_of_fold import judgements
from tests.modelfile.mutants import signed, split

TIGHT = {"C": 1.0, "intercept": "regularised", "tol": 1e-6, "max_iter": 5_000, "random_state": 0}
LOOSE = {"C": 1.0, "intercept": "regularised", "tol": 1e-3, "max_iter": 5_000, "random_state": 0}
UNCALIBRATED = {"cut_label": True, "calibration_folds": 0}
LINEAR = {
    "dual": LogLinearRanker(solver="dual", **TIGHT),
    "lbfgs": LogLinearRanker(solver="lbfgs", **TIGHT),
    "lbfgs without intercept": LogLinearRanker(solver="lbfgs", fit_intercept=False, **TIGHT),
    "boosting": LogLinearRanker("zero-one", "boosting", max_iter=30),
    "machine": PreferenceMachine(**LOOSE),
    "machine squared": PreferenceMachine("disagreement", "squared-hinge", **LOOSE),
    "codes": PreferenceMachine(codes="one-vs-one", **LOOSE),
    "mmp": MMPRanker("size", epochs=3),
    "mmp average": MMPRanker(average=True, epochs=2, shuffle=True, random_state=0),
}
RANKERS = LINEAR | {
    "rbf": PreferenceMachine(kernel="rbf", **LOOSE),
    "mmp kernel": MMPRanker(kernel="rbf", epochs=2),
    "mmp kernel average": MMPRanker(kernel="poly", average=True),
}
WITH_PERCEPTRON = RANKERS | {
    "perceptron": PerceptronRanker(epochs=2),
    "perceptron average": PerceptronRanker(average=True),
}
ONLINE = [
    MMPRanker("size", **UNCALIBRATED),
    MMPRanker(average=True, **UNCALIBRATED),
    MMPRanker("normalized", kernel="rbf", **UNCALIBRATED),
    PerceptronRanker(average=True, **UNCALIBRATED),
]


def of(named):
    return pytest.mark.parametrize("ranker", named.values(), ids=named.keys())


def with_cut(ranker, **parameters):
    return clone(ranker).set_params(**UNCALIBRATED | parameters)


def documents(n=40, k=4, d=5, seed=0):
    """Label sets that depend on the features; one is empty and one is full."""
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(n, d)), rng.normal(size=(d, k))
    Y = (X @ W - 0.5 + rng.logistic(size=(n, k)) > 0).astype(np.int64)
    Y[0], Y[1] = 0, 1
    return X, Y


X, Y = documents()


@of(RANKERS)
def test_scores_are_those_of_three_layers_less_that_of_the_cut(ranker):
    if isinstance(ranker, LogLinearRanker):  # under domination the cut is constant
        ranker = clone(ranker).set_params(decomposition="dominated")
    cut = with_cut(ranker).fit(X, Y)
    scores = clone(ranker).fit(X, insert_cut(as_graphs(Y)).with_labels(None)).score_labels(X)
    np.testing.assert_allclose(cut.score_labels(X), scores[:, 1:] - scores[:, :1], atol=1e-9)
    assert cut.labels_.tolist() == [0, 1, 2, 3]
    assert cut.score_labels(X).shape == (len(X), 4)


def test_precomputed_kernels_and_given_codes_have_the_same_cut():
    gram = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    rbf = with_cut(RANKERS["rbf"], gamma=0.2).fit(X, Y)
    precomputed = with_cut(RANKERS["rbf"], kernel="precomputed").fit(gram, Y)
    np.testing.assert_allclose(precomputed.score_labels(gram), rbf.score_labels(X), atol=0.02)
    coded = with_cut(LINEAR["machine"], codes=np.eye(4)).fit(X, Y)
    given = np.vstack([np.zeros(4), np.eye(4)])
    graphs = insert_cut(as_graphs(Y)).with_labels(None)
    scores = clone(LINEAR["machine"]).set_params(codes=given).fit(X, graphs).score_labels(X)
    np.testing.assert_allclose(coded.score_labels(X), scores[:, 1:], atol=1e-9)
    with pytest.raises(InputError, match="one row for each of the 4 labels"):
        with_cut(LINEAR["machine"], codes=np.eye(5)).fit(X, Y)


def test_a_perceptron_has_its_cut_at_0():
    cut, plain = (PerceptronRanker(**parameters).fit(X, Y) for parameters in (UNCALIBRATED, {}))
    np.testing.assert_array_equal(cut.score_labels(X), plain.score_labels(X))


@of(WITH_PERCEPTRON)
def test_labels_above_0_are_predicted(ranker):
    cut = with_cut(ranker).fit(X, Y)
    expected = cut.score_labels(X) > 0
    np.testing.assert_array_equal(cut.predict(X), expected)
    names = np.array(list("abcd"))
    named = with_cut(ranker).fit(X, [names[row == 1].tolist() for row in Y])
    assert named.labels_.tolist() == list("abcd")
    assert named.predict(X) == [names[row].tolist() for row in named.score_labels(X) > 0]
    assert named.rank(X[:3]).shape == (3, 4)
    order = np.take_along_axis(named.score_labels(X), np.searchsorted(names, named.rank(X)), axis=1)
    assert (np.diff(order, axis=1) <= 0).all()
    assert 0 < named.score(X, as_graphs(Y, labels=names.tolist())) <= 1


@of(LINEAR | {"perceptron": PerceptronRanker()})
def test_explain_sums_to_the_score(ranker):
    cut = with_cut(ranker, calibration_folds=2).fit(X, Y)
    for label, score in enumerate(cut.score_labels(X[:1])[0]):
        why = cut.explain(X[0], above=label, below=CUT)
        assert why.margin == pytest.approx(score)
        assert why.intercept + sum(part for _, part in why.parts) == pytest.approx(score)
        assert cut.explain(X[0], above=CUT, below=label).margin == pytest.approx(-score)
    with pytest.raises(InputError, match="has not learnt a cut"):
        clone(ranker).fit(X, Y).explain(X[0], above=0, below=CUT)


@of(WITH_PERCEPTRON)
def test_empty_and_full_sets_teach(ranker):
    proper = np.isin(Y.sum(axis=1), [1, 2, 3])
    x = X[proper]
    before = with_cut(ranker).fit(x, Y[proper]).score_labels(x[:1])
    for extra in (0, 1):
        more = np.vstack([np.full((3, 5), 2.0), x]), np.vstack([np.full((3, 4), extra), Y[proper]])
        after = with_cut(ranker).fit(*more).score_labels(x[:1])
        assert np.abs(after - before).max() > 1e-3


@of(WITH_PERCEPTRON)
def test_single_labels_predict_the_best(ranker):
    y = np.array(list("abcd"))[X[:, :4].argmax(axis=1)]
    cut = with_cut(ranker).fit(X, y)
    assert (cut.predict(X) == cut.labels_[cut.score_labels(X).argmax(axis=1)]).all()
    assert (cut.predict(X) == y).mean() > 0.5


def three_kinds():
    names = list("abcd")
    arcs = [[(names[j], CUT) if on else (CUT, names[j]) for j, on in enumerate(row)] for row in Y]
    layers = [
        [[names[j] for j in np.flatnonzero(row)], [CUT], [names[j] for j in np.flatnonzero(1 - row)]] for row in Y
    ]
    return {
        "indicator": (Y, "indicator"),
        "sparse": (sp.csr_matrix(Y), "indicator"),
        "sets": ([np.array(names)[row == 1].tolist() for row in Y], "sets"),
        "graphs": (as_graphs(Y, labels=names), "graphs"),
        "layers": (layers, "layers"),
        "arcs": (arcs, "arcs"),
        "grades": (as_graphs(3 * Y, kind="grades", labels=names, cut_level=2), "graphs"),
    }


@pytest.mark.parametrize("name", three_kinds())
@pytest.mark.parametrize("ranker", [LINEAR["lbfgs"], LINEAR["machine"], LINEAR["mmp"]], ids=["lbfgs", "machine", "mmp"])
def test_kinds_of_supervision(name, ranker):
    y, kind = three_kinds()[name]
    cut = with_cut(ranker).fit(X, y)
    assert cut._kind == kind
    assert len(cut.labels_) == 4
    assert CUT not in cut.labels_.tolist()
    if kind != "arcs":
        np.testing.assert_allclose(cut.score_labels(X), with_cut(ranker).fit(X, Y).score_labels(X), atol=1e-6)
    assert ((cut.score_labels(X) > 0) == Y).mean() > 0.6
    assert 0 < cut.score(X, y) <= 1


def test_arcs_with_the_cut_only_are_binary_problems_and_can_be_calibrated():
    y, _ = three_kinds()["arcs"]
    cut = LogLinearRanker(cut_label=True).fit(X, y)
    assert cut.predict_proba(X).shape == (40, 4)


TREE = Hierarchy({"food": None, "tea": "food", "milk": "food", "car": None, "bus": "car", "van": "car"})


@pytest.mark.parametrize("ranker", [LINEAR["dual"], LINEAR["machine"], LINEAR["mmp"]], ids=["dual", "machine", "mmp"])
def test_leaves_of_a_hierarchy(ranker):
    names = ["bus", "milk", "tea", "van"]
    sets = [[names[j] for j in np.flatnonzero(row)] for row in Y]
    graphs = TREE.leaf_graphs(sets)
    cut = with_cut(ranker, cut_level=0).fit(X, graphs)
    assert cut.labels_.tolist() == list(TREE.leaves)
    columns = [TREE.leaves.index(name) for name in names]
    assert ((cut.score_labels(X)[:, columns] > 0) == Y).mean() > 0.7
    judged, relevant = judgements(insert_cut(graphs, 0))
    np.testing.assert_array_equal(judged.all(axis=1), Y.any(axis=1))  # no labels: nothing is known of the leaves
    np.testing.assert_array_equal(relevant[:, columns], Y)
    with pytest.raises(InputError, match="needs to know which labels are above the cut"):
        with_cut(ranker).fit(X, graphs)


@of(WITH_PERCEPTRON)
def test_one_label_is_enough_with_a_cut(ranker):
    y = (X[:, :1] > 0.2).astype(int)
    cut = with_cut(ranker, calibration_folds=3).fit(X, y)
    assert cut.score_labels(X).shape == (40, 1)
    assert (cut.predict(X) == y).mean() > 0.7
    assert (np.diff(cut.predict_proba(X)[cut.score_labels(X)[:, 0].argsort(), 0]) >= 0).all()
    with pytest.raises(InputError, match="single column"):
        clone(ranker).fit(X, y)


@pytest.mark.parametrize("ranker", ONLINE, ids=str)
@given(cuts=st.lists(st.integers(0, 40), max_size=4))
@settings(max_examples=15, deadline=None)
def test_partial_fit_in_any_blocks_is_fit_bit_for_bit(ranker, cuts):
    whole, parts = clone(ranker).fit(X, Y), clone(ranker)
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), 40], strict=True):
        if stop > start:
            parts.partial_fit(X[start:stop], Y[start:stop])
    np.testing.assert_array_equal(whole.score_labels(X), parts.score_labels(X))
    resumed = type(ranker).from_state(parts.get_state())
    np.testing.assert_array_equal(whole.score_labels(X), resumed.score_labels(X))
    np.testing.assert_array_equal(
        whole.partial_fit(X[:9], Y[:9]).score_labels(X), resumed.partial_fit(X[:9], Y[:9]).score_labels(X)
    )


@pytest.mark.parametrize("ranker", ONLINE, ids=str)
def test_labels_that_appear_later(ranker):
    ranker = clone(ranker).partial_fit([[1, 0], [0, 1], [1, 1]], [["b"], ["a"], []])
    before = ranker.score_labels([[1, 2]])
    ranker.partial_fit([[0, 0]], [["d", "c"]])  # a row without features changes no linear weight
    assert ranker.labels_.tolist() == ["a", "b", "c", "d"]
    if getattr(ranker, "kernel", None) is None and not ranker.average:
        np.testing.assert_array_equal(ranker.score_labels([[1, 2]])[:, :2], before)
    for _ in range(5):
        ranker.partial_fit([[0, 5]], [["c"]])
    assert ranker.predict([[0, 5]]) == [["c"]]


def test_arcs_and_layers_in_blocks_need_not_all_mention_the_cut():
    arcs = MMPRanker(**UNCALIBRATED).partial_fit([[1, 0]], [[("a", CUT), (CUT, "b")]])
    arcs.partial_fit([[0, 1]], [[("b", "a")]]).partial_fit([[1, 1]], [[("c", CUT)]])
    assert arcs.labels_.tolist() == ["a", "b", "c"]
    layers = MMPRanker(**UNCALIBRATED).partial_fit([[1, 0]], [[["a"], [CUT], ["b"]]])
    layers.partial_fit([[0, 1]], [[["b"], ["a"]]])
    assert layers.score_labels([[1, 1]]).shape == (1, 2)
    graphs = MMPRanker(**UNCALIBRATED).partial_fit([[1, 0]], as_graphs([["a"]], labels=["a", "b"]))
    graphs.partial_fit([[0, 1]], as_graphs([["c"]], labels=["b", "c"]))
    assert graphs.labels_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_two_layers_are_not_taken_for_label_sets(method):
    """A later block that does not mention the cut would mean something else."""
    y = [[["a"], ["b"]], [["b"], ["a"]]]
    with pytest.raises(InputError, match="needs to know which labels are above the cut"):
        getattr(MMPRanker(**UNCALIBRATED), method)(np.eye(2), y)
    ranker = MMPRanker(**UNCALIBRATED, cut_level=0)
    whole = clone(ranker).fit(np.eye(2), y)
    parts = ranker.partial_fit(np.eye(2)[:1], y[:1]).partial_fit(np.eye(2)[1:], y[1:])
    np.testing.assert_array_equal(whole.score_labels(np.eye(2)), parts.score_labels(np.eye(2)))


def test_cut_label_cannot_change_on_the_way():
    ranker = MMPRanker().partial_fit(X, Y).set_params(cut_label=True)
    with pytest.raises(ParameterError, match="cut_label was fixed by the first call"):
        ranker.partial_fit(X, Y)
    fitted = MMPRanker(**UNCALIBRATED).fit(X, Y).set_params(cut_label=False)
    with pytest.raises(ParameterError, match="cut_label was fixed by the first call"):
        fitted.partial_fit(X, Y)


@pytest.mark.parametrize("ranker", [MMPRanker(cut_label=True), PerceptronRanker(cut_label=True)], ids=str)
def test_a_calibrated_ranker_goes_on_learning(ranker):
    names = np.array(list("abcd"))
    sets = [names[row == 1].tolist() for row in Y]
    ranker = clone(ranker).fit(X, sets)
    mean = ranker.calibration_.offsets.mean()
    ranker.partial_fit(X[:3], [["e"], ["a"], []])
    assert ranker.calibration_.offsets.shape == (5,)
    assert ranker.calibration_.offsets[-1] == pytest.approx(mean)
    assert ranker.predict_proba(X).shape == (40, 5)
    resumed = type(ranker).from_state(ranker.get_state())
    np.testing.assert_array_equal(resumed.predict_proba(X), ranker.predict_proba(X))


@pytest.mark.parametrize("name", ["dual", "lbfgs", "boosting", "machine", "rbf"])
def test_weights_of_instances_are_repetitions(name):
    weight = np.where(np.arange(40) % 3, 1, 2)
    rows = np.repeat(np.arange(40), weight)
    weighted = with_cut(RANKERS[name]).set_params(**{"gamma": 0.2} if name == "rbf" else {})
    if name == "machine":
        weighted.set_params(tol=1e-5)  # the two solvers see other instances, so they end elsewhere within the gap
    repeated = clone(weighted).fit(X[rows], Y[rows])
    weighted.fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(weighted.score_labels(X), repeated.score_labels(X), atol=0.03)
    once = clone(weighted).fit(X, Y)
    assert np.abs(weighted.score_labels(X) - once.score_labels(X)).max() > 0.05


@pytest.mark.parametrize("name", ["lbfgs", "machine"])
def test_calibration_takes_weights_of_instances(name):
    ranker = with_cut(RANKERS[name], calibration_folds=3, tol=1e-3)
    assert ranker.fit(X, Y, sample_weight=np.ones(40)).predict_proba(X).shape == (40, 4)


@of(WITH_PERCEPTRON)
def test_the_cut_in_y_needs_cut_label(ranker):
    y = as_graphs([[["a"], [CUT], ["b"]]] * 40)
    with pytest.raises(InputError, match="y mentions CUT, but this .* pass cut_label=True"):
        clone(ranker).fit(X, y)
    if hasattr(ranker, "partial_fit"):
        with pytest.raises(InputError, match="y mentions CUT"):
            clone(ranker).partial_fit(X, y)


def test_a_perceptron_refuses_graphs_that_mention_the_cut():
    with pytest.raises(InputError, match="has no weights for it; give label sets"):
        PerceptronRanker(cut_label=True).fit(X, as_graphs([[["a"], [CUT], ["b"]]] * 40))


@pytest.mark.parametrize("name", ["dual", "lbfgs", "machine"])
def test_warm_start_with_a_cut(name):
    ranker = with_cut(RANKERS[name], calibration_folds=2, warm_start=True, tol=1e-5)
    cold = clone(ranker).set_params(C=2.0).fit(X, Y)
    warm = ranker.fit(X, Y).set_params(C=2.0).fit(X, Y)
    assert warm.n_iter_ <= cold.n_iter_
    np.testing.assert_allclose(warm.score_labels(X), cold.score_labels(X), atol=0.05)
    assert warm.fit(X, Y).n_iter_ < cold.n_iter_ / 4


def test_learning_without_a_cut_after_learning_with_one():
    ranker = LogLinearRanker(cut_label=True, warm_start=True, tol=1e-6).fit(X, Y).set_params(cut_label=False).fit(X, Y)
    assert not hasattr(ranker, "calibration_")
    assert not hasattr(ranker, "predict_proba")
    np.testing.assert_allclose(ranker.score_labels(X), LogLinearRanker(tol=1e-6).fit(X, Y).score_labels(X), atol=0.02)


@pytest.mark.parametrize("cls", [LogLinearRanker, PreferenceMachine, MMPRanker, PerceptronRanker])
def test_parameters_of_the_cut(cls):
    given = {"cut_label": True, "cut_level": 1, "set_measure": "macro_f1", "calibration_folds": 5}
    assert clone(cls(**given)).get_params().items() >= given.items()
    for wrong in ({"cut_label": "yes"}, {"cut_level": -1}, {"cut_level": 0.5}, {"calibration_folds": 1},
                  {"calibration_folds": -2}, {"set_measure": "accuracy"}, {"set_measure": "precision>=2"}):  # fmt: skip
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            cls(**given | wrong).fit(X, Y)


@of(WITH_PERCEPTRON)
def test_model_files_keep_the_probabilities_to_the_last_bit(ranker, tmp_path):
    target = X[:, :4].argmax(axis=1) if ranker in (LINEAR["lbfgs"], LINEAR["mmp"]) else Y
    cut = with_cut(ranker, calibration_folds=2, set_measure="macro_f1").fit(X, target)
    cut.calibrate(X, target).calibrate(X[:30], target[:30])
    arcrank.save(cut, tmp_path / "model")
    loaded = arcrank.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.score_labels(X), cut.score_labels(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), cut.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), cut.predict(X))
    np.testing.assert_array_equal(loaded.predict_above_proba(X, 0, 2), cut.predict_above_proba(X, 0, 2))
    assert loaded.calibration_.describe() == cut.calibration_.describe()
    json.dumps(loaded.calibration_.describe())


def damage(name, change):
    def damaged(manifest, arrays):
        arrays[f"0/calibration.{name}"] = change(arrays[f"0/calibration.{name}"])

    return damaged


def set_number(name, value):
    def damaged(manifest, arrays):
        manifest["parts"][0]["learnt"]["calibration"][name] = value

    return damaged


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (damage("score_values", lambda a: a[::-1].copy()), "does not increase"),
        (damage("score_knots", lambda a: np.sort(a)[::-1].copy()), "does not increase"),
        (damage("best_knots", np.zeros_like), "does not increase"),
        (damage("second_values", lambda a: np.full_like(a, np.nan)), "second_values"),
        (damage("score_values", lambda a: a[:-1].copy()), "score"),
        (damage("offsets", lambda a: a[:-1].copy()), "offsets"),
        (set_number("above_slope", -1.0), "above_slope"),
        (set_number("above_slope", 0.0), "slope of the calibration is 0"),
        (set_number("temperature", 0.0), "slope of the calibration is 0"),
        (set_number("first_bonus", -1e-9), "first_bonus"),
        (set_number("one_label", 1), "one_label"),
        (set_number("documents", -1), "documents"),
        (set_number("set_measure", "luck"), "set_measure"),
    ],
)
def test_a_damaged_calibration_is_refused(change, said, tmp_path):
    path = tmp_path / "model"
    arcrank.save(with_cut(MMPRanker(), calibration_folds=2).fit(X, Y), path)
    manifest, arrays = split(path.read_bytes())
    change(manifest, arrays)
    path.write_bytes(signed(manifest, arrays))
    with pytest.raises(ModelFileError, match=said):
        arcrank.load(path)


@pytest.mark.parametrize("ranker", [LogLinearRanker(), PreferenceMachine(), PreferenceMachine(kernel="rbf")], ids=str)
def test_the_calibration_of_every_ranker_is_checked(ranker, tmp_path):
    path = tmp_path / "model"
    arcrank.save(with_cut(ranker, calibration_folds=2).fit(X, Y), path)
    manifest, arrays = split(path.read_bytes())
    damage("score_values", lambda values: values[::-1].copy())(manifest, arrays)
    path.write_bytes(signed(manifest, arrays))
    with pytest.raises(ModelFileError, match="does not increase"):
        arcrank.load(path)


def test_a_custom_decomposition_sees_the_cut_as_label_0():
    def each(heads, tails, row):
        return [[a] for a in range(len(heads))]

    named = with_cut(LINEAR["machine"], decomposition="disagreement").fit(X, Y)
    custom = with_cut(LINEAR["machine"], decomposition=CallableDecomposition(each)).fit(X, Y)
    assert custom.objective_ == pytest.approx(named.objective_, rel=2e-3)
    assert ((custom.predict(X) == named.predict(X)).mean()) > 0.98
