"""The second process that compiles while the first candidate of AutoRanker is compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank.graphs import ArcGraphs, as_graphs
from arcrank.training import compile_ahead
from arcrank.training.plan import Learner, Plan

MACHINE = Plan(Learner.PREFERENCE_MACHINE, {"decomposition": "domination"})
LOG_LINEAR = Plan(Learner.LOG_LINEAR, {"decomposition": "domination", "cut_label": True})
FIT = """
import numpy as np
from scipy import sparse
from arcrank import AutoRanker
from arcrank.compiled.jit import Kernel
X = sparse.random(100, 300, density=0.1, random_state=0, format="csr")
Y = (np.random.default_rng(0).random((100, 100)) < 0.05).astype(int)
compiled, compile = [], Kernel.compile
def note(self, sig):
    known = sum(self._cache_hits.values())
    found = compile(self, sig)
    if sum(self._cache_hits.values()) == known:
        compiled.append(self.py_func.__name__)
    return found
Kernel.compile = note
AutoRanker().fit(X, Y)
print(*sorted(compiled))
"""


@pytest.fixture
def started(monkeypatch):
    """What would be started, without starting it."""
    found = []
    monkeypatch.setattr(compile_ahead, "second_process", lambda start, own: found.append(start) or nullcontext())
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    return found


def problem(n_labels=4):
    Y = np.eye(n_labels, dtype=int)[np.arange(30) % n_labels]
    return sp.random(30, 50, density=0.2, format="csr", random_state=0), as_graphs(Y)


def test_a_process_for_the_kernels_of_other_families(started):
    with compile_ahead.compile_ahead([MACHINE, LOG_LINEAR], *problem()):
        assert len(started) == 1


@pytest.mark.parametrize("families", [[MACHINE], [LOG_LINEAR]])
def test_no_process_where_nothing_can_be_shared(started, families):
    with compile_ahead.compile_ahead(families, *problem()):
        assert not started


def test_no_process_for_arcs_or_on_one_core_or_in_another_such_process(started, monkeypatch):
    X, graphs = problem()
    arcs = ArcGraphs.from_arcs([[(0, 1)]] * 30, 4)
    with compile_ahead.compile_ahead([MACHINE, LOG_LINEAR], X, arcs):
        assert not started
    with compile_ahead.alone(), compile_ahead.compile_ahead([MACHINE, LOG_LINEAR], X, graphs):
        assert not started
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    with compile_ahead.compile_ahead([MACHINE, LOG_LINEAR], X, graphs):
        assert not started


@pytest.mark.parametrize("executable", ["", None, "/usr/sbin/uwsgi", "/opt/app/tagger"])
def test_no_process_of_a_program_that_is_not_python(started, monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    with compile_ahead.compile_ahead([MACHINE, LOG_LINEAR], *problem()):
        assert not started


@pytest.mark.parametrize(("sparse", "layers"), [(True, 2), (False, 2), (True, 4)])
def test_what_the_process_does(monkeypatch, sparse, layers):
    task = {"families": [["log-linear", {"decomposition": "domination", "cut_label": layers == 2}]]}
    task |= {"shape": [60, 300, 4], "sparse": sparse, "layers": layers}
    monkeypatch.setattr(sys, "argv", ["-c", "", json.dumps(task)])
    fitted = []
    monkeypatch.setattr(Plan, "ranker", lambda plan, _make=Plan.ranker: fitted.append(_make(plan)) or fitted[-1])
    compile_ahead.main()
    assert fitted[0].coef_.shape == (4, 300)
    assert hasattr(fitted[0], "calibration_") == (layers == 2)


def test_the_task_has_the_solver_of_the_data():
    wide = compile_ahead._task([MACHINE, LOG_LINEAR], sp.csr_matrix((30, 100_000)), problem()[1])
    assert json.loads(wide)["shape"] == [60, 5000, 4]
    labels = as_graphs(np.eye(500, dtype=int))
    assert json.loads(compile_ahead._task([MACHINE, LOG_LINEAR], sp.csr_matrix((30, 100)), labels))["shape"] == [
        60,
        100,
        250,
    ]
    assert json.loads(compile_ahead._task([MACHINE, LOG_LINEAR], sp.csr_matrix((30, 0)), labels))["shape"] == [
        60,
        1,
        500,
    ]


def test_no_process_for_what_cannot_be_told_to_it(started):
    own = Plan(Learner.LOG_LINEAR, {"decomposition": lambda heads, tails, row: [[0]]})
    with compile_ahead.compile_ahead([MACHINE, own], *problem()):
        assert not started


@pytest.mark.slow
def test_auto_ranker_compiles_only_the_kernels_of_machines_itself(tmp_path):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    told = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, env=env, check=True)
    compiled = set(told.stdout.split())
    assert "linear_pass" in compiled
    assert compiled <= {"linear_pass", "gram_pass", "net_flows"}
