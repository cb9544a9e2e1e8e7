"""MMP on a real cluster of processes, by iterative parameter mixing."""

from __future__ import annotations

import inspect

import dask
import numpy as np
import pytest

import arcrank
from arcrank import MMPRanker
from arcrank.distributed import DaskMMPRanker
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import as_graphs
from tests.distributed.conftest import CUTS, blocks_of


@pytest.mark.parametrize("average", [False, True])
def test_one_partition_gives_the_result_of_one_machine(client, problem, average):
    X, y = problem
    local = MMPRanker(average=average).fit(X, y)
    found = DaskMMPRanker(average=average).fit(blocks_of(X, y, CUTS[1]))
    np.testing.assert_allclose(found.coef_, local.coef_, atol=1e-12)
    assert (found.n_rounds_, found.n_skipped_) == (local.n_rounds_, local.n_skipped_)
    np.testing.assert_allclose(found.cumulative_losses_[-1], local.cumulative_losses_[-1])
    assert found.mistake_bound(1.0) == pytest.approx(local.mistake_bound(1.0))
    assert found.history_[-1]["loss1"] == pytest.approx(local.history_[-1]["loss1"])


@pytest.mark.parametrize("n", [2, 5])
def test_the_weights_of_partitions_are_mixed_by_their_documents(client, problem, n):
    X, y = problem
    W, rounds = 0.0, 0
    for a, b in zip(CUTS[n], CUTS[n][1:], strict=False):
        if a < b:
            one = MMPRanker("size").fit(X[a:b], as_graphs(y, kind="sets")[a:b])
            W, rounds = W + one.n_rounds_ * one.coef_, rounds + one.n_rounds_
    found = DaskMMPRanker("size", client=client).fit(blocks_of(X, y, CUTS[n]))
    np.testing.assert_allclose(found.coef_, W / rounds, atol=1e-12)


def test_more_epochs_are_better_and_learning_goes_on(client, problem, tmp_path):
    X, y = problem
    settings = {"average": True, "shuffle": True, "random_state": 0, "client": client}
    first = DaskMMPRanker(**settings).fit(blocks_of(X, y, CUTS[5]))
    found = DaskMMPRanker(**settings, epochs=10).fit(blocks_of(X, y, CUTS[5]))
    assert found.score(X, y) > first.score(X, y) > 0.5
    assert len(found.history_) == 10
    plain = found.to_local()
    arcrank.save(plain, tmp_path / "m.arcrank")
    np.testing.assert_array_equal(arcrank.load(tmp_path / "m.arcrank").score_labels(X), found.score_labels(X))
    assert plain.partial_fit(X[:5], y[:5]).n_rounds_ > found.n_rounds_


def test_parameters_are_those_of_the_plain_ranker():
    plain, found = (inspect.signature(one).parameters for one in (MMPRanker, DaskMMPRanker))
    assert [str(one) for one in found.values()][: len(plain)] == [str(one) for one in plain.values()]
    assert list(found)[len(plain) :] == ["client", "timeout"]


def test_kernels_and_candidates_are_refused(client, tmp_path):
    with pytest.raises(ParameterError, match="kernel='rbf' is for MMPRanker only"):
        DaskMMPRanker(kernel="rbf").fit([dask.delayed((np.eye(2), ["a", "b"]))])
    (tmp_path / "a.svmlight").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    with pytest.raises(InputError, match="ranks labels, got candidates"):
        DaskMMPRanker(client=client).fit(tmp_path)
