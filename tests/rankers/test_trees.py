"""TreeRanker: what trees can learn and linear rankers cannot, both ways to grow them, explanations, missing values."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import arcrank
from arcrank import CUT, LogLinearRanker, TreeRanker
from arcrank.decompositions import get_decomposition
from arcrank.errors import InputError, ModelFileError, ParameterError
from arcrank.graphs import as_graphs, from_scores
from arcrank.losses import LogLinearLoss
from arcrank.metrics import kendall_tau
from arcrank.solvers.history import History
from arcrank.solvers.lightgbm_trees import LightGBMTrees
from tests.estimator_checks import parametrize_with_checks
from tests.modelfile.mutants import signed, split

GROWERS = pytest.mark.parametrize("shared", [True, False])


def small(shared=True, **more):
    return TreeRanker(n_rounds=15, n_runs=2, random_state=0, shared_trees=shared, **more)


def rings(n=240, seed=0):
    """Three labels by the distance from the centre: no linear function of X ranks them."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 2))
    centres = np.array([0.2, 0.6, 1.0])
    return X, np.abs(np.hypot(*X.T)[:, None] - centres).argsort(axis=1).argsort(axis=1) + 1.0


def expected_failures(estimator):
    counts = "min_samples_leaf counts instances, whatever their weight; so does LightGBM when it makes bins"
    return {f"check_sample_weight_equivalence_on_{form}_data": counts for form in ("dense", "sparse")}


@parametrize_with_checks(
    [TreeRanker(n_rounds=3, n_runs=1), TreeRanker(n_rounds=3, n_runs=1, shared_trees=False)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


@GROWERS
@pytest.mark.parametrize("decomposition", ["zero-one", "disagreement", "domination", "dominated"])
def test_learns_what_is_not_linear(shared, decomposition):
    (X, ranks), (X_test, ranks_test) = rings(), rings(100, seed=1)
    graphs = as_graphs(ranks, kind="ranks")
    ranker = small(shared, decomposition=decomposition).fit(X, graphs)
    linear = LogLinearRanker().fit(X, graphs)
    assert kendall_tau(ranks_test, ranker.score_labels(X_test)) > 0.75
    assert kendall_tau(ranks_test, linear.score_labels(X_test)) < 0.6
    losses = [entry["loss"] for entry in ranker.history_ if entry["run"] == 1]
    assert all(later < earlier for earlier, later in pairwise(losses))


@GROWERS
def test_explicit_arcs_and_own_pieces_give_the_same_trees_as_layers(shared):
    X, ranks = rings(60)
    graphs = as_graphs(ranks, kind="ranks")
    layers, arcs = (small(shared).fit(X, g).score_labels(X) for g in (graphs, graphs.to_arcs()))
    np.testing.assert_allclose(layers, arcs, atol=1e-6)
    own = small(shared, decomposition=lambda heads, tails, row: [np.flatnonzero(heads == h) for h in set(heads)])
    np.testing.assert_allclose(own.fit(X, graphs).score_labels(X), layers, atol=1e-6)


def test_a_step_is_newtons():
    """One round with one leaf: each label moves by -rate * sum g / sum h from the best constants."""
    X, y = np.zeros((8, 1)), as_graphs([0, 0, 0, 1, 1, 2, 2, 2])
    ranker = TreeRanker(n_rounds=1, n_runs=1, learning_rate=0.5, random_state=0).fit(X, y)
    loss = LogLinearLoss(y, get_decomposition("domination"))
    _, gradient, curvature = loss.derivatives(np.tile(ranker.intercept_, (8, 1)))
    expected = ranker.intercept_ - 0.5 * gradient.sum(axis=0) / curvature.sum(axis=0)
    np.testing.assert_allclose(ranker.score_labels(X)[0], expected)


def test_gradient_steps_are_means_whatever_the_weights():
    """One round of trees with a leaf for each place: labels are scored by their mean differences there."""
    X = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0)
    scores = np.array([[9.0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]] * 2 + [[0.0, 0, 0]] * 4)
    graphs = from_scores(scores, margin="difference")
    options = {"learning_rate": 1.0, "min_samples_leaf": 1, "random_thresholds": False}
    forest = TreeRanker("disagreement", 1, n_runs=1, arc_weights="count", steps="gradient", **options, random_state=0)
    found = forest.fit(X, graphs).score_labels([[0.0], [2.0]])
    centred = (scores - scores.mean(axis=1, keepdims=True))[:4].mean(axis=0)
    np.testing.assert_allclose(found[0] / np.abs(found[0]).max(), centred / np.abs(centred).max(), atol=1e-6)
    assert not forest.intercept_.any()
    np.testing.assert_allclose(found[1], found[0])  # instances without a preference change nothing
    alone = np.arange(12.0)[:, None]
    gradient, newton = (
        forest.set_params(steps=steps).fit(alone, graphs).score_labels(alone) for steps in ("gradient", "newton")
    )
    np.testing.assert_allclose(gradient[0, 0] / gradient[1, 1], 9.0)  # in proportion to the weights
    assert newton[0, 0] / newton[1, 1] < 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": "mean"}, "steps must be 'newton' or 'gradient', got 'mean'"),
        ({"steps": "gradient", "shared_trees": False}, "steps='gradient' is for shared_trees=True"),
    ],
)
def test_steps_are_checked(options, message):
    with pytest.raises(ParameterError, match=message):
        TreeRanker(**options).check_parameters()


def test_arrays_score_as_lightgbm_does():
    X, ranks = rings()
    X[::5, 1] = np.nan
    loss = LogLinearLoss(as_graphs(ranks, kind="ranks"), get_decomposition("domination"))
    settings = {"num_leaves": 15, "min_data_in_leaf": 2, "num_threads": 1, "extra_trees": True}
    trees = LightGBMTrees(X, loss, np.zeros(3), settings)
    trees.run(30, 0, History())
    new = np.concatenate([rings(500, seed=1)[0], X])
    np.testing.assert_allclose(trees.forest().scores(new, 3), trees._boosters[0].predict(new), rtol=0, atol=1e-12)
    sparse = sp.csr_matrix(np.nan_to_num(new))
    np.testing.assert_array_equal(trees.forest().scores(sparse, 3), trees.forest().scores(sparse.toarray(), 3))


@GROWERS
def test_same_seed_same_bits(shared):
    X, ranks = rings(80)
    options = {"subsample": 0.7, "max_features": 0.5}
    first, second = (small(shared, **options).fit(X, ranks).forest_ for _ in range(2))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, second, strict=True))
    other = small(shared, **options).set_params(random_state=1).fit(X, ranks)
    assert not np.array_equal(other.score_labels(X), small(shared, **options).fit(X, ranks).score_labels(X))


@GROWERS
@pytest.mark.parametrize("cut_label", [False, True])
def test_parts_sum_to_the_margin(shared, cut_label):
    X, _ = rings(80)
    ranker = small(shared, cut_label=cut_label, calibration_folds=2).fit(X, [["a"], ["b", "c"]] * 40)
    scores = ranker.score_labels(X)
    for row in range(5):
        why = ranker.explain(X[row], above="c", below="a")
        assert why.margin == pytest.approx(scores[row, 2] - scores[row, 0], abs=1e-12)
        assert why.intercept + sum(value for _, value in why.parts) == pytest.approx(why.margin, abs=1e-12)
        assert {name for name, _ in why.parts} <= {0, 1}
    if cut_label:
        assert ranker.explain(X[[0]], above="b", below=CUT).margin == pytest.approx(scores[0, 1], abs=1e-12)
    else:
        with pytest.raises(InputError, match="has not learnt a cut"):
            ranker.explain(X[0], above="b", below=CUT)


def test_an_irrelevant_feature_explains_nothing():
    X, ranks = rings()
    X = np.column_stack([X, np.ones(len(X))])
    assert 2 not in {name for name, _ in small().fit(X, ranks).explain(X[0], above=0, below=1).parts}


@GROWERS
def test_the_cut_is_learnt_and_calibrated(shared):
    X, ranks = rings()
    sets = [[label for label, rank in zip("abc", row, strict=True) if rank <= 1 + (row[0] == 1)] for row in ranks]
    sets[0] = []
    ranker = small(shared, cut_label=True).fit(X, sets)
    found = ranker.predict(X)
    assert np.mean([one == other for one, other in zip(found, sets, strict=True)]) > 0.8
    probabilities = ranker.predict_proba(X)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert ((ranker.score_labels(X) > 0) == [[label in one for label in "abc"] for one in found]).all()


@GROWERS
def test_missing_values(shared):
    X, ranks = rings()
    X[::3, 0] = np.nan
    ranker = small(shared).fit(X, ranks)
    known = ~np.isnan(X[:, 0])
    scores = ranker.score_labels(X)
    assert kendall_tau(ranks[known], scores[known]) > kendall_tau(ranks[~known], scores[~known]) > 0.2
    assert np.isfinite(ranker.score_labels([[0.1, np.nan]])).all()  # never missing in training
    why = ranker.explain([np.nan, 0.3], above=0, below=2)
    assert why.margin == pytest.approx(np.subtract(*ranker.score_labels([[np.nan, 0.3]])[0, [0, 2]]), abs=1e-12)
    with pytest.raises(InputError, match="X holds inf in row 0, column 1"):
        ranker.score_labels([[0.1, np.inf]])


@GROWERS
def test_sparse_rows_rank_as_dense_ones(shared):
    X, ranks = rings(80)
    X[np.abs(X) < 0.3] = 0.0
    ranker = small(shared).fit(sp.csr_matrix(X), ranks)
    np.testing.assert_array_equal(ranker.score_labels(sp.csr_matrix(X)), ranker.score_labels(X))
    np.testing.assert_array_equal(ranker.score_labels(X[3:4]), ranker.score_labels(X)[3:4])
    assert kendall_tau(ranks, ranker.score_labels(X)) > 0.6


@GROWERS
def test_constant_features_give_the_best_constant_ranking(shared):
    ranker = small(shared).fit(np.ones((10, 2)), ["a"] * 6 + ["b"] * 3 + ["c"])
    assert ranker.rank([[1.0, 1.0], [5.0, 0.0]]).tolist() == [["a", "b", "c"]] * 2


def test_what_single_precision_cannot_hold():
    with pytest.raises(InputError, match=r"more than 3.4e\+38"):
        small().fit([[1e39], [0.0]], ["a", "b"])
    with pytest.raises(InputError, match="X is sparse and holds NaN"):
        small().fit(sp.csr_matrix([[np.nan], [1.0]]), ["a", "b"])


@GROWERS
def test_a_callback_stops_and_what_was_grown_ranks(shared):
    X, ranks = rings(80)
    ranker = small(shared, callback=lambda entry: entry["iteration"] == 20).fit(X, ranks)
    assert [entry["run"] for entry in ranker.history_] == [1] * 15 + [2] * 5
    assert len(ranker.forest_.roots) == 20 * (1 if shared else 3)

    def interrupt(entry):
        if entry["iteration"] == 3:
            raise KeyboardInterrupt

    stopped = small(shared, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(X, ranks)
    assert np.isfinite(stopped.score_labels(X)).all()


def test_without_lightgbm(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    X, ranks = rings(40)
    assert small().fit(X, ranks).score(X, ranks) > 0.5
    with pytest.raises(ParameterError, match=r"LightGBM, which is not installed: install arcrank .* arcrank\[trees\]"):
        small(shared=False).fit(X, ranks)


@GROWERS
def test_a_stored_model_ranks_without_lightgbm(shared, tmp_path, monkeypatch):
    X, _ = rings(60)
    ranker = small(shared, cut_label=True).fit(X, [["a"], ["b", "c"], []] * 20)
    arcrank.save(ranker, tmp_path / "model")
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    loaded = arcrank.load(tmp_path / "model")
    assert loaded.score_labels(X).tobytes() == ranker.score_labels(X).tobytes()
    assert loaded.predict_proba(X).tobytes() == ranker.predict_proba(X).tobytes()
    assert loaded.explain(X[0], "a", CUT) == ranker.explain(X[0], "a", CUT)


def cycle(arrays):
    arrays["left"][np.flatnonzero(arrays["features"] >= 0)[-1]] = 0


def two_parents(arrays):
    split_node = np.flatnonzero(arrays["features"] >= 0)[0]
    arrays["left"][split_node] = arrays["right"][split_node]


def beyond(name, number):
    def change(arrays):
        arrays[name][0] = number

    return change


def narrow(arrays):
    arrays["values"].resize((len(arrays["values"]), 0), refcheck=False)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (narrow, "the nodes of trees have 0 values, but there are 3 labels"),
        (cycle, "the nodes of a tree are not in order"),
        (two_parents, "a node does not have exactly one parent"),
        (beyond("features", 2), "a feature or a label that does not exist"),
        (beyond("columns", 1), "a feature or a label that does not exist"),
        (beyond("roots", 10**9), "a node that does not exist"),
        (beyond("left", -1), "a node that does not exist"),
        (beyond("values", np.nan), "forest.values has numbers from nan"),
        (beyond("thresholds", np.inf), "forest.thresholds has numbers from"),
    ],
)
def test_forged_trees_are_refused(change, said, tmp_path):
    X, ranks = rings(60)
    path = tmp_path / "model"
    arcrank.save(small().fit(X, ranks), path)
    manifest, arrays = split(path.read_bytes())
    names = {name.rpartition(".")[2]: name for name in arrays}
    change({short: arrays[name] for short, name in names.items()})
    path.write_bytes(signed(manifest, arrays))
    with pytest.raises(ModelFileError, match=said):
        arcrank.load(path)
