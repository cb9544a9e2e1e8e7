from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import arcrank
from arcrank.datasets import Corpus
from arcrank.errors import GraphError, InputError, ParameterError
from arcrank.graphs import ArcGraphs, CandidateGraphs, Hierarchy, LayeredGraphs


def small(**parts):
    given = {"labels": ["a", "b", "c"], "texts": ["x", "y", "z"], "label_sets": [["a"], [], ["c", "b"]]}
    return Corpus(**{**given, **parts})


def arcs_of(corpus, i):
    heads, tails = corpus.graphs().arcs(i)
    return {(corpus.labels[h], corpus.labels[t]) for h, t in zip(heads, tails, strict=True)}


def test_repr_says_what_there_is():
    corpus = small(splits={"train": [0, 1], "test": [2]}, source="here", skipped={"invalid JSON": 2, "x": 1})
    assert repr(corpus) == "Corpus(3 texts, 3 labels; train 2, test 1; 3 skipped; from here)"


@pytest.mark.parametrize("rows", [[2, 0], np.array([2, 0]), np.array([True, False, True]), slice(None, None, 2)])
def test_rows_are_chosen_in_every_part(rows):
    corpus = small(ids=["i", "j", "k"], splits={"all": [0, 1, 2]})
    part = corpus[rows]
    expected = [corpus.texts[i] for i in np.arange(3)[rows]]
    assert part.texts == expected
    assert len(part.label_sets) == len(part.ids) == len(part) == 2
    assert part.splits == {}
    assert part.labels == corpus.labels


def test_one_row_is_not_a_corpus():
    with pytest.raises(InputError, match=r"corpus\[i : i \+ 1\]"):
        small()[0]


def test_an_unknown_split_names_the_known_ones():
    with pytest.raises(ParameterError, match="train, test"):
        small(splits={"train": [0], "test": [1]}).split("dev")


def test_indicator_follows_the_column_order():
    matrix = small(labels=["c", "a", "b"]).indicator()
    assert matrix.dtype == bool
    assert matrix.toarray().tolist() == [[False, True, False], [False, False, False], [True, False, True]]
    assert matrix.has_sorted_indices


def test_target_is_one_labels_task():
    assert small().target("b").tolist() == [0, 0, 1]
    with pytest.raises(ParameterError, match="'d'"):
        small().target("d")


@pytest.mark.parametrize(
    "parts",
    [
        {"X": np.ones((3, 2))},
        {"texts": None},
        {"label_sets": None},
        {"ranks": np.ones((3, 3))},
        {"label_sets": [["a"]]},
        {"ids": ["i"]},
    ],
)
def test_parts_must_agree(parts):
    with pytest.raises(InputError):
        small(**parts)


def test_graphs_of_label_sets():
    assert isinstance(small().graphs(), LayeredGraphs)
    assert arcs_of(small(), 2) == {("b", "a"), ("c", "a")}


def test_graphs_of_ranks():
    corpus = small(label_sets=None, ranks=np.array([[1, 2, np.nan], [1, 1, 2], [3, 2, 1]]))
    assert arcs_of(corpus, 0) == {("a", "b")}
    assert arcs_of(corpus, 1) == {("a", "c"), ("b", "c")}
    with pytest.raises(InputError, match="graphs"):
        corpus.indicator()


def test_graphs_of_mixed_preferences_keep_their_order():
    preferences = [("arcs", [("a", "b"), ("b", "a")]), ("labels", ["c"]), ("layers", [["b"], ["a"]])]
    corpus = small(label_sets=None, preferences=preferences)
    assert isinstance(corpus.graphs(), ArcGraphs)
    assert arcs_of(corpus, 0) == {("a", "b"), ("b", "a")}
    assert arcs_of(corpus, 1) == {("c", "a"), ("c", "b")}
    assert arcs_of(corpus, 2) == {("b", "a")}


def graded():
    X = csr_matrix(np.arange(12.0).reshape(6, 2))
    grades = np.array([0, 2, 2, 1, 5, 5.0])
    return Corpus(["0", "1", "2"], X=X, ptr=np.array([0, 3, 4, 4, 6]), grades=grades)


def test_graphs_of_grades_prefer_the_better_candidates():
    graphs = graded().graphs()
    assert isinstance(graphs, CandidateGraphs)
    assert graphs.shape == (4, 3)
    assert [arcs_of(graded(), i) for i in range(4)] == [{("1", "0"), ("2", "0")}, set(), set(), set()]


def test_queries_take_their_candidates_along():
    part = graded()[[3, 2, 0]]
    assert part.ptr.tolist() == [0, 2, 2, 5]
    assert part.grades.tolist() == [5, 5, 0, 2, 2]
    assert part.X.toarray()[:, 0].tolist() == [8, 10, 0, 2, 4]
    assert arcs_of(part, 2) == {("1", "0"), ("2", "0")}
    assert repr(part) == "Corpus(3 queries, 3 labels)"


def test_the_hierarchy_is_a_tree_and_a_mapping():
    parents = {"fuel": None, "oil": "fuel", "gas": "fuel"}
    corpus = Corpus(["gas", "oil"], texts=["a", "b"], label_sets=[["oil"], ["gas"]], hierarchy=parents)
    tree = corpus.hierarchy
    assert isinstance(tree, Hierarchy)
    assert tree == parents
    assert parents == tree
    assert tree.leaf_graphs(corpus.label_sets).shape == (2, 3)
    assert corpus[:1].hierarchy is tree
    with pytest.raises(GraphError, match="not in the hierarchy"):
        Corpus(["oil"], texts=["a"], label_sets=[["oil"]], hierarchy={"oil": "fuel"})


def test_a_hierarchy_is_kept_in_a_card(tmp_path):
    tree = Hierarchy({"fuel": None, "oil": "fuel"})
    ranker = arcrank.RocchioRanker().fit([[1, 0], [0, 1]], ["oil", "fuel"])
    arcrank.save(ranker, tmp_path / "m", card={"hierarchy": tree})
    assert arcrank.load(tmp_path / "m").model_card_["hierarchy"] == {"fuel": None, "oil": "fuel"}
