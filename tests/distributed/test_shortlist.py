"""Very many labels on a real cluster of processes, by dual ascent on partitions."""

from __future__ import annotations

import inspect
import os
import signal

import dask
import numpy as np
import pytest
import scipy.sparse as sp

import arcrank
from arcrank import ShortlistRanker
from arcrank.distributed import DaskShortlistRanker
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import as_graphs
from tests.distributed.conftest import CUTS, blocks_of

EXACT = {"working_set": None, "neighbours": 0, "prune": 0, "tol": 1e-4, "max_iter": 400, "random_state": 0}


def assert_same_optimum(client, problem, n, loss, cut):
    X, y = problem
    settings = {**EXACT, "C": 0.05, "prior": 0.5, "cut_label": cut}
    local = ShortlistRanker(loss, **settings).fit(X, y)
    found = DaskShortlistRanker(loss, **settings, client=client).fit(blocks_of(X, y, CUTS[n]))
    assert found.labels_.tolist() == local.labels_.tolist()
    assert found.duality_gap_ <= 1e-4
    assert np.abs(found.score_labels(X) - local.score_labels(X)).max() < 5e-2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "loss", "cut"), [(1, "log-linear", True), (2, "log-linear", False), (5, "squared-hinge", False)]
)
def test_the_optimum_is_that_of_one_machine(client, problem, n, loss, cut):
    assert_same_optimum(client, problem, n, loss, cut)


def test_the_optimum_of_two_partitions_is_that_of_one_machine(client, problem):
    assert_same_optimum(client, problem, 2, "hinge", True)


def test_pattern_prior_and_votes_are_those_of_one_machine(client, problem):
    X, y = problem
    settings = {"C": 1e-6, "prune": 0, "fit_intercept": 0, "random_state": 0}
    local = ShortlistRanker(**settings).fit(X, y)
    found = DaskShortlistRanker(**settings, client=client).fit(blocks_of(X, y, CUTS[5]))
    for name in ("ptr", "label"):
        assert np.array_equal(getattr(found.weights_, name), getattr(local.weights_, name))
    np.testing.assert_allclose(found.weights_.weight, local.weights_.weight, atol=1e-4)
    for name in ("ptr", "document", "value", "label_ptr", "label"):
        assert np.array_equal(getattr(found.neighbours_, name), getattr(local.neighbours_, name))


def test_votes_leave_out_the_document_itself(client, problem):
    X, y = problem
    settings = {**EXACT, "C": 0.1, "neighbours": 3, "neighbours_weight": 2.0}
    local = ShortlistRanker(**settings).fit(X, y)
    found = DaskShortlistRanker(**settings, client=client).fit(blocks_of(X, y, CUTS[2]))
    assert np.abs(found.score_labels(X) - local.score_labels(X)).max() < 5e-2


def test_the_plain_ranker_and_its_file(client, problem, tmp_path):
    X, y = problem
    found = DaskShortlistRanker(random_state=0, client=client).fit(blocks_of(X, y, CUTS[2]))
    assert (found.n_iter_, len(found.history_), found.n_instances_) == (2, 2, 300)
    plain = found.to_local()
    assert type(plain) is ShortlistRanker
    arcrank.save(plain, tmp_path / "m.arcrank")
    np.testing.assert_array_equal(arcrank.load(tmp_path / "m.arcrank").score_labels(X), found.score_labels(X))
    assert plain.partial_fit(X[:5], y[:5]).neighbours_.n_documents == 305


def test_layers_whose_lowest_labels_have_weights(client):
    X = sp.random(12, 6, 0.5, "csr", random_state=0)
    y = as_graphs([[["a"], ["b"]], [["b"], ["a", "c"]], [["c"]]] * 4, kind="layers")
    settings = {**EXACT, "C": 0.5}
    local = ShortlistRanker(**settings).fit(X, y)
    found = DaskShortlistRanker(**settings, client=client).fit(
        [dask.delayed((X[a : a + 4], y[a : a + 4])) for a in (0, 4, 8)]
    )
    assert np.array_equal(found.weights_.ptr, local.weights_.ptr)
    assert np.abs(found.score_labels(X) - local.score_labels(X)).max() < 5e-2


@pytest.mark.slow
def test_a_killed_worker_does_not_change_the_result(fresh_client, problem):
    X, y = problem
    settings = {**EXACT, "C": 0.05, "prior": 0.5, "neighbours": 3}
    victim, seen = next(iter(fresh_client.run(os.getpid).values())), []

    def kill(entry):
        seen.append(entry)
        if len(seen) == 2:
            os.kill(victim, signal.SIGKILL)

    found = DaskShortlistRanker(**settings, client=fresh_client, callback=kill).fit(blocks_of(X, y, CUTS[2]))
    local = ShortlistRanker(**settings).fit(X, y)
    assert [bool(np.isfinite(entry["gap"])) for entry in seen[:3]] == [True, True, False]  # flows were lost
    assert found.duality_gap_ <= 1e-4
    assert np.abs(found.score_labels(X) - local.score_labels(X)).max() < 5e-2


def test_parameters_are_those_of_the_plain_ranker():
    plain, found = (inspect.signature(one).parameters for one in (ShortlistRanker, DaskShortlistRanker))
    assert [str(one) for one in found.values()][: len(plain)] == [str(one) for one in plain.values()]
    assert list(found)[len(plain) :] == ["client", "timeout"]


def test_what_is_refused(client, tmp_path):
    with pytest.raises(ParameterError, match="warm_start=True is for ShortlistRanker only"):
        DaskShortlistRanker(warm_start=True).fit([])
    with pytest.raises(InputError, match="use LogLinearRanker"):
        DaskShortlistRanker(client=client).fit([dask.delayed((np.eye(2), ["a", "b"]))])
    (tmp_path / "a.svmlight").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    with pytest.raises(InputError, match="ranks labels, got candidates"):
        DaskShortlistRanker(client=client).fit(tmp_path)
