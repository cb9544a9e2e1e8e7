"""Every metric of (Y, scores) against an oracle over explicit arcs, and against scikit-learn."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import coverage_error, label_ranking_average_precision_score, label_ranking_loss

from arcrank.errors import InputError, ParameterError
from arcrank.graphs import ArcGraphs, LayeredGraphs
from arcrank.metrics import generalized, ranking

TIED_SCORES = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 1.0, np.inf])
METRICS = [
    ranking.one_error,
    ranking.coverage,
    ranking.indicator_loss,
    ranking.size_loss,
    ranking.normalized_loss,
    ranking.ranking_loss,
    ranking.identity_error_percent,
    ranking.domination_error_percent,
    ranking.disagreement_error_percent,
    ranking.average_precision,
    ranking.max_f1,
]


@st.composite
def truth_and_scores(draw, max_rows=5, max_labels=8):
    shape = draw(st.integers(1, max_rows)), draw(st.integers(1, max_labels))
    return draw(hnp.arrays(bool, shape)), draw(hnp.arrays(np.float64, shape, elements=TIED_SCORES))


class Row:
    """One instance's quantities, from explicit arcs and explicit ranks."""

    def __init__(self, y, scores):
        labels = range(len(y))
        self.relevant = [r for r in labels if y[r]]
        self.others = [s for s in labels if not y[s]]
        self.arcs = [(r, s) for r in self.relevant for s in self.others]
        self.wrong = [(r, s) for r, s in self.arcs if scores[r] <= scores[s]]
        self.rank = {r: sum(scores[s] >= scores[r] for s in labels) for r in labels}
        self.k = len(y)

    def hits(self, r):
        return sum(self.rank[label] <= r for label in self.relevant)

    def one_error(self):
        return float(any(all((r, s) in self.wrong for r in self.relevant) for s in self.others))

    def coverage(self):
        return max(self.rank[r] for r in self.relevant) - 1

    def indicator_loss(self):
        return float(bool(self.wrong))

    def size_loss(self):
        return len(self.wrong)

    def normalized_loss(self):
        return len(self.wrong) / len(self.arcs)

    ranking_loss = normalized_loss

    def identity_error_percent(self):
        return 100 * self.indicator_loss()

    def domination_error_percent(self):
        return 100 * len({r for r, _ in self.wrong}) / len(self.relevant)

    def disagreement_error_percent(self):
        return 100 * self.normalized_loss()

    def average_precision(self):
        rank = self.rank
        precisions = [sum(rank[q] <= rank[r] for q in self.relevant) / rank[r] for r in self.relevant]
        return sum(precisions) / len(precisions)

    def precision_at(self, r):
        return self.hits(r) / r

    def recall_at(self, r):
        return self.hits(r) / len(self.relevant)

    def max_f1(self):
        return max(f1(self.precision_at(r), self.recall_at(r)) for r in range(1, self.k + 1))


def f1(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def oracle_rows(Y, scores):
    rows = [Row(y, s) for y, s in zip(Y, scores, strict=True)]
    return [row if row.arcs else None for row in rows]


def mean_of(values):
    return sum(values) / len(values) if values else math.nan


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
@given(truth_and_scores())
@settings(max_examples=60, deadline=None)
def test_each_row_equals_the_oracle(metric, drawn):
    Y, scores = drawn
    rows = oracle_rows(Y, scores)
    expected = [getattr(row, metric.__name__)() if row else math.nan for row in rows]
    for truth in (Y, sp.csr_matrix(Y)):
        np.testing.assert_allclose(metric(truth, scores, reduce="none"), expected, rtol=1e-12)
    if metric is not ranking.max_f1:
        mean = mean_of([value for value in expected if not math.isnan(value)])
        np.testing.assert_allclose(metric(Y, scores), mean, rtol=1e-12)


@given(truth_and_scores(), st.data())
@settings(max_examples=60, deadline=None)
def test_precision_and_recall_at_r_equal_the_oracle(drawn, data):
    Y, scores = drawn
    r = data.draw(st.integers(1, Y.shape[1]))
    rows = oracle_rows(Y, scores)
    for name in ("precision_at", "recall_at"):
        metric = getattr(ranking, name)
        expected = [getattr(row, name)(r) if row else math.nan for row in rows]
        np.testing.assert_allclose(metric(sp.csr_array(Y), scores, r, reduce="none"), expected)
        np.testing.assert_allclose(metric(Y, scores, r), mean_of([v for v in expected if not math.isnan(v)]))


@given(truth_and_scores())
@settings(max_examples=60, deadline=None)
def test_graph_and_max_f1_equal_the_oracle(drawn):
    Y, scores = drawn
    rows = [row for row in oracle_rows(Y, scores) if row]
    cuts = range(1, Y.shape[1] + 1)
    precision = [mean_of([row.precision_at(r) for row in rows]) for r in cuts]
    recall = [mean_of([row.recall_at(r) for row in rows]) for r in cuts]
    graph = ranking.precision_recall_graph(Y, scores)
    np.testing.assert_allclose(graph.precision, precision)
    np.testing.assert_allclose(graph.recall, recall)
    best = max(f1(p, r) for p, r in zip(precision, recall, strict=True)) if rows else math.nan
    np.testing.assert_allclose(ranking.max_f1(sp.csr_array(Y), scores), best)


@given(truth_and_scores(max_rows=8))
@settings(max_examples=60, deadline=None)
def test_agrees_with_scikit_learn_on_rows_with_arcs(drawn):
    Y, scores = drawn
    scores = np.nan_to_num(scores, posinf=5, neginf=-5)  # scikit-learn takes no infinities
    keep = Y.any(axis=1) & ~Y.all(axis=1)
    if not keep.any():
        return
    truth = Y[keep].astype(int), scores[keep]
    assert ranking.coverage(Y, scores) == pytest.approx(coverage_error(*truth) - 1)
    assert ranking.ranking_loss(Y, scores) == pytest.approx(label_ranking_loss(*truth))
    assert ranking.average_precision(Y, scores) == pytest.approx(label_ranking_average_precision_score(*truth))


@given(truth_and_scores())
@settings(max_examples=60, deadline=None)
def test_relations_of_section_4_5(drawn):
    Y, scores = drawn
    one_error = ranking.one_error(Y, scores, reduce="none")
    loss1 = ranking.indicator_loss(Y, scores, reduce="none")
    loss3 = ranking.normalized_loss(Y, scores, reduce="none")
    used = ~np.isnan(loss1)
    assert (one_error[used] <= loss1[used]).all()
    assert (loss3[used] <= loss1[used]).all()
    single = np.eye(Y.shape[1], dtype=bool)[Y.argmax(axis=1)]
    np.testing.assert_array_equal(
        ranking.coverage(single, scores, reduce="none"), ranking.size_loss(single, scores, reduce="none")
    )


@given(truth_and_scores())
@settings(max_examples=30, deadline=None)
def test_graphs_of_two_layers_give_the_same_as_their_indicator(drawn):
    Y, scores = drawn
    graphs = LayeredGraphs.from_label_sets(Y)
    for metric in METRICS:
        np.testing.assert_array_equal(metric(graphs, scores), metric(Y, scores))


@given(truth_and_scores())
@settings(max_examples=60, deadline=None)
def test_percentages_are_the_errors_on_graphs(drawn):
    Y, scores = drawn
    graphs = LayeredGraphs.from_label_sets(Y)
    used = Y.any(axis=1) & ~Y.all(axis=1)
    for metric, error in (
        (ranking.identity_error_percent, generalized.zero_one_error),
        (ranking.domination_error_percent, generalized.domination_error),
        (ranking.disagreement_error_percent, generalized.disagreement_error),
    ):
        found, expected = metric(Y, scores, reduce="none"), error(graphs, scores, reduce="none")
        np.testing.assert_allclose(found[used], 100 * expected[used])
        assert np.isnan(found[~used]).all()


def test_hand_computed_values():
    Y = [[1, 1, 0, 0, 0]]
    scores = [[0.9, 0.3, 0.5, 0.3, 0.1]]  # ranks 1, 4, 2, 4, 5: one irrelevant label above the second, one tied
    assert ranking.one_error(Y, scores) == 0
    assert ranking.coverage(Y, scores) == 3
    assert ranking.size_loss(Y, scores) == 2
    assert ranking.normalized_loss(Y, scores) == pytest.approx(2 / 6)
    assert ranking.domination_error_percent(Y, scores) == 50
    assert ranking.average_precision(Y, scores) == pytest.approx((1 + 2 / 4) / 2)
    assert ranking.precision_at(Y, scores, 3) == pytest.approx(1 / 3)
    assert ranking.recall_at(Y, scores, 4) == 1


def test_a_tie_at_the_top_is_an_error_only_against_an_irrelevant_label():
    assert ranking.one_error([[1, 1, 0]], [[2, 2, 1]]) == 0
    assert ranking.one_error([[1, 0, 1]], [[2, 2, 1]]) == 1


def test_max_f1_is_the_maximum_of_means_not_the_mean_of_maxima():
    Y, scores = [[1, 0, 0, 0], [1, 1, 1, 0]], [[4, 3, 2, 1], [4, 3, 2, 1]]
    assert ranking.max_f1(Y, scores, reduce="none").tolist() == [1, 1]
    assert ranking.max_f1(Y, scores) == pytest.approx(max(f1(1, 2 / 3), f1(3 / 4, 5 / 6), f1(2 / 3, 1)))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_rows_without_arcs_are_skipped_and_can_be_counted(metric):
    Y = np.array([[0, 0, 0], [1, 1, 1], [1, 0, 0]])
    scores = np.array([[3.0, 2, 1], [3, 2, 1], [1, 2, 3]])
    assert np.isnan(metric(Y, scores, reduce="none")).tolist() == [True, True, False]
    assert metric(Y, scores) == metric(Y[2:], scores[2:])
    assert math.isnan(metric(Y[:2], scores[:2]))
    assert math.isnan(metric(np.zeros((0, 3)), np.zeros((0, 3))))


def test_no_rows_no_labels():
    graph = ranking.precision_recall_graph(np.zeros((2, 3)), np.zeros((2, 3)))
    assert np.isnan(graph.precision).all()
    assert np.isnan(graph.recall).all()
    assert math.isnan(ranking.max_f1(np.zeros((2, 0)), np.zeros((2, 0))))


def random_problem(n=50, k=12, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, k)) < 0.3, rng.integers(0, 5, (n, k)).astype(np.float64)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_any_layout_and_dtype_gives_the_same(metric):
    Y, scores = random_problem()
    expected = metric(Y, scores)
    read_only = scores.copy()
    read_only.flags.writeable = False
    frozen = sp.csr_matrix(Y.astype(np.int8))
    for part in (frozen.data, frozen.indices, frozen.indptr):
        part.flags.writeable = False
    variants = [
        (Y.astype(np.float32), scores.astype(np.float32)),
        (Y.tolist(), scores.tolist()),
        (np.asfortranarray(Y), np.asfortranarray(scores)),
        (sp.csc_matrix(Y), scores.astype(int)),
        (sp.coo_array(Y.astype(float)), scores.astype(object)),
        (frozen, read_only),
    ]
    for truth, values in variants:
        assert metric(truth, values) == expected


def test_sparse_truth_is_left_alone():
    Y = sp.csr_matrix((np.array([1, 0, 1]), np.array([2, 1, 0]), np.array([0, 3])), shape=(1, 4))
    assert ranking.coverage(Y, [[4, 3, 2, 1]]) == 2  # the explicit zero of label 1 is no relevant label
    assert Y.data.tolist() == [1, 0, 1]
    assert Y.indices.tolist() == [2, 1, 0]


def test_threads_give_the_same():
    Y, scores = random_problem(n=2000)
    expected = ranking.average_precision(Y, scores)
    found = []
    threads = [threading.Thread(target=lambda: found.append(ranking.average_precision(Y, scores))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


@pytest.mark.parametrize(
    ("Y", "scores", "sentence"),
    [
        ([[1, 0]], [[1.0, 2.0, 3.0]], r"scores have shape \(1, 3\), but Y has shape \(1, 2\)"),
        ([[1, 0]], [1.0, 2.0], r"shape \(2,\)"),
        ([1, 0], [[1.0, 2.0]], r"Y has shape \(2,\).*as_graphs"),
        ([[1, 0]], [[np.nan, 1.0]], r"NaN, first at position \(0, 0\)"),
        ([[1, 2]], [[1.0, 2.0]], "Y holds the value 2; an indicator has only 0 and 1"),
        ([[1, np.nan]], [[1.0, 2.0]], "Y holds the value nan"),
        (sp.csr_matrix([[1, -1]]), [[1.0, 2.0]], "Y holds the value -1"),
        ([["a", "b"]], [[1.0, 2.0]], "Row 0 of Y names the label 'a'"),
        ([[1, 0]], [["a", "b"]], "scores must be an array of real numbers"),
        ([[1, 0]], [[1j, 2]], "scores must be an array of real numbers"),
        ([[1, 0], [1]], [[1.0, 2.0]], "Y must be an array of real numbers"),
        ([[1, 0]], sp.csr_matrix([[1.0, 2.0]]), "dense array"),
        (ArcGraphs.from_arcs([[(0, 1)]], 2), [[1.0, 2.0]], "errors on graphs"),
        (LayeredGraphs.from_levels([[0, 1, 2]]), [[1.0, 2.0, 3.0]], "3 layers"),
    ],
)
def test_bad_input_is_a_sentence(Y, scores, sentence):
    with pytest.raises(InputError, match=sentence):
        ranking.average_precision(Y, scores)


@pytest.mark.parametrize("r", [0, 3, -1, 1.5, True, "1", None])
def test_r_out_of_range(r):
    if r is None:
        with pytest.raises(TypeError):
            ranking.precision_at([[1, 0]], [[1.0, 2.0]])
        return
    with pytest.raises(ParameterError, match=r"r must be a whole number from 1 to 2 \(there are 2 labels\)"):
        ranking.recall_at([[1, 0]], [[1.0, 2.0]], r)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_unknown_reduce(metric):
    with pytest.raises(ParameterError, match='choose "mean" or "none"'):
        metric([[1, 0]], [[1.0, 2.0]], reduce="sum")
