"""What rankers say of supervision that is of another kind, says nothing, or is not for them."""

from __future__ import annotations

import io
from copy import deepcopy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_score

from arcrank import (
    LogLinearRanker,
    MMPRanker,
    PerceptronRanker,
    PreferenceMachine,
    RankBoost,
    RocchioRanker,
    SemiSupervisedLogistic,
    SemiSupervisedRankBoost,
    TransductiveSVM,
)
from arcrank.datasets import read_corpus
from arcrank.errors import InputError
from arcrank.graphs import LayeredGraphs, as_graphs
from arcrank.metrics import ndcg_at
from arcrank.metrics.scorers import scorer
from arcrank.rankers.candidates import CandidateSets

X = np.eye(4)
SETS, SINGLE, ARCS, INDICATOR = [["a"], ["b"]], ["a", "b"], [[("a", "b")], [("b", "a")]], np.eye(2)
LAYERS = [[["a"], ["b"]], [["b"], ["a"]]]
KINDS = {"label sets": SETS, "one label": SINGLE, "arcs": ARCS, "indicator": INDICATOR, "layers": LAYERS}
MATRICES = {"indicator": "matrix"}


class Frame:
    def __init__(self, values, columns):
        self.values, self.columns = np.asarray(values), columns

    def to_numpy(self):
        return self.values


@pytest.mark.parametrize("learnt", KINDS)
@pytest.mark.parametrize("given", KINDS)
@pytest.mark.parametrize("method", ["partial_fit", "score", "margins"])
def test_another_kind_is_refused_by_name(learnt, given, method):
    ranker = MMPRanker().partial_fit(X[:2], KINDS[learnt])
    if given == learnt:
        getattr(ranker, method)(X[:2], KINDS[given])
        return
    with pytest.raises(
        InputError, match=f"learnt from .*{learnt}.* this y is .*{MATRICES.get(given, given)}"
    ) as caught:
        getattr(ranker, method)(X[:2], KINDS[given])
    assert "as_graphs(" in str(caught.value) or "Pass a matrix" in str(caught.value)
    assert set(ranker.labels_.tolist()) <= {"a", "b", 0, 1}


@pytest.mark.parametrize(
    "y", [["cat", ["a"]], [["a"], "cat"], 5, "ab", {"a": 1}, [{"a": 1}, {"b": 2}], [["a"], [["b"]]]]
)
def test_what_is_no_label_set_changes_nothing(y):
    ranker = MMPRanker().fit(X[:2], SETS)
    with pytest.raises(InputError):
        ranker.partial_fit(X[:2], y)
    assert ranker.labels_.tolist() == ["a", "b"]


@pytest.mark.parametrize("y", [[["a", "b"], []], [("a", "c"), ("b", "c")], [{"a"}, {"c"}], [[], []]])
def test_label_sets_in_every_form_go_on(y):
    ranker = MMPRanker().fit(X[:2], SETS).partial_fit(X[:2], y)
    assert ranker.labels_.tolist()[:2] == ["a", "b"]


def test_lists_go_on_for_a_matrix():
    ranker = MMPRanker().fit(X[:2], INDICATOR)
    assert ranker.partial_fit(X[:2], [[0, 1], [1, 0]]).n_rounds_ == 4
    assert ranker.score(X[:2], [[1, 0], [0, 1]]) <= 1


def test_graphs_of_a_later_call_are_matched_by_name():
    once = MMPRanker().partial_fit(X[:3], as_graphs(["a", "b", "c"]))
    named, turned = as_graphs(["a", "c", "b"]), as_graphs(["a", "c", "b"], labels=["c", "a", "b"])
    again, other = deepcopy(once).partial_fit(X[:3], named), deepcopy(once).partial_fit(X[:3], turned)
    assert other.labels_.tolist() == ["a", "b", "c"]
    assert np.array_equal(again.coef_, other.coef_)
    grown = once.partial_fit(X[:2], as_graphs(["d", "b"]))
    assert grown.labels_.tolist() == ["a", "b", "c", "d"]
    assert grown.rank(X[:1])[0, 0] == "d"


def test_graphs_of_a_later_call_do_not_mix_names_and_numbers():
    ranker = MMPRanker().fit(X[:2], INDICATOR)
    with pytest.raises(InputError, match=r"labels of this ranker are 0, 1, and the graphs name 'a', 'b'"):
        ranker.partial_fit(X[:2], as_graphs(["a", "b"]))
    assert ranker.labels_.tolist() == [0, 1]


RANKERS = [LogLinearRanker(C=100), PreferenceMachine(), PreferenceMachine(kernel="rbf"), MMPRanker(epochs=5)]


@pytest.mark.parametrize("ranker", RANKERS)
def test_score_matches_labels_by_name(ranker):
    ranker = clone(ranker).fit(X[:3], ["a", "b", "c"])
    assert ranker.score(X[:3], as_graphs(["a", "b", "c"])) == 1
    assert ranker.score(X[:3], as_graphs(["a", "b", "c"], labels=["c", "b", "a"])) == 1
    assert ranker.score(X[:2], as_graphs(["a", "b"])) == 1
    assert ranker.score(X[:3], as_graphs(["b", "c", "a"], labels=["c", "b", "a"])) == 0
    with pytest.raises(InputError, match=r"judges the label 'x', which is not among the 3 labels"):
        ranker.score(X[:3], as_graphs(["x", "y", "z"]))
    with pytest.raises(InputError, match=r"with_labels\(ranker.labels_\)"):
        ranker.score(X[:3], LayeredGraphs.from_label_sets(np.eye(3)))


def test_files_with_other_labels_are_scored_by_name():
    train = b"tea 0:1\nmilk 1:1\noil 2:1"
    test = b"oil 2:1\ntea 0:1"
    learnt, judged = (read_corpus(io.BytesIO(rows), "svmlight", n_features=3) for rows in (train, test))
    ranker = LogLinearRanker(C=100).fit(learnt.X, learnt.graphs())
    assert judged.labels == ["oil", "tea"]
    assert ranker.score(judged.X, judged.graphs()) == 1
    assert scorer("average_precision")(ranker, judged.X, judged.graphs()) == 1


def test_margins_match_labels_by_name():
    ranker = MMPRanker().fit(X[:3], ["a", "b", "c"])
    named, turned = as_graphs(["a", "b", "c"]), as_graphs(["a", "b", "c"], labels=["c", "b", "a"])
    assert ranker.margins(X[:3], turned).tolist() == ranker.margins(X[:3], named).tolist()


def test_pairs_of_names_are_label_sets_once_that_is_known():
    pairs = [["a", "b"], ["a", "c"]]
    for fit in (LogLinearRanker().fit, MMPRanker().fit, MMPRanker().partial_fit):
        with pytest.raises(InputError, match="kind='arcs'.*kind='sets'"):
            fit(X[:2], pairs)
    ranker = MMPRanker().partial_fit(X[:2], [{"a", "b"}, {"a", "c"}])
    assert ranker.predict(X[:2])[0] == ["a", "b"]
    ranker.partial_fit(X[:2], pairs)
    assert ranker.n_rounds_ == 4
    assert ranker.score(X[:2], pairs) == 1 + scorer("domination_error")(ranker, X[:2], pairs)
    assert scorer("average_precision")(ranker, X[:2], pairs) == 1


@pytest.mark.parametrize("ranker", [LogLinearRanker(), PreferenceMachine(), MMPRanker(), RocchioRanker()])
@pytest.mark.parametrize(
    ("y", "message"), [(["a", "a"], "one class only, 'a'"), ([["a"], []], "'a'"), (np.ones((2, 1)), "single column")]
)
def test_one_label_is_not_enough(ranker, y, message):
    with pytest.raises(InputError, match=f"{message}.*ranking needs at least two labels"):
        ranker.fit(X[:2], y)


class Texts:
    """What of a pandas series counts here."""

    def __init__(self, texts):
        self.texts = np.array(texts, dtype=object)

    def __getitem__(self, rows):
        return Texts(self.texts[rows])

    def __array__(self, dtype=None, copy=None):
        return self.texts

    def __len__(self):
        return len(self.texts)

    def to_numpy(self):
        return self.texts


TEXTS = ["cheap oil", "a tanker"]
OF_LABELS = LogLinearRanker, PreferenceMachine, MMPRanker, PerceptronRanker, RocchioRanker
OF_INSTANCES = RankBoost, SemiSupervisedRankBoost, SemiSupervisedLogistic, TransductiveSVM


@pytest.mark.parametrize(
    "X", [TEXTS, tuple(TEXTS), np.array(TEXTS), np.array(TEXTS, dtype=object), Texts(TEXTS), [[one] for one in TEXTS]]
)
@pytest.mark.parametrize("ranker", [*OF_LABELS, *OF_INSTANCES])
def test_texts_need_features(ranker, X):
    with pytest.raises(InputError, match=rf"X holds texts.*'cheap oil'.*{ranker.__name__} takes.*TextFeatures\(\)"):
        ranker().fit(X, [1, 0])


def test_texts_to_be_ranked_need_features_too():
    with pytest.raises(InputError, match="TextFeatures"):
        MMPRanker().fit(X[:2], SETS).rank(TEXTS)
    with pytest.raises(InputError, match="TextFeatures"):
        RankBoost().fit(X[:2], [1, 0]).decision_function(TEXTS)
    with pytest.raises(InputError, match="TextFeatures"):
        LogLinearRanker().fit(X[:2], SETS).explain(TEXTS[0], "a", "b")


@pytest.mark.parametrize("ranker", [LogLinearRanker(), PreferenceMachine(), MMPRanker()])
@pytest.mark.parametrize("y", [[[["a", "b"]], [["c", "d"]]], [[["a", "b"]]], np.zeros((2, 3), dtype=int)])
def test_nothing_to_learn_is_warned_of(ranker, y):
    with pytest.warns(UserWarning, match=r"nothing can be learnt.*tuples \(a, b\).*kind='arcs'"):
        ranker.fit(X[: len(y)], y)


def test_columns_of_a_data_frame_are_the_labels():
    names = ["tea", "milk"]
    ranker = LogLinearRanker().fit(X[:2], Frame(INDICATOR, names))
    assert ranker.labels_.tolist() == names
    assert isinstance(ranker.predict(X[:2]), np.ndarray)
    assert ranker.score(X[:2], Frame(INDICATOR, names)) == ranker.score(X[:2], INDICATOR) == 1
    with pytest.raises(InputError, match=r"y\[list\(ranker.labels_\)\]"):
        ranker.score(X[:2], Frame(INDICATOR, names[::-1]))
    online = MMPRanker().partial_fit(X[:2], Frame(INDICATOR, names)).partial_fit(X[:2], Frame(INDICATOR, names))
    assert online.labels_.tolist() == names


def test_candidates_are_not_for_every_ranker():
    with pytest.raises(InputError, match=r"RocchioRanker takes a matrix.*got CandidateSets.*LogLinearRanker"):
        RocchioRanker().fit(CandidateSets(X, [0, 2, 4]), LayeredGraphs.from_levels([[0, 1], [1, 0]]))


def test_a_column_of_instances_is_no_pointer():
    qid = np.array([7, 7, 9, 9])
    with pytest.raises(InputError, match=r"np.append\(np.unique\(qid, return_index=True\)\[1\], len\(qid\)\)"):
        CandidateSets(X, qid)
    assert len(CandidateSets(X, np.append(np.unique(qid, return_index=True)[1], len(qid)))) == 2


class WrongFlows:
    """A loss whose gradient has the wrong sign."""

    def __init__(self, graphs, decomposition, weight):
        from arcrank.losses import LogLinearLoss

        self.loss = LogLinearLoss(graphs, decomposition, weight)

    def flows(self, scores):
        value, outflow, inflow = self.loss.flows(scores)
        return value, inflow, outflow


def test_a_wrong_gradient_is_warned_of():
    with pytest.warns(UserWarning, match=r"lbfgs stopped after 0 iterations.*finite differences"):
        LogLinearRanker(loss=WrongFlows, C=100).fit(X, ["a", "b", "c", "d"])


def interrupt(_):
    raise KeyboardInterrupt


def test_who_interrupts_the_solver_is_not_warned():
    ranker = LogLinearRanker(solver="lbfgs", tol=1e-9, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X, ["a", "b", "c", "d"])
    assert ranker.n_iter_ == 1


def test_a_matrix_has_a_column_for_each_label():
    ranker = MMPRanker().fit(X[:2], INDICATOR)
    with pytest.raises(InputError, match="y has 4 columns, and this ranker learnt 2 labels"):
        ranker.score(X, X)


def test_who_stops_the_solver_is_not_warned():
    ranker = LogLinearRanker(solver="lbfgs", tol=1e-9, callback=lambda _: True).fit(X, ["a", "b", "c", "d"])
    assert ranker.n_iter_ == 1


def candidates():
    counts = np.array([2, 3, 4, 6, 5, 3, 2, 4])
    ptr = np.append(0, np.cumsum(counts))
    Z = np.random.default_rng(0).normal(size=(ptr[-1], 3))
    grades = (Z[:, 0] > 0).astype(int) + (Z[:, 1] > 1)
    return CandidateSets(Z, ptr), grades


def test_parts_of_candidate_sets_are_scored():
    sets, grades = candidates()
    graphs = sets.graphs(grades)
    ranker = LogLinearRanker().fit(sets, graphs)
    assert ranker.score(sets, grades) == ranker.score(sets, graphs)
    parts = [ranker.score(sets[[i]], graphs[[i]]) for i in range(len(sets))]
    assert np.mean(parts) == pytest.approx(ranker.score(sets, graphs))


@pytest.mark.parametrize(
    ("name", "parameters"), [("ndcg_at", {"r": 4}), ("kendall_tau", {}), ("spearman", {}), ("domination_error", {})]
)
def test_scorers_of_candidate_sets(name, parameters):
    """Every part of the sets is padded to the width of its graphs, and padding counts for nothing."""
    sets, grades = candidates()
    graphs = sets.graphs(grades)
    ranker = LogLinearRanker().fit(sets, graphs)
    score = scorer(name, **parameters)
    parts = [score(ranker, sets[[i]], graphs[[i]]) for i in range(len(sets))]
    assert np.nanmean(parts) == pytest.approx(score(ranker, sets, graphs))
    assert np.isfinite(cross_val_score(LogLinearRanker(), sets, graphs, cv=KFold(4), scoring=score)).all()


def test_grades_of_layers():
    graphs = LayeredGraphs.from_levels([[0, 1, 2], [1, -1, 0]])
    ranker = LogLinearRanker().fit(X[:2], graphs)
    grades = [[2, 1, 0], [0, np.nan, 1]]
    assert scorer("ndcg_at", r=2)(ranker, X[:2], graphs) == ndcg_at(grades, ranker.score_labels(X[:2]), r=2)
    with pytest.raises(InputError, match="disagreement_error"):
        scorer("ndcg_at", r=2)(ranker, X[:2], graphs.to_arcs())
