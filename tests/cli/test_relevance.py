"""Rankers of documents from the command: train, rank, evaluate, explain, info and check on marked documents."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import arcrank
from arcrank.datasets import read_corpus
from arcrank.training.plan import BIPARTITE
from tests.cli.conftest import call, failed, write_rows
from tests.cli.json_schema import check_output

GOOD, BAD = ["wheat", "corn", "harvest", "bushel"], ["oil", "barrel", "tanker", "refinery"]


def rows(n, seed=0, labelled=20):
    """Documents about grain are relevant; only the first are labelled."""
    random = np.random.default_rng(seed)
    made = []
    for number in range(n):
        relevant = bool(random.integers(2))
        words = random.choice(GOOD if relevant else BAD, 3).tolist() + random.choice(GOOD + BAD, 1).tolist()
        made.append({"id": f"d{number}", "text": " ".join(words), "relevant": relevant if number < labelled else None})
    return made


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("relevance")
    write_rows(path / "train.jsonl", rows(80))
    write_rows(path / "test.jsonl", rows(40, seed=1, labelled=40))
    return path


@pytest.fixture(scope="module")
def models(place):
    found = {}
    for learner in BIPARTITE:
        settings = ["--set", "n_components=5"] if learner == "few-labels" else []
        done = call("train", place / "train.jsonl", "-m", place / learner, "--learner", learner, "--json", *settings)
        assert done.code == 0, done.err
        check_output(done.json, "train")
        counts = done.json["relevance"]
        assert sum(counts[name] for name in ("relevant", "irrelevant")) == 20
        assert counts["unlabelled"] == 60
        found[learner] = place / learner
    return found


@pytest.mark.parametrize("learner", BIPARTITE)
def test_documents_are_ranked_and_measured(models, place, learner):
    test = place / "test.jsonl"
    ranked = call("rank", models[learner], test).rows
    for row in ranked:
        check_output(row, "rank-documents")
    assert [row["rank"] for row in ranked] == list(range(1, 41))
    scores = [row["score"] for row in ranked]
    assert scores == sorted(scores, reverse=True)
    assert call("rank", models[learner], test, "--top", "3").rows == ranked[:3]
    corpus, model = read_corpus(test), arcrank.load(models[learner])
    expected = model.decision_function(corpus.texts)
    assert scores == expected[[row["row"] - 1 for row in ranked]].tolist()
    assert [row["id"] for row in ranked] == [corpus.ids[row["row"] - 1] for row in ranked]

    page = place / f"{learner}.html"
    found = call("evaluate", models[learner], test, "--json", "--report", page)
    check_output(found.json, "evaluate-documents")
    y = corpus.relevance()
    assert found.json["measures"]["AUC"] == pytest.approx(roc_auc_score(y, expected))
    assert found.json["measures"]["average precision"] == pytest.approx(average_precision_score(y, expected))
    first = y[np.argsort(-expected, kind="stable")[:10]]
    if len(set(expected.tolist())) == len(expected):
        assert found.json["measures"]["precision at 10"] == pytest.approx(first.mean())
    assert found.json["measures"]["AUC"] > 0.8
    assert "<svg" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("learner", BIPARTITE)
def test_the_parts_of_a_score_add_up(models, learner):
    text = "wheat and corn from a tanker"
    why = call("explain", models[learner], "--text", text, "--top", "0", "--json").json
    score = arcrank.load(models[learner]).decision_function([text])[0]
    assert why["margin"] == pytest.approx(score)
    assert why["intercept"] + sum(part["weight"] for part in why["parts"]) == pytest.approx(score)
    weights = {part["feature"]: part["weight"] for part in why["parts"]}
    assert weights["wheat"] + weights["corn"] > weights["tanker"]


def test_for_people(models, place):
    done = call("train", place / "train.jsonl", "-m", place / "again", "--learner", "rankboost", "--validate", "0.3")
    assert "relevant, " in done.out
    assert "AUC" in done.out
    shown = call("rank", models["rankboost"], place / "test.jsonl", "--top", "2", terminal=True).out
    assert "rank" in shown
    assert "score" in shown
    assert "average precision" in call("evaluate", models["rankboost"], place / "test.jsonl").out
    assert "score of the document: " in call("explain", models["rankboost"], "--text", "wheat").out
    assert "knows no word" in call("explain", models["rankboost"], "--text", "").out
    assert call("info", models["few-labels"]).code == 0
    checked = call("check", place / "train.jsonl", "--json").json
    assert [one["severity"] for one in checked["findings"] if one["kind"] == "unlabelled documents"] == ["note"]
    assert "--learner few-labels" in call("train", place / "test.jsonl", "-m", place / "labels").err


def test_a_table_and_numbers(tmp_path):
    table = "".join(f"{row['text']},{'' if row['relevant'] is None else int(row['relevant'])}\n" for row in rows(80))
    (tmp_path / "t.csv").write_text("text,relevant\n" + table, encoding="utf-8")
    found = call("train", tmp_path / "t.csv", "-m", tmp_path / "m", "--learner", "transductive-svm", "--json").json
    assert found["relevance"]["unlabelled"] == 60
    lines = "".join(f"{i % 2} {i % 2 + 1}:1 3:{i}\n" for i in range(20)) + "-1 3:1\n"
    (tmp_path / "n.svmlight").write_text(lines, encoding="utf-8")
    found = call("train", tmp_path / "n.svmlight", "-m", tmp_path / "n", "--learner", "rankboost", "--json").json
    assert found["relevance"] == {"relevant": 10, "irrelevant": 10, "unlabelled": 1}
    assert call("rank", tmp_path / "n", tmp_path / "n.svmlight").rows[0]["rank"] == 1


def test_wrong_use(models, place, tmp_path, data, model):
    few = ["--learner", "few-labels"]
    failed(call("train", data, "-m", tmp_path / "m", *few), "relevance is needed", '"relevant": true, false or null')
    one_kind = write_rows(tmp_path / "one.jsonl", [{"text": "a b", "relevant": True}] * 3)
    failed(call("train", one_kind, "-m", tmp_path / "m", *few), "0 irrelevant documents", "at least one of each")
    failed(call("evaluate", models["rankboost"], one_kind), "at least one of each")
    odd = write_rows(tmp_path / "odd.jsonl", [{"text": "a", "relevant": "perhaps"}])
    failed(call("train", odd, "-m", tmp_path / "m", *few), "odd.jsonl:1", "invalid relevance", '"perhaps"')
    failed(call("tune", place / "train.jsonl", "--learner", "rankboost"), "tune compares rankers of labels")
    failed(call("explain", models["rankboost"], "--text", "oil", "--above", "x"), "ranks documents")
    failed(call("rank", models["rankboost"], place / "test.jsonl", "--explain"), "ranks documents")
    update = call("update", models["rankboost"], place / "test.jsonl")
    failed(update, "cannot be updated")
    assert "mmp" not in update.err
    failed(call("evaluate", models["rankboost"], model, data), "Only models that rank labels can be compared")
    tree = tmp_path / "tree.json"
    tree.write_text(json.dumps({"relevant": None, "irrelevant": None}))
    failed(call("train", place / "train.jsonl", "-m", tmp_path / "m", *few, "--hierarchy", tree), "--hierarchy")
