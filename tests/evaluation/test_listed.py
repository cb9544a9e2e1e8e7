"""Very many labels are measured by the ranks of the right ones: the same result as by all scores, in less memory."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank import ShortlistRanker
from arcrank.datasets import Corpus
from arcrank.evaluation import Evaluation, evaluate
from arcrank.evaluation.bands import extreme_labels
from arcrank.evaluation.listed import ListedBlock
from arcrank.evaluation.report.report import report
from arcrank.evaluation.results import LabelRow
from arcrank.evaluation.scoring import BlockScorer

K = 60


@pytest.fixture(scope="module")
def corpus():
    """Few features, so that many labels tie at 0; an empty set, and one of all labels."""
    rng = np.random.default_rng(1)
    Y = rng.random((200, K)) < 0.04
    X = 0.3 * Y @ sp.random(K, 40, 0.05, random_state=2).toarray() + 0.2 * (rng.random((200, 40)) < 0.03)
    Y[7], Y[150], X[7] = True, False, np.arange(40) == 39
    return sp.csr_matrix(X), sp.csr_matrix(Y.astype(int))


@pytest.fixture(scope="module", params=[False, True], ids=["ranking", "cut"])
def ranker(corpus, request):
    X, Y = corpus
    ranker = ShortlistRanker(random_state=0, cut_label=request.param, fit_intercept=0, neighbours=3).fit(X, Y)
    return ranker.calibrate(X[:120], Y[:120]) if request.param else ranker


def leaves(value, path=""):
    if isinstance(value, dict):
        return {key: leaf for name, one in value.items() for key, leaf in leaves(one, f"{path}/{name}").items()}
    if isinstance(value, list | tuple):
        return {key: leaf for n, one in enumerate(value) for key, leaf in leaves(one, f"{path}/{n}").items()}
    return {path: value}


def assert_same(found, expected):
    found, expected = leaves(found.to_dict()), leaves(expected.to_dict())
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, float):
            assert math.isclose(found[name], value, rel_tol=1e-9, abs_tol=1e-12), name
        else:
            assert found[name] == value, name


def test_the_same_as_by_all_scores(ranker, corpus, monkeypatch):
    X, Y = corpus
    assert min(len(np.unique(row)) for row in ranker.score_labels(X)) < K // 2
    found = evaluate(ranker, X, Y)
    assert (found.calibration is not None) == ranker.cut_label
    monkeypatch.delattr(ShortlistRanker, "label_ranks")
    assert_same(found, evaluate(ranker, X, Y))


def test_right_labels_beyond_the_list_count(ranker, corpus, monkeypatch):
    X, Y = corpus
    whole = evaluate(ranker, X, Y)
    monkeypatch.setattr("arcrank.evaluation.listed._LISTED", 5)
    short = evaluate(ranker, X, Y)
    of_ranks = [
        name for name in whole.measures if "calibration" not in name and "F1" not in name and "subset" not in name
    ]
    assert {name: short.measures[name] for name in of_ranks} == {name: whole.measures[name] for name in of_ranks}
    if ranker.cut_label:  # what is predicted first is in any list, and what is missed lowers the recall
        strict, loose = short.calibration.thresholds[-1], whole.calibration.thresholds[-1]
        assert (strict.precision, strict.recall) == (loose.precision, loose.recall)


def test_unknown_labels_and_other_preferences(corpus, monkeypatch):
    X, Y = corpus
    names = [[f"s{j:02}" for j in Y[i].indices] for i in range(30)]
    ranker = ShortlistRanker(random_state=0).fit(X[:30], names)
    given = [*names[:28], [*names[28], "new"], ["new"]]
    sets = Corpus(labels=[f"s{j:02}" for j in range(K)], X=X[:30], label_sets=given)
    assert isinstance(BlockScorer(ranker)(sets), ListedBlock)
    found = evaluate(ranker, sets)
    assert found.unknown_labels == {"new": 2}
    assert found.n_unlabelled == 1 + sum(not one for one in names[:29])
    arcs = Corpus(labels=["s01", "s02"], X=X[:1], preferences=[("arcs", [("s01", "s02")])])
    assert not isinstance(BlockScorer(ranker)(arcs), ListedBlock)
    monkeypatch.delattr(ShortlistRanker, "label_ranks")
    assert_same(found, evaluate(ranker, sets))


def test_no_matrix_of_all_scores():
    rng, n, k = np.random.default_rng(0), 400, 20_000
    X = sp.random(n, 300, 0.02, "csr", random_state=0)
    Y = sp.csr_matrix((np.ones(2 * n), (np.repeat(np.arange(n), 2), rng.integers(0, k, 2 * n))), (n, k))
    Y.data[:] = 1
    ranker = ShortlistRanker(max_iter=1, random_state=0).fit(X, Y)
    evaluate(ranker, X[:5], Y[:5])  # what is compiled and imported does not count
    tracemalloc.start()
    evaluate(ranker, X, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * 8 * n * k


def test_a_report_of_very_many_labels_stays_short():
    rows = [LabelRow(f"s{j}", j % 30, 0.1, (j % 7) / 7, 9.0) for j in range(1, 700)]
    curve = np.linspace(1, 0, 30_000).tolist()
    found = Evaluation([row.label for row in rows], 10, 10, precision=curve, recall=curve[::-1], per_label=rows)
    page = report(found)
    for heading in (
        "Labels by frequency",
        "Hardest",
        "Easiest",
        "Label by label",
        "rarer labels are in the data block",
    ):
        assert heading in page
    assert found.by_frequency[1].name == "2 to 5"
    body = page.partition('id="arcrank-data"')[0]
    assert len(body) < 200_000
    hardest = [row.label for row in extreme_labels(rows, 3)[1]]
    assert [int(name[1:]) % 7 for name in hardest] == [0, 0, 0]
