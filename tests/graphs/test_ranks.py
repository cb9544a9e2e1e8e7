"""Ranks are told from grades, or kind= is asked for: a matrix of stars is never learnt upside down."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from arcrank import LogLinearRanker, MMPRanker
from arcrank.datasets import load_label_ranking
from arcrank.errors import InputError
from arcrank.graphs import LayeredGraphs, as_graphs
from arcrank.metrics import scorer

NAN = np.nan
SHAPES = [(40, 3), (40, 4), (100, 5), (40, 6), (40, 8), (40, 10), (40, 30), (20, 200)]


def stars(n, k, missing, most=5, seed=0):
    random = np.random.default_rng(seed)
    values = random.integers(1, most + 1, size=(n, k)).astype(float)
    return np.where(random.random((n, k)) < missing, NAN, values)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("most", [3, 5, 10])
def test_stars_are_refused_with_both_kinds_named(shape, missing, most):
    for seed in range(10):
        y = stars(*shape, missing, most, seed)
        with pytest.raises(
            InputError, match=r"values from . to .* rows .*kind='grades'.*higher = better.*kind='ranks'"
        ):
            as_graphs(y)
        assert as_graphs(y, kind="grades").n_arcs == as_graphs(y, kind="ranks").n_arcs


@pytest.mark.parametrize("whole", [True, False])
def test_stars_are_refused_by_rankers(whole):
    y = stars(60, 8, 0.0 if whole else 0.7)
    X = np.eye(60)
    for fit in (LogLinearRanker().fit, MMPRanker().fit, MMPRanker().partial_fit):
        with pytest.raises(InputError, match="kind='grades'"):
            fit(X, y.astype(int) if whole else y)


@pytest.mark.parametrize(
    "y",
    [
        [[5, 3, 4], [4, 4, 2]],
        [[2, 2, 3], [1, 2, 3]] * 5 + [[1, 1, 1]],  # ties written in two ways
        [[1, 2]] * 10 + [[2, 3]],  # one row without a first place
        [[1, 4, 4]],  # no way to write this tie
        [[1, 2, 5]],
        [[1, 2, 1, 2, 1, 2]],  # few values for many labels
        [[1, 2.5, 3]],
        [[1, NAN, NAN, 2], [3, 3, NAN, NAN]],
        [[NAN, 3, 2, NAN]],  # cut from a ranking of four, but the last place is nowhere
        [[1, np.inf]],
    ],
)
def test_rows_that_are_no_rankings_are_refused(y):
    with pytest.raises(InputError, match=r"do not rank their labels.*kind='grades'.*kind='ranks'"):
        as_graphs(np.array(y))
    assert as_graphs(np.array(y), kind="ranks") == LayeredGraphs.from_rankings(np.array(y))


@pytest.mark.parametrize(
    "y",
    [
        [[1, 2, 3], [3, 1, 2]],
        [[1, 2, 2, 4]],
        [[1, 2, 2, 3]],
        [[1, 3, 3, 4]],
        [[1, 2.5, 2.5, 4]],
        [[2, 2, 3], [3, 3, 3]],  # a tie that takes the last of its places, as predict has it
        [[1.5, 1.5, 3]],
        [[2, NAN, 3]],  # cut from a ranking of three
        [[1, 2], [2, NAN]],
        [[1, 2, NAN, NAN], [NAN, 2, 1, NAN], [NAN] * 4],  # places among the judged
    ],
)
def test_rankings_need_no_kind(y):
    assert as_graphs(np.array(y)) == LayeredGraphs.from_rankings(np.array(y))


@given(
    st.integers(1, 12),
    st.integers(2, 9),
    st.sampled_from(["min", "max", "average"]),
    st.integers(2, 9),
    st.floats(0, 0.8),
    st.integers(0, 2**32 - 1),
)
def test_ranks_of_scores_with_ties_need_no_kind(n, k, method, most, missing, seed):
    """Whatever people tie, and whatever they leave out, the ranks of what they judged are ranks."""
    random = np.random.default_rng(seed)
    scores = random.integers(0, most, size=(n, k)).astype(float)
    scores[random.random((n, k)) < missing] = NAN
    ranks = rankdata(scores, method=method, axis=1, nan_policy="omit")
    if not np.nanmax(ranks, initial=0) >= 2 or np.isin(ranks, (0, 1)).all():
        return
    assert as_graphs(ranks) == LayeredGraphs.from_rankings(ranks)


@given(st.integers(2, 9), st.floats(0, 0.8), st.integers(0, 2**32 - 1))
def test_parts_of_whole_rankings_need_no_kind(k, missing, seed):
    random = np.random.default_rng(seed)
    ranks = random.random((30, k)).argsort(axis=1) + 1.0
    ranks[1:][random.random((29, k)) < missing] = NAN
    assert as_graphs(ranks) == LayeredGraphs.from_rankings(ranks)


@pytest.mark.parametrize("name", ["iris", "wine", "vehicle", "housing"])
def test_corpora_of_rankings_need_no_kind(name):
    try:
        corpus = load_label_ranking(name)
    except FileNotFoundError:
        pytest.skip(f"the corpus {name} is not on this machine")
    assert as_graphs(corpus.ranks, labels=corpus.labels) == corpus.graphs()


def test_what_is_left_open_later_is_settled_by_what_was_learnt():
    X, ranks = np.eye(4), np.array([[1, 2, 3], [2, 1, 3], [3, 2, 1], [1, 3, 2]])
    ranker = LogLinearRanker().fit(X, ranks)
    later = np.array([[2.0, NAN, 1.0], [NAN, 3.0, 3.0], [2.0, 2.0, 1.0], [1.0, 1.0, 2.0]])
    with pytest.raises(InputError, match="kind='ranks'"):
        as_graphs(later)
    expected = ranker.score(X, as_graphs(later, kind="ranks"))
    assert ranker.score(X, later) == expected
    assert scorer("domination_error")(ranker, X, later) == pytest.approx(expected - 1)
