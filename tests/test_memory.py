"""Memory is looked at before it is taken: what there is, what each ranker needs, and a refusal in words."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import arcrank
from arcrank.errors import ArcrankError, ResourceError
from arcrank.graphs import as_graphs
from arcrank.memory import available_memory, columns_that_fit

GB = 10**9


def machine(root, files):
    """A root folder with these files, as Linux shows them."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


MEMINFO = {"proc/meminfo": "MemTotal:  8000000 kB\nMemFree: 10 kB\nMemAvailable:    4000000 kB\n"}


def test_what_linux_says(tmp_path):
    assert available_memory(machine(tmp_path, MEMINFO)) == 4_096_000_000


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "3000000000\n",
          "sys/fs/cgroup/a/b/memory.current": "1000000000\n"}, 2 * GB),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n",
          "sys/fs/cgroup/a/memory.max": "3000000000\n", "sys/fs/cgroup/a/memory.current": "2500000000\n",
          "sys/fs/cgroup/a/memory.stat": "anon 5\ninactive_file 500000000\n"}, GB),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000000000\n",
          "sys/fs/cgroup/memory.current": "1200000000\n"}, 0),
        ({"proc/self/cgroup": "5:cpu:/x\n4:memory,cpu:/docker/7\n", "sys/fs/cgroup/memory/memory.limit_in_bytes":
          "3000000000\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "1000000000\n"}, 2 * GB),
        ({"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
          "sys/fs/cgroup/memory/memory.usage_in_bytes": "1000000000\n"}, 4_096_000_000),
    ],
    ids=["v2", "v2 parent, caches", "v2 beyond", "v1 in a container", "v1 without a limit"],
)  # fmt: skip
def test_what_control_groups_leave(tmp_path, files, left):
    assert available_memory(machine(tmp_path, MEMINFO | files)) == left


@pytest.mark.skipif(sys.platform != "linux", reason="the address space is limited by Linux")
def test_what_ulimit_leaves():
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (8 * 10**9, -1))\n"
        "from arcrank.memory import available_memory; print(available_memory())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) < 8 * GB


def test_hashed_features_that_fit(monkeypatch):
    monkeypatch.setattr("arcrank.memory.available_memory", lambda: 10 * GB)
    assert columns_that_fit(35_000) == 2**14  # 4.6 GB of weights
    assert columns_that_fit(10) == 2**18
    monkeypatch.setattr("arcrank.memory.available_memory", lambda: None)
    assert columns_that_fit(10) == 2**18


RANKERS = [
    arcrank.LogLinearRanker(solver="dual"),
    arcrank.LogLinearRanker(solver="lbfgs"),
    arcrank.LogLinearRanker(solver="boosting"),
    arcrank.PreferenceMachine(),
    arcrank.PreferenceMachine(codes="error-correcting"),
    arcrank.PreferenceMachine(codes="learn"),
    arcrank.MMPRanker(),
    arcrank.MMPRanker(average=True),
    arcrank.PerceptronRanker(),
    arcrank.RocchioRanker(),
]


def problem(n=40, d=20_000, k=30):
    random = np.random.default_rng(0)
    rows, columns = np.repeat(np.arange(n), 20), random.integers(0, d, 20 * n)
    X = sp.csr_matrix((random.random(20 * n), (rows, columns)), shape=(n, d))
    return X, [[str(j % k)] for j in range(n)]


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
def test_no_fit_is_begun_that_cannot_end(ranker, monkeypatch):
    monkeypatch.setattr("arcrank.memory.available_memory", lambda: 500_000_000)
    X, y = problem(d=20_000_000)
    tracemalloc.start()
    with pytest.raises(ResourceError, match=r"needs about .* 20,000,000 features .* 500 MB are available") as caught:
        ranker.fit(X, y)
    assert tracemalloc.get_traced_memory()[1] < 1e8
    tracemalloc.stop()
    assert isinstance(caught.value, ArcrankError)
    assert isinstance(caught.value, MemoryError)
    assert "HashedTextFeatures(n_features=" in str(caught.value)
    assert not hasattr(ranker, "labels_")


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_a_ranker_says_it_needs_is_about_what_it_takes(ranker):
    if "max_iter" in ranker.get_params():
        ranker.set_params(max_iter=25)
    X, y = problem()
    ranker.fit(X[:5, :50], y[:5])  # compiles
    tracemalloc.start()
    ranker.fit(X, y)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    needed = ranker._bytes_needed(ranker._sizes(as_graphs(y), X.shape[1]))
    assert needed / 1.5 < taken < 1.5 * needed + 5e6


def test_a_ranker_that_cannot_grow_stays_as_it_is(monkeypatch):
    X, y = problem()
    ranker = arcrank.MMPRanker().partial_fit(X, y)
    labels, weights = ranker.labels_, ranker.coef_.copy()
    monkeypatch.setattr("arcrank.memory.available_memory", lambda: 10_000_000)
    with pytest.raises(ResourceError, match="1,030 labels"):
        ranker.partial_fit(X[:1], [[f"new {i}" for i in range(1000)]])
    assert ranker.labels_.tolist() == labels.tolist()
    np.testing.assert_array_equal(ranker.coef_, weights)
    assert ranker.partial_fit(X, y).n_rounds_ == 80


def test_auto_takes_the_dual_where_its_memory_is_less():
    from arcrank.rankers.base import Sizes

    ranker = arcrank.LogLinearRanker()
    assert ranker._choose_solver(Sizes(10_000, 100_000, 5000, flows=50_000_000)) == "dual"
    assert ranker._choose_solver(Sizes(10_000_000, 300, 100, flows=10**9)) == "lbfgs"
    assert ranker._choose_solver(Sizes(100, 50, 10, flows=1000)) == "lbfgs"
