"""`evaluate` on every kind of data against arcrank.metrics, and its result in all its forms."""

from __future__ import annotations

import json
import re
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import arcrank
from arcrank import LogLinearRanker, RocchioRanker, metrics
from arcrank.datasets import Corpus, iter_corpus, write_corpus
from arcrank.errors import FormatError, InputError
from arcrank.evaluation import Evaluation, evaluate
from arcrank.graphs import as_graphs
from arcrank.text import TextFeatures

NAMES = np.array(["coffee", "milk", "tea", "water"])


@pytest.fixture(scope="module")
def random():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def X(random):
    return random.random((60, 5))


@pytest.fixture(scope="module")
def Y(random):
    Y = random.random((60, 4)) < 0.4
    Y[np.arange(60), random.integers(0, 4, 60)] = True
    Y[:, 0] &= ~Y[:, 1:].all(axis=1)  # no full set: measures skip these
    return Y


def sets_of(Y):
    return [set(NAMES[row]) for row in Y]


def assert_agrees(found: Evaluation, Y, scores) -> None:
    """Every measure of label sets is that of arcrank.metrics."""
    graphs = as_graphs(Y, kind="indicator")
    for name in ("zero-one", "disagreement", "domination", "dominated"):
        assert found.measures[f"{name} error"] == pytest.approx(metrics.generalized_error(graphs, scores, name))
    for name in ("one-error", "coverage", "ranking loss", "average precision", "max F1"):
        direct = getattr(metrics, name.lower().replace(" ", "_").replace("-", "_"))
        assert found.measures[name] == pytest.approx(direct(Y, scores)), name
    for r in (1, 3):
        assert found.measures[f"precision at {r}"] == pytest.approx(metrics.precision_at(Y, scores, r))
        assert found.measures[f"recall at {r}"] == pytest.approx(metrics.recall_at(Y, scores, r))
    assert "recall at 5" not in found.measures  # of four labels


@pytest.mark.parametrize("form", ["sets", "indicator", "sparse", "graphs", "named graphs"])
def test_label_sets_in_every_form(X, Y, form):
    given = {
        "sets": sets_of(Y),
        "indicator": Y.astype(int),
        "sparse": sp.csr_matrix(Y),
        "graphs": as_graphs(Y, kind="indicator"),
        "named graphs": as_graphs(Y, kind="indicator", labels=NAMES),
    }[form]
    ranker = RocchioRanker().fit(X[:30], given[:30])
    found = evaluate(ranker, X[30:], given[30:])
    assert_agrees(found, Y[30:], ranker.score_labels(X[30:]))
    assert (found.n_documents, found.n_sets, found.caveats) == (30, 30, [])


def test_single_labels(X, random):
    y = random.integers(0, 4, 60)
    ranker = RocchioRanker().fit(X[:30], y[:30])
    scores, truth = ranker.score_labels(X[30:]), np.eye(4, dtype=bool)[y[30:]]
    for given in (y[30:], y[30:].astype(float), as_graphs(y, kind="single")[30:]):
        assert_agrees(evaluate(ranker, X[30:], given), truth, scores)


def test_ranks_and_arcs(X, random):
    ranks = random.permuted(np.tile(np.arange(1.0, 5.0), (60, 1)), axis=1)
    ranks[:5, 0] = np.nan
    arcs = [[(f"l{a}", f"l{b}")] for a, b in random.permuted(np.tile(np.arange(4), (60, 1)), axis=1)[:, :2]]
    for y in (ranks, arcs):
        ranker = LogLinearRanker(tol=0.1).fit(X, y)
        graphs, found = as_graphs(y), evaluate(ranker, X, y)
        scores = ranker.score_labels(X)
        assert found.measures["disagreement error"] == pytest.approx(metrics.disagreement_error(graphs, scores))
        assert found.measures["domination error"] == pytest.approx(metrics.domination_error(graphs, scores))
        assert "average precision" not in found.measures
        assert next(iter(found.headlines)) == "disagreement error"


def test_many_blocks_are_one(X, Y):
    many = np.tile(X, (80, 1)), np.tile(Y, (80, 1))
    ranker = RocchioRanker().fit(X, Y)
    found = evaluate(ranker, *many)
    assert found.n_documents == 4800  # three blocks
    assert_agrees(found, many[1], ranker.score_labels(many[0]))


def test_a_corpus_a_stream_and_texts_agree(Y, tmp_path):
    sets = [sorted(names) for names in sets_of(Y)]
    texts = [" ".join(names) + f" word{i % 7}" for i, names in enumerate(sets)]
    corpus = Corpus(labels=NAMES.tolist(), texts=texts, label_sets=sets)
    model = make_pipeline(TextFeatures(min_df=1), RocchioRanker()).fit(texts[:40], [*map(set, sets[:40])])
    write_corpus(corpus, tmp_path / "drinks.jsonl")
    found = evaluate(model, corpus)
    assert_agrees(found, Y, model[-1].score_labels(model[0].transform(texts)))
    stream = evaluate(model, iter_corpus(tmp_path / "drinks.jsonl", batch_rows=7))
    rows = evaluate(model, texts, [*map(set, sets)])
    assert found.measures == pytest.approx(stream.measures)
    assert found.measures == rows.measures
    assert found.worst == stream.worst == rows.worst
    assert stream.data == str(tmp_path / "drinks.jsonl")
    assert rows.model == "RocchioRanker"


def test_a_pipeline_of_features_takes_a_corpus_of_features(X, Y):
    model = make_pipeline(MaxAbsScaler(), RocchioRanker()).fit(X, sets_of(Y))
    corpus = Corpus(labels=NAMES.tolist(), X=sp.csr_matrix(X), label_sets=[sorted(one) for one in sets_of(Y)])
    scores = model[-1].score_labels(model[0].transform(X))
    assert_agrees(evaluate(model, corpus), Y, scores)
    assert_agrees(evaluate(model, X, sets_of(Y)), Y, scores)


def test_models_that_were_fitted_here_take_named_features_by_their_columns(X, Y, tmp_path):
    named = Corpus(
        labels=NAMES.tolist(),
        X=sp.csr_matrix(X),
        feature_names=[f"f{j}" for j in range(X.shape[1])],
        label_sets=[sorted(one) for one in sets_of(Y)],
    )
    model = make_pipeline(MaxAbsScaler(), RocchioRanker()).fit(X, sets_of(Y))
    assert_agrees(evaluate(model, named), Y, model.decision_function(X))
    assert_agrees(evaluate(model[-1], named), Y, model[-1].score_labels(X))
    arcrank.save(model[-1], tmp_path / "m.arcrank")
    with pytest.raises(InputError, match="features are numbered, but those of the file are named"):
        evaluate(arcrank.load(tmp_path / "m.arcrank"), named)


def test_a_corpus_of_ranks(X):
    ranks = np.array([[1.0, 2.0], [2.0, 1.0]])
    corpus = Corpus(labels=["a", "b"], X=sp.csr_matrix(X[:2]), ranks=ranks)
    ranker = RocchioRanker().fit(X[:2], corpus.graphs())
    expected = metrics.disagreement_error(corpus.graphs(), ranker.score_labels(X[:2]))
    assert evaluate(ranker, corpus).measures["disagreement error"] == expected


def test_unknown_labels_are_left_out_of_lists_and_graphs(X):
    ranker = RocchioRanker().fit(X[:4], ["tea", "milk", "tea", "milk"])
    for y in (["tea", "new", "milk"], as_graphs(["tea", "new", "milk"])):
        found = evaluate(ranker, X[:3], y)
        assert (found.n_documents, found.n_unlabelled, found.unknown_labels) == (3, 1, {"new": 1})
        assert "1 label is unknown to the model" in " ".join(found.caveats)


def test_graphs_of_a_hierarchy_are_over_its_leaves(X, tmp_path):
    parents = {"hot": None, "tea": "hot", "coffee": "hot", "milk": None}
    sets = [["hot", "tea"], ["coffee"], ["hot"], ["milk"]]
    tree = arcrank.graphs.Hierarchy(parents)
    ranker = LogLinearRanker(tol=0.1).fit(X[:4], tree.leaf_graphs(sets))
    arcrank.save(ranker, tmp_path / "m.arcrank", card={"hierarchy": parents})
    model = arcrank.load(tmp_path / "m.arcrank")
    by_name, by_graph = evaluate(model, X[:4], [*map(set, sets)]), evaluate(model, X[:4], tree.leaf_graphs(sets))
    assert not by_graph.unknown_labels
    errors = [name for name in by_graph.measures if name.endswith(" error")]
    assert [by_name.measures[name] for name in errors] == [by_graph.measures[name] for name in errors]


@pytest.mark.parametrize(
    ("data", "y", "part"),
    [
        (np.eye(2), None, "without y; pass y too"),
        (["text"], None, "a collection of str without y"),
        (np.eye(2), ["a"], "2 instances and y has 1"),
        (np.eye(2), ["x", "z"], "no document has a label that the model knows"),
        (np.eye(3), ["a", "b", "a"], "3 features"),
        (np.eye(2), [[1, 0], [0, 1]], "learnt from one label for each instance"),
        (Corpus(labels=["a"], texts=["t"], label_sets=[["a"]]), ["a"], "so y must be None"),
        (Corpus(labels=["a"], texts=["t"], label_sets=[["a"]]), None, "takes features"),
        ([], None, "there are no documents"),
    ],
)
def test_what_cannot_be_measured_is_refused(data, y, part):
    ranker = RocchioRanker().fit(np.eye(2), ["a", "b"])
    y = np.array(y) if y == [[1, 0], [0, 1]] else y
    with pytest.raises(ValueError, match=part):
        evaluate(ranker, data, y)


def test_models_that_rank_no_labels_or_are_not_fitted():
    with pytest.raises(InputError, match="not fitted"):
        evaluate(RocchioRanker(), np.eye(2), ["a", "b"])
    with pytest.raises(InputError, match="ranks documents, not labels"):
        evaluate(MaxAbsScaler(), np.eye(2), ["a", "b"])
    empty = Corpus(labels=["a", "b"], X=sp.csr_matrix(np.eye(2)), label_sets=[[], []], source="d.svm")
    with pytest.raises(FormatError, match=r"d\.svm: no document has a label"):
        evaluate(RocchioRanker().fit(np.eye(2), ["a", "b"]), empty)


def test_the_forms_of_an_evaluation(X, Y, tmp_path):
    found = evaluate(RocchioRanker().fit(X, Y), X, Y, name="folder/<m>", data_name="d")
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["measures"] == found.measures
    assert told["model"] == "folder/<m>"
    assert repr(found).startswith("Evaluation(60 documents, 4 labels; average precision 0.")
    assert "average precision" in found._repr_html_()
    found.to_html(tmp_path / "r.html", title="A & B", sections=["<p id='mine'>"])
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "A &amp; B" in page
    assert "<p id='mine'>" in page
    block = json.loads(re.search(r'id="arcrank-data">(.*?)</script>', page)[1])
    assert block == told | {"model": "<m>"}


@pytest.mark.slow
def test_a_stream_is_never_held_whole():
    random, k = np.random.default_rng(0), 200
    ranker = RocchioRanker().fit(random.random((k, 3)), np.arange(k))
    X, sets = sp.csr_matrix(random.random((500, 3))), [[str(i % k)] for i in range(500)]

    def peak(n_blocks):
        blocks = (Corpus(labels=[], X=X, label_sets=sets) for _ in range(n_blocks))
        tracemalloc.start()
        assert evaluate(ranker, blocks).n_documents == 500 * n_blocks
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(1)
    scores_of_a_block = 8 * 500 * k
    assert peak(41) - peak(1) < 10 * scores_of_a_block  # the other 40 blocks have 40 times as many
