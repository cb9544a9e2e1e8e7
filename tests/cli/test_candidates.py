"""Rankers of candidates from the command: train, rank and evaluate on qid files and JSON lines."""

from __future__ import annotations

import numpy as np
import pytest

import arcrank
from arcrank import CandidateSets
from arcrank.datasets import read_corpus
from arcrank.metrics import domination_error, ndcg_at
from tests.cli.conftest import call, failed, write_rows
from tests.cli.json_schema import check_output

NAMES = ["match", "clicks", "age"]


def queries(n, seed):
    random = np.random.default_rng(seed)
    for number in range(n):
        Z = random.normal(size=(random.integers(1, 7), 3)) * [1, 10, 0.1]
        grades = np.round(Z @ [1, 0.05, -3] + random.normal(scale=0.3, size=len(Z))).clip(-1, 1) + 1
        yield f"q{number}", Z, grades.astype(int)


def write(path, n, seed):
    if path.suffix == ".jsonl":
        rows = [
            {
                "id": name,
                "candidates": [
                    {"features": dict(zip(NAMES, z, strict=True)), "grade": int(g)}
                    for z, g in zip(Z, grades, strict=True)
                ],
            }
            for name, Z, grades in queries(n, seed)
        ]
        write_rows(path, rows)
    else:
        lines = [
            f"{g} qid:{name} " + " ".join(f"{j + 1}:{value:.6f}" for j, value in enumerate(z))
            for name, Z, grades in queries(n, seed)
            for z, g in zip(Z, grades, strict=True)
        ]
        path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("ending", ["svm", "jsonl"])
def test_candidates_are_trained_ranked_and_measured(ending, tmp_path):
    train, test, model = (tmp_path / f"{name}.{ending}" for name in ("train", "test", "model"))
    write(train, 60, 0)
    write(test, 30, 1)
    done = call("train", train, "-m", model, "--json")
    assert done.code == 0, done.err
    check_output(done.json, "train")
    assert (done.json["learner"], done.json["documents"], done.json["labels"]) == ("log-linear", 60, 0)
    assert "Selected log-linear" in done.err
    assert done.json["validation"]["measures"]["ndcg_at_10"] > 0.9

    corpus, ranker = read_corpus(test), arcrank.load(model)
    sets = CandidateSets(corpus.X, corpus.ptr)
    scores = ranker.score_labels(sets)
    lines = call("rank", model, test).rows
    for row, order in zip(lines, ranker.rank(sets), strict=True):
        check_output(row, "rank")
        assert row["ranking"] == order.tolist()
    assert [row["id"] for row in lines] == corpus.ids
    assert [row["ranking"] for row in call("rank", model, test, "--top", "2").rows] == [r["ranking"][:2] for r in lines]

    found = call("evaluate", model, test, "--json", "--report", tmp_path / "report.html")
    check_output(found.json, "evaluate-candidates")
    measures = found.json["measures"]
    assert (found.json["instances"], found.json["candidates"]) == (30, len(corpus.grades))
    assert measures["ndcg_at_5"] == pytest.approx(ndcg_at(corpus.grades, scores, 5, ptr=corpus.ptr))
    graphs = corpus.graphs()
    known = graphs.arc_counts() > 0
    assert measures["domination_error"] == pytest.approx(domination_error(graphs, scores, reduce="none")[known].mean())
    assert found.json["instances_without_arcs"] == int((~known).sum())
    assert "domination_error" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "ndcg_at_10" in call("evaluate", model, test).out


@pytest.mark.parametrize("learner", ["preference-machine", "mmp"])
def test_other_learners(learner, tmp_path):
    train, model = tmp_path / "train.svm", tmp_path / "model"
    write(train, 60, 0)
    done = call("train", train, "-m", model, "--learner", learner, "--json")
    assert done.code == 0, done.err
    assert done.json["validation"]["measures"]["ndcg_at_10"] > 0.7
    assert len(call("rank", model, train).rows) == 60


def test_json_candidates_need_no_grades(tmp_path):
    write(tmp_path / "train.jsonl", 30, 0)
    assert call("train", tmp_path / "train.jsonl", "-m", tmp_path / "m", "--set", "C=1").code == 0
    rows = [{"candidates": [{"features": {"age": 1.0, "new": 2.0}}, {"features": {"match": 3.0}}]}]
    write_rows(tmp_path / "new.jsonl", rows)
    assert call("rank", tmp_path / "m", tmp_path / "new.jsonl").rows[0]["ranking"] == [1, 0]


def test_wrong_use(tmp_path):
    write(tmp_path / "train.jsonl", 30, 0)
    write_rows(tmp_path / "texts.jsonl", [{"text": "oil", "labels": ["a"]}, {"text": "tea", "labels": ["b"]}] * 3)
    model = tmp_path / "m"
    assert call("train", tmp_path / "train.jsonl", "-m", model, "--set", "C=1").code == 0
    failed(call("rank", model, tmp_path / "texts.jsonl"), "this model ranks candidates")
    failed(call("rank", model, tmp_path / "train.jsonl", "--explain"), "ranks candidates")
    failed(call("explain", model, "--text", "oil"), "ranks candidates")
    failed(call("evaluate", model, model, tmp_path / "train.jsonl"), "one by one")
    failed(call("train", tmp_path / "train.jsonl", "-m", model, "--measure", "coverage"), "Leave it out")
    for fault, row in [
        ("a list of objects", {"candidates": [1]}),
        ("needs", {"candidates": [{"grade": 1}]}),
        ("finite number", {"candidates": [{"features": {"x": 1}, "grade": "good"}]}),
    ]:
        write_rows(tmp_path / "bad.jsonl", [{"candidates": []}, row])
        failed(call("train", tmp_path / "bad.jsonl", "-m", model), "bad.jsonl:2", fault)
    write_rows(tmp_path / "same.jsonl", [{"candidates": [{"features": {"x": 1}, "grade": 1}] * 2}])
    failed(call("train", tmp_path / "same.jsonl", "-m", model), "nothing to learn")
