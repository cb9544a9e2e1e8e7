"""RankBoost on a real cluster of processes: the stumps of one machine."""

from __future__ import annotations

import inspect
import json

import dask
import dask.array as da
import numpy as np
import pytest

import arcrank
from arcrank import RankBoost
from arcrank.distributed import DaskRankBoost
from arcrank.errors import InputError, ParameterError
from tests.distributed.conftest import CUTS, blocks_of


@pytest.fixture(scope="module")
def graded(problem):
    """Features of either sign, three grades and some rows without one."""
    X = problem[0].toarray().round(2)
    X[:, ::3] -= 0.3
    scores = X @ np.random.RandomState(3).randn(X.shape[1])
    grades = np.digitize(scores, np.quantile(scores, [0.6, 0.9])).astype(float)
    grades[::7] = -1
    return X, grades


@pytest.mark.slow
@pytest.mark.parametrize("n", CUTS)
@pytest.mark.parametrize("thresholds", ["all", 5])
def test_summed_scans_give_the_stumps_of_one_machine(client, graded, n, thresholds):
    X, grades = graded
    local = RankBoost(12, thresholds=thresholds).fit(X, grades)
    found = DaskRankBoost(12, thresholds=thresholds, client=client).fit(blocks_of(X, grades, CUTS[n]))
    np.testing.assert_array_equal(found.stumps_.features, local.stumps_.features)
    np.testing.assert_array_equal(found.stumps_.thresholds, local.stumps_.thresholds)
    np.testing.assert_allclose(found.stumps_.weights, local.stumps_.weights, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.loss_curve_, local.loss_curve_, atol=1e-10)
    np.testing.assert_allclose(found.bounds_, local.bounds_, atol=1e-10)
    assert found.n_instances_ == 300


def test_sparse_relevance_and_a_validation_pair(client, problem):
    X, y = problem
    relevant = np.array([int("l0" in labels) for labels in y])
    validation = X[200:], relevant[200:]
    local = RankBoost(30, patience=3).fit(X[:200], relevant[:200], validation)
    blocks = blocks_of(X, relevant, [0, 30, 200])
    found = DaskRankBoost(30, patience=3, client=client).fit(blocks, validation=validation)
    np.testing.assert_array_equal(found.stumps_.thresholds, local.stumps_.thresholds)
    np.testing.assert_allclose(found.validation_curve_, local.validation_curve_)


def test_a_feature_that_orders_all_pairs_ends_the_rounds(client, tmp_path):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    found = DaskRankBoost(client=client).fit(da.from_array(X, chunks=(2, 1)), da.from_array(y, chunks=2))
    local = RankBoost().fit(X, y)
    assert found.n_rounds_ == local.n_rounds_ == 1
    assert found.stumps_ == local.stumps_
    nothing = DaskRankBoost(client=client).fit([dask.delayed((np.zeros((2, 1)), [0, 1]))])
    assert nothing.n_rounds_ == 0
    arcrank.save(found.to_local(), tmp_path / "m.arcrank")
    assert arcrank.load(tmp_path / "m.arcrank").stumps_.weights == local.stumps_.weights


def test_files_name_their_features(client, tmp_path):
    for name, label in (("tea", "relevant"), ("milk", "irrelevant")):
        rows = [{"features": {name: 1.0, "cup": i}, "labels": [label]} for i in range(3)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = DaskRankBoost(client=client).fit(tmp_path)
    assert found.feature_names_in_.tolist() == ["cup", "milk", "tea"]
    weights = dict(zip(found.stumps_.features.tolist(), found.stumps_.weights.tolist(), strict=True))
    assert weights.get(1, 0.0) < 0.0 or weights.get(2, 0.0) > 0.0


def test_parameters_are_those_of_the_plain_ranker():
    plain, found = (inspect.signature(one).parameters for one in (RankBoost, DaskRankBoost))
    assert [str(one) for one in found.values()][: len(plain)] == [str(one) for one in plain.values()]
    assert list(found)[len(plain) :] == ["client", "timeout"]


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ((np.eye(2), ["tea", "milk"]), "partition 0: y must hold 1"),
        ((np.eye(2), [1.0, np.nan]), "partition 0: y holds NaN"),
        ((np.eye(2), [1]), "X has 2 rows and y has 1 entries"),
        ((np.eye(0), []), "All partitions are empty"),
        ((np.eye(2), [1, 1]), "no labelled instance is irrelevant"),
    ],
)
def test_data_that_cannot_be_learnt_from_are_refused(client, block, message):
    with pytest.raises(InputError, match=message):
        DaskRankBoost(client=client).fit([dask.delayed(block)])


def test_instances_are_not_held_out():
    with pytest.raises(ParameterError, match="pass fit a pair"):
        DaskRankBoost(early_stopping=True).fit([])
