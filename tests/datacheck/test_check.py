"""`check` on corpora in memory: what it finds, in which order, and what it calls them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank.datacheck import Finding, check
from arcrank.datacheck.findings import check_one
from arcrank.datacheck.stats import CorpusStats, corpus_stats
from arcrank.datasets import Corpus
from arcrank.errors import InputError
from arcrank.graphs import Hierarchy
from arcrank.training.estimate import estimate_resources

WORDS = ("oil", "ship", "grain")


def corpus(n=12, **more):
    sets = [[WORDS[i % 3]] for i in range(n)]
    texts = [f"{names[0]} number {i}" for i, names in enumerate(sets)]
    return Corpus(**{"labels": [*WORDS], "texts": texts, "label_sets": sets} | more)


def kinds(found):
    return [one.kind for one in found]


def test_good_data_have_no_findings():
    assert check(corpus()) == []


def test_findings_are_sorted_by_severity():
    sets = [["oil"]] * 9 + [["ship"]] * 2 + [[]]
    found = check(corpus(label_sets=sets, texts=["same"] * 12), corpus())
    order = ["serious", "warning", "note"]
    assert [one.severity for one in found] == sorted((one.severity for one in found), key=order.index)
    assert {"duplicates that disagree", "rows without labels", "labels of one file only"} <= {*kinds(found)}
    assert all(isinstance(one, Finding) for one in found)


def test_splits_of_one_corpus_have_names_of_their_own():
    found = check(corpus(source="news"), corpus(source="news"))
    assert (found[0].kind, found[0].file, found[0].number) == ("overlap", "corpus 1, corpus 2", 12)
    assert check(corpus(source="a"), corpus(source="b"))[0].file == "a, b"


def test_features_may_be_dense_and_supervision_ranks():
    ranks = np.tile([1.0, 2.0, np.nan], (12, 1))
    for X in (np.arange(24.0).reshape(12, 2), sp.csr_matrix(np.arange(24.0).reshape(12, 2))):
        given = corpus(texts=None, X=X, label_sets=None, ranks=ranks)
        stats = corpus_stats("r", iter([given]))
        assert (stats.n_values, stats.n_features, stats.kinds["layers"]) == (23, 2, 12)
        assert stats.labels == {"oil": 12, "ship": 12}
        assert check(given) == []


def test_a_hierarchy_as_a_tree_or_a_dict():
    parents = {"goods": None, "oil": "goods", "ship": None}
    for tree in (parents, Hierarchy(parents)):
        found = check(corpus(), hierarchy=tree, hierarchy_name="tree.json")
        assert kinds(found) == ["labels missing in the hierarchy"]
        assert "grain" in found[0].message
    assert check(corpus(), hierarchy={**parents, "grain": None, "tea": None})[0].file == "the hierarchy"


def test_other_things_are_refused():
    with pytest.raises(InputError, match="check takes corpora, got list"):
        check(["a text"])


def test_memory_is_estimated_once(monkeypatch):
    monkeypatch.setattr("arcrank.memory.available_memory", lambda: 1000)
    stats = corpus_stats("big", iter([corpus()]))
    assert kinds(check(stats)) == ["more than the memory"]
    assert stats.resources() is stats.resources()


def test_counts_in_words():
    found = CorpusStats("d", n_rows=4, without_labels=[1], kinds=CorpusStats("").kinds)
    found.labels.update(["a", "b"])
    (first, *_) = check_one(found)
    assert first.message == "1 row (1) has no preference"


def test_the_forecast_grows_with_the_data():
    texts = [f"word{chr(97 + i % 20)} common text" for i in range(100)]
    small = CorpusStats("s", n_rows=100, n_characters=2000, sample=texts)
    large = CorpusStats("l", n_rows=10_000, n_characters=200_000, sample=texts)
    small.labels.update(map(str, range(10)))
    large.labels.update(map(str, range(1000)))
    a, b = estimate_resources(small), estimate_resources(large)
    assert b.seconds > 100 * a.seconds
    assert b.megabytes > a.megabytes > 200
    assert estimate_resources(CorpusStats("one", n_rows=1, n_characters=3, sample=["the"])).features == 0


def test_very_many_labels_are_no_problem(monkeypatch):
    monkeypatch.setattr("arcrank.memory.available_memory", lambda: 1000)
    monkeypatch.setattr("arcrank.datacheck.findings.MOST_LABELS", 1)
    (found,) = check(corpus_stats("big", iter([corpus()])))
    assert (found.severity, found.kind) == ("note", "very many labels")
    assert "ShortlistRanker" in found.remedy
