import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from arcrank.solvers.neighbours import nearest_rows, neighbour_labels, settle_claims


def cosines(A, B):
    def unit(M):
        return M / np.maximum(np.linalg.norm(M, axis=1, keepdims=True), 1e-300)

    return unit(A) @ unit(B).T


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 12), st.integers(1, 9), st.integers(1, 5))
def test_nearest_rows_equal_brute_force(seed, n_queries, n_pool, k, block):
    random = np.random.default_rng(seed)
    A, B = (random.normal(size=(n, 4)) * (random.random((n, 4)) < 0.7) for n in (n_queries, n_pool))
    rows, similarity = nearest_rows(sparse.csr_matrix(A), sparse.csr_matrix(B), k, block=block)
    full = cosines(A, B)
    expected = -np.sort(-full, axis=1)[:, :k]
    np.testing.assert_allclose(similarity, expected, atol=1e-12)
    np.testing.assert_allclose(np.take_along_axis(full, rows, axis=1), expected, atol=1e-12)
    assert all(len(set(row)) == min(k, n_pool) for row in rows)


def test_equal_cosines_keep_the_lower_row_also_across_blocks():
    pool = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [3.0, 0.0], [0.0, 0.0]])
    for block in (1, 2, 9):
        rows, _ = nearest_rows([[1.0, 0.0]], pool, 4, block=block)
        assert rows.tolist() == [[0, 1, 3, 2]]


def test_k_larger_than_the_pool_and_an_empty_pool():
    rows, similarity = nearest_rows([[1.0]], [[1.0], [2.0]], 10)
    assert rows.shape == similarity.shape == (1, 2)
    rows, _ = nearest_rows(sparse.csr_matrix([[1.0]]), sparse.csr_matrix((0, 1)), 3)
    assert rows.shape == (1, 0)


def test_a_row_claimed_twice_by_one_grade_counts_once_and_the_nearest_grade_wins():
    claims = settle_claims(np.array([0, 0, 1, 1]), np.array([1.0, 1.0, 1.0, 0.0]), np.array([0.3, 0.8, 0.4, 0.9]), 3)
    assert claims.grades.tolist() == [1.0, 0.0, -1.0]
    assert claims.similarity.tolist() == [0.8, 0.9, 0.0]


def test_a_row_claimed_with_equal_similarity_by_two_grades_stays_unlabelled():
    claims = settle_claims(np.array([0, 0]), np.array([1.0, 0.0]), np.array([0.5, 0.5]), 1)
    assert claims.grades.tolist() == [-1.0]


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_claims_equal_brute_force(seed, k):
    random = np.random.default_rng(seed)
    labelled, pool = random.normal(size=(6, 3)), random.normal(size=(9, 3))
    grades = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 2.0])
    full = cosines(labelled, pool)
    expected, similarity = np.full(9, -1.0), np.zeros(9)
    for i in range(6):
        for j in sorted(range(9), key=lambda j: -full[i, j])[:k]:
            if expected[j] < 0 or full[i, j] > similarity[j]:
                expected[j], similarity[j] = grades[i], full[i, j]
    claims = neighbour_labels(labelled, grades, pool, k)
    assert claims.grades.tolist() == expected.tolist()
    assert claims.similarity == pytest.approx(similarity)
