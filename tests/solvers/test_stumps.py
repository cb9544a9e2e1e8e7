import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from arcrank.solvers.stumps import TIE, sort_columns

VALUES = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.0, 0.0, 0.5, 1.0, 3.0])
MATRICES = st.tuples(st.integers(1, 7), st.integers(1, 4)).flatmap(lambda shape: arrays(float, shape, elements=VALUES))


def brute_force(X, signed):
    best, found = 0.0, None
    for j in range(X.shape[1]):
        for threshold in sorted(set(X[:, j]), reverse=True):
            level = signed[X[:, j] > threshold].sum()
            if abs(level) > abs(best) + TIE:
                best, found = level, (j, threshold)
    return best, found


@given(MATRICES, st.randoms(use_true_random=False), st.booleans())
def test_best_stump_equals_brute_force_for_values_of_either_sign(X, random, as_sparse):
    signed = np.array([random.uniform(-1, 1) for _ in range(len(X))])
    signed -= signed.mean()  # weights of the better and the worse rows balance
    best, found = brute_force(X, signed)
    stump = sort_columns(sparse.csr_matrix(X) if as_sparse else X).best(signed)
    if found is None:
        assert stump is None
        return
    assert (stump.feature, stump.threshold) == found
    assert stump.level == pytest.approx(best, abs=1e-12)
    np.testing.assert_array_equal(stump.fires, X[:, found[0]] > found[1])


@given(MATRICES, st.integers(1, 3))
def test_quantiles_are_few_and_hold_the_lowest_threshold(X, n_thresholds):
    columns = sort_columns(X, n_thresholds)
    full = sort_columns(X)
    for j in range(X.shape[1]):
        part = slice(full.indptr[j], full.indptr[j + 1])
        kept = columns.cut[part].sum() + columns.zero_cut[j]
        assert kept == min(len(set(X[:, j])) - 1, n_thresholds)
        if kept:
            lowest_fires = X[:, j] > X[:, j].min()
            signed = np.where(lowest_fires, 1.0 / lowest_fires.sum(), -1.0 / (~lowest_fires).sum())
            only = sort_columns(X[:, [j]], n_thresholds).best(signed)
            assert only.threshold == X[:, j].min()


def test_explicit_zeros_and_duplicates_are_no_values_of_their_own():
    X = sparse.csc_matrix(([1.0, 0.0, 2.0, 0.5, 0.5], ([0, 1, 2, 3, 3], [0, 0, 0, 0, 0])), shape=(4, 1))
    stump = sort_columns(X).best(np.array([0.5, -1.0, 0.5, 0.0]))
    assert stump.threshold == 0.0
    np.testing.assert_array_equal(stump.fires, [True, False, True, True])


def test_constant_columns_give_no_stump():
    assert sort_columns(np.array([[1.0, 0.0, -1.0]] * 3)).best(np.array([1.0, -0.5, -0.5])) is None


def test_of_equal_stumps_the_first_column_and_the_highest_threshold_win():
    X = np.array([[3.0, 3.0], [2.0, 2.0], [1.0, 1.0], [0.0, 0.0]])
    stump = sort_columns(X).best(np.array([0.5, -0.5, 0.5, -0.5]))
    assert (stump.feature, stump.threshold) == (0, 2.0)
