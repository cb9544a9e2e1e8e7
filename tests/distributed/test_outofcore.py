"""Training over blocks of mapped shards on one machine."""

from __future__ import annotations

import json

import numpy as np
import pytest

from arcrank import LogLinearRanker
from arcrank.distributed.outofcore import OutOfCorePlan, fit_shards, plan_shards
from arcrank.distributed.shards import ShardFolder, write_shards
from arcrank.errors import FormatError, InputError, ParameterError, ResourceError


@pytest.fixture
def shards(problem, tmp_path):
    X, y = problem
    names = sorted(set().union(*y))
    blocks = [(X[a:b], [sorted(one) for one in y[a:b]]) for a, b in ((0, 120), (120, 120), (120, 300))]
    write_shards(tmp_path / "shards", blocks, labels=names)
    return tmp_path / "shards"


def test_blocks_reach_the_optimum_of_one_machine(problem, shards):
    X, y = problem
    local = LogLinearRanker(solver="dual", tol=1e-6, random_state=0).fit(X, y)
    found = fit_shards(LogLinearRanker(solver="dual", tol=1e-6, random_state=0), shards)
    assert found.duality_gap_ <= 1e-6
    assert pytest.approx(local.C_, rel=1e-12) == found.C_
    np.testing.assert_allclose(found.coef_, local.coef_, atol=5e-3)
    assert found.labels_.tolist() == local.labels_.tolist()
    assert found.predict(X[:20]) == local.predict(X[:20])
    assert not list(shards.glob(".arcrank-flows-*"))


def test_small_blocks_give_the_same_optimum(problem, shards, monkeypatch):
    X, y = problem
    local = LogLinearRanker(solver="lbfgs", tol=1e-8).fit(X, y)
    monkeypatch.setattr("arcrank.distributed.outofcore.plan_shards", lambda *_: OutOfCorePlan(37, 0.0, 0.0, 0.0))
    found = fit_shards(LogLinearRanker(tol=1e-4, random_state=1), shards)
    np.testing.assert_allclose(found.coef_, local.coef_, atol=0.05)


def test_a_plan_says_what_it_needs_or_that_it_is_too_little(shards):
    folder = ShardFolder(shards)
    assert plan_shards(folder, 2e9).describe().startswith("needs 250 MB of memory")
    with pytest.raises(ResourceError, match="needs at least .* and 100 MB are allowed"):
        plan_shards(folder, 1e8)


def test_damaged_shards_are_named(shards):
    file = shards / "shard-00002.data"
    content = bytearray(file.read_bytes())
    content[8] ^= 1
    file.write_bytes(content)
    with pytest.raises(FormatError, match=r"shard-00002.data: the checksum is wrong"):
        ShardFolder(shards).verify()
    file.write_bytes(content[:-8])
    with pytest.raises(FormatError, match=r"shard-00002.data: the file has"):
        fit_shards(LogLinearRanker(), shards)
    (shards / "shards.json").write_text(json.dumps({"format": "other"}))
    with pytest.raises(FormatError, match="the format is 'other'"):
        ShardFolder(shards)
    (shards / "shards.json").unlink()
    with pytest.raises(FormatError, match=r"is a folder without shards.json"):
        ShardFolder(shards)


def test_what_shards_cannot_hold_is_refused(shards, tmp_path):
    with pytest.raises(InputError, match="there are shards already"):
        write_shards(shards, [], labels=["a"])
    with pytest.raises(InputError, match="The label 'b' is not among the 1 labels"):
        write_shards(tmp_path / "more", [(np.eye(1), [["b"]])], labels=["a"])
    with pytest.raises(ParameterError, match="solver='dual'"):
        fit_shards(LogLinearRanker(solver="boosting"), shards)
