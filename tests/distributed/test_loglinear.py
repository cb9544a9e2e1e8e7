"""Log-linear rankers on a real cluster of processes: equal to one machine."""

from __future__ import annotations

import inspect
import json
import pickle

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from arcrank import LogLinearRanker
from arcrank.datasets import Corpus
from arcrank.datasets.writers import write_corpus
from arcrank.distributed import DaskLogLinearRanker
from arcrank.errors import FormatError, InputError, ParameterError
from arcrank.graphs import as_graphs
from arcrank.rankers.candidates import CandidateSets
from tests.distributed.conftest import CUTS, blocks_of


@pytest.mark.parametrize("n", CUTS)
@pytest.mark.parametrize("solver", ["boosting", "lbfgs"])
def test_sums_over_partitions_give_the_result_of_one_machine(client, problem, solver, n):
    X, y = problem
    settings = {"solver": solver, "max_iter": 15, "tol": 1e-9 if solver == "boosting" else 1e-3, "C": 2.0}
    local = LogLinearRanker(**settings)
    if solver == "lbfgs":
        settings["max_iter"] = local.max_iter = 300
    local.fit(X, y)
    found = DaskLogLinearRanker(**settings, client=client).fit(blocks_of(X, y, CUTS[n]))
    np.testing.assert_allclose(found.coef_, local.coef_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.intercept_, local.intercept_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.thresholds_, local.thresholds_, atol=1e-8)
    assert found.labels_.tolist() == local.labels_.tolist()
    assert found.n_iter_ == local.n_iter_


@pytest.mark.slow
@pytest.mark.parametrize("n", CUTS)
def test_dual_ascent_reaches_the_gap_on_any_partitions(client, problem, n):
    X, y = problem
    local = LogLinearRanker(solver="lbfgs", tol=1e-7).fit(X, y)
    found = DaskLogLinearRanker(solver="dual", tol=1e-3, random_state=0).fit(blocks_of(X, y, CUTS[n]))
    assert found.duality_gap_ <= 1e-3
    optimum, value = (one.history_[-1]["loss"] + 0.5 * squared_norm(one) for one in (local, found))
    assert optimum * (1 - 1e-6) <= value <= optimum * (1 + 2e-3)


def squared_norm(ranker):
    return np.sum(ranker.coef_**2) + np.sum((ranker.intercept_ / ranker._constant) ** 2)


def test_the_default_parameters_scale_with_all_partitions(client, problem):
    X, y = problem
    local = LogLinearRanker().fit(X, y)
    found = DaskLogLinearRanker().fit(blocks_of(X, y, CUTS[5]))
    assert (found.solver_, found.C_) == (local.solver_, pytest.approx(local.C_, rel=1e-12))


def test_every_collection_is_taken(client, problem):
    X, y = problem
    dense, sets = X.toarray()[:60], y[:60]
    single = np.array([min(labels, default="l0") for labels in sets])
    expected = LogLinearRanker(solver="lbfgs").fit(dense, single).coef_
    arrays = da.from_array(dense, chunks=(25, 7)), da.from_array(single, chunks=20)
    frame = pd.DataFrame(dense, columns=[f"x{j}" for j in range(dense.shape[1])]).assign(label=single)
    frames = dd.from_pandas(frame, npartitions=3)
    for X_part, y_part in (arrays, (frames.drop(columns="label"), frames["label"])):
        found = DaskLogLinearRanker(solver="lbfgs").fit(X_part, y_part)
        np.testing.assert_allclose(found.coef_, expected, atol=1e-8)


def test_rows_of_a_bag_and_files_of_a_folder_are_read(client, problem, tmp_path):
    X, y = problem
    X, y = X[:60], [sorted(labels) for labels in y[:60]]
    names = sorted({name for labels in y for name in labels})
    expected = LogLinearRanker(solver="lbfgs").fit(X, as_graphs(y, kind="sets", labels=names)).coef_
    rows = [
        {"features": {f"x{j:02}": v for j, v in zip(row.indices.tolist(), row.data.tolist(), strict=True)}, "labels": z}
        for row, z in zip(X, y, strict=True)
    ]
    found = DaskLogLinearRanker(solver="lbfgs").fit(dask.bag.from_sequence(rows, npartitions=3))
    seen = sorted({name for row in rows for name in row["features"]})
    np.testing.assert_allclose(found.coef_, expected[:, [int(name[1:]) for name in seen]], atol=1e-8)
    for start in (0, 40):
        part = Corpus(labels=names, X=X[start : start + 40], label_sets=y[start : start + 40])
        write_corpus(part, tmp_path / f"part-{start:02}.svmlight")
    (tmp_path / "part-99.svmlight").touch()
    found = DaskLogLinearRanker(solver="lbfgs").fit(tmp_path)
    np.testing.assert_allclose(found.coef_, expected[:, : found.n_features_in_], atol=1e-8)


def test_queries_of_shards_stay_whole(client, tmp_path):
    random_state = np.random.RandomState(0)
    Z, grades, ptr = random_state.rand(40, 5), random_state.randint(0, 3, 40), np.arange(0, 41, 4)
    lines = [
        f"{grades[i]} qid:{i // 4} " + " ".join(f"{j}:{float(v)!r}" for j, v in enumerate(Z[i])) for i in range(40)
    ]
    (tmp_path / "a.svmlight").write_text("\n".join(lines[:12]))
    (tmp_path / "b.svmlight").write_text("\n".join(lines[12:]))
    local = LogLinearRanker(solver="lbfgs").fit(CandidateSets(Z, ptr), grades)
    found = DaskLogLinearRanker(solver="lbfgs").fit(tmp_path)
    np.testing.assert_allclose(found.coef_, local.coef_, atol=1e-8)
    (tmp_path / "b.svmlight").write_text("\n".join(lines[11:]))
    with pytest.raises(InputError, match=r"qid 2 is in .*a.svmlight and in .*b.svmlight"):
        DaskLogLinearRanker().fit(tmp_path)


def test_a_bad_row_is_named_by_file_and_line(client, tmp_path):
    (tmp_path / "good.jsonl").write_text(json.dumps({"features": {"a": 1}, "labels": ["x"]}))
    (tmp_path / "worse.jsonl").write_text('{"features": {"a": 1}, "labels": ["y"]}\n{"features": {"a": ')
    with pytest.raises(FormatError, match=r"worse.jsonl:2: "):
        DaskLogLinearRanker().fit(tmp_path)


def test_a_cut_weights_and_features_of_either_sign(client, problem):
    X, y = problem
    X = X.copy()
    X.data -= 0.5
    weight = np.random.RandomState(1).rand(300)
    blocks = [dask.delayed((X[a:b], y[a:b], weight[a:b])) for a, b in ((0, 100), (100, 300))]
    settings = {"solver": "boosting", "cut_label": True, "calibration_folds": 0, "max_iter": 10}
    local = LogLinearRanker(**settings).fit(X, y, weight)
    found = DaskLogLinearRanker(**settings).fit(blocks)
    np.testing.assert_allclose(found.coef_, local.coef_, atol=1e-8)
    assert found.to_local().predict(X[:20]) == local.predict(X[:20])


def test_parameters_are_those_of_the_plain_ranker():
    plain, found = (inspect.signature(one).parameters for one in (LogLinearRanker, DaskLogLinearRanker))
    assert [str(one) for one in found.values()][: len(plain)] == [str(one) for one in plain.values()]
    assert list(found)[len(plain) :] == ["client", "timeout"]


def test_clones_and_pickles_leave_the_client_alone(client, problem):
    ranker = DaskLogLinearRanker(C=2.0, client=client)
    assert clone(ranker).client is client
    assert pickle.loads(pickle.dumps(ranker)).client is None
    assert type(ranker.to_local()) is LogLinearRanker
    assert ranker.to_local().C == 2.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cut_label": True}, "calibration_folds=0"),
        ({"warm_start": True}, "warm_start"),
        ({"timeout": 0}, "timeout"),
        ({"client": 7}, "client must be"),
    ],
)
def test_parameters_that_cannot_be_used_are_refused(client, parameters, message):
    with pytest.raises(ParameterError, match=message):
        DaskLogLinearRanker(**parameters).fit([dask.delayed((np.eye(2), ["a", "b"]))])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.eye(2), ["a", "b"], "X must be dask.array"),
        ("no-such-folder", None, "no such folder"),
        ([dask.delayed(3)], None, "a delayed block is"),
        ([dask.delayed((np.eye(2), ["a", "b"])), dask.delayed((np.eye(2), [{"a"}, set()]))], None, "different kinds"),
        ([dask.delayed((np.eye(2), ["a"]))], None, "partition 0: X has 2 instances and y has 1"),
        ([dask.delayed((np.eye(0), []))], None, "All partitions are empty"),
        ([dask.delayed((np.array([[1.0, np.nan]]), ["a"]))], None, "partition 0: X holds NaN"),
    ],
)
def test_data_that_cannot_be_learnt_from_are_refused(client, X, y, message):
    with pytest.raises(InputError, match=message):
        DaskLogLinearRanker().fit(X, y)
