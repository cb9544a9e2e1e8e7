"""`arcrank data convert --to shards` and `arcrank train` on the folder, on one machine and on a cluster."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import arcrank
from arcrank import LogLinearRanker
from arcrank.distributed import DaskLogLinearRanker
from arcrank.errors import ParameterError
from arcrank.training.folder import parse_size
from tests.cli.running import call


@pytest.fixture
def shards(tmp_path):
    rows = [{"features": {"abc"[i % 3]: 1.0, "xyz"[i % 2]: 0.5}, "labels": ["ABC"[i % 3]]} for i in range(60)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    said = call("data", "convert", tmp_path / "rows.jsonl", tmp_path / "shards", "--to", "shards")
    assert "Wrote 60 rows" in said.stderr
    return tmp_path / "shards"


def test_a_cluster_and_one_machine_learn_the_same_from_shards(client, shards, tmp_path):
    model, other = tmp_path / "here.arcrank", tmp_path / "cluster.arcrank"
    said = call("train", shards, "-m", model, "--memory", "1GB", "--set", "tol=1e-8")
    assert "60 documents: needs 250 MB of memory" in said.stderr
    said = call("train", shards, "-m", other, "--scheduler", client.scheduler.address, "--set", "tol=1e-8")
    assert said.exit_code == 0, said.stderr
    here, cluster = arcrank.load(model), arcrank.load(other)
    assert here.labels_.tolist() == cluster.labels_.tolist() == ["A", "B", "C"]
    order = np.argsort(here.feature_names_in_)
    np.testing.assert_allclose(here.coef_[:, order], cluster.coef_, atol=1e-2)


def test_shards_of_numbered_features(client, tmp_path):
    (tmp_path / "rows.svm").write_text("".join(f"{i % 3} {i % 3}:1 {i % 2 + 3}:0.5\n" for i in range(60)))
    call("data", "convert", tmp_path / "rows.svm", tmp_path / "shards", "--to", "shards")
    found = DaskLogLinearRanker(client=client, tol=1e-6).fit(tmp_path / "shards")
    X = np.array([[i % 3 == j for j in range(3)] + [0.5 * (i % 2 == j) for j in range(2)] for i in range(60)], float)
    here = LogLinearRanker(tol=1e-6).fit(X, np.arange(60) % 3)
    np.testing.assert_allclose(found.to_local().score_labels(X), here.score_labels(X), atol=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("client", ["processes"], indirect=True)  # another process does not reach workers in threads
def test_the_command_needs_no_default_client(client, shards, tmp_path):
    model = tmp_path / "m.arcrank"
    command = [sys.executable, "-m", "arcrank", "train", shards, "-m", model, "--scheduler", client.scheduler.address]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert arcrank.load(model).labels_.tolist() == ["A", "B", "C"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--learner", "mmp"], "cannot learn a folder of shards"),
        (["--memory", "much"], "--memory must be a size such as 2GB"),
        (["--memory", "1MB"], "needs at least"),
    ],
)
def test_what_a_folder_cannot_be_trained_by_is_refused(shards, tmp_path, options, message):
    said = call("train", shards, "-m", tmp_path / "m.arcrank", *options)
    assert said.exit_code != 0
    assert message in str(said.exception)


def test_memory_is_for_folders(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"text": "tea", "labels": ["a"]}')
    said = call("train", tmp_path / "rows.jsonl", "-m", tmp_path / "m.arcrank", "--memory", "1GB")
    assert "for a folder of shards" in str(said.exception)


def test_sizes_have_units():
    assert parse_size("2GB") == 2e9
    with pytest.raises(ParameterError, match="such as 2GB"):
        parse_size("2 bananas")
