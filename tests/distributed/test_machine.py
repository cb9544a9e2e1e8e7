"""Preference machines on a real cluster of processes: an objective within tol of one machine's."""

from __future__ import annotations

import inspect
import pickle

import dask
import numpy as np
import pytest

import arcrank
from arcrank import PreferenceMachine
from arcrank.decompositions import CUT_DOMINATION
from arcrank.distributed import DaskPreferenceMachine
from arcrank.errors import InputError, ParameterError
from tests.distributed.conftest import CUTS, blocks_of


@pytest.mark.parametrize("n", CUTS)
def test_any_partitions_reach_the_optimum_of_one_machine(client, problem, n):
    X, y = problem
    settings = {"decomposition": "disagreement", "tol": 2e-3, "random_state": 0}
    local = PreferenceMachine(**settings | {"tol": 1e-6}).fit(X, y)
    found = DaskPreferenceMachine(**settings).fit(blocks_of(X, y, CUTS[n]))
    assert found.duality_gap_ <= 2e-3
    assert local.objective_ * (1 - 1e-6) <= found.objective_ <= local.objective_ * (1 + 2e-3)
    assert pytest.approx(local.C_, rel=1e-12) == found.C_
    assert found.labels_.tolist() == local.labels_.tolist()
    assert found.margin_bound() == pytest.approx(local.margin_bound()) or not found.margin_bound().applies
    assert local.leave_one_out_bound_ <= found.leave_one_out_bound_ <= 1.0
    assert set(found.support_) <= set(range(300))


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": "logistic", "decomposition": "domination", "normalize": True},
        {"codes": "one-vs-one", "fit_intercept": False, "aggregate": "sum"},
        {"cut_label": True, "calibration_folds": 0, "decomposition": "domination", "loss": "squared-hinge"},
    ],
)
def test_losses_codes_and_the_cut(client, problem, settings):
    X, y = problem
    X, y, cuts = X[:90], y[:90], [0, 50, 90]
    local = PreferenceMachine(**settings, tol=1e-5, random_state=0).fit(X, y)
    found = DaskPreferenceMachine(**settings, tol=2e-2, random_state=0, client=client).fit(blocks_of(X, y, cuts))
    assert local.objective_ * (1 - 1e-4) <= found.objective_ <= local.objective_ * (1 + 2e-2)
    assert hasattr(found, "embedding_") == hasattr(local, "embedding_")
    terms, expected = found._bound_terms, local._bound_terms
    assert (terms.most_pieces, terms.most_arcs) == (expected.most_pieces, expected.most_arcs)
    assert terms.radius == pytest.approx(expected.radius)


def test_the_plain_machine_is_stored_as_any_other(client, problem, tmp_path):
    X, y = problem
    found = DaskPreferenceMachine(decomposition="disagreement", tol=0.1, client=client).fit(blocks_of(X, y, CUTS[2]))
    arcrank.save(found.to_local(), tmp_path / "m.arcrank")
    np.testing.assert_array_equal(arcrank.load(tmp_path / "m.arcrank").score_labels(X), found.score_labels(X))


def test_a_fit_that_was_stopped_says_how_far_it_is(client, problem):
    X, y = problem
    with pytest.warns(UserWarning, match="stopped after max_iter = 2 passes"):
        found = DaskPreferenceMachine(max_iter=2, client=client).fit(blocks_of(X, y, CUTS[2]))
    assert found.n_iter_ == 2
    assert found.duality_gap_ > 1e-3


def test_parameters_are_those_of_the_plain_machine():
    plain, found = (inspect.signature(one).parameters for one in (PreferenceMachine, DaskPreferenceMachine))
    assert [str(one) for one in found.values()][: len(plain)] == [str(one) for one in plain.values()]
    assert list(found)[len(plain) :] == ["client", "timeout"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "rbf"}, "kernel='rbf' is for PreferenceMachine only"),
        ({"warm_start": True}, "warm_start=True is for"),
        ({"cut_label": True}, "calibration_folds=0"),
    ],
)
def test_parameters_that_cannot_be_used_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        DaskPreferenceMachine(**parameters).fit([dask.delayed((np.eye(2), ["a", "b"]))])


def test_candidates_are_refused(client, tmp_path):
    (tmp_path / "a.svmlight").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    with pytest.raises(InputError, match="ranks labels, got candidates"):
        DaskPreferenceMachine(client=client).fit(tmp_path)


def test_a_decomposition_is_the_same_object_in_another_process():
    assert pickle.loads(pickle.dumps(CUT_DOMINATION)) is CUT_DOMINATION
