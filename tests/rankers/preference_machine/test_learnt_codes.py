from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import arcrank
from arcrank import CUT, PreferenceMachine
from arcrank.errors import ParameterError
from arcrank.inference.predictor import Predictor


def planted(seed=0, n=60, d=6, k=8):
    """Label sets whose labels lie in two dimensions."""
    random = np.random.RandomState(seed)
    X = random.randn(n, d)
    return X, (X @ random.randn(d, 2) @ random.randn(2, k) > 0.8).astype(int)


def learner(**settings):
    common = {"decomposition": "domination", "loss": "squared-hinge", "C": 1.0, "random_state": 0, "tol": 1e-2}
    return PreferenceMachine(**common | {"codes": "learn", "code_length": 2} | settings)


@pytest.mark.parametrize(("decomposition", "cut"), [("domination", False), ("domination", True), ("zero-one", True)])
def test_the_objective_falls_and_the_weights_are_a_product(decomposition, cut):
    X, Y = planted()
    machine = learner(decomposition=decomposition, cut_label=cut, calibration_folds=0).fit(X, Y)
    losses = [entry["loss"] for entry in machine.history_]
    assert (np.diff(losses) < 0).all()
    assert machine.objective_ == losses[-1]
    assert machine.codes_.shape == (8, 2)
    assert machine.embedding_.shape == (2, 6)
    assert "coef_" not in vars(machine)
    expected = X @ machine.coef_.T + machine.intercept_
    assert machine.score_labels(X) == pytest.approx(expected)
    assert machine.score_labels(sp.csr_matrix(X)) == pytest.approx(expected)


def test_the_cut_is_0_under_domination():
    X, Y = planted()
    machine = learner(cut_label=True, calibration_folds=0, code_length=3).fit(X, Y)
    assert (machine.predict(X) == (machine.score_labels(X) > 0)).all()
    assert (machine.predict(X) == Y).mean() > 0.85
    why = machine.explain(X[0], above=machine.labels_[0], below=CUT)
    assert why.margin == pytest.approx(machine.score_labels(X[:1])[0, 0])


def test_two_dimensions_are_enough_where_labels_lie_in_two():
    X, Y = planted(n=240)
    short, full = learner().fit(X[:120], Y[:120]), learner(codes=None).fit(X[:120], Y[:120])
    assert short.score(X[120:], Y[120:]) >= full.score(X[120:], Y[120:]) - 0.02
    random = np.random.RandomState(0).randn(8, 2)
    assert short.score(X[120:], Y[120:]) > learner(codes=random).fit(X[:120], Y[:120]).score(X[120:], Y[120:]) + 0.05


def test_all_dimensions_are_the_machine_without_codes():
    X, Y = planted()
    full, learnt = learner(codes=None, tol=1e-4).fit(X, Y), learner(code_length=20, tol=1e-4).fit(X, Y)
    assert learnt.objective_ == pytest.approx(full.objective_, rel=1e-3)
    assert learnt.codes_.shape == (8, 7)  # six features and the constant


def test_explanations_files_and_copies(tmp_path):
    X, Y = planted()
    machine = learner().fit(X, Y)
    scores = machine.score_labels(X)
    why = machine.explain(X[3], above=1, below=4)
    assert why.margin == pytest.approx(scores[3, 1] - scores[3, 4])
    arcrank.save(machine, tmp_path / "short")
    arcrank.save(learner(codes=None).fit(X, Y), tmp_path / "full")
    loaded = arcrank.load(tmp_path / "short")
    assert "coef_" not in vars(loaded)
    for copy in (loaded, pickle.loads(pickle.dumps(machine))):
        assert (copy.score_labels(X) == scores).all()
        assert copy.explain(X[3], above=1, below=4) == why
    assert (Predictor(loaded).scores(sp.csr_matrix(X)) == scores).all()


def test_another_fit_leaves_nothing_behind():
    X, Y = planted()
    machine = learner().fit(X, Y)
    machine.set_params(codes=None).fit(X, Y)
    assert not hasattr(machine, "codes_")
    assert not hasattr(machine, "embedding_")
    assert machine.score_labels(X) == pytest.approx(clone(machine).fit(X, Y).score_labels(X))
    machine.set_params(codes="learn").fit(X, Y)
    for name in ("support_", "leave_one_out_bound_", "_bound_terms"):
        assert not hasattr(machine, name)


def test_what_is_refused():
    X, Y = planted()
    with pytest.raises(ParameterError, match="codes='learn' needs kernel='linear', got 'rbf'"):
        learner(kernel="rbf").fit(X, Y)
    with pytest.raises(ParameterError, match="code_length must be a whole number of at least 1"):
        learner(code_length=0).fit(X, Y)
    with pytest.raises(ParameterError, match="margin_bound is for fixed codes"):
        learner().fit(X, Y).margin_bound()
