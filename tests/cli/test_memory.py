"""Training that needs more memory than there is: refused before it begins, with what to do."""

from __future__ import annotations

import shutil
import sys

import numpy as np
import pytest

from arcrank.cli.errors import report_failure
from arcrank.datasets import load_debtags_sample
from arcrank.text import TextFeatures
from arcrank.training.estimate import n_terms
from tests.cli.conftest import call, failed, run, write_rows

MB = 10**6


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Two hundred texts of twenty words with a thousand labels."""
    random = np.random.default_rng(0)
    words = ["".join(map(chr, 97 + random.integers(0, 26, 5))) for _ in range(500)]
    rows = [
        {"text": " ".join(random.choice(words, 20)), "labels": [f"l{5 * i + j}" for j in range(5)]} for i in range(200)
    ]
    return write_rows(tmp_path_factory.mktemp("many") / "many.jsonl", rows)


def with_memory(monkeypatch, size):
    monkeypatch.setattr("arcrank.memory.available_memory", lambda: size)


@pytest.mark.parametrize("command", ["train", "tune"])
@pytest.mark.parametrize("learner", ["auto", "log-linear", "preference-machine", "rocchio"])
def test_what_is_too_large_is_refused_before_work_begins(tmp_path, many, monkeypatch, command, learner):
    with_memory(monkeypatch, 10 * MB)
    result = call(command, many, "--model", tmp_path / "m", "--learner", learner)
    failed(result, "200 documents", "1,000 labels", "and 10 MB are available", "--set min_df=5")
    assert "compiles" not in result.err
    assert not (tmp_path / "m").exists()


@pytest.mark.slow
def test_the_way_that_fits_is_named(tmp_path, many, monkeypatch):
    with_memory(monkeypatch, 40 * MB)
    arguments = ("train", many, "--model", tmp_path / "m")
    failed(call(*arguments, "--learner", "log-linear", "--set", "solver=lbfgs"), "--learner mmp --set n_features=2048")
    failed(call(*arguments, "--learner", "mmp"), "2.1 GB of memory", "40 MB", "--set n_features=2048 would fit")
    assert call(*arguments, "--learner", "mmp", "--set", "n_features=2048").code == 0
    assert call(*arguments, "--learner", "preference-machine", "--set", "ngrams=1").code == 0


def test_features_of_a_file_are_counted_not_guessed(tmp_path, monkeypatch):
    (tmp_path / "wide.svm").write_text("a 1:1\nb 3000000:1\n")
    with_memory(monkeypatch, 20 * MB)
    result = call("train", tmp_path / "wide.svm", "--model", tmp_path / "m", "--learner", "preference-machine")
    failed(result, "needs about 48 MB of memory for 2 documents, 3,000,001 features and 2 labels")


def test_a_model_that_cannot_grow_is_left_as_it_was(online_model, many, tmp_path, monkeypatch):
    model = shutil.copy(online_model, tmp_path / "m.arcrank")
    with_memory(monkeypatch, 20 * MB)
    monkeypatch.setattr("arcrank.memory._SMALL", 0)
    failed(call("update", model, many), "1,003 labels", "Train a new model: --set n_features=1024 would fit.")
    assert model.read_bytes() == online_model.read_bytes()


def test_check_says_what_train_would_refuse(many, monkeypatch):
    assert not call("check", many, "--json").json["serious"]
    with_memory(monkeypatch, 50 * MB)
    result = call("check", many, "--json")
    found = {one["kind"]: one for one in result.json["findings"]}["more than the memory"]
    assert (result.json["serious"], found["severity"]) == (True, "serious")
    assert "50 MB are available" in found["message"]
    assert "--learner mmp --set n_features=2048 would fit" in found["remedy"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the address space is limited by Linux")
def test_a_limit_that_is_real(tmp_path, many):
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (4 * 10**9, resource.RLIM_INFINITY))

    arguments = ("train", many, "--model", tmp_path / "m", "--learner", "mmp", "--set", "n_features=4194304")
    result = run(*arguments, preexec_fn=limit)
    failed(result, "needs about 33.6 GB of memory", "--set n_features=")


def test_memory_that_ran_out_all_the_same_is_no_bug(capsys):
    error = MemoryError("Unable to allocate 73.1 GiB for an array with shape (262144, 35000)")
    assert report_failure(error) == 2
    told = capsys.readouterr().err
    assert told.startswith("arcrank: not enough memory: Unable to allocate 73.1 GiB")
    assert "--learner mmp" in told
    assert "should not happen" not in told
    assert report_failure(MemoryError()) == 2
    assert capsys.readouterr().err.startswith("arcrank: not enough memory.\n")


@pytest.mark.parametrize("size", [300, 1000])
def test_terms_are_estimated_from_a_sample(size):
    texts = load_debtags_sample().texts
    found = len(TextFeatures(min_df=2).fit(texts).terms_)
    assert 0.6 * found < n_terms(texts[:: len(texts) // size][:size], len(texts)) < 1.6 * found
